//! Rust text with comments, strings and characters blanked, lines kept.
//!
//! Enough to look for words in code; it is no parser, and broken sources only blank too much.

/// The same text with spaces where no code is.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_prose(&chars, at);
        if end == at {
            code.push(chars[at]);
            at += 1;
            continue;
        }
        let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
        code.extend(chars[at..end].iter().map(blank));
        at = end;
    }
    code
}

/// Where the comment, string or character that begins at `at` ends; `at` when it is code.
fn end_of_prose(chars: &[char], at: usize) -> usize {
    let end = match &chars[at..] {
        ['/', '/', ..] => find(chars, at, &['\n']),
        ['/', '*', ..] => end_of_block(chars, at),
        ['"', ..] => end_of_quoted(chars, at + 1, '"'),
        ['\'', '\\', ..] => end_of_quoted(chars, at + 1, '\''),
        ['\'', _, '\'', ..] => at + 3,
        ['r' | 'b' | 'c', ..] => end_of_raw(chars, at).unwrap_or(at),
        _ => at,
    };
    end.min(chars.len())
}

/// Block comments nest.
fn end_of_block(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start + 2, 1);
    while at < chars.len() && depth > 0 {
        match &chars[at..] {
            ['/', '*', ..] => (at, depth) = (at + 2, depth + 1),
            ['*', '/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

fn end_of_quoted(chars: &[char], inside: usize, quote: char) -> usize {
    let mut at = inside;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// `r"..."`, `br#"..."#`, `cr"..."`; `None` for a name that merely begins alike.
fn end_of_raw(chars: &[char], start: usize) -> Option<usize> {
    let in_name = |c: &char| c.is_alphanumeric() || *c == '_';
    if start
        .checked_sub(1)
        .is_some_and(|before| in_name(&chars[before]))
    {
        return None;
    }
    let marker = start + usize::from(chars[start] != 'r');
    if chars.get(marker) != Some(&'r') {
        return None;
    }
    let hashes = chars[marker + 1..]
        .iter()
        .take_while(|c| **c == '#')
        .count();
    let quote = marker + 1 + hashes;
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let mut closing = vec!['"'];
    closing.resize(1 + hashes, '#');
    Some(find(chars, quote + 1, &closing) + closing.len())
}

/// Where `wanted` begins next; the end when it does not.
fn find(chars: &[char], from: usize, wanted: &[char]) -> usize {
    let rest = chars.get(from..).unwrap_or_default();
    let offset = rest.windows(wanted.len()).position(|w| w == wanted);
    offset.map_or(chars.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::code_only;

    #[track_caller]
    fn blanked(text: &str, expected: &str) {
        assert_eq!(code_only(text), expected);
    }

    #[test]
    fn comments_go_and_lines_stay() {
        blanked("a // b\nc", "a     \nc");
        blanked("a /* b\n/* c */ d */ e", "a     \n             e");
    }

    #[test]
    fn strings_of_every_form_go() {
        blanked(r#"f("a\"b") + 1"#, "f(      ) + 1");
        blanked(r##"f(r#"a"b"#);"##, "f(        );");
        blanked(r#"f(br"a\");"#, "f(      );");
        blanked("b\"x\" y", "b    y");
    }

    #[test]
    fn characters_go_and_lifetimes_stay() {
        blanked("('\"', '\\'', &'a str)", "(   ,     , &'a str)");
    }

    #[test]
    fn names_that_begin_like_raw_strings_stay() {
        blanked("r#match + bar + br", "r#match + bar + br");
    }

    #[test]
    fn what_never_ends_is_blanked_to_the_end() {
        for text in ["/* a", "\"a", "\"a\\", "r#\"a\"", "// a", "'\\"] {
            assert_eq!(code_only(text).trim(), "", "{text}");
        }
    }
}
