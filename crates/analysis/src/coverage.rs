//! Where switches and wake-ups were counted in on-windows only: what these stand for.
//!
//! A recording has raw counts, and the on-windows beside them (table `coverage`). Here, once, and nowhere below, the
//! counts become those of all the time. How long a thread ran and waited for a CPU is not estimated: the kernel's own
//! counters say that at any time. What its waits for a CPU were spent behind, and in what it was blocked for the
//! rest, is shared out as it was in the on-windows on both sides. All other counters go on through an off-window as
//! fast as in those.

use std::collections::BTreeSet;

use model::{
    ColumnKind, Cursor, EntityId, MISSING, Series, Table, TableData, ThreadTimeClass, Timeline,
    Timestamp, Window,
};
use sensors::pressure;
use sensors::stall::{CGROUP_STALL, COUNTED_CGROUP_PRESSURE, COUNTED_CGROUP_STALL};
use sensors::thread_time::{CLASSES, HOLDERS, THREAD_TIME};
use sensors::{CALL_COVERAGE, COVERAGE, RECORDER, THREAD_TIME_COVERAGE};

/// Less of a window than this in off-windows changes no figure.
const WORTH_SAYING: f64 = 0.01;
/// An interval between two rows counts as an off-window when less of it is covered.
const OFF: f64 = 0.01;
/// And less than this, ns: of seconds even a part of 1 % is an on-window.
const OFF_NS: f64 = 1e6;
/// And as covered wholly when at least as much of it is.
const ON: f64 = 0.99;

/// After so long at most the recorder has noticed that tracing slows the load.
const NOTICED_NS: i64 = 1_000_000_000;
/// Where a recording ends so soon after an on-window, no off-window has begun: its last reading takes a moment.
const END_NS: i64 = 50_000_000;

/// Columns of `thread_time`: where a thread is when it is on no CPU and waits for none.
const ON_CPU: usize = ThreadTimeClass::OnCpu as usize;
const THROTTLED: usize = ThreadTimeClass::Throttled as usize;
const BLOCKED: std::ops::Range<usize> = THROTTLED + 1..CLASSES;
const UNKNOWN: usize = ThreadTimeClass::Unknown as usize;
const QUEUED: std::ops::Range<usize> = CLASSES..CLASSES + HOLDERS;
const TIMES: usize = CLASSES + HOLDERS;
/// And behind those times.
const CAUSED: usize = TIMES;
const HIDDEN: usize = TIMES + 1;
const SLICES: usize = TIMES + 2;

/// The part of a window in which switches and wake-ups were not counted, where that is worth saying.
pub(crate) fn off_part(timeline: &Timeline, window: Window) -> Option<f64> {
    let off = match thread_time(timeline) {
        Some(covered) => {
            let known = covered.covered(window)?;
            1.0 - covered.growth(known)? / known.len_ns() as f64
        }
        // Up to format 3 what an on-window counted was multiplied before it was written.
        None => {
            let recorder = timeline.entities.machine()?;
            let detached = timeline.series(&RECORDER.name, recorder.id, "detached_ns")?;
            detached.growth(window)? / window.len_ns() as f64
        }
    };
    Some(off.min(1.0)).filter(|part| *part > WORTH_SAYING)
}

/// The part of a window in which calls at UDP and unix sockets were counted, where that is not all of it.
pub(crate) fn part_of_calls(timeline: &Timeline, window: Window) -> Option<f64> {
    let machine = timeline.entities.machine()?.id;
    let covered = timeline.series(&COVERAGE.name, machine, CALL_COVERAGE)?;
    let known = covered.covered(window)?;
    let part = covered.growth(known)? / known.len_ns() as f64;
    Some(part).filter(|part| 1.0 - *part > WORTH_SAYING)
}

/// The on-windows in a window, without the parts of those at its ends: n of all that is estimated from them.
pub(crate) fn on_windows(timeline: &Timeline, window: Window) -> Vec<Window> {
    let Some(covered) = thread_time(timeline) else {
        return Vec::new();
    };
    let mut windows: Vec<Window> = Vec::new();
    let rows: Vec<_> = covered.values_in(window).collect();
    for pair in rows.windows(2) {
        let between = Window::new(pair[0].0, pair[1].0);
        let covered_ns = pair[1].1.saturating_sub(pair[0].1);
        if (covered_ns as f64) < ON * between.len_ns() as f64 {
            continue;
        }
        match windows.last_mut() {
            Some(last) if last.end == between.start => last.end = between.end,
            _ => windows.push(between),
        }
    }
    windows
}

