//! Times as people's scripts write them, in ns since 1970.

const NS_PER_S: f64 = 1e9;

/// Seconds, milliseconds or nanoseconds since 1970, or a date with a time; `None` for anything else. A date without a
/// zone is read as UTC. Numbers below 1e9 are seconds since the beginning.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        let scale = match number {
            n if !(0.0..4e18).contains(&n) => return None,
            n if n >= 1e17 => 1.0,
            n if n >= 1e14 => 1e3,
            n if n >= 1e11 => 1e6,
            _ => NS_PER_S,
        };
        // A f64 holds whole nanoseconds of today to 256 ns: enough for what is sampled by the second.
        return Some((number * scale) as i64);
    }
    let instant = text.parse::<jiff::Timestamp>().ok();
    let instant = instant.or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    });
    let ns = i64::try_from(instant?.as_nanosecond()).ok()?;
    (ns >= 0).then_some(ns)
}
