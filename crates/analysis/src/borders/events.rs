//! What was set, or came and went, at a border: limits, processes, marks. These are facts and no matter of noise.

use std::collections::BTreeMap;

use model::{
    EntityId, EntityKind, MISSING, Mark, PhaseDifference, Role, Timeline, Timestamp, Window,
};

use super::measures::Side;
use crate::number_format::{bound, count, rate, storage};
use crate::scene::Roles;
use crate::thresholds::THROTTLED_TIME;

/// What a change of a group's CPU quota is called.
pub(super) const CPU_LIMIT: &str = "limit.cpu";
/// Marks so near are about the border, ns.
const MARKED_NS: i64 = 10_000_000_000;
/// Processes that came or went so near have to do with it, ns.
const NEAR_NS: i64 = 3_000_000_000;
/// Part of the machine's CPUs that they must use.
const LEAST_CPUS: f64 = 0.1;
/// From this part on a limit on I/O is felt.
const FULL: f64 = 0.8;

/// What people marked near a border.
pub(super) fn marks(timeline: &Timeline, at: Timestamp) -> Vec<Mark> {
    /// More than these tell nothing of one instant.
    const MOST: usize = 3;
    let near = timeline.marks.iter();
    let near = near.filter(|mark| mark.at.ns_since(at).saturating_abs() <= MARKED_NS);
    near.take(MOST).cloned().collect()
}

/// The target's groups, and those above them.
#[derive(Clone, Copy)]
pub(super) struct Limited<'a> {
    /// Where CPU is limited.
    pub(super) cpu: &'a [EntityId],
    /// Where I/O is limited.
    pub(super) io: &'a [EntityId],
}

impl<'a> Limited<'a> {
    /// The target's.
    pub(super) fn of(roles: &'a Roles<'_>) -> Self {
        Self {
            cpu: &roles.cpu_groups.all,
            io: &roles.io_groups.all,
        }
    }
}

/// Limits of groups that were felt in one of two windows of a machine with so many CPUs, and are others in the second.
pub(super) fn limits(
    timeline: &Timeline,
    groups: Limited<'_>,
    windows: [Window; 2],
    cpus: f64,
) -> Vec<PhaseDifference> {
    let of_cpus = groups.cpu.iter();
    let mut found: Vec<PhaseDifference> = of_cpus
        .filter_map(|group| cpu_limit(timeline, *group, windows, cpus))
        .collect();
    let parts = disks_of(timeline, groups);
    found.extend(parts.flat_map(|part| io_limits(timeline, part, windows)));
    found
}

/// The groups, each on each disk.
fn disks_of(timeline: &Timeline, groups: Limited<'_>) -> impl Iterator<Item = EntityId> {
    let parts = timeline.entities.of_kind(EntityKind::GroupDisk);
    let parts = parts.filter(move |part| part.parent.is_some_and(|it| groups.io.contains(&it)));
    parts.map(|part| part.id)
}

/// When a limit of the target's groups that was felt became another one, in the order of time: what holds the target
/// back is another thing since, whether or not throughput shows it. None where limits change all the time.
pub(crate) fn limits_set(roles: &Roles<'_>) -> Vec<Timestamp> {
    let cpus = f64::from(roles.meta.cpus.max(1));
    set_at(roles.timeline, Limited::of(roles), cpus)
}

/// When limits that were felt on a machine with so many CPUs became others.
pub(super) fn set_at(timeline: &Timeline, groups: Limited<'_>, cpus: f64) -> Vec<Timestamp> {
    /// More are somebody's policy, and no phases.
    const MOST_SET: usize = 6;
    let quotas = groups.cpu.iter();
    let quotas =
        quotas.flat_map(|it| changed(timeline, "cgroup_limit", *it, &["quota_ns", "period_ns"]));
    let allowed = IO.map(|(_, _, allowed)| allowed);
    let rates = disks_of(timeline, groups);
    let rates = rates.flat_map(|it| changed(timeline, "cgroup_io", it, &allowed));
    let whole = timeline.window;
    let mut times: Vec<Timestamp> = quotas
        .chain(rates)
        .filter(|it| whole.start < *it && *it < whole.end)
        .collect();
    times.sort_unstable();
    // Limits that are set one after another are one change.
    times.dedup_by(|later, earlier| later.ns_since(*earlier) < NEAR_NS);
    if times.len() > MOST_SET {
        return Vec::new();
    }
    let edges: Vec<Timestamp> = [whole.start]
        .into_iter()
        .chain(times)
        .chain([whole.end])
        .collect();
    let is_felt = |it: &&[Timestamp]| {
        let windows = [Window::new(it[0], it[1]), Window::new(it[1], it[2])];
        !limits(timeline, groups, windows, cpus).is_empty()
    };
    edges.windows(3).filter(is_felt).map(|it| it[1]).collect()
}

