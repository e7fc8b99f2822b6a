//! The words of a shell's script, where they are known without a shell: plain commands, one or a pipe of several.

use std::ffi::OsString;

/// What a shell replaces or acts on, outside of quotes; a word that holds one is not known.
const SPECIAL: &[char] = &[
    ';', '&', '\n', '$', '`', '(', ')', '{', '\\', '<', '>', '*', '?', '[', '~', '#', '!',
];

/// The commands of a pipe, each with its words; `None` where a shell would do more than start them, and where one of
/// several is empty.
pub(crate) fn stages(script: &str) -> Option<Vec<Vec<OsString>>> {
    let mut stages: Vec<Vec<OsString>> = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = script.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' if c == '"' => return None,
                        inner => text.push(inner),
                    }
                }
            }
            ' ' | '\t' => stages.last_mut()?.extend(word.take().map(OsString::from)),
            '|' => {
                stages.last_mut()?.extend(word.take().map(OsString::from));
                stages.push(Vec::new());
            }
            special if SPECIAL.contains(&special) => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    stages.last_mut()?.extend(word.map(OsString::from));
    (!stages.iter().any(Vec::is_empty)).then_some(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        let found = stages("a 'b | c'\"d\" \"\"| e\tf").expect("it is plain");
        assert_eq!(found, [vec!["a", "b | cd", ""], vec!["e", "f"]]);
        for script in ["a \"$b\"", "a 'b", "a ~b", "a || b", "", "a\nb", "a \\ b"] {
            assert_eq!(stages(script), None, "{script}");
        }
        assert_eq!(stages("a '$b'"), Some(vec![vec!["a".into(), "$b".into()]]));
    }
}
