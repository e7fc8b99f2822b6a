//! Reading numbers out of the kernel's text without allocating.

use model::MISSING;

/// The lines of a text, without their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
}

/// A decimal number that fills the whole word; a value above `i64::MAX` is held there (kernel
/// counters are u64, and none gets that far in a machine's life).
pub(crate) fn number(word: &[u8]) -> Option<i64> {
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(word.iter().fold(0i64, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    }))
}

/// The number in a word, times `scale`, or `MISSING`.
pub(crate) fn scaled(word: Option<&[u8]>, scale: i64) -> i64 {
    word.and_then(number)
        .map_or(MISSING, |value| value.saturating_mul(scale))
}

/// The number behind `key` in lines of the form `key number`, times `scale`, or `MISSING`.
pub(crate) fn keyed(text: &[u8], key: &[u8], scale: i64) -> i64 {
    let found = lines(text).find_map(|line| {
        let mut words = words(line);
        (words.next()? == key).then(|| words.next())?
    });
    scaled(found, scale)
}

/// The number that the whole text is, times `scale`, or `MISSING`.
pub(crate) fn sole(text: &[u8], scale: i64) -> i64 {
    scaled(words(text).next(), scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_number_is_missing() {
        assert_eq!(number(b"12"), Some(12));
        assert_eq!(number(b""), None);
        assert_eq!(number(b"-1"), None);
        assert_eq!(number(b"99999999999999999999999"), Some(i64::MAX));
        assert_eq!(scaled(Some(b"max"), 1000), MISSING);
        assert_eq!(
            keyed(b"usage_usec 7\nuser_usec 5\n", b"user_usec", 1000),
            5000
        );
        assert_eq!(keyed(b"usage_usec 7\n", b"absent", 1000), MISSING);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            keyed(&text, b"a", 1_000_000);
            sole(&text, i64::MAX);
        }
    }
}
