//! Who ran in each 20 ms, by the samples of the clock: for heat maps, which look for what repeats.

use std::collections::BTreeMap;

use analysis::stacks::{cpu_samples, process_of};
use model::{
    Column, EntityKind, PageForm, Quality, Role, RowKind, Table, TableData, Timeline, Timestamp,
    Unit,
};

use super::entities::Places;
use super::rows;
use super::tables::{Written, described};

/// A bin, ns: at the usual rate a CPU has one sample in it.
const FINEST_NS: i64 = 20_000_000;
/// Bins of a page, at most: half an hour. A longer recording has bins of twice the length, or more.
const MOST_BINS: f64 = 90_000.0;

static COLUMNS: &[Column] = &[
    Column::gauge(
        "bin_ns",
        Unit::Nanoseconds,
        "How long the bin is, from the row's time on; between the first and the last row, nothing but the recorder was \
         found running in a bin without one.",
        "the page",
    ),
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
pub(super) fn write(
    timeline: &Timeline,
    origin: Timestamp,
    part: f64,
    places: &mut Places<'_>,
) -> Option<Written> {
    let machine = timeline.entities.machine()?.id;
    let mut bin_ns = FINEST_NS;
    while timeline.window.len_ns() as f64 / bin_ns as f64 > (MOST_BINS * part).max(1.0) {
        bin_ns *= 2;
    }
    let mut bins: BTreeMap<i64, [i64; 3]> = BTreeMap::new();
    for sample in cpu_samples(timeline, timeline.window) {
        let role = process_of(timeline, sample.entity).map_or(Role::Background, |it| it.role);
        let bin = sample.at.ns_since(origin).div_euclid(bin_ns);
        let sums = bins.entry(bin).or_default();
        let sum = match role {
            Role::Target | Role::Dependency => &mut sums[0],
            Role::Generator => &mut sums[1],
            Role::Background => &mut sums[2],
            // It is not counted, but says that samples were taken.
            Role::Recorder => continue,
        };
        *sum = sum.saturating_add(sample.cpu_ns);
    }
    if bins.is_empty() {
        return None;
    }
    let table = Table::new(
        "on_cpu",
        EntityKind::Machine,
        "Who ran on the CPUs, bin by bin.",
        COLUMNS,
    )
    .rows(RowKind::Events);
    let mut data = TableData::new(table);
    for (bin, [target, generator, others]) in bins {
        let at = origin + bin * bin_ns;
        data.push(at, machine, &[bin_ns, target, generator, others]);
    }
    Some(Written {
        table: described(&data.table, PageForm::Rows, 0),
        numbers: rows::write(&data, origin, 1.0, places),
    })
}
