//! What the shell of a node is given to run, and what it says first.
//!
//! It looks for the program, says what it found, and waits for a line: `use`, or `copy BYTES` with the program behind it.
//! Then it becomes the program's, and standard input and output are a conversation with it (`protocol.rs`).

/// What the line begins with that is ours; a login shell may print others before it.
const WORD: &str = "stallscope-node ";

/// Without a line break or a single quote: any shell passes it on to sh as it is. What was copied is removed at the end.
const SCRIPT: &str = concat!(
    "umask 077; v=$(stallscope --version 2>/dev/null | head -n 1); ",
    "echo \"stallscope-node $(uname -s) $(uname -m) $(id -u) $v\"; ",
    "read -r answer bytes || exit 0; p=stallscope; case $answer in use) ;; copy) ",
    "d=$(mktemp -d \"${TMPDIR:-/tmp}/stallscope-copy.XXXXXX\") || exit 1; ",
    "trap \"rm -rf \\\"\\$d\\\"\" EXIT; trap \"exit 1\" HUP INT TERM; p=$d/stallscope; ",
    "head -c \"$bytes\" > \"$p\" && chmod 700 \"$p\" || exit 1;; *) exit 0;; esac; \"$p\" node",
);

/// The command for ssh, which hands it to whatever the user's login shell is.
pub(super) fn command() -> String {
    format!("exec sh -c {}", quoted(SCRIPT))
}

/// A word as a shell reads it back: all of it is literal between single quotes.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What a node says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Greeting {
    /// `Linux`.
    pub(super) system: String,
    /// As uname(1) says it: `x86_64`.
    pub(super) machine: String,
    /// Of the user who logged in.
    pub(super) user_id: u32,
    /// What `stallscope --version` prints there; empty where it is missing.
    pub(super) version: String,
}

impl Greeting {
    /// Reads a line; `None` where it is somebody else's.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(WORD)?.splitn(4, ' ');
        let (system, machine, user) = (words.next()?, words.next()?, words.next()?);
        Some(Self {
            system: system.to_owned(),
            machine: machine.to_owned(),
            user_id: user.parse().ok()?,
            version: words.next().unwrap_or_default().trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_greeting_is_told_from_what_a_shell_prints() {
        let read = Greeting::read("stallscope-node Linux x86_64 0 stallscope 0.1.0");
        let expected = Greeting {
            system: "Linux".to_owned(),
            machine: "x86_64".to_owned(),
            user_id: 0,
            version: "stallscope 0.1.0".to_owned(),
        };
        assert_eq!(read.as_ref(), Some(&expected));
        let without = Greeting::read("stallscope-node Linux x86_64 0 ");
        assert_eq!(without.map(|it| it.version), Some(String::new()));
        for other in ["", "Welcome to n1", "stallscope-node Linux x86_64 root x"] {
            assert_eq!(Greeting::read(other), None, "{other}");
        }
    }

    #[test]
    fn the_script_greets_and_ends_with_its_input() {
        let command = command();
        assert!(!command.contains('\n'));
        assert_eq!(
            command.matches('\'').count(),
            2,
            "only the quotes around it"
        );
        let ran = Command::new("sh")
            .args(["-c", &command])
            .stdin(std::process::Stdio::null())
            .output();
        let ran = ran.expect("there is a sh");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let greeting = said.lines().find_map(Greeting::read).expect(&said);
        assert_eq!(
            greeting.user_id,
            rustix::process::getuid().as_raw(),
            "{greeting:?}"
        );
        assert!(ran.status.success());
    }

    proptest! {
        #[test]
        fn no_line_of_a_node_is_beyond_reading(line in "(stallscope-node )?\\PC{0,60}") {
            if let Some(greeting) = Greeting::read(&line) {
                prop_assert!(line.contains(&greeting.version));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn a_shell_reads_any_word_back(word in "[^\\x00]{0,40}") {
            let echo = format!("printf %s {}", quoted(&word));
            let ran = Command::new("sh").args(["-c", &echo]).output().expect("there is a sh");
            prop_assert_eq!(ran.stdout, word.into_bytes());
        }
    }
}