/// What of a window came just before tracing gave way to on-windows: what was timed there took longer for it. (Under
/// on-windows requests are timed while nothing else is traced.)
pub(crate) fn before_off_windows(timeline: &Timeline, window: Window) -> Vec<Window> {
    let ends = |it: &Window| timeline.window.end.ns_since(it.end) > END_NS;
    on_windows(timeline, timeline.window)
        .into_iter()
        .filter(ends)
        .map(|it| Window::new(it.start.max(it.end - NOTICED_NS), it.end))
        .filter_map(|it| it.intersect(window))
        .collect()
}

fn thread_time(timeline: &Timeline) -> Option<Series<'_>> {
    let recorder = timeline.entities.machine()?;
    timeline.series(&COVERAGE.name, recorder.id, THREAD_TIME_COVERAGE)
}

/// Makes what was counted in on-windows that of all the time.
pub(crate) fn estimate(timeline: &mut Timeline) {
    let covered: Vec<String> = timeline
        .tables()
        .filter(|data| !data.table.covered_by.is_empty())
        .map(|data| data.table.name.to_string())
        .collect();
    for name in covered {
        if let Some(rows) = timeline.table(&name).and_then(|it| estimated(timeline, it)) {
            timeline.insert(rows);
        }
    }
    // Groups without pressure of the kernel's are judged and shown as those with it.
    merge(timeline, &COUNTED_CGROUP_PRESSURE, pressure::CGROUP.table);
    merge(timeline, &COUNTED_CGROUP_STALL, &CGROUP_STALL);
}

/// The table as of all the time; `None` where nothing of it is missing.
fn estimated(timeline: &Timeline, data: &TableData) -> Option<TableData> {
    let machine = timeline.entities.machine()?.id;
    let covered = timeline.series(&COVERAGE.name, machine, &data.table.covered_by)?;
    let counters: Vec<usize> = (0..data.table.columns.len())
        .filter(|column| data.table.columns[*column].kind == ColumnKind::Counter)
        .collect();
    let mut rows = TableData::new(data.table.clone());
    let mut any = false;
    for entity in data.entities() {
        let mut own: Vec<Row> = data
            .rows_of(entity)?
            .iter()
            .map(|row| Row {
                time: data.key(*row as usize).0,
                values: data.row(*row as usize).collect(),
            })
            .collect();
        let mut intervals = intervals(&own, &covered);
        if intervals.iter().any(|it| !it.is_on()) {
            any = true;
            let thread = (*data.table.name == *THREAD_TIME.name)
                .then(|| Scheduler::of(timeline, entity))
                .flatten();
            match thread {
                Some(scheduler) => scheduler.share_out(&mut own, &intervals),
                None => {
                    give_back(&mut intervals, &counters);
                    scale(&mut own, &intervals, &counters);
                }
            }
        }
        for row in &own {
            rows.push(row.time, entity, &row.values);
        }
    }
    any.then_some(rows)
}

struct Row {
    time: Timestamp,
    values: Vec<i64>,
}

/// The time between two rows of an entity.
struct Interval {
    window: Window,
    covered_ns: f64,
    /// How much each column grew.
    grown: Vec<f64>,
}

impl Interval {
    fn is_off(&self) -> bool {
        self.covered_ns <= (OFF * self.window.len_ns() as f64).min(OFF_NS)
    }

    /// A damaged recording may go back in time: nothing can be shared out there.
    fn is_on(&self) -> bool {
        self.window.len_ns() <= 0 || self.covered_ns >= ON * self.window.len_ns() as f64
    }
}

