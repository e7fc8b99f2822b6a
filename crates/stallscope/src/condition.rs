//! The user's condition: `--fail-if 'latency > 5ms'`.

use std::str::FromStr;

use model::Report;

use crate::duration::parse_duration;

/// A condition on a signal's mean over the judged window.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Condition {
    signal: String,
    above: bool,
    value: f64,
    text: String,
}

const FORMS: &str = "write it like 'latency > 5ms', 'throughput < 1000' or 'failed > 0'";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no condition: {FORMS}");
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (signal, value) = (text[..at].trim(), text[at + 1..].trim());
        let value = match signal {
            "latency" | "lag" => parse_duration(value).map_err(|_| wrong())?.as_nanos() as f64,
            "throughput" | "failed" | "skipped" | "retried" => value
                .parse()
                .ok()
                // Nothing is above or below what is no number: such a condition could not hold.
                .filter(|value: &f64| value.is_finite())
                .ok_or_else(wrong)?,
            _ => return Err(format!("`{signal}` is no metric: {FORMS}")),
        };
        Ok(Self {
            signal: signal.to_owned(),
            above: text[at..].starts_with('>'),
            value,
            text: text.to_owned(),
        })
    }
}

impl Condition {
    /// A sentence when the condition holds, or may hold because nothing was measured.
    pub(crate) fn violated(&self, report: &Report) -> Option<String> {
        let signal = report
            .signals
            .iter()
            .find(|signal| signal.name == self.signal);
        let Some(mean) = signal.and_then(|signal| signal.mean) else {
            return Some(format!(
                "--fail-if cannot be ruled out: {} was not measured ({})",
                self.signal, self.text
            ));
        };
        let holds = if self.above {
            mean > self.value
        } else {
            mean < self.value
        };
        let shown = if matches!(self.signal.as_str(), "latency" | "lag") {
            analysis::duration(mean)
        } else {
            analysis::rate(mean)
        };
        holds.then(|| {
            format!(
                "--fail-if holds: {} was {shown} ({})",
                self.signal, self.text
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_read_and_nonsense_is_told() {
        let condition: Condition = "latency > 5ms".parse().expect("a bar");
        assert_eq!((condition.above, condition.value), (true, 5e6));
        assert!("throughput<1000".parse::<Condition>().is_ok());
        for wrong in [
            "",
            "latency",
            "p99 > 5ms",
            "latency > fast",
            "> 5",
            "throughput < nan",
            "throughput < -inf",
            "failed > 1e999",
        ] {
            assert!(
                wrong
                    .parse::<Condition>()
                    .expect_err(wrong)
                    .contains("latency > 5ms")
            );
        }
    }
}
