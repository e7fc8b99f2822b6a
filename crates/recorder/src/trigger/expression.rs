//! Trigger expressions: `latency.p99>100ms for 300ms`, `throughput<500 for 1s`, `pressure.cpu.some>60% for 4s`, `spike`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The time over which a value is taken where an expression names none.
const USUAL: Duration = Duration::from_secs(1);
/// Requests are read every 100 ms.
const SHORTEST: Duration = Duration::from_millis(100);
/// Pressure is read every 2 s, which is the kernel's own fold.
const SHORTEST_OF_PRESSURE: Duration = Duration::from_secs(2);
/// The longest; readings of so long are held in memory.
const LONGEST: Duration = Duration::from_secs(60);

/// What makes a recorder save what lies around.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trigger {
    /// A value is beyond a bound.
    Bound(Bound),
    /// Latency stands out from that of the 30 s before.
    Spike,
}

/// A value that is beyond a bound, taken over a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    pub(super) measure: Measure,
    pub(super) is_above: bool,
    /// In ns of latency, operations per second of throughput, percent of pressure.
    pub(super) value: f64,
    pub(super) over: Duration,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Measure {
    /// Mean latency of the target's requests.
    Mean,
    /// A percentile of it: 99.9.
    Percentile(f64),
    /// Requests per second.
    Throughput,
    /// The machine's pressure, by its place among the columns of table `pressure`.
    Pressure(usize),
}

/// The pressures, in the order of the columns of table `pressure`.
pub(super) const PRESSURES: [&str; 6] = [
    "cpu.some",
    "cpu.full",
    "memory.some",
    "memory.full",
    "io.some",
    "io.full",
];

/// A text that is no trigger expression, and what would be one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongTrigger(String);

impl FromStr for Trigger {
    type Err = WrongTrigger;

    fn from_str(text: &str) -> Result<Self, WrongTrigger> {
        let text = text.trim();
        if text == "spike" {
            return Ok(Self::Spike);
        }
        let wrong = |what: String| WrongTrigger(format!("`{text}`: {what}"));
        let at = text.find(['>', '<']).ok_or_else(|| {
            wrong("a trigger is spike, or a measure, > or <, and a value: 'latency.p99>100ms for 300ms'".to_owned())
        })?;
        let measure = measure(text[..at].trim()).map_err(wrong)?;
        let rest = text[at + 1..].trim();
        let (value, over) = match rest.split_once(char::is_whitespace) {
            None => (rest, None),
            Some((value, rest)) => {
                let over = rest.trim().strip_prefix("for").ok_or_else(|| {
                    wrong(format!(
                        "`{}` is not understood: behind the value stands only a time: for 300ms",
                        rest.trim()
                    ))
                })?;
                (value, Some(over))
            }
        };
        let value = value_of(measure, value).map_err(wrong)?;
        let over = match over {
            Some(over) => duration(over)
                .ok_or_else(|| wrong(format!("`{}` is no time: for 300ms, for 4s", over.trim())))?,
            None if matches!(measure, Measure::Pressure(_)) => SHORTEST_OF_PRESSURE,
            None => USUAL,
        };
        let shortest = match measure {
            Measure::Pressure(_) => SHORTEST_OF_PRESSURE,
            _ => SHORTEST,
        };
        if !(shortest..=LONGEST).contains(&over) {
            let (shortest, longest) = (shown(shortest), shown(LONGEST));
            return Err(wrong(format!("its time is from {shortest} to {longest}")));
        }
        Ok(Self::Bound(Bound {
            measure,
            is_above: text[at..].starts_with('>'),
            value,
            over,
        }))
    }
}

fn measure(text: &str) -> Result<Measure, String> {
    if let Some(of) = text.strip_prefix("pressure.") {
        let place = PRESSURES.iter().position(|known| *known == of);
        return place.map(Measure::Pressure).ok_or_else(|| {
            format!("there is no pressure `{of}`: pressure.cpu.some, memory or io for cpu, full for some")
        });
    }
    match text {
        "latency.mean" => return Ok(Measure::Mean),
        "throughput" => return Ok(Measure::Throughput),
        _ => {}
    }
    let percentile = text.strip_prefix("latency.p").and_then(number);
    percentile
        .filter(|it| (1.0..100.0).contains(it))
        .map(Measure::Percentile)
        .ok_or_else(|| {
            format!(
                "`{text}` is not measured: latency.p99, latency.mean, throughput, pressure.cpu.some"
            )
        })
}

/// Only digits and a point: neither signs nor words, which a floating-point number may have.
fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    text.parse().ok().filter(|it: &f64| plain && it.is_finite())
}