fn intervals(rows: &[Row], covered: &Series<'_>) -> Vec<Interval> {
    let mut covered = covered.cursor();
    let mut at = |time| covered.counter_at(time);
    let mut before = rows.first().and_then(|row| at(row.time));
    rows.windows(2)
        .map(|pair| {
            let window = Window::new(pair[0].time, pair[1].time);
            let until = at(pair[1].time);
            // Before the first edge everything was counted.
            let covered_ns = match (before, until) {
                (Some(before), Some(until)) => until - before,
                _ => window.len_ns() as f64,
            };
            before = until;
            let both = pair[0].values.iter().zip(&pair[1].values);
            let grown = both.map(|(from, to)| match (*from, *to) {
                (MISSING, _) | (_, MISSING) => 0.0,
                (from, to) => to.wrapping_sub(from) as f64,
            });
            Interval {
                window,
                covered_ns,
                grown: grown.collect(),
            }
        })
        .collect()
}

/// The intervals that an interval is estimated from: itself or, where nothing of it is covered, those on both sides
/// that are.
fn near(intervals: &[Interval], at: usize) -> impl Iterator<Item = &Interval> {
    let is_known = |it: &&Interval| !it.is_off();
    let own = Some(&intervals[at]).filter(is_known);
    let sides = match own {
        Some(_) => [None, None],
        None => [
            intervals[..at].iter().rev().find(is_known),
            intervals[at + 1..].iter().find(is_known),
        ],
    };
    own.into_iter().chain(sides.into_iter().flatten())
}

/// How much some columns grew in those, and how long of these was covered, ns.
fn known(intervals: &[Interval], at: usize, columns: &[usize]) -> (Vec<f64>, f64) {
    let mut sum = (vec![0.0; columns.len()], 0.0);
    for interval in near(intervals, at) {
        for (to, column) in sum.0.iter_mut().zip(columns) {
            *to += interval.grown[*column].max(0.0);
        }
        sum.1 += interval.covered_ns;
    }
    sum
}

/// What is counted at the exit of a thread may come in an off-window: it belongs to the on-window before, of which it
/// was counted.
fn give_back(intervals: &mut [Interval], counters: &[usize]) {
    for at in 1..intervals.len() {
        if !intervals[at].is_off() {
            continue;
        }
        let (before, own) = intervals.split_at_mut(at);
        let Some(on) = before.iter_mut().rev().find(|it| !it.is_off()) else {
            continue;
        };
        for column in counters {
            on.grown[*column] += std::mem::take(&mut own[0].grown[*column]);
        }
    }
}

/// Counters go on as fast as in the on-windows on both sides.
fn scale(rows: &mut [Row], intervals: &[Interval], counters: &[usize]) {
    let mut sums: Vec<f64> = counters
        .iter()
        .map(|column| rows[0].values[*column])
        .map(|value| if value == MISSING { 0.0 } else { value as f64 })
        .collect();
    for (at, interval) in intervals.iter().enumerate() {
        let (grown, covered_ns) = known(intervals, at, counters);
        let times = match interval.is_on() {
            true => 1.0,
            false if covered_ns > 0.0 => interval.window.len_ns() as f64 / covered_ns,
            false => 0.0,
        };
        let row = &mut rows[at + 1];
        for ((sum, grown), column) in sums.iter_mut().zip(grown).zip(counters) {
            *sum += grown * times;
            if row.values[*column] != MISSING {
                row.values[*column] = sum.round() as i64;
            }
        }
    }
}

/// The kernel's own counters of a thread.
struct Scheduler<'a> {
    run: Series<'a>,
    wait: Series<'a>,
}

impl<'a> Scheduler<'a> {
    fn of(timeline: &'a Timeline, thread: EntityId) -> Option<Self> {
        Some(Self {
            run: timeline.series("thread", thread, "run_ns")?,
            wait: timeline.series("thread", thread, "wait_ns")?,
        })
    }

