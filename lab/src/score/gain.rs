//! Predicted against measured: the first remedy of a right headline says what it would bring, and
//! `validate` took the cause away and measured it.

use super::Row;
use crate::outcome::{Answer, Range};
use crate::print::say;
use crate::removal::Removal;
use crate::statistics::{Proportion, percentile};

/// Two gains of one run, as shares of the throughput with the cause: 0.5 is +50 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    predicted: f64,
    /// The interval that the report prints, where it prints one.
    interval: Option<Range>,
    measured: f64,
}

impl Gain {
    /// `None` where the report predicts nothing.
    pub fn of(answer: &Answer, removal: &Removal) -> Option<Self> {
        let (predicted, interval) = answer.predictions.first()?;
        Some(Self {
            predicted,
            interval,
            measured: removal.gain(),
        })
    }

    /// Predicted throughput over the one that was measured: 1 is exact.
    fn ratio(&self) -> f64 {
        (1.0 + self.predicted) / (1.0 + self.measured)
    }

    fn holds(&self) -> Option<bool> {
        let Range { low, high } = self.interval?;
        Some((low..=high).contains(&self.measured))
    }

    /// Half the interval's width, as a share of what is predicted.
    fn half_width(&self) -> Option<f64> {
        let Range { low, high } = self.interval?;
        (self.predicted > 0.0).then_some((high - low) / 2.0 / self.predicted)
    }
}

/// Prints a line per gain, and how good they were.
pub fn print(rows: &[Row]) {
    let gains: Vec<(&Row, Gain)> = rows
        .iter()
        .filter_map(|row| Some((row, row.gain?)))
        .collect();
    if gains.is_empty() {
        return;
    }
    say!();
    say!("gain by removing the cause, predicted and measured (validate):");
    for (row, gain) in &gains {
        say!("{:24}  {}", row.scenario, in_words(gain));
    }
    let gains: Vec<Gain> = gains.into_iter().map(|(_, gain)| gain).collect();
    let ratios = gains.iter().map(Gain::ratio).collect();
    say!("{:24}  {:.2}", "ratio, median", median(ratios));
    let held: Vec<bool> = gains.iter().filter_map(Gain::holds).collect();
    if !held.is_empty() {
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        let inside = held.iter().filter(|held| **held).count();
        let inside = Proportion::new(count(inside), count(held.len()));
        say!("{:24}  {}", "within the interval", inside.counted("inside"));
        let widths = gains.iter().filter_map(Gain::half_width).collect();
        say!(
            "{:24}  {:.0} % of the prediction",
            "half-width, median",
            median(widths) * 100.0
        );
    }
}

fn in_words(gain: &Gain) -> String {
    let percent = |share: f64| format!("{:+.0} %", share * 100.0);
    let interval = gain.interval.map_or(String::new(), |Range { low, high }| {
        format!(" ({} to {})", percent(low), percent(high))
    });
    format!(
        "predicted {}{interval}, measured {}, ratio of throughputs {:.2}",
        percent(gain.predicted),
        percent(gain.measured),
        gain.ratio()
    )
}

/// The upper of the two in the middle; 0 without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    percentile(&values, 50).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_held_against_its_interval() {
        let gain = Gain {
            predicted: 0.5,
            interval: Some(Range {
                low: 0.4,
                high: 0.7,
            }),
            measured: 0.6,
        };
        assert_eq!(gain.holds(), Some(true));
        assert!((gain.ratio() - 1.5 / 1.6).abs() < 1e-9);
        assert!(
            gain.half_width()
                .is_some_and(|width| (width - 0.3).abs() < 1e-9)
        );
        let missed = Gain {
            measured: 4.0,
            ..gain
        };
        assert_eq!(missed.holds(), Some(false));
        assert_eq!(
            in_words(&missed),
            "predicted +50 % (+40 % to +70 %), measured +400 %, ratio of throughputs 0.30"
        );
        let without = Gain {
            interval: None,
            ..gain
        };
        assert_eq!((without.holds(), without.half_width()), (None, None));
    }
}
