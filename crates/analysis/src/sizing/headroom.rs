//! Headroom by the demand that several loads tell: it leaves out what is busy without requests.

use model::{Interval, ScalingEstimate, SizedConfiguration, SizingEstimate, Sweep};

use super::axes::Axes;
use super::demands::{at_loads, full_at};
use crate::compare::used;

/// Sets the headroom of configurations whose CPUs are nearest to full, where at least three loads of repeated runs say at
/// which throughput these are full.
pub(super) fn of_demand(sweep: &Sweep, axes: &Axes, configurations: &mut [SizedConfiguration]) {
    let mut known: Vec<(Vec<String>, Option<ScalingEstimate>)> = Vec::new();
    for it in configurations {
        let own = axes.without_load(&it.values);
        if known.last().is_none_or(|(values, _)| *values != own) {
            let full = full_at(&at_loads(sweep, axes, &own));
            known.push((own, full));
        }
        // What a lock holds back has none, however idle its CPUs are.
        let has_one = it.headroom.is_some();
        let is_cpus = it.nearest.as_ref().is_some_and(|it| it.key == used::CPUS);
        let full = known
            .last()
            .and_then(|it| it.1)
            .filter(|_| is_cpus && has_one);
        if let Some((full, throughput)) = full.zip(it.throughput) {
            it.headroom = Some(times(full, throughput.value));
        }
    }
}

/// What was reached is possible.
fn times(full: ScalingEstimate, throughput: f64) -> SizingEstimate {
    let of = |full: f64| (full / throughput).max(1.0);
    SizingEstimate {
        value: of(full.value),
        interval: Some(Interval {
            low: of(full.interval.low),
            high: of(full.interval.high),
        }),
    }
}
