//! What will be recorded, decided before anything happens. Planning reads the machine and changes nothing
//! of it; it raises only its own limit of open files, which reading needs as well.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use collectors::LogSource;
use kernel::Environment;
use model::{Goal, Role, Sentence};
use recording::Keep;
use rustix::process::Rlimit;
use sources::{AppSource, Application};
use targets::NamedTarget;

use super::applications;
use super::error::{Error, Result};
use super::privacy::Privacy;
use super::trigger::{RateLimit, Trigger};
use super::workload_plan::{Recognised, WorkloadOptions, WorkloadPlan};

/// What a user asks to be recorded.
pub struct Options {
    /// What the recording is about.
    pub subject: Subject,
    /// The recording's folder, which must not exist; the next free name in the working folder by default.
    pub folder: Option<PathBuf>,
    /// Where the recording is to be written as segments: how.
    pub segments: Option<SegmentOptions>,
    /// Where only what lies around a firing is to be kept: what fires, and how much.
    pub triggers: Option<TriggerOptions>,
    /// Processes with a role, besides those of a workload.
    pub targets: Vec<NamedTarget>,
    /// The applications to ask, each with its address as its own tools take it, which may hold a password;
    /// an empty one leaves it to the environment (PGHOST and the like).
    pub applications: Vec<(Application, String)>,
    /// Whether switches and wake-ups are traced all the time, whatever that costs.
    pub trace_all: bool,
    /// How often a second each CPU is looked at for the stack that it runs; `None` for never.
    pub stack_rate: Option<u32>,
    /// From which length on every wait is recorded with its call stack; `None` as the budget allows.
    pub min_wait: Option<Duration>,
    /// Logs to read beside.
    pub logs: Vec<LogSource>,
    /// Goals for latency, beside which the recording will be judged.
    pub goals: Vec<Goal>,
    /// The folder that has the kernel's files: `/`, or where another machine's are mounted.
    pub root: PathBuf,
    /// This program's own command line, the words of a workload included. Secrets in it are recognised
    /// and appear nowhere in the recording.
    pub argv: Vec<OsString>,
}

/// How a recording is written as segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentOptions {
    /// How long each is.
    pub length: Duration,
    /// How much is kept.
    pub keep: Keep,
}

impl SegmentOptions {
    /// The shortest segment: each begins with what it needs of those before.
    pub const SHORTEST: Duration = Duration::from_secs(2);
}

/// What is saved of a ring of segments, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct TriggerOptions {
    /// Any of these fires.
    pub triggers: Vec<Trigger>,
    /// How much before a firing is saved.
    pub before: Duration,
    /// How much after it.
    pub after: Duration,
    /// How often something is saved.
    pub at_most: RateLimit,
    /// What all savings may take, bytes; the oldest are removed.
    pub max_size: Option<u64>,
}

/// What a recording is about.
pub enum Subject {
    /// A workload to start; the recording ends with it.
    Workload(WorkloadOptions),
    /// What runs already.
    Running {
        /// How long to record; until an interrupt by default.
        length: Option<Duration>,
    },
}

/// What will be recorded: complete before anything has an effect, and not changed afterwards.
pub struct Plan {
    pub(super) subject: PlannedSubject,
    pub(super) folder: PathBuf,
    pub(super) segments: Option<SegmentOptions>,
    pub(super) triggers: Option<TriggerOptions>,
    pub(super) environment: Environment,
    pub(super) targets: Vec<PlannedTarget>,
    pub(super) applications: Vec<Arc<dyn AppSource>>,
    pub(super) trace_all: bool,
    pub(super) stack_rate: Option<u32>,
    pub(super) min_wait: Option<Duration>,
    pub(super) logs: Vec<LogSource>,
    pub(super) goals: Vec<Goal>,
    /// This program's own command line, secrets replaced.
    pub(super) typed: Vec<String>,
    pub(super) privacy: Privacy,
    /// The limit of open files before it was raised, which a workload gets back.
    pub(super) descriptors: Rlimit,
}

/// What a recording is about, with all that is known of it before it starts.
pub(super) enum PlannedSubject {
    Workload(Box<WorkloadPlan>),
    Running { length: Option<Duration> },
}

/// A target that was named, with the tops of its processes.
pub(super) struct PlannedTarget {
    pub(super) role: Role,
    /// As it was typed.
    pub(super) text: Sentence,
    pub(super) pids: Vec<u32>,
}

