//! The user's condition on a difference: `--fail-if 'throughput < -5%'`.

use std::str::FromStr;

use anyhow::{Result, bail};
use model::Comparison;

/// A bound on how far a figure may be from the baseline's.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DifferenceCondition {
    key: String,
    above: bool,
    /// As a part of the baseline.
    bound: f64,
    text: String,
}

const FORMS: &str = "write it like 'throughput < -5%', 'latency > 10%' or 'latency.p99 > 20%'";

impl FromStr for DifferenceCondition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("`{text}` is no condition on a difference: {FORMS}");
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (key, bound) = (text[..at].trim(), text[at + 1..].trim());
        let percent = bound.strip_suffix('%').ok_or_else(wrong)?.trim();
        let bound: f64 = percent.parse().map_err(|_| wrong())?;
        // Nothing is above or below what is no number: such a condition could not hold.
        if key.is_empty() || !bound.is_finite() {
            return Err(wrong());
        }
        let key = match key {
            "p50" | "p99" | "max" => format!("latency.{key}"),
            _ => key.to_owned(),
        };
        Ok(Self {
            key,
            above: text[at..].starts_with('>'),
            bound: bound / 100.0,
            text: text.to_owned(),
        })
    }
}

/// What a condition says of one group.
pub(crate) struct Judged {
    pub(crate) holds: bool,
    pub(crate) sentence: String,
}

impl DifferenceCondition {
    /// Of each group in which it surely holds, the whole 95 % interval lying beyond the bound, or of which nothing can be
    /// said, there being no interval.
    ///
    /// # Errors
    /// There is no such figure.
    pub(crate) fn judge(&self, comparison: &Comparison) -> Result<Vec<Judged>> {
        let text = &self.text;
        let Some(figure) = comparison.figure(&self.key) else {
            let known: Vec<&str> = comparison
                .figures
                .iter()
                .map(|it| it.key.as_str())
                .collect();
            bail!(
                "--fail-if '{text}': these recordings have no figure `{}`. They have {}",
                self.key,
                known.join(", ")
            );
        };
        let others = comparison.groups.iter().skip(1).zip(&figure.differences);
        let each = others.filter_map(|(group, difference)| {
            let (name, label) = (&group.name, &figure.label);
            let Some(interval) = difference.and_then(|it| it.interval) else {
                let sentence = format!(
                    "--fail-if '{text}' is not judged: {label} of {name} has no interval. Longer runs, or several of each, have one"
                );
                return Some(Judged { holds: false, sentence });
            };
            let holds = match self.above {
                true => interval.low > self.bound,
                false => interval.high < self.bound,
            };
            let [low, high] = [interval.low, interval.high].map(|it| it * 100.0);
            let sentence = format!(
                "--fail-if '{text}' holds: {label} of {name} is {low:+.1} to {high:+.1} % from the baseline's (95 % interval)"
            );
            holds.then_some(Judged { holds, sentence })
        });
        Ok(each.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_nonsense_is_told() {
        let condition: DifferenceCondition = "throughput < -5%".parse().expect("a bound");
        assert_eq!((condition.above, condition.bound), (false, -0.05));
        let condition: DifferenceCondition = "p99>10 %".parse().expect("a bound");
        assert_eq!(
            (condition.key.as_str(), condition.bound),
            ("latency.p99", 0.1)
        );
        for wrong in [
            "",
            "throughput",
            "throughput < 5",
            "< 5%",
            "latency > nan%",
            "latency > inf %",
        ] {
            let error = wrong.parse::<DifferenceCondition>().expect_err(wrong);
            assert!(error.contains("throughput < -5%"), "{error}");
        }
    }
}
