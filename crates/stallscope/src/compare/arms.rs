//! The commands that are compared, as they were typed: `--run 'pgbench -S bench'`.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::turns::argv;

/// As many as there are letters to call them by.
const MOST: usize = 26;

/// One command of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arm {
    /// `A` for the first, and so on.
    pub(super) letter: char,
    /// The program and its arguments.
    pub(super) argv: Vec<OsString>,
    /// What is shown and stored of it: secrets replaced.
    pub(super) shown: String,
}

/// The commands that were typed.
///
/// # Errors
/// Fewer than two, too many, or one that is empty.
pub(super) fn arms(typed: &[String]) -> Result<Vec<Arm>> {
    if typed.len() < 2 {
        bail!(
            "there is one command only, and nothing to compare it with: stallscope compare --run 'COMMAND A' --run 'COMMAND B'"
        );
    }
    if typed.len() > MOST {
        bail!(
            "at most {MOST} commands are compared, and these are {}",
            typed.len()
        );
    }
    let letters = 'A'..='Z';
    let arm = |(letter, text): (char, &String)| {
        let argv = argv(text);
        if argv.is_empty() {
            bail!("--run '{text}' is no command");
        }
        let shown = workloads::redact(&argv).join(" ");
        Ok(Arm {
            letter,
            argv,
            shown,
        })
    };
    letters.zip(typed).map(arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_letters_and_no_secrets() {
        let typed = ["mysql --password=s3cret", "a | b"].map(String::from);
        let arms = arms(&typed).expect("two commands");
        let letters: String = arms.iter().map(|it| it.letter).collect();
        assert_eq!(letters, "AB");
        assert!(!arms[0].shown.contains("s3cret"), "{}", arms[0].shown);
        assert_eq!(arms[1].argv, ["sh", "-c", "a | b"]);
        for wrong in [vec!["a"], vec!["a", " "], vec!["a"; 27]] {
            let wrong: Vec<String> = wrong.into_iter().map(String::from).collect();
            assert!(super::arms(&wrong).is_err(), "{wrong:?}");
        }
    }
}
