//! The words of a line, of which some are constant and the others, told by how they look, are values.
//!
//! A value never becomes part of a template. What is not surely a word is taken for a value: digits, quoted text, paths,
//! addresses, what stands behind `=`, what is no letters, what looks drawn at random, and all that follows a word such
//! as `password`.

/// Words that are looked at; what follows counts as one value.
pub(super) const MOST_WORDS: usize = 40;
/// A longer word is a value, bytes.
const LONGEST_WORD: usize = 48;
/// What looks like a hexadecimal number without digits has so many letters at least.
const LEAST_HEX: usize = 8;
/// No word has so many consonants on end, but many drawn at random have.
const MOST_CONSONANTS: usize = 5;
/// What follows one of these, or a word that holds it, is a value up to the end of the line.
const SECRET: [&str; 11] = [
    "passw",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "apikey",
    "api_key",
    "authorization",
    "bearer",
    "cookie",
];
/// The same where `:` or `=` follows.
const SECRET_IF_NAMED: [&str; 8] = [
    "pass", "key", "pin", "otp", "auth", "session", "code", "login",
];

/// A word of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word<'a> {
    /// A constant word, with the marks around it.
    Constant(&'a str),
    /// `name=` with a value behind it.
    Named(&'a str),
    /// Values, however many follow each other.
    Value,
}

/// Calls `each` for every word of a line, `MOST_WORDS` at most.
pub(super) fn each_word<'a>(line: &'a [u8], mut each: impl FnMut(Word<'a>)) {
    let mut count = 0;
    let mut was_value = false;
    let mut is_secret = false;
    let mut at = 0;
    while let Some((token, end)) = token(line, at) {
        at = end;
        let mut word = if is_secret { Word::Value } else { word(token) };
        is_secret |= leads_to_secret(token, word);
        if count + 1 >= MOST_WORDS {
            word = Word::Value;
        }
        if word == Word::Value && was_value {
            continue;
        }
        was_value = word == Word::Value;
        each(word);
        count += 1;
        if count >= MOST_WORDS {
            return;
        }
    }
}

/// The next token from a place on, and where it ends. A quoted text is one token with what is attached to it; a quote
/// that is not closed goes on to the end of the line.
fn token(line: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let start = from + line.get(from..)?.iter().position(|it| !is_space(*it))?;
    let mut quote = None;
    let mut end = start;
    while let Some(byte) = line.get(end).copied() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if is_space(byte) => break,
            None if is_quote(line, start, end) => quote = Some(byte),
            None => {}
        }
        end += 1;
    }
    Some((&line[start..end], end))
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0
}

/// An apostrophe within a word is none: `can't`.
fn is_quote(line: &[u8], start: usize, at: usize) -> bool {
    match line[at] {
        b'"' | b'`' => true,
        b'\'' => at == start || !line[at - 1].is_ascii_alphabetic(),
        _ => false,
    }
}

fn word(token: &[u8]) -> Word<'_> {
    let Ok(text) = std::str::from_utf8(token) else {
        return Word::Value;
    };
    if is_mark(text) {
        return Word::Constant(text);
    }
    if let Some((name, _)) = text.split_once('=') {
        let bare = name.trim_start_matches(is_opening);
        return match is_plain(bare) {
            true => Word::Named(&text[..=name.len()]),
            false => Word::Value,
        };
    }
    let bare = text.trim_start_matches(is_opening);
    match is_plain(bare.trim_end_matches(is_closing)) {
        true => Word::Constant(text),
        false => Word::Value,
    }
}

/// `=>`, `-`, `|`: a few marks and nothing else.
fn is_mark(text: &str) -> bool {
    text.len() <= 3
        && text
            .bytes()
            .all(|it| it.is_ascii_punctuation() && it != b'"' && it != b'\'')
}

fn is_opening(letter: char) -> bool {
    matches!(letter, '(' | '[' | '{' | '<')
}

fn is_closing(letter: char) -> bool {
    matches!(
        letter,
        '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}' | '>'
    )
}

/// Letters, joined by `_`, `-`, `.`, `::` or an apostrophe, that do not look drawn at random.
fn is_plain(text: &str) -> bool {
    let is_joint = |it: char| matches!(it, '_' | '-' | '.' | ':' | '\'');
    text.len() <= LONGEST_WORD
        && text.starts_with(char::is_alphabetic)
        && text.chars().all(|it| it.is_alphabetic() || is_joint(it))
        && !has_single_colon(text.as_bytes())
        && !looks_random(text)
}

fn has_single_colon(text: &[u8]) -> bool {
    let colons = text.split(|it| *it != b':');
    colons.map(<[u8]>::len).any(|it| it != 0 && it != 2)
}

