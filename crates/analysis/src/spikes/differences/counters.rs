//! What counters say of spikes: of processes, groups, connections, disks, the kernel, and what applications count.

use std::collections::BTreeMap;

use model::{
    Column, ColumnKind, EntityId, EntityKind, MeasureKind, Role, Series, TableData, Timeline,
};

use super::{Measure, Pair, rates};
use crate::spikes::events::{COUNTED, services};
use crate::statements;

/// Counters that are added up: of whom, which tables and columns, and what their growth is called.
struct Family {
    kind: MeasureKind,
    table: &'static str,
    columns: &'static [&'static str],
    what: &'static str,
}

const fn family(
    kind: MeasureKind,
    table: &'static str,
    columns: &'static [&'static str],
    what: &'static str,
) -> Family {
    Family {
        kind,
        table,
        columns,
        what,
    }
}

const OF_PROCESSES: [Family; 3] = [
    family(
        MeasureKind::Cpu,
        "process",
        &["user_ns", "system_ns"],
        "on CPU",
    ),
    family(
        MeasureKind::Disk,
        "process",
        &["read_bytes"],
        "read from disk",
    ),
    family(
        MeasureKind::Disk,
        "process",
        &["write_bytes"],
        "written to disk",
    ),
];
const OF_FLOWS: [Family; 4] = [
    family(MeasureKind::Traffic, "flow", &["requests"], "requests"),
    family(
        MeasureKind::Traffic,
        "flow",
        &["opened"],
        "connections opened",
    ),
    family(MeasureKind::Traffic, "flow", &["sends"], "sends"),
    family(
        MeasureKind::Traffic,
        "flow",
        &["sent_bytes", "received_bytes"],
        "sent and received",
    ),
];
const OF_GROUPS: [Family; 2] = [
    family(MeasureKind::Group, "cgroup_cpu", &["usage_ns"], "on CPU"),
    family(
        MeasureKind::Group,
        "cgroup_cpu",
        &["throttled_ns"],
        "throttled by its CPU quota",
    ),
];
const OF_DISKS: [Family; 4] = [
    family(
        MeasureKind::Disk,
        "disk",
        &["reads", "writes"],
        "operations",
    ),
    family(
        MeasureKind::Disk,
        "disk",
        &["read_bytes", "write_bytes"],
        "read and written",
    ),
    family(MeasureKind::Disk, "disk", &["busy_ns"], "busy"),
    family(
        MeasureKind::Disk,
        "disk",
        &["queue_ns"],
        "operations at a time",
    ),
];
/// Statements that are compared, those with most time: each further measure raises the bar for all.
const MOST_STATEMENTS: usize = 50;
const OF_STATEMENTS: [Family; 1] = [family(
    MeasureKind::Statement,
    "statement",
    &[
        "on_cpu_ns",
        "queued_rest_ns",
        "queued_target_ns",
        "queued_generator_ns",
        "queued_nobody_ns",
        "memory_ns",
        "disk_ns",
        "sync_ns",
        "lock_ns",
        "internal_lock_ns",
        "client_ns",
        "other_ns",
    ],
    "time of the statement",
)];
/// Tables of the machine's own counters.
const OF_KERNEL: [&str; 7] = [
    "paging", "tcp", "softnet", "network", "load", "pressure", "cpu",
];

/// All of them.
pub(super) fn measures(timeline: &Timeline, pairs: &[Pair]) -> Vec<Measure> {
    let records = |kind| timeline.entities.of_kind(kind);
    let mut processes: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
    for process in records(EntityKind::Process).filter(|it| it.role != Role::Recorder) {
        let own = processes.entry(process.entity.name.clone());
        own.or_default().push(process.id);
    }
    let flows = services(timeline);
    let each = |kind| -> BTreeMap<String, Vec<EntityId>> {
        let own = records(kind).map(|it| (it.entity.path.clone(), vec![it.id]));
        own.collect()
    };
    let (groups, disks) = (each(EntityKind::Cgroup), each(EntityKind::Disk));
    let statements = longest(timeline);
    let mut found = Vec::new();
    for (owners, families) in [
        (&processes, &OF_PROCESSES[..]),
        (&flows, &OF_FLOWS[..]),
        (&groups, &OF_GROUPS[..]),
        (&disks, &OF_DISKS[..]),
        (&statements, &OF_STATEMENTS[..]),
    ] {
        for family in families {
            let own = owners.iter();
            found.extend(own.filter_map(|(name, ids)| family.measure(timeline, name, ids, pairs)));
        }
    }
    for table in OF_KERNEL {
        found.extend(table_measures(timeline, table, MeasureKind::Kernel, pairs));
    }
    for table in COUNTED {
        found.extend(table_measures(
            timeline,
            table,
            MeasureKind::Application,
            pairs,
        ));
    }
    found
}

