//! The user's goal: `--slo 'p99<10ms'`.

use model::{Goal, Latency};

use crate::duration::parse_duration;

const FORMS: &str = "write it like 'p99<10ms', 'mean<5ms' or 'max<1s'";

/// Reads a goal.
pub(crate) fn parse_goal(text: &str) -> Result<Goal, String> {
    let wrong = || format!("`{text}` is no goal: {FORMS}");
    let (of, below) = text.split_once('<').ok_or_else(wrong)?;
    let of = match of.trim() {
        "mean" => Latency::Mean,
        "max" => Latency::Quantile(1.0),
        quantile => Latency::Quantile(quantile_of(quantile).ok_or_else(wrong)?),
    };
    let below = parse_duration(below).map_err(|_| wrong())?;
    let below_ns = i64::try_from(below.as_nanos()).map_err(|_| wrong())?;
    match below_ns {
        0 => Err(wrong()),
        _ => Ok(Goal { of, below_ns }),
    }
}

/// `p99.9`
fn quantile_of(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_and_nonsense_is_told() {
        let goal = parse_goal("p99.9 < 10ms").expect("a goal");
        assert_eq!(goal.of.to_string(), "p99.9");
        assert_eq!(goal.below_ns, 10_000_000);
        assert_eq!(parse_goal("mean<1s").expect("a goal").of, Latency::Mean);
        assert_eq!(
            parse_goal("p100<1s").expect("a goal").of,
            parse_goal("max<1s").expect("a goal").of
        );
        for wrong in [
            "", "p99", "p99>10ms", "p<1s", "p101<1s", "pnan<1s", "99<1s", "p99<fast", "max<0",
        ] {
            assert!(
                parse_goal(wrong).expect_err(wrong).contains("p99<10ms"),
                "{wrong}"
            );
        }
    }
}