fn value_of(measure: Measure, text: &str) -> Result<f64, String> {
    let value = match measure {
        Measure::Mean | Measure::Percentile(_) => duration(text).map(|it| it.as_nanos() as f64),
        Measure::Throughput => number(text),
        Measure::Pressure(_) => {
            let share = text.strip_suffix('%').and_then(number);
            share.filter(|it| *it <= 100.0)
        }
    };
    value.ok_or_else(|| {
        let form = match measure {
            Measure::Mean | Measure::Percentile(_) => "latency is compared with a time: 100ms",
            Measure::Throughput => "throughput is compared with requests per second: 500",
            Measure::Pressure(_) => "pressure is compared with a share of the time: 60%",
        };
        format!("`{text}` cannot be compared: {form}")
    })
}

/// A time with its unit, in whole microseconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (value, unit) = text.split_at(split);
    let scale = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        _ => return None,
    };
    let micros = number(value)? * scale;
    (micros <= 86_400e6).then(|| Duration::from_micros(micros.round() as u64))
}

/// A time in the largest unit that tells it in whole numbers.
fn shown(time: Duration) -> String {
    match time.as_micros() {
        us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
        us if us % 1_000 == 0 => format!("{}ms", us / 1_000),
        us => format!("{us}us"),
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Bound(bound) = self else {
            return f.write_str("spike");
        };
        let sign = if bound.is_above { '>' } else { '<' };
        let value = match bound.measure {
            Measure::Mean | Measure::Percentile(_) => {
                shown(Duration::from_nanos(bound.value as u64))
            }
            Measure::Throughput => bound.value.to_string(),
            Measure::Pressure(_) => format!("{}%", bound.value),
        };
        match bound.measure {
            Measure::Mean => f.write_str("latency.mean")?,
            Measure::Percentile(percentile) => write!(f, "latency.p{percentile}")?,
            Measure::Throughput => f.write_str("throughput")?,
            Measure::Pressure(place) => write!(f, "pressure.{}", PRESSURES[place])?,
        }
        write!(f, "{sign}{value} for {}", shown(bound.over))
    }
}

impl Trigger {
    /// Over how long its value is taken.
    pub(super) fn over(&self) -> Duration {
        match self {
            Self::Bound(bound) => bound.over,
            Self::Spike => SHORTEST,
        }
    }

    /// Whether it asks for request times.
    pub fn is_of_requests(&self) -> bool {
        !matches!(self, Self::Bound(bound) if matches!(bound.measure, Measure::Pressure(_)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn expressions_and_what_is_said_of_those_that_are_none() {
        let said = |text: &str| match text.parse::<Trigger>() {
            Ok(trigger) => format!("{trigger}\n"),
            Err(error) => format!("{error}\n"),
        };
        let said: String = [
            "latency.p99>100ms for 300ms",
            " latency.mean > 1.5ms ",
            "latency.p99.9>2s for 1m",
            "throughput<500 for 1s",
            "pressure.cpu.some>60% for 4s",
            "pressure.io.full > 5%",
            "spike",
            "",
            "latency",
            "latency.p0>1ms",
            "latency.max>1ms",
            "latency.p99>100",
            "throughput<5/s",
            "pressure.gpu.some>1%",
            "pressure.cpu.some>60",
            "pressure.cpu.some>101%",
            "pressure.cpu.some>60% for 1s",
            "latency.p99>1ms for 10m",
            "latency.p99>1ms for soon",
            "latency.p99>1ms since 4s",
        ]
        .map(said)
        .concat();
        expect_test::expect_file!["expressions.txt"].assert_eq(&said);
    }

    proptest! {
        #[test]
        fn no_text_is_more_than_an_error(text in "\\PC*|(latency|pressure|throughput)[.a-z0-9]{0,12}[<>][0-9.]{0,9}[%ms]{0,2}( for [0-9]{1,5}m?s)?") {
            match text.parse::<Trigger>() {
                Ok(trigger) => {
                    prop_assert_eq!(trigger.to_string().parse::<Trigger>(), Ok(trigger));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn what_is_shown_is_read_as_the_same(
            kind in 0usize..9,
            percentile in 10u32..999,
            is_above: bool,
            micros in 1u64..10_000_000,
            over_ms in 2_000u64..60_000,
        ) {
            let measure = match kind {
                0 => Measure::Mean,
                1 => Measure::Percentile(f64::from(percentile) / 10.0),
                2 => Measure::Throughput,
                place => Measure::Pressure(place - 3),
            };
            let value = match measure {
                Measure::Pressure(_) => (micros % 1_000) as f64 / 10.0,
                Measure::Throughput => micros as f64 / 7.0,
                _ => (micros * 1_000) as f64,
            };
            let over = Duration::from_millis(over_ms);
            let trigger = Trigger::Bound(Bound { measure, is_above, value, over });
            prop_assert_eq!(trigger.to_string().parse::<Trigger>(), Ok(trigger));
        }
    }
}