/// When any of these columns of an entity had another value than before.
fn changed(timeline: &Timeline, table: &str, entity: EntityId, columns: &[&str]) -> Vec<Timestamp> {
    let Some(data) = timeline.table(table) else {
        return Vec::new();
    };
    let columns: Vec<usize> = columns
        .iter()
        .filter_map(|it| data.table.position(it))
        .collect();
    let rows: Vec<usize> = data
        .rows_of(entity)
        .into_iter()
        .flatten()
        .map(|row| *row as usize)
        .collect();
    let differs = |pair: &&[usize]| {
        let values = |row: usize| columns.iter().map(move |column| data.value(row, *column));
        !values(pair[0]).eq(values(pair[1]))
    };
    rows.windows(2)
        .filter(differs)
        .map(|pair| data.key(pair[1]).0)
        .collect()
}

/// The values of a row's columns in the middle of a window, a missing one as `None`: a limit is missing where there is
/// none. `None` without a row.
fn in_the_middle<const N: usize>(
    timeline: &Timeline,
    table: &str,
    entity: EntityId,
    columns: [&str; N],
    window: Window,
) -> Option<[Option<f64>; N]> {
    let data = timeline.table(table)?;
    let rows = data.rows_of(entity)?;
    let middle = window.start + window.len_ns() / 2;
    let passed = rows.partition_point(|row| data.key(*row as usize).0 <= middle);
    let row = *rows.get(passed.checked_sub(1)?)? as usize;
    Some(columns.map(|column| {
        let value = data.value(row, data.table.position(column)?);
        (value != MISSING).then_some(value as f64)
    }))
}

fn cpu_limit(
    timeline: &Timeline,
    group: EntityId,
    windows: [Window; 2],
    cpus: f64,
) -> Option<PhaseDifference> {
    let quota = |window: Window| {
        let columns = ["quota_ns", "period_ns"];
        let [quota, period] = in_the_middle(timeline, "cgroup_limit", group, columns, window)?;
        // A row without a period is of a group whose quota is not known.
        let period = period.filter(|it| *it > 0.0)?;
        Some(quota.map(|quota| quota / period))
    };
    let (was, is) = (quota(windows[0])?, quota(windows[1])?);
    let throttled = |window: Window| {
        let series = timeline.series("cgroup_cpu", group, "throttled_ns")?;
        Some(series.rate(window)? / 1e9 / cpus)
    };
    let felt = windows.into_iter().filter_map(throttled);
    let felt = felt.fold(0.0, f64::max) >= THROTTLED_TIME.value();
    let entity = &timeline.entities.get(group)?.entity;
    let name = &entity.path;
    let sentence = match (was, is) {
        (Some(was), None) => format!("The CPU quota of {name} ({} CPUs) was lifted.", bound(was)),
        (None, Some(is)) => format!("{name} got a CPU quota of {} CPUs.", bound(is)),
        (Some(was), Some(is)) => format!(
            "The CPU quota of {name} was changed from {} to {} CPUs.",
            bound(was),
            bound(is)
        ),
        (None, None) => return None,
    };
    (felt && was != is).then(|| PhaseDifference {
        what: CPU_LIMIT.to_owned(),
        column: "cgroup_limit.quota_ns".to_owned(),
        entity: entity.clone(),
        unit: "cpus".to_owned(),
        before: was,
        after: is,
        sentence,
    })
}

/// Columns of `cgroup_io`: (what may be done, used, allowed).
const IO: [(&str, &str, &str); 4] = [
    ("read", "read_bytes", "limit_read_bytes"),
    ("write", "write_bytes", "limit_write_bytes"),
    ("read", "reads", "limit_reads"),
    ("write", "writes", "limit_writes"),
];

