//! Who ran in each bin, by the samples of the clock.

use analysis::stacks::{cpu_samples, process_of};
use model::{Column, Quality, Role, Timeline, Unit};

use super::super::entities::Places;
use super::super::tables::Written;
use super::{Bins, Grid, LENGTH, table};

static COLUMNS: &[Column] = &[
    LENGTH,
    Column::gauge(
        "target_ns",
        Unit::Nanoseconds,
        "CPU time that the samples of target and dependencies stand for.",
        "table cpu_sample",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "generator_ns",
        Unit::Nanoseconds,
        "The same of the load generator.",
        "table cpu_sample",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "others_ns",
        Unit::Nanoseconds,
        "The same of everybody else but the recorder.",
        "table cpu_sample",
    )
    .quality(Quality::Sampled),
];

/// CPU time by bin; nothing of a recording without samples.
pub(super) fn write(timeline: &Timeline, grid: &Grid, places: &mut Places<'_>) -> Option<Written> {
    let mut bins = Bins::<3>::new();
    for sample in cpu_samples(timeline, timeline.window) {
        let role = process_of(timeline, sample.entity).map_or(Role::Background, |it| it.role);
        let sums = bins.entry(grid.number(sample.at)).or_default();
        let sum = match role {
            Role::Target | Role::Dependency => &mut sums[0],
            Role::Generator => &mut sums[1],
            Role::Background => &mut sums[2],
            // It is not counted, but says that samples were taken.
            Role::Recorder => continue,
        };
        *sum = sum.saturating_add(sample.cpu_ns);
    }
    let help = "Who ran on the CPUs, bin by bin; between the first and the last row, nothing but the recorder was found \
                running in a bin without one.";
    let table = table("on_cpu", help, COLUMNS);
    (!bins.is_empty())
        .then(|| grid.written(table, bins, timeline, places))
        .flatten()
}