/// The target's statements that took most time, by text; one text may have several ids.
fn longest(timeline: &Timeline) -> BTreeMap<String, Vec<EntityId>> {
    let total = |id| {
        let columns = OF_STATEMENTS[0].columns.iter();
        let series = columns.filter_map(|it| timeline.series("statement", id, it));
        let grown = series.filter_map(|it| it.growth(it.known()?));
        grown.sum::<f64>()
    };
    let all = statements::own(timeline).map(|it| (total(it.id), it));
    let mut all: Vec<_> = all.filter(|(total, _)| *total > 0.0).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    let mut by_text: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
    for (_, statement) in all.into_iter().take(MOST_STATEMENTS) {
        let own = by_text.entry(statement.entity.name.clone());
        own.or_default().push(statement.id);
    }
    by_text
}

impl Family {
    /// `None` where it does not grow.
    fn measure(
        &self,
        timeline: &Timeline,
        name: &str,
        owners: &[EntityId],
        pairs: &[Pair],
    ) -> Option<Measure> {
        let data = timeline.table(self.table)?;
        let unit = self.columns.iter().find_map(|it| column(data, it))?.unit;
        let series = owners.iter().flat_map(|owner| {
            let columns = self.columns.iter();
            columns.filter_map(|it| timeline.series(self.table, *owner, it))
        });
        Some(Measure {
            kind: self.kind,
            who: name.to_owned(),
            what: self.what.to_owned(),
            entity: (owners.len() == 1).then(|| owners[0]),
            unit,
            rates: grown(series.collect(), pairs)?,
            share: None,
            told: true,
        })
    }
}

fn column<'a>(data: &'a TableData, name: &str) -> Option<&'a Column> {
    data.table.columns.get(data.table.position(name)?)
}

/// Each counter of a table: of CPUs and interfaces all together, of series and processes each.
fn table_measures(
    timeline: &Timeline,
    table: &str,
    kind: MeasureKind,
    pairs: &[Pair],
) -> Vec<Measure> {
    let Some(data) = timeline.table(table) else {
        return Vec::new();
    };
    let entities: Vec<EntityId> = data.entities().collect();
    let owners: Vec<(String, Vec<EntityId>)> = match kind {
        MeasureKind::Kernel => vec![(table.to_owned(), entities)],
        _ => entities
            .into_iter()
            .filter_map(|id| {
                let record = timeline.entities.get(id)?;
                Some((record.entity.name.clone(), vec![id]))
            })
            .collect(),
    };
    let counters = data.table.columns.iter();
    let counters = counters.filter(|it| it.kind == ColumnKind::Counter && !is_idle(&it.name));
    let measures = counters.flat_map(|column| {
        owners.iter().filter_map(|(who, ids)| {
            let series = ids
                .iter()
                .filter_map(|it| timeline.series(table, *it, &column.name));
            Some(Measure {
                kind,
                who: who.clone(),
                what: column.name.to_string(),
                entity: (ids.len() == 1).then(|| ids[0]),
                unit: column.unit,
                rates: grown(series.collect(), pairs)?,
                share: None,
                told: true,
            })
        })
    });
    measures.collect()
}

/// An idle CPU explains nothing.
fn is_idle(column: &str) -> bool {
    matches!(column, "idle_ns" | "iowait_ns")
}

/// How fast some counters grow together in each pair; `None` where they hardly do.
fn grown(series: Vec<Series<'_>>, pairs: &[Pair]) -> Option<Vec<[f64; 2]>> {
    let mut sums = vec![[0.0; 2]; pairs.len()];
    for series in series {
        if !series
            .known()
            .is_some_and(|it| series.growth(it) > Some(0.0))
        {
            continue;
        }
        for (sum, pair) in sums.iter_mut().zip(pairs) {
            sum[0] += series.growth(pair.around).unwrap_or(0.0);
            sum[1] += series.growth(pair.calm).unwrap_or(0.0);
        }
    }
    if sums.iter().flatten().all(|it| *it <= 0.0) {
        return None;
    }
    let each = sums.iter().zip(pairs);
    Some(
        each.map(|([around, calm], pair)| rates(pair, *around, *calm))
            .collect(),
    )
}
