//! Predicted against measured: the first remedy of a right headline says what it would bring, and
//! `validate` took the cause away and measured it.
//!
//! A prediction is about its own run, and a slow disk or a busy machine is not equally slow on two days: what is
//! measured is the throughput without the cause, as a part of what the report says of the run.

use super::Row;
use crate::outcome::{Answer, Range};
use crate::print::say;
use crate::removal::Removal;
use crate::statistics::{Proportion, percentile};

/// Situations in which `validate` takes something else away than the first remedy says, and what.
const OTHERWISE: [(&str, &str); 9] = [
    ("client-bound", "the generator's work"),
    ("haproxy-client-bound", "the generator's work"),
    ("redis-script", "the thread's work"),
    ("node-blocked-loop", "the thread's work"),
    ("python-sleeping-loop", "the thread's sleep"),
    ("mariadb-flush-and-neighbour", "both causes"),
    ("redis-aof-and-far", "both causes"),
    ("python-service-and-neighbour", "both causes"),
    ("quota-over-mutex", "both causes"),
];

/// Two gains of one run, as shares of its throughput: 0.5 is +50 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    predicted: f64,
    /// The interval that the report prints, where it prints one.
    interval: Option<Range>,
    measured: f64,
    /// The same of the throughput that `validate` measured with the cause.
    at_validation: f64,
}

impl Gain {
    /// `None` where the report predicts nothing in throughput, or what was removed is something else than what the
    /// remedy says.
    pub fn of(scenario: &str, answer: &Answer, removal: &Removal) -> Option<Self> {
        let prediction = answer.predictions.first()?;
        let with = prediction.with.unwrap_or(removal.with.throughput);
        let is_other = OTHERWISE.iter().any(|(name, _)| *name == scenario);
        (!is_other).then(|| Self {
            predicted: prediction.gain,
            interval: prediction.interval,
            measured: removal.without.throughput / with - 1.0,
            at_validation: removal.gain(),
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
    for (name, what) in OTHERWISE {
        if rows
            .iter()
            .any(|row| row.scenario == name && row.removal.is_some())
        {
            say!("{name:24}  not compared: validate takes {what} away, not what the remedy does");
        }
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
    let holds = match gain.holds() {
        None => "",
        Some(true) => ", inside",
        Some(false) => ", outside",
    };
    format!(
        "predicted {}{interval}, measured {}{holds}, ratio of throughputs {:.2}; {} of that with the cause in validate",
        percent(gain.predicted),
        percent(gain.measured),
        gain.ratio(),
        percent(gain.at_validation)
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
            at_validation: 0.5,
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
            "predicted +50 % (+40 % to +70 %), measured +400 %, outside, ratio of \
             throughputs 0.30; +50 % of that with the cause in validate"
        );
        let without = Gain {
            interval: None,
            ..gain
        };
        assert_eq!((without.holds(), without.half_width()), (None, None));
    }
}
