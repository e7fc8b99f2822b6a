//! What a run of an experiment says, and the order in which they are made.

use std::path::Path;

use analysis::compare::Measured;
use analysis::stats::Xorshift;

use crate::part::Part;
use crate::{open_recording, outputs};

/// Under this, a run is mostly its start and its end.
const LEAST_STEADY_S: f64 = 0.5;

/// Measures a recording; else why it does not count: a clause.
pub(crate) fn measured(path: &Path, round: u32) -> Result<Measured, String> {
    let opened = open_recording::to_judge(Some(path), &Part::default());
    let opened = opened.map_err(|error| {
        let why = outputs::sentence(&error);
        format!("its recording cannot be read: {why}")
    })?;
    let recording = opened.recording;
    if let Some(damage) = recording.damage.first() {
        return Err(format!("its recording is damaged: {damage}"));
    }
    let name = open_recording::short_name(path);
    let measured = Measured::of(name, &recording.timeline, &recording.meta);
    let steady = measured.steady_for_s();
    if steady < LEAST_STEADY_S {
        return Err(format!("only {steady:.1} s of it were steady"));
    }
    Ok(measured.in_round(round))
}

/// The same of a run that is compared as if alone.
pub(crate) fn measured_alone(path: &Path, round: u32) -> Result<Measured, String> {
    let measured = measured(path, round)?;
    match measured.uncorrectable() {
        Some(why) => Err(why.to_owned()),
        None => Ok(measured),
    }
}

/// The order of the commands in a round, the same for the same seed (Fisher and Yates; Durstenfeld 1964).
pub(crate) fn order(seed: u64, round: u32, arms: usize) -> Vec<usize> {
    // Seeds next to each other begin alike.
    const APART: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut random = Xorshift::new(seed ^ u64::from(round).wrapping_mul(APART));
    for _ in 0..8 {
        random.draw();
    }
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_every_command_once_and_orders_are_evenly_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for round in 1..=6_000 {
            let own = order(77, round, 3);
            let mut sorted = own.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            assert_eq!(own, order(77, round, 3), "the same again");
            *seen.entry(own).or_insert(0) += 1;
        }
        // Binomial(6000, 1/6) is within 1000 +- 130 but in one draw of 100,000.
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|it| (870..1_130).contains(it)),
            "{seen:?}"
        );
        assert_ne!(
            (1..20).map(|it| order(1, it, 2)).collect::<Vec<_>>(),
            (1..20).map(|it| order(2, it, 2)).collect::<Vec<_>>()
        );
    }
}
