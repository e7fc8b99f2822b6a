//! A command that starts several instances of a load, word by word.
//!
//! It is `stallscope instances -- INSTANCE --- INSTANCE ...`, where each `INSTANCE` is the number of folders of its
//! cgroup, these folders, and the command.

use std::ffi::OsString;
use std::path::PathBuf;

/// The word between two instances.
pub const BETWEEN: &str = "---";
/// The name of the command.
const COMMAND: &str = "instances";

/// One of several instances of a load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The folders of its cgroup, one in each hierarchy; empty where it has none of its own.
    pub group: Vec<PathBuf>,
    /// What it runs, program first.
    pub argv: Vec<OsString>,
}

impl Instance {
    /// The arguments of `stallscope` that start these.
    pub fn arguments(instances: &[Instance]) -> Vec<OsString> {
        let mut words: Vec<OsString> = [COMMAND, "--"].map(OsString::from).into();
        for (place, instance) in instances.iter().enumerate() {
            if place > 0 {
                words.push(BETWEEN.into());
            }
            words.push(instance.group.len().to_string().into());
            words.extend(instance.group.iter().map(|it| it.as_os_str().to_owned()));
            words.extend(instance.argv.iter().cloned());
        }
        words
    }

    /// Those of the words behind `stallscope instances --`; `None` where they are none.
    pub fn parse(words: &[OsString]) -> Option<Vec<Instance>> {
        let instances = words.split(|word| word == BETWEEN);
        instances.map(Self::one).collect()
    }

    fn one(words: &[OsString]) -> Option<Instance> {
        let (number, rest) = words.split_first()?;
        let number: usize = number.to_str()?.parse().ok()?;
        let (group, argv) = rest.split_at_checked(number)?;
        Some(Instance {
            group: group.iter().map(PathBuf::from).collect(),
            argv: (!argv.is_empty()).then(|| argv.to_vec())?,
        })
    }

    /// What stands before each of its lines.
    pub fn prefix(number: usize) -> String {
        format!("[{number}] ")
    }
}

/// The instances that a command starts, with the words before them.
pub(crate) fn instances(argv: &[OsString]) -> Option<(&[OsString], Vec<Instance>)> {
    const WORDS: usize = 3;
    let (before, words) = argv.split_at_checked(WORDS)?;
    let is_it = before[1] == COMMAND && before[2] == "--";
    Some((before, is_it.then(|| Instance::parse(words))??))
}

/// Whether a command starts several instances.
pub(crate) fn are(argv: &[OsString]) -> bool {
    instances(argv).is_some()
}

/// How many instances a command starts; `None` where it is another.
pub(crate) fn number(argv: &[OsString]) -> Option<usize> {
    Some(instances(argv)?.1.len())
}

/// What each of the instances runs, by the first of them.
pub(crate) fn first(argv: &[OsString]) -> Option<Vec<OsString>> {
    instances(argv)?.1.into_iter().next().map(|it| it.argv)
}
