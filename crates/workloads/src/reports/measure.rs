//! Numbers with units as reports have them: `64.63ms`, `2485`, `0.0665 secs`.

use crate::decimal::scaled;

/// A plain count.
pub(crate) fn count(text: &str) -> Option<u64> {
    scaled(text.trim(), 0)
        .filter(|_| !text.contains('.'))
        .and_then(|count| u64::try_from(count).ok())
}

/// A rate or an amount that is not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Only plain decimals: no `nan`, no `1e3`, no decimal comma.
    scaled(text, 3).filter(|it| *it >= 0)?;
    text.parse().ok()
}

/// A time in ns; units as wrk and others attach them, and several as Go does: `64.63ms`, `1m30.5s`, `0.0665 secs`.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    let mut total: Option<i64> = None;
    while !rest.is_empty() {
        let (part, after) = one_unit(rest)?;
        total = Some(total.unwrap_or(0).checked_add(part)?);
        rest = after;
    }
    total
}

/// The time at the beginning of a text, and what is behind it.
fn one_unit(text: &str) -> Option<(i64, &str)> {
    let end_of =
        |text: &str, is_in: fn(char) -> bool| text.find(|c: char| !is_in(c)).unwrap_or(text.len());
    let (amount, rest) = text.split_at(end_of(text, |c| c.is_ascii_digit() || c == '.'));
    let (unit, rest) = rest.split_at(end_of(rest, |c| !c.is_ascii_digit() && c != '.'));
    let (digits, times) = match unit.trim() {
        "ns" => (0, 1),
        "us" | "\u{b5}s" | "\u{3bc}s" => (3, 1),
        "ms" => (6, 1),
        "s" | "sec" | "secs" | "seconds" => (9, 1),
        "m" | "min" => (9, 60),
        "h" | "hr" => (9, 3600),
        _ => return None,
    };
    Some((scaled(amount, digits)?.checked_mul(times)?, rest))
}

/// A time as `00:01:02`, in s.
pub(crate) fn clock_seconds(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let mut part = || {
        parts
            .next()
            .and_then(|it| it.parse::<u32>().ok())
            .map(i64::from)
    };
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    let is_time = minutes < 60 && seconds < 60 && parts.next().is_none();
    is_time.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// A date as `2026-11-21`, in days since 1970.
pub(crate) fn date_days(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut part = || {
        parts
            .next()
            .and_then(|it| it.parse::<u16>().ok())
            .map(i64::from)
    };
    let (year, month, day) = (part()?, part()?, part()?);
    let is_date =
        (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    // The year of this calendar begins in March, so that a leap day ends it.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468;
    (is_date && parts.next().is_none()).then_some(days)
}

/// A date with its time and its zone, `2026-11-21T18:45:55.123456789+01:00` or with `Z`, in ns since 1970.
pub(crate) fn rfc3339_ns(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let at = rest.find(['Z', '+', '-'])?;
    let (time, zone) = rest.split_at(at);
    let zone_seconds = match zone.split_at_checked(1)? {
        ("Z", "") => 0,
        (sign, offset) => {
            let seconds = clock_seconds(&format!("{offset}:00"))?;
            if sign == "-" { -seconds } else { seconds }
        }
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let ns = scaled(&format!("0.{fraction}"), 9)?;
    let seconds = date_days(date)? * 86_400 + clock_seconds(whole)? - zone_seconds;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// A time in s.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    duration(text).map(|ns| ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_nothing_else_is() {
        assert_eq!(duration("64.63ms"), Some(64_630_000));
        assert_eq!(duration("815.20us"), Some(815_200));
        assert_eq!(duration("1.02s"), Some(1_020_000_000));
        assert_eq!(duration("1.50m"), Some(90_000_000_000));
        assert_eq!(duration("0.0665 secs"), Some(66_500_000));
        assert_eq!(duration("126.3\u{b5}s"), Some(126_300));
        assert_eq!(duration("1m30.5s"), Some(90_500_000_000));
        assert_eq!(duration("0s"), Some(0));
        assert_eq!(clock_seconds("01:00:09"), Some(3609));
        assert_eq!(
            (clock_seconds("00:61:00"), clock_seconds("00:01")),
            (None, None)
        );
        assert_eq!(date_days("1970-01-01"), Some(0));
        assert_eq!(date_days("2024-02-29"), Some(19_782));
        assert_eq!(date_days("2026-11-21"), Some(20_778));
        assert_eq!(
            (date_days("2026-13-01"), date_days("2026-11")),
            (None, None)
        );
        let noon = 20_778 * 86_400_000_000_000 + 43_200_000_000_000;
        assert_eq!(rfc3339_ns("2026-11-21T12:00:00Z"), Some(noon));
        assert_eq!(
            rfc3339_ns("2026-11-21T14:30:00.5+02:30"),
            Some(noon + 500_000_000)
        );
        assert_eq!(
            rfc3339_ns("2026-11-21T11:00:00.000000001-01:00"),
            Some(noon + 1)
        );
        for text in [
            "2026-11-21",
            "2026-11-21T12:00:00",
            "2026-11-21T12:00Z",
            "T",
            "2026-11-21T12:00:00+",
        ] {
            assert_eq!(rfc3339_ns(text), None, "{text}");
        }
        for text in ["", "64.63", "64,63ms", "nan", "-1ms", "1.2.3ms", "64.63mss"] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!(
            (count(" 2485"), count("24.5"), count("-1"), count("")),
            (Some(2485), None, None, None)
        );
        assert_eq!(
            (
                number("247.99"),
                number("247,99"),
                number("nan"),
                number("-1")
            ),
            (Some(247.99), None, None, None)
        );
    }
}