/// Letters of a number in base 16, cases that change too often, or more consonants on end than any word has.
fn looks_random(text: &str) -> bool {
    let (mut letters, mut is_hex, mut rises) = (0, true, 0);
    let (mut consonants, mut most_consonants) = (0, 0);
    let mut before = ' ';
    for letter in text.chars() {
        let is_letter = letter.is_alphabetic();
        letters += usize::from(is_letter);
        is_hex &= !is_letter || letter.is_ascii_hexdigit();
        rises += usize::from(before.is_lowercase() && letter.is_uppercase());
        let is_vowel = matches!(
            letter.to_ascii_lowercase(),
            'a' | 'e' | 'i' | 'o' | 'u' | 'y'
        );
        consonants = match letter.is_ascii_alphabetic() && !is_vowel {
            true => consonants + 1,
            false => 0,
        };
        most_consonants = most_consonants.max(consonants);
        before = letter;
    }
    let is_long = letters >= LEAST_HEX;
    most_consonants > MOST_CONSONANTS || is_long && (is_hex || rises * 5 > letters)
}

/// Whether what follows a token may be a secret.
fn leads_to_secret(token: &[u8], word: Word<'_>) -> bool {
    // Where the value is attached, the name before it counts.
    let end = token.iter().position(|it| matches!(it, b'=' | b':'));
    let name = &token[..end.unwrap_or(token.len())];
    if (0..name.len()).any(|at| begins_secret(&name[at..])) {
        return true;
    }
    let is_named = matches!(word, Word::Named(_)) || end.is_some();
    let first = name.iter().position(|it| !is_opening(char::from(*it)));
    let bare = &name[first.unwrap_or(name.len())..];
    is_named
        && SECRET_IF_NAMED
            .iter()
            .any(|it| bare.eq_ignore_ascii_case(it.as_bytes()))
}

/// What the words of `SECRET` begin with: most letters begin none.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut at = 0;
    while at < SECRET.len() {
        let letter = SECRET[at].as_bytes()[0];
        first[letter as usize] = true;
        first[letter.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    first
};

fn begins_secret(text: &[u8]) -> bool {
    let begins = |it: &str| {
        text.get(..it.len())
            .is_some_and(|own| own.eq_ignore_ascii_case(it.as_bytes()))
    };
    FIRST[usize::from(text[0])] && SECRET.iter().any(|it| begins(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let mut all = Vec::new();
        each_word(line.as_bytes(), |word| {
            all.push(match word {
                Word::Constant(text) => text.to_owned(),
                Word::Named(name) => format!("{name}<*>"),
                Word::Value => "<*>".to_owned(),
            });
        });
        all.join(" ")
    }

    #[test]
    fn what_looks_like_a_value_is_one() {
        for (line, expected) in [
            (
                "2026-11-28 10:00:00.123 UTC [311] LOG:  checkpoint starting: time",
                "<*> UTC <*> LOG: checkpoint starting: time",
            ),
            (
                "connection authorized: user=app database=orders application_name=psql",
                "connection authorized: user=<*> database=<*> application_name=<*>",
            ),
            (
                "relation \"my own table\" does not exist at character 15",
                "relation <*> does not exist at character <*>",
            ),
            ("user='bob smith' can't log in", "user=<*> can't log in"),
            (
                "open /etc/shadow by deadbeef-cafe of a@b.c at ::1",
                "open <*> by <*> of <*> at <*>",
            ),
            ("key xKqPzWvT and zxcvbnmq", "key <*> and <*>"),
            (
                "std::bad_alloc in (main) a => b",
                "std::bad_alloc in (main) a => b",
            ),
            ("an open \"quote of secret words", "an open <*>"),
            ("", ""),
            ("Größe überschritten", "Größe überschritten"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn behind_a_word_for_a_secret_everything_is_a_value() {
        for (line, expected) in [
            ("password is swordfish", "password <*>"),
            ("the PASSWORD: swordfish of bob", "the PASSWORD: <*>"),
            ("db_password=swordfish and more", "db_password=<*> <*>"),
            ("Authorization: Basic abcdef", "Authorization: <*>"),
            ("login: bob", "login: <*>"),
            ("key=abc def", "key=<*> <*>"),
            ("bob:swordfish came in", "<*> came in"),
            (
                "duplicate key value violates",
                "duplicate key value violates",
            ),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_long_line_ends_in_one_value() {
        let line = "word ".repeat(100);
        let mut count = 0;
        let mut last = Word::Constant("");
        each_word(line.as_bytes(), |word| {
            count += 1;
            last = word;
        });
        assert_eq!((count, last), (MOST_WORDS, Word::Value));
    }
}