impl Plan {
    /// Decides what will be recorded.
    ///
    /// # Errors
    /// Options that contradict each other, targets that are not there, and too few files that may be open
    /// for any recording.
    pub fn new(options: Options) -> Result<Self> {
        // Before targets are looked for: with too few descriptors none would seem to be there.
        let descriptors = kernel::raise_descriptor_limit()?;
        if matches!(options.subject, Subject::Running { .. }) {
            kernel::check_root(&options.root)?;
        }
        let environment = kernel::environment(&options.root);
        let applications = applications::sources(&options.applications)?;
        let targets = targets(&options.targets, &environment)?;
        for log in &options.logs {
            log.check().map_err(Error::Options)?;
        }
        let (subject, folder) = match options.subject {
            Subject::Workload(workload) => {
                let recognised = Recognised::new(workload)?;
                let folder = options.folder;
                let folder = folder.unwrap_or_else(|| next_folder(recognised.name()));
                let plan = recognised.into_plan(&folder);
                (PlannedSubject::Workload(Box::new(plan)), folder)
            }
            Subject::Running { length } => {
                let folder = options.folder.unwrap_or_else(|| match options.triggers {
                    Some(_) => next_folder("triggered").with_extension(""),
                    None => next_folder("record"),
                });
                (PlannedSubject::Running { length }, folder)
            }
        };
        Ok(Self {
            subject,
            folder,
            segments: options.segments,
            triggers: options.triggers,
            environment,
            targets,
            applications,
            trace_all: options.trace_all,
            stack_rate: options.stack_rate,
            min_wait: options.min_wait,
            logs: options.logs,
            goals: options.goals,
            typed: typed(&options.argv),
            privacy: Privacy::of(&options.argv),
            descriptors,
        })
    }

    /// Where the recording will be.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The word for the rate of the workload's operations: `tps`; empty without a workload.
    pub fn rate_unit(&self) -> &str {
        match &self.subject {
            PlannedSubject::Workload(workload) => &workload.load.rate_unit,
            PlannedSubject::Running { .. } => "",
        }
    }
}

/// The next free name in the working folder for a recording of this.
fn next_folder(stem: &str) -> PathBuf {
    let named = recording::next_name(Path::new("."), stem);
    named.strip_prefix(".").map(Path::to_owned).unwrap_or(named)
}

/// Resolves the named targets to processes.
fn targets(named: &[NamedTarget], environment: &Environment) -> Result<Vec<PlannedTarget>> {
    let mounts = environment.hierarchies.mounts();
    let proc = environment.root.join("proc");
    let exclude: HashSet<u32> = kernel::own_pid(&environment.root).into_iter().collect();
    named
        .iter()
        .map(|target| {
            let pids = targets::resolve(&proc, &mounts, &target.spec, &exclude)?;
            Ok(PlannedTarget {
                role: target.role,
                text: target.text.clone(),
                pids,
            })
        })
        .collect()
}

/// This program's own command line, secrets replaced; at its end stand the words of a workload.
fn typed(argv: &[OsString]) -> Vec<String> {
    let mut own = argv.to_vec();
    if let Some(program) = own.first_mut() {
        *program = "stallscope".into();
    }
    workloads::redact(&own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stderr, Stdout};
    use workloads::Adjust;

    fn planned(subject: Subject, folder: &Path) -> Result<Plan> {
        Plan::new(Options {
            subject,
            folder: Some(folder.to_owned()),
            segments: None,
            triggers: None,
            targets: Vec::new(),
            applications: Vec::new(),
            trace_all: false,
            stack_rate: None,
            min_wait: None,
            logs: Vec::new(),
            goals: Vec::new(),
            root: "/".into(),
            argv: ["bin/stallscope", "run", "--", "x", "--password", "s3cret"]
                .map(OsString::from)
                .to_vec(),
        })
    }

    fn workload(program: &str) -> Subject {
        Subject::Workload(WorkloadOptions {
            argv: [program, "-c", "4"].map(OsString::from).to_vec(),
            adapter: None,
            adjust: Adjust::Allowed,
            patterns: Vec::new(),
            quantiles: true,
            stdout: Stdout::ToStdout,
            stderr: Stderr::Own,
        })
    }

    #[test]
    fn a_plan_is_complete_before_anything_is_there() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("a.stall");
        let plan = planned(workload("pgbench"), &folder).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(plan.rate_unit(), "tps");
        assert_eq!(plan.typed.first().map(String::as_str), Some("stallscope"));
        assert!(!plan.typed.iter().any(|word| word.contains("s3cret")));
        let PlannedSubject::Workload(workload) = plan.subject else {
            panic!("a workload was asked for")
        };
        assert!(workload.log.is_some());
        let log = folder.join("latency-log");
        let log = log.to_str().expect("its name is text");
        let mut words = workload.argv.iter().filter_map(|word| word.to_str());
        assert!(words.any(|word| word.contains(log)));
        assert!(!folder.exists(), "planning makes nothing");
    }

    #[test]
    fn options_that_cannot_be_followed_are_refused_with_the_way_round() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let refused = planned(workload("./load"), &home.path().join("a.stall")).err();
        let said = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("leave --quantiles away"), "{said}");
    }
}