    /// Run time and run-queue delay are the kernel's; reasons and holders as they were in on-windows.
    fn share_out(&self, rows: &mut [Row], intervals: &[Interval]) {
        let columns: Vec<usize> = (0..=SLICES).collect();
        let (mut run, mut wait) = (self.run.cursor(), self.wait.cursor());
        let mut sums: Vec<f64> = rows[0].values[..=SLICES]
            .iter()
            .map(|value| *value as f64)
            .collect();
        for (at, interval) in intervals.iter().enumerate() {
            let ns = interval.window.len_ns() as f64;
            let mut grown = interval.grown[..=SLICES].to_vec();
            if !interval.is_on() {
                let (seen, covered_ns) = known(intervals, at, &columns);
                let all = |cursor: &mut Cursor<'_>| {
                    let covered = cursor.series().covered(interval.window)?;
                    let part = covered.len_ns() as f64 / ns;
                    (part > 0.0).then(|| Some(cursor.growth(covered)? / part))?
                };
                let (Some(run_ns), Some(wait_ns)) = (all(&mut run), all(&mut wait)) else {
                    self.fill_with(&mut grown, &seen, covered_ns, ns);
                    add(&mut sums, &grown, &mut rows[at + 1]);
                    continue;
                };
                let hidden = hidden_part(intervals, at);
                let on_cpu = (run_ns * (1.0 + hidden)).clamp(0.0, ns);
                let queued = wait_ns.clamp(0.0, ns - on_cpu);
                let blocked = ns - on_cpu - queued;
                grown[ON_CPU] = on_cpu;
                grown[HIDDEN] = on_cpu - run_ns.min(on_cpu);
                let waits: Vec<usize> = std::iter::once(THROTTLED).chain(QUEUED).collect();
                share(&mut grown, &seen, &waits, QUEUED.start, queued);
                share(
                    &mut grown,
                    &seen,
                    &BLOCKED.collect::<Vec<_>>(),
                    UNKNOWN,
                    blocked,
                );
                for column in [CAUSED, SLICES] {
                    grown[column] = seen[column] * ns / covered_ns.max(1.0);
                }
            }
            add(&mut sums, &grown, &mut rows[at + 1]);
        }
    }

    /// Without the kernel's counters: all as it was in on-windows.
    fn fill_with(&self, grown: &mut [f64], seen: &[f64], covered_ns: f64, ns: f64) {
        let counted: f64 = seen[..TIMES].iter().sum();
        let times = ns / counted.max(1.0);
        for (column, to) in grown.iter_mut().enumerate() {
            *to = match column < TIMES {
                true => seen[column] * times,
                false => seen[column] * ns / covered_ns.max(1.0),
            };
        }
        if counted <= 0.0 {
            grown[UNKNOWN] = ns;
        }
    }
}

fn add(sums: &mut [f64], grown: &[f64], row: &mut Row) {
    for (column, (sum, grown)) in sums.iter_mut().zip(grown).enumerate() {
        *sum += grown;
        if row.values[column] != MISSING {
            row.values[column] = sum.round() as i64;
        }
    }
}

/// Time on a CPU that is no run time, as a part of run time; signed.
fn hidden_part(intervals: &[Interval], at: usize) -> f64 {
    let sum = |column: usize| -> f64 { near(intervals, at).map(|it| it.grown[column]).sum() };
    let run = sum(ON_CPU) - sum(HIDDEN);
    if run > 0.0 { sum(HIDDEN) / run } else { 0.0 }
}

/// Shares a time out among columns as they were seen; what was seen in none of them goes to one.
fn share(grown: &mut [f64], seen: &[f64], among: &[usize], otherwise: usize, ns: f64) {
    let all: f64 = among.iter().map(|column| seen[*column]).sum();
    for column in among {
        grown[*column] = match all > 0.0 {
            true => ns * seen[*column] / all,
            false => 0.0,
        };
    }
    if all <= 0.0 {
        grown[otherwise] = ns;
    }
}

/// Adds the rows of one table to another, column by column of the same name.
fn merge(timeline: &mut Timeline, raw: &Table, shown: &Table) {
    let Some(from) = timeline.table(&raw.name) else {
        return;
    };
    let mut to = match timeline.table(&shown.name) {
        Some(known) => known.clone(),
        None => TableData::new(shown.clone()),
    };
    let places: Vec<Option<usize>> = to
        .table
        .columns
        .iter()
        .map(|column| from.table.position(&column.name))
        .collect();
    let known: BTreeSet<EntityId> = to.entities().collect();
    for entity in from.entities().filter(|it| !known.contains(it)) {
        for row in from.rows_of(entity).unwrap_or_default() {
            let values: Vec<i64> = from.row(*row as usize).collect();
            let values: Vec<i64> = places
                .iter()
                .map(|place| place.map_or(MISSING, |place| values[place]))
                .collect();
            to.push(from.key(*row as usize).0, entity, &values);
        }
    }
    timeline.remove(&raw.name);
    timeline.insert(to);
}

#[cfg(test)]
mod tests;