fn io_limits(timeline: &Timeline, part: EntityId, windows: [Window; 2]) -> Vec<PhaseDifference> {
    let changed = |(verb, used, allowed): (&str, &str, &str)| {
        let at = |window| in_the_middle(timeline, "cgroup_io", part, [allowed], window);
        let ([was], [is]) = (at(windows[0])?, at(windows[1])?);
        let full = |(limit, window): (Option<f64>, Window)| {
            let rate = timeline.series("cgroup_io", part, used)?.rate(window)?;
            Some(rate / limit.filter(|it| *it > 0.0)?)
        };
        let sides = [was, is].into_iter().zip(windows);
        let felt = sides.filter_map(full).fold(0.0, f64::max) >= FULL;
        let group = timeline
            .entities
            .get(timeline.entities.get(part)?.parent?)?;
        let name = &group.entity.path;
        let in_bytes = used.ends_with("bytes");
        let amount = |limit: f64| match in_bytes {
            true => format!("{}/s", storage(limit)),
            false => format!("{} times per second", rate(limit)),
        };
        let sentence = match (was, is) {
            (Some(was), None) => format!(
                "The limit of {name}, to {verb} {}, was lifted.",
                amount(was)
            ),
            (None, Some(is)) => format!("{name} may {verb} {} at most since then.", amount(is)),
            (Some(was), Some(is)) => format!(
                "{name} may {verb} {} at most instead of {}.",
                amount(is),
                amount(was)
            ),
            (None, None) => return None,
        };
        (felt && was != is).then(|| PhaseDifference {
            what: "limit.io".to_owned(),
            column: format!("cgroup_io.{allowed}"),
            entity: group.entity.clone(),
            unit: if in_bytes {
                "bytes_per_second"
            } else {
                "per_second"
            }
            .to_owned(),
            before: was,
            after: is,
            sentence,
        })
    };
    IO.into_iter().filter_map(changed).collect()
}

/// Other processes that came or went near the border and use the CPUs, by name, most first.
pub(super) fn processes(timeline: &Timeline, before: &Side, after: &Side) -> Vec<PhaseDifference> {
    let at = after.window.start;
    let near = |time: Timestamp| time.ns_since(at).saturating_abs() <= NEAR_NS;
    // Who was there when the recording began did not come then.
    let began = |time: Timestamp| near(time) && time.ns_since(timeline.window.start) > NEAR_NS;
    let used = |id: EntityId, side: &Side| {
        let of = |column| timeline.series("process", id, column)?.growth(side.window);
        Some((of("user_ns")? + of("system_ns")?) / side.window.len_ns().max(1) as f64)
    };
    let mut named: BTreeMap<(bool, &str), (f64, u32, EntityId)> = BTreeMap::new();
    for process in timeline.entities.of_kind(EntityKind::Process) {
        let came = began(process.first_seen);
        let went = process.vanished.is_some_and(near);
        // Who came and went at once was no part of either phase.
        if process.role != Role::Background || came == went {
            continue;
        }
        let side = if came { after } else { before };
        if let Some(cpus) = used(process.id, side) {
            let own = (0.0, 0, process.id);
            let sum = named.entry((came, &process.entity.name)).or_insert(own);
            (sum.0, sum.1) = (sum.0 + cpus, sum.1 + 1);
        }
    }
    let mut all: Vec<_> = named.into_iter().collect();
    all.retain(|(_, (cpus, ..))| *cpus >= LEAST_CPUS * after.cpus);
    all.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
    let told = |((came, name), (cpus, many, id)): ((bool, &str), (f64, u32, EntityId))| {
        let who = match many {
            1 => name.to_owned(),
            many => format!("{name} ({})", count(many, "process")),
        };
        let amount = bound(cpus);
        let (before, after, sentence) = match came {
            true => (0.0, cpus, format!("{who} started and used {amount} CPUs.")),
            false => (
                cpus,
                0.0,
                format!("{who} ended, having used {amount} CPUs."),
            ),
        };
        Some(PhaseDifference {
            what: "process".to_owned(),
            column: "process.user_ns, process.system_ns".to_owned(),
            entity: timeline.entities.get(id)?.entity.clone(),
            unit: "cpus".to_owned(),
            before: Some(before),
            after: Some(after),
            sentence,
        })
    };
    all.into_iter().filter_map(told).collect()
}
