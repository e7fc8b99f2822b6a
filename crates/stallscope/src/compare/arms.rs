//! The commands that are compared, as they were typed: `--run 'pgbench -S bench'`.

use std::ffi::OsString;

use anyhow::{Result, bail};

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
        let argv = words(text).unwrap_or_else(|| ["sh", "-c", text].map(String::from).to_vec());
        if argv.is_empty() {
            bail!("--run '{text}' is no command");
        }
        let argv: Vec<OsString> = argv.into_iter().map(OsString::from).collect();
        let shown = workloads::redact(&argv).join(" ");
        Ok(Arm {
            letter,
            argv,
            shown,
        })
    };
    letters.zip(typed).map(arm).collect()
}

/// The words of a command that needs no shell: a load generator that a shell starts is not asked to report more. `None`
/// where only a shell knows what is meant.
fn words(text: &str) -> Option<Vec<String>> {
    const SHELLS: &str = "|&;<>()$`*?[]#~{}!\n";
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let own = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => own.push(inner),
                    }
                }
            }
            '"' => {
                let own = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' => return None,
                        inner => own.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            _ if SHELLS.contains(letter) => return None,
            // A variable for the command alone.
            '=' if words.is_empty() => return None,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_words_and_the_rest_is_the_shells() {
        let of = |text: &str| words(text).map(|it| it.join("|"));
        assert_eq!(of("pgbench  -S -T 5").as_deref(), Some("pgbench|-S|-T|5"));
        assert_eq!(
            of("a 'b c' \"d e\" f\\ g ''").as_deref(),
            Some("a|b c|d e|f g|")
        );
        assert_eq!(
            of("wrk http://h:1/a=b").as_deref(),
            Some("wrk|http://h:1/a=b")
        );
        for shells in [
            "a | b", "a $B", "a > c", "X=1 a", "a 'b", "a; b", "a *.sql", "a \"$b\"",
        ] {
            assert_eq!(of(shells), None, "{shells}");
        }
    }

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
