//! One `--metric NAME=REGEX`: which of the workload's numbers it is, in which unit, and how to find it
//! in a line.

use std::str::FromStr;

use regex::bytes::{Regex, RegexBuilder};

use super::advice;
use crate::Quantity;
use crate::decimal::scaled;

/// A larger pattern is refused: it is compiled once and run on every line.
const MOST_BYTES: usize = 1 << 20;

/// How a captured number is to be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// Per second, kept in thousandths.
    PerSecond,
    /// Counted in the interval.
    Count,
    /// Counted since the start: what was added since the last reading is meant.
    Total,
    /// A time; a printed 1 is ten to the power of this many ns.
    Time(usize),
}

/// One pattern.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) quantity: Quantity,
    pub(super) scale: Scale,
    pub(super) text: String,
    regex: Regex,
}

/// What a line holds for a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found<'a> {
    Nothing,
    /// In thousandths per second, a count, or ns.
    Value(i64),
    /// The pattern matched and what it captured is no number.
    NoNumber(&'a [u8]),
}

impl Rule {
    pub(super) fn find<'a>(&self, line: &'a [u8]) -> Found<'a> {
        let Some(captured) = self.regex.captures(line) else {
            return Found::Nothing;
        };
        // A group may take no part in a match: `a|b ([0-9]+)`.
        let Some(text) = captured.get(1) else {
            return Found::Nothing;
        };
        let digits = match self.scale {
            Scale::PerSecond => 3,
            Scale::Count | Scale::Total => 0,
            Scale::Time(digits) => digits,
        };
        match number(text.as_bytes(), digits) {
            Some(value) => Found::Value(value),
            None => Found::NoNumber(text.as_bytes()),
        }
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, pattern) = text.split_once('=').ok_or_else(|| {
            format!(
                "`{text}` is no metric: write NAME=REGEX, {}",
                advice::EXAMPLE
            )
        })?;
        let (quantity, scale) = named(name)?;
        let regex = RegexBuilder::new(pattern)
            .size_limit(MOST_BYTES)
            .dfa_size_limit(MOST_BYTES)
            .build()
            .map_err(|error| advice::unreadable(pattern, &error))?;
        if regex.captures_len() != 2 {
            return Err(advice::groups(name, pattern, regex.captures_len() - 1));
        }
        Ok(Self {
            quantity,
            scale,
            text: text.to_owned(),
            regex,
        })
    }
}

fn named(text: &str) -> Result<(Quantity, Scale), String> {
    let (name, unit) = match text.split_once(':') {
        Some((name, unit)) => (name.trim(), Some(unit.trim())),
        None => (text.trim(), None),
    };
    let quantity = Quantity::ALL
        .into_iter()
        .find(|quantity| quantity.word() == name)
        .ok_or_else(|| {
            format!(
                "`{name}` is no metric: it is throughput, latency, lag or failed, {}",
                advice::EXAMPLE
            )
        })?;
    let scale = match (quantity, unit) {
        (Quantity::Throughput, None) => Scale::PerSecond,
        (Quantity::Failed, None) => Scale::Count,
        (Quantity::Throughput | Quantity::Failed, Some("total")) => Scale::Total,
        (Quantity::Latency | Quantity::Lag, Some("us")) => Scale::Time(3),
        (Quantity::Latency | Quantity::Lag, None | Some("ms")) => Scale::Time(6),
        (Quantity::Latency | Quantity::Lag, Some("s")) => Scale::Time(9),
        (_, Some(unit)) => return Err(advice::unit(quantity, unit)),
    };
    Ok((quantity, scale))
}

/// `2855.0`, `12,345.5`: a decimal number, not negative, with or without commas between thousands.
fn number(text: &[u8], digits: usize) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    let value = match whole.split_once(',') {
        None => scaled(text, digits),
        Some((first, rest)) => {
            let grouped =
                (1..=3).contains(&first.len()) && rest.split(',').all(|group| group.len() == 3);
            grouped.then(|| scaled(&text.replace(',', ""), digits))?
        }
    };
    value.filter(|value| *value >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        text.parse().unwrap()
    }

    #[test]
    fn names_units_and_numbers() {
        for (text, line, value) in [
            ("throughput=([0-9.,]+) req/s", "12,345.5 req/s", 12_345_500),
            ("throughput:total=done ([0-9]+)", "done 17 of 20", 17),
            ("latency=([0-9.]+) ms", "mean 2.412 ms", 2_412_000),
            ("latency:us=([0-9]+)us", "850us", 850_000),
            (" latency : s =([0-9.]+) s", "0.5 s", 500_000_000),
            ("lag:ms=lag=([0-9.]+)", "lag=1.5", 1_500_000),
            ("failed=errors: ([0-9]+)", "errors: 3", 3),
            ("failed:total=errors: ([0-9]+)", "errors: 3", 3),
        ] {
            assert_eq!(
                rule(text).find(line.as_bytes()),
                Found::Value(value),
                "{text}"
            );
        }
        let tps = rule("throughput=tps=(.*)$");
        assert_eq!(tps.find(b"latency=5"), Found::Nothing);
        for wrong in ["n/a", "-1", "1,2", "1e3", "nan", ""] {
            let line = format!("tps={wrong}");
            assert_eq!(
                tps.find(line.as_bytes()),
                Found::NoNumber(wrong.as_bytes()),
                "{wrong}"
            );
        }
        assert_eq!(rule("latency=a|b ([0-9]+)").find(b"a"), Found::Nothing);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_right() {
        for (text, error) in [
            (
                "throughput",
                "`throughput` is no metric: write NAME=REGEX, as in --metric 'throughput=([0-9.]+) req/s'",
            ),
            (
                "tps=([0-9]+)",
                "`tps` is no metric: it is throughput, latency, lag or failed, as in --metric 'throughput=([0-9.]+) req/s'",
            ),
            (
                "latency:min=([0-9]+)",
                "latency has no unit `min`: write latency:us, latency:ms (also when left out) or latency:s",
            ),
            (
                "throughput:ms=([0-9]+)",
                "throughput has no unit `ms`: write throughput for a number per second, or throughput:total for a count since the start",
            ),
            (
                "failed:s=([0-9]+)",
                "failed has no unit `s`: write failed for a count since the last line, or failed:total for one since the start",
            ),
            (
                "throughput=([0-9]+",
                "the pattern `([0-9]+` cannot be read: unclosed group",
            ),
            (
                "throughput=(a{1000}){1000}",
                "the pattern `(a{1000}){1000}` is too large: it is run on every line",
            ),
            (
                "throughput=tps: [0-9.]+ now",
                "the pattern of throughput captures nothing: put the number in brackets, --metric 'throughput=tps: ([0-9.]+) now'",
            ),
            (
                r"latency:us=it's \d+",
                r"the pattern of latency:us captures nothing: put the number in brackets, --metric 'latency:us=it'\''s (\d+)'",
            ),
            (
                "throughput=tps:",
                "the pattern of throughput captures nothing: put the number in brackets, --metric 'throughput=tps: *([0-9.]+)'",
            ),
            (
                r"throughput=(tps|qps)[(] ([0-9.]+) (x)\(",
                r"the pattern of throughput captures 3 texts: only the number may stand in plain brackets, --metric 'throughput=(?:tps|qps)[(] ([0-9.]+) (?:x)\('",
            ),
        ] {
            assert_eq!(text.parse::<Rule>().unwrap_err(), error, "{text}");
        }
    }
}
