//! A command that was typed as one text, as a program and its arguments.

use std::ffi::OsString;

/// The program and its arguments: the words of a command that needs no shell, else a shell with it.
pub(crate) fn argv(text: &str) -> Vec<OsString> {
    let words = words(text).unwrap_or_else(|| ["sh", "-c", text].map(String::from).to_vec());
    words.into_iter().map(OsString::from).collect()
}

/// The same as it is shown: secrets replaced.
pub(super) fn shown(text: &str) -> String {
    workloads::redact(&argv(text)).join(" ")
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
}
