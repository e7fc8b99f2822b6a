//! Names of processes, groups and devices as text, without losing a byte.
//!
//! The kernel's names are bytes, and most of them are other people's to choose. Bytes that are no
//! UTF-8, and characters that command a terminal or turn a line around, are written `\xNN`, as systemd
//! writes what a unit's name may not hold. All else stays as it is, and so does nearly every name with a
//! backslash.

use std::borrow::Cow;

/// A kernel's name as text that can be shown, from which `bytes_of` gives the same bytes again: two
/// names that differ stay two.
pub fn name_of(bytes: &[u8]) -> Cow<'_, str> {
    let plain = |text: &&str| !text.chars().any(commands) && escapes(bytes).next().is_none();
    if let Some(text) = std::str::from_utf8(bytes).ok().filter(plain) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if commands(c) || escaped(&bytes[at..]).is_some() {
                escape(&mut text, &bytes[at..at + c.len_utf8()]);
            } else {
                text.push(c);
            }
            at += c.len_utf8();
        }
        escape(&mut text, chunk.invalid());
        at += chunk.invalid().len();
    }
    Cow::Owned(text)
}

/// The kernel's name behind the text that `name_of` made of it.
pub fn bytes_of(name: &str) -> Cow<'_, [u8]> {
    let text = name.as_bytes();
    if escapes(text).next().is_none() {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut written = 0;
    for at in escapes(text) {
        bytes.extend_from_slice(&text[written..at]);
        bytes.extend(escaped(&text[at..]));
        written = at + ESCAPE;
    }
    bytes.extend_from_slice(&text[written..]);
    Cow::Owned(bytes)
}

/// Length of `\xNN`.
const ESCAPE: usize = 4;

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push_str(&format!("\\x{byte:02x}"));
    }
}

/// Whether a character would do something instead of being seen: control characters, and those that
/// end a line or turn the direction of what follows (UAX #9).
fn commands(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Where something stands that reads as an escape of ours.
fn escapes(text: &[u8]) -> impl Iterator<Item = usize> {
    (0..text.len()).filter(|at| escaped(&text[*at..]).is_some())
}

/// The byte that an escape at the start of the text stands for: a backslash, a control character, or
/// one that is no ASCII. Other escapes are names as systemd makes them (`dev-sda\x2d1.swap`), and none
/// of ours.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else {
        return None;
    };
    let digit = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let byte = digit(high)? << 4 | digit(low)?;
    (byte == b'\\' || byte.is_ascii_control() || !byte.is_ascii()).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_names_stay_as_they_are() {
        for name in ["postgres", "dev-disk-by\\x2duuid.swap", "a b%)(", "größe"] {
            assert_eq!(name_of(name.as_bytes()), name);
            assert_eq!(bytes_of(name), name.as_bytes());
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_told_apart_and_from_what_looks_like_them() {
        assert_eq!(name_of(b"a\xff"), "a\\xff");
        assert_eq!(name_of(b"a\xfe"), "a\\xfe");
        assert_eq!(name_of(b"a\\xff"), "a\\x5cxff");
        assert_eq!(name_of(b"a\\x5c"), "a\\x5cx5c");
    }

    #[test]
    fn nothing_in_a_name_commands_a_terminal() {
        assert_eq!(name_of(b"\x1b[31m\n"), "\\x1b[31m\\x0a");
        assert_eq!(
            name_of("a\u{9b}b\u{202e}c".as_bytes()),
            "a\\xc2\\x9bb\\xe2\\x80\\xaec"
        );
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_and_none_commands(bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5'), Just(b'c'), Just(b'f')], 0..40)
        ) {
            let name = name_of(&bytes);
            prop_assert!(!name.chars().any(commands));
            prop_assert_eq!(&*bytes_of(&name), &*bytes);
        }

        #[test]
        fn any_text_is_survived(text in ".{0,20}") {
            bytes_of(&text);
        }
    }
}
