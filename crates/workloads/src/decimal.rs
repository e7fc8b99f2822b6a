//! Decimal numbers as load generators print them, read without a float: `2.412` ms is exactly 2,412,000 ns.

/// `text` times ten to the power of `digits`, exactly; decimals beyond `digits` are dropped. `None`
/// for anything that is not a plain decimal number or does not fit.
pub(crate) fn scaled(text: &str, digits: usize) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let padded = decimals.bytes().chain(std::iter::repeat(b'0')).take(digits);
    let mut value = 0_i64;
    for byte in whole.bytes().chain(padded) {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative { -value } else { value })
}

/// Milliseconds as printed, in nanoseconds.
pub(crate) fn ms(text: &str) -> Option<i64> {
    scaled(text, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_or_nothing() {
        let cases = [
            ("2.412", Some(2_412_000)),
            ("0.000", Some(0)),
            ("41", Some(41_000_000)),
            ("-0.001", Some(-1_000)),
            ("0.0000019", Some(1)),
            ("9999999999999999.0", None),
            ("", None),
            (".5", None),
            ("nan", None),
            ("1e3", None),
            ("2,412", None),
            ("1.2.3", None),
            ("--1", None),
        ];
        for (text, value) in cases {
            assert_eq!(ms(text), value, "{text}");
        }
    }
}
