//! Reading numbers out of the kernel's text without allocating.

use model::MISSING;

/// The kernel counts in KiB and in microseconds; columns are in bytes and nanoseconds.
pub(crate) const BYTES_PER_KB: i64 = 1_024;
/// See above.
pub(crate) const NS_PER_US: i64 = 1_000;
/// Ages are in milliseconds.
pub(crate) const NS_PER_MS: i64 = 1_000_000;

/// The whole lines of a text: the kernel ends each, so what follows the last end was cut off, perhaps
/// within a number.
pub(crate) fn whole(text: &[u8]) -> &[u8] {
    let last = text.iter().rposition(|byte| *byte == b'\n');
    last.map_or(b"", |end| &text[..end])
}

/// The whole lines of a text, without their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    whole(text)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
}

/// A decimal number that fills the whole word. `None` also above `i64::MAX`: kernel counters are u64,
/// none gets that far in a machine's life, and one that went below 0 and so stands at the top would be
/// taken for the highest that the counter ever was.
pub(crate) fn number(word: &[u8]) -> Option<i64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0i64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// A number times `scale`; `MISSING` when that is what it is, and beyond 64 bits.
pub(crate) fn times(number: i64, scale: i64) -> i64 {
    match number {
        MISSING => MISSING,
        number => number.checked_mul(scale).unwrap_or(MISSING),
    }
}

/// The number in a word, times `scale`, or `MISSING`.
pub(crate) fn scaled(word: Option<&[u8]>, scale: i64) -> i64 {
    word.and_then(number)
        .map_or(MISSING, |number| times(number, scale))
}

/// The number behind `key` in lines of the form `key number`, times `scale`, or `MISSING`.
pub(crate) fn keyed(text: &[u8], key: &[u8], scale: i64) -> i64 {
    let found = lines(text).find_map(|line| {
        let mut words = words(line);
        (words.next()? == key).then(|| words.next())?
    });
    scaled(found, scale)
}

/// A key of lines `key number`, the column that its number belongs to, and the number's scale.
pub(crate) type Key = (&'static [u8], usize, i64);

/// Puts the numbers of lines `key number` where `keys` say. Numbers of one column are added up: the
/// kernel splits some by zone, and others had another name once.
pub(crate) fn fill(row: &mut [i64], text: &[u8], keys: &[Key]) {
    for line in lines(text) {
        let mut words = words(line);
        let Some(name) = words.next() else { continue };
        let Some((_, column, scale)) = keys.iter().find(|(key, ..)| *key == name) else {
            continue;
        };
        add(&mut row[*column], scaled(words.next(), *scale));
    }
}

/// The sum of two numbers; `MISSING` when one of them is, or beyond 64 bits.
pub(crate) fn sum((one, other): (i64, i64)) -> i64 {
    match (one, other) {
        (MISSING, _) | (_, MISSING) => MISSING,
        (one, other) => one.checked_add(other).unwrap_or(MISSING),
    }
}

/// Adds a number to a cell, where missing plus a number is that number.
pub(crate) fn add(cell: &mut i64, value: i64) {
    if value != MISSING {
        *cell = if *cell == MISSING {
            value
        } else {
            cell.saturating_add(value)
        };
    }
}

/// A block device as one number: major << 20 | minor, as the kernel keeps it (dev_t).
pub(crate) fn device(major: Option<&[u8]>, minor: Option<&[u8]>) -> Option<i64> {
    let (major, minor) = (number(major?)?, number(minor?)?);
    (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
}

/// The number that the whole text is, times `scale`, or `MISSING`.
pub(crate) fn sole(text: &[u8], scale: i64) -> i64 {
    scaled(words(whole(text)).next(), scale)
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
        assert_eq!(number(b"9223372036854775807"), Some(i64::MAX));
        for beyond in [
            "9223372036854775808",
            "18446744073709551615",
            "99999999999999999999999",
        ] {
            assert_eq!(number(beyond.as_bytes()), None, "{beyond}");
        }
        assert_eq!(scaled(Some(b"9223372036854775807"), 1000), MISSING);
        assert_eq!(scaled(Some(b"max"), 1000), MISSING);
        assert_eq!(
            keyed(b"usage_usec 7\nuser_usec 5\n", b"user_usec", 1000),
            5000
        );
        assert_eq!(keyed(b"usage_usec 7\n", b"absent", 1000), MISSING);
    }

    #[test]
    fn numbers_of_one_column_are_added_up() {
        let mut row = [MISSING; 3];
        let keys: [Key; 3] = [(b"a_dma", 0, 1), (b"a_normal", 0, 1), (b"b", 1, 10)];
        fill(&mut row, b"a_dma 1\nb 2\n\na_normal 3\na 9\n", &keys);
        assert_eq!(row, [4, 20, MISSING]);
    }

    #[test]
    fn a_device_is_one_number() {
        assert_eq!(device(Some(b"254"), Some(b"1")), Some(254 << 20 | 1));
        assert_eq!(device(Some(b"254"), Some(b"1048576")), None);
        assert_eq!(device(Some(b"x"), Some(b"1")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            keyed(&text, b"a", 1_000_000);
            sole(&text, i64::MAX);
        }
    }
}
