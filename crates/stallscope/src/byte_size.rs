//! Sizes as a user writes them.

/// `2G`, `500M`, `1.5T`, in powers of 1024 as journald and du take them; a bare number is bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write 500M or 2G");
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
    let unit = unit.trim().trim_end_matches(['B', 'b']);
    let power = match unit.strip_suffix('i').unwrap_or(unit) {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * 1024f64.powi(power);
    match bytes < u64::MAX as f64 {
        true => Ok(bytes as u64),
        false => Err(format!("`{text}` is too large")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("2G", 2 << 30),
            ("500M", 500 << 20),
            ("1.5k", 1536),
            ("10 MiB", 10 << 20),
            ("7", 7),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "G", "-2G", "2 weeks", "2X", "99999999T", "1..2M"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_more_than_an_error(text in "\\PC*|[0-9.]{0,9} ?[kKMGTiB]{0,3}") {
            let _ = parse_size(&text);
        }
    }
}
