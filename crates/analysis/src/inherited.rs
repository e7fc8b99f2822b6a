//! Whose CPU time and storage traffic is whose: what a process took over from ended children is taken out
//! of it, so that all processes together have everything once.
//!
//! /proc/PID/io of a process is the traffic of its threads, those ended included, and of every child that
//! it waited for, that child's own children included (`signal->ioac`: `wait_task_zombie` in
//! kernel/exit.c, `do_io_accounting` in fs/proc/base.c); cutime and cstime grow in the same moment in the
//! same way. A child with rows of its own would be counted twice: as itself, and as its parent's when that
//! buries it. Taken out is what the child's rows show; what it did before its first reading and after its
//! last stays where the kernel has it, with the parent. Bytes are exact. CPU time of children is counted
//! in ticks, so of a child's at most what the parent's count grew by is taken out.

use std::collections::BTreeMap;

use model::{EntityId, EntityKind, EntityRecord, MISSING, TableData, Timeline, Timestamp};

/// The table, and its columns that the kernel passes on.
const TABLE: &str = "process";
const COLUMNS: [&str; 3] = [CHILDREN, "read_bytes", "write_bytes"];
/// CPU time of ended children: that of those with rows is no part of their own columns.
const CHILDREN: &str = "children_ns";

/// Ancestors that are looked at: a damaged recording may hold a circle.
const MOST_ANCESTORS: usize = 64;

/// Takes what processes took over from children with rows of their own out of their counters.
pub(crate) fn without_inherited(timeline: &mut Timeline) {
    let Some(recorded) = timeline.table(TABLE) else {
        return;
    };
    let inherited = COLUMNS.map(|name| (recorded.table.position(name), taken_over(timeline, name)));
    if inherited.iter().all(|(_, counters)| counters.is_empty()) {
        return;
    }
    let mut rows = TableData::new(recorded.table.clone());
    for row in 0..recorded.len() {
        let (time, entity) = recorded.key(row);
        let mut values: Vec<i64> = recorded.row(row).collect();
        for (column, counters) in &inherited {
            let taken = counters.get(&entity).map_or(0, |it| it.taken_at(time));
            if let Some(value) = column.map(|column| &mut values[column])
                && *value != MISSING
            {
                *value = value.wrapping_sub(taken);
            }
        }
        rows.push(time, entity, &values);
    }
    timeline.insert(rows);
}

/// The counter of a process that took something over.
struct Counter {
    readings: Vec<(Timestamp, i64)>,
    /// How much of the growth up to each reading, since the one before, was taken over.
    taken: Vec<i64>,
    /// The sums of those; made at the end.
    taken_until: Vec<i64>,
}

impl Counter {
    fn of(timeline: &Timeline, process: EntityId, column: &str) -> Option<Self> {
        let series = timeline.series(TABLE, process, column)?;
        let readings: Vec<_> = series.values().collect();
        Some(Self {
            taken: vec![0; readings.len()],
            taken_until: Vec::new(),
            readings,
        })
    }

    /// Whether it was read at or after an instant.
    fn reaches(&self, at: Timestamp) -> bool {
        self.readings.last().is_some_and(|(time, _)| *time >= at)
    }

    /// Takes out what a child showed; false where the counter did not grow by that much meanwhile, so
    /// that it cannot be in it.
    fn take(&mut self, left: &Left) -> bool {
        let Left { last, gone, .. } = *left;
        let before = self.readings.partition_point(|(time, _)| *time <= last);
        let after = self.readings.partition_point(|(time, _)| *time < gone);
        let first = before.max(1);
        let mut steps: Vec<usize> = (first..(after + 1).min(self.readings.len())).collect();
        let own = |counter: &Self, step: usize| {
            let grown = counter.readings[step]
                .1
                .saturating_sub(counter.readings[step - 1].1);
            grown.saturating_sub(counter.taken[step]).max(0)
        };
        let all = steps
            .iter()
            .fold(0i64, |sum, step| sum.saturating_add(own(self, *step)));
        if all < left.shown && left.exact || all == 0 {
            return false;
        }
        // Which of several readings has it is not known; it comes at once, so most likely the largest.
        steps.sort_by_key(|step| std::cmp::Reverse(own(self, *step)));
        let mut left = left.shown;
        for step in steps {
            let part = own(self, step).min(left);
            self.taken[step] += part;
            left -= part;
        }
        true
    }

    fn add_up(&mut self) {
        let mut sum = 0i64;
        let sums = self.taken.iter().map(|taken| {
            sum = sum.saturating_add(*taken);
            sum
        });
        self.taken_until = sums.collect();
    }

    /// What had been taken over by an instant at which it was read.
    fn taken_at(&self, at: Timestamp) -> i64 {
        let read = self.readings.partition_point(|(time, _)| *time <= at);
        let last = read.checked_sub(1);
        last.map_or(0, |last| self.taken_until[last])
    }
}

/// What an ended child left to who reaped it.
struct Left {
    /// How much of it its rows show.
    shown: i64,
    /// Whether the kernel passed on all of that to the last unit.
    exact: bool,
    /// When it was last read, and found gone.
    last: Timestamp,
    gone: Timestamp,
}

/// The counters of one column that took something over.
fn taken_over(timeline: &Timeline, column: &str) -> BTreeMap<EntityId, Counter> {
    let processes = || timeline.entities.of_kind(EntityKind::Process);
    let met_first = processes().map(|process| process.first_seen).min();
    let mut threads: BTreeMap<EntityId, Vec<EntityId>> = BTreeMap::new();
    if column == CHILDREN {
        for thread in timeline.entities.of_kind(EntityKind::Thread) {
            let process = thread.parent.unwrap_or(thread.id);
            threads.entry(process).or_default().push(thread.id);
        }
    }
    let mut counters = BTreeMap::new();
    for child in processes() {
        let Some(gone) = child.vanished else {
            continue;
        };
        // Who was there before the recording hands over its whole life; of others what they did before
        // their first reading is in no row of theirs.
        let born = Some(child.first_seen) != met_first;
        let shown = |table, entity, column| {
            let series = timeline.series(table, entity, column)?;
            let (first, last) = (series.values().next()?, series.values().next_back()?);
            Some((
                last.1.saturating_sub(if born { first.1 } else { 0 }),
                last.0,
            ))
        };
        let own = |column| shown(TABLE, child.id, column);
        let mut all = vec![own(column)];
        if column == CHILDREN {
            // What threads ran is known to the nanosecond, where they were looked at.
            let own_threads = threads.get(&child.id).into_iter().flatten();
            let ran = own_threads.filter_map(|thread| shown("thread", *thread, "run_ns"));
            let ran: Vec<_> = ran.map(Some).collect();
            all.extend(if ran.is_empty() {
                vec![own("user_ns"), own("system_ns")]
            } else {
                ran
            });
        }
        let all: Vec<(i64, Timestamp)> = all.into_iter().flatten().collect();
        let left = Left {
            shown: all.iter().fold(0, |sum, it| sum.saturating_add(it.0)),
            exact: column != CHILDREN,
            last: all.iter().map(|it| it.1).max().unwrap_or(gone),
            gone,
        };
        if left.shown > 0 {
            hand_over(timeline, column, &mut counters, child, &left);
        }
    }
    counters.retain(|_, counter: &mut Counter| counter.taken.iter().any(|taken| *taken > 0));
    counters.values_mut().for_each(Counter::add_up);
    counters
}

/// Finds who reaped a child: its parent, or where that ended too before it was read again, who reaped that.
fn hand_over(
    timeline: &Timeline,
    column: &str,
    counters: &mut BTreeMap<EntityId, Counter>,
    child: &EntityRecord,
    left: &Left,
) {
    let mut above = child.parent;
    for _ in 0..MOST_ANCESTORS {
        let Some(process) = above.and_then(|id| timeline.entities.get(id)) else {
            return;
        };
        let known = match counters.entry(process.id) {
            std::collections::btree_map::Entry::Occupied(entry) => Some(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => {
                Counter::of(timeline, process.id, column).map(|counter| entry.insert(counter))
            }
        };
        if let Some(counter) = known
            && (counter.take(left) || counter.reaches(left.gone))
        {
            return;
        }
        above = process.parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, Entity, EntityEvent, Table, Unit, Window};
    use proptest::prelude::*;

    static COLUMNS: &[Column] = &[
        Column::counter("read_bytes", Unit::Bytes, "", ""),
        Column::counter("write_bytes", Unit::Bytes, "", ""),
        Column::counter("user_ns", Unit::Nanoseconds, "", ""),
        Column::counter("children_ns", Unit::Nanoseconds, "", ""),
    ];
    static RUN: &[Column] = &[Column::counter("run_ns", Unit::Nanoseconds, "", "")];

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    struct Drawn(Timeline);

    impl Drawn {
        fn new() -> Self {
            let mut timeline = Timeline::new(Window::new(at(0.0), at(60.0)));
            timeline.table_mut(&Table::new(TABLE, EntityKind::Process, "", COLUMNS));
            Self(timeline)
        }

        /// A process with its parent, life and readings of `read_bytes`.
        fn process(
            &mut self,
            id: u32,
            parent: Option<u32>,
            first_seen: f64,
            vanished: Option<f64>,
            readings: &[(f64, i64)],
        ) {
            let record = EntityRecord {
                parent: parent.map(EntityId),
                vanished: vanished.map(at),
                ..EntityRecord::new(
                    EntityId(id),
                    Entity::new(EntityKind::Process, format!("p{id}"), format!("pid:{id}@1")),
                    at(first_seen),
                )
            };
            let time = at(first_seen);
            self.0.entities.apply(EntityEvent { time, record });
            let data = self
                .0
                .table_mut(&Table::new(TABLE, EntityKind::Process, "", COLUMNS));
            for (time, bytes) in readings {
                data.push(
                    at(*time),
                    EntityId(id),
                    &[*bytes, MISSING, MISSING, MISSING],
                );
            }
        }

        fn read(&self, id: u32) -> Vec<i64> {
            let series = self.0.series(TABLE, EntityId(id), "read_bytes");
            let values = series.expect("it is drawn").values();
            values.map(|(_, bytes)| bytes).collect()
        }
    }

    #[test]
    fn a_buried_childs_bytes_are_counted_once() {
        let mut drawn = Drawn::new();
        // The shell reads 10 itself; its child 500, of which 20 before its first reading and 30 after
        // its last.
        drawn.process(
            1,
            None,
            0.0,
            None,
            &[(0.0, 7), (1.0, 7), (2.0, 12), (3.0, 517), (4.0, 517)],
        );
        drawn.process(2, Some(1), 1.2, Some(2.4), &[(1.3, 20), (2.3, 470)]);
        without_inherited(&mut drawn.0);
        assert_eq!(drawn.read(1), [7, 7, 12, 67, 67]);
        assert_eq!(drawn.read(2), [20, 470], "a child keeps what is its own");
        let writes = drawn.0.series(TABLE, EntityId(1), "write_bytes");
        assert!(
            writes.is_none_or(|series| series.known().is_none()),
            "missing stays missing"
        );
    }

    #[test]
    fn who_was_there_before_hands_over_its_whole_life() {
        let mut drawn = Drawn::new();
        drawn.process(1, None, 0.0, None, &[(0.0, 0), (9.0, 1_000_010)]);
        drawn.process(
            2,
            Some(1),
            0.0,
            Some(5.0),
            &[(0.0, 999_000), (4.9, 1_000_000)],
        );
        without_inherited(&mut drawn.0);
        assert_eq!(drawn.read(1), [0, 10]);
    }

    #[test]
    fn a_grandchilds_bytes_go_up_with_its_parents() {
        let mut drawn = Drawn::new();
        drawn.process(
            1,
            None,
            0.0,
            None,
            &[(0.0, 0), (1.0, 0), (2.0, 0), (3.0, 1_300), (4.0, 1_300)],
        );
        drawn.process(2, Some(1), 0.5, Some(2.5), &[(1.0, 0), (2.0, 1_300)]);
        drawn.process(3, Some(2), 0.6, Some(1.5), &[(1.0, 0), (1.4, 1_000)]);
        // Found gone in one look: who reaped the other is known by nobody.
        drawn.process(4, Some(2), 0.6, Some(1.5), &[(1.0, 0), (1.4, 300)]);
        without_inherited(&mut drawn.0);
        let all = [drawn.read(1), drawn.read(2), drawn.read(3), drawn.read(4)];
        assert_eq!(
            all,
            [
                vec![0, 0, 0, 0, 0],
                vec![0, 0],
                vec![0, 1_000],
                vec![0, 300]
            ]
        );
    }

    #[test]
    fn an_orphans_bytes_go_to_whoever_grew() {
        let mut drawn = Drawn::new();
        drawn.process(1, None, 0.0, None, &[(0.0, 0), (9.0, 800)]);
        drawn.process(2, Some(1), 0.5, Some(1.0), &[(0.6, 0), (0.9, 0)]);
        drawn.process(3, Some(2), 0.6, Some(5.0), &[(0.7, 0), (4.9, 800)]);
        without_inherited(&mut drawn.0);
        assert_eq!(drawn.read(1), [0, 0]);
    }

    #[test]
    fn cpu_time_of_children_is_counted_once_down_to_the_grandchildren() {
        let mut drawn = Drawn::new();
        // The generator starts a shell, that a command that runs for 300 ms and ends, the shell as well.
        drawn.process(1, None, 0.0, None, &[]);
        drawn.process(2, Some(1), 0.5, Some(2.5), &[]);
        drawn.process(3, Some(2), 0.6, Some(1.5), &[]);
        let thread = EntityRecord {
            id: EntityId(4),
            entity: Entity::new(EntityKind::Thread, "t", "tid:4@1"),
            parent: Some(EntityId(3)),
            ..drawn.0.entities.get(EntityId(3)).expect("drawn").clone()
        };
        let time = at(0.6);
        drawn.0.entities.apply(EntityEvent {
            time,
            record: thread,
        });
        let mut rows = |table: &Table, id: u32, rows: &[(f64, Vec<i64>)]| {
            let data = drawn.0.table_mut(table);
            for (time, values) in rows {
                data.push(at(*time), EntityId(id), values);
            }
        };
        let process = Table::new(TABLE, EntityKind::Process, "", COLUMNS);
        let row = |time, user: i64, children: i64| (time, vec![0, 0, user, children]);
        rows(
            &process,
            1,
            &[row(0.0, 0, 0), row(3.0, 0, 310), row(4.0, 0, 310)],
        );
        // The kernel cuts to ticks: 304 became 300.
        rows(
            &process,
            2,
            &[row(0.6, 10, 0), row(1.4, 10, 0), row(2.4, 10, 300)],
        );
        rows(&process, 3, &[row(0.7, 0, 0), row(1.4, 300, 0)]);
        let thread = Table::new("thread", EntityKind::Thread, "", RUN);
        rows(&thread, 4, &[(0.7, vec![0]), (1.4, vec![304])]);
        without_inherited(&mut drawn.0);
        let children = |id| -> Vec<i64> {
            let series = drawn.0.series(TABLE, EntityId(id), "children_ns");
            series.expect("drawn").values().map(|(_, ns)| ns).collect()
        };
        assert_eq!(children(2), [0, 0, 0]);
        // Of the shell the 10 ms before its first reading are in no row of it.
        assert_eq!(children(1), [0, 10, 10]);
    }

    #[test]
    fn a_parent_that_waits_for_nobody_loses_nothing() {
        // With SIGCHLD ignored the kernel passes nothing on.
        let mut drawn = Drawn::new();
        drawn.process(1, None, 0.0, None, &[(0.0, 0), (9.0, 0)]);
        drawn.process(
            2,
            Some(1),
            0.0,
            None,
            &[(0.0, 0), (1.0, 40), (2.0, 90), (3.0, 90)],
        );
        drawn.process(3, Some(2), 0.5, Some(2.5), &[(0.6, 0), (2.4, 800)]);
        without_inherited(&mut drawn.0);
        assert_eq!(drawn.read(2), [0, 40, 90, 90]);
        assert_eq!(drawn.read(1), [0, 0]);
    }

    proptest! {
        /// A family in which everybody reads, and is reaped by its parent or by who comes after that.
        #[test]
        fn every_byte_is_somebodys_once(
            people in proptest::collection::vec((0usize..6, 0i64..500), 1..6),
        ) {
            // Process 0 lives on; the others end one after the other, the youngest first.
            let count = people.len() + 1;
            let parent: Vec<usize> = people.iter().enumerate().map(|(index, it)| it.0.min(index)).collect();
            let mut readings = vec![Vec::new(); count];
            let mut total = vec![0i64; count];
            let mut gone = vec![None; count];
            for second in 0..60i64 {
                for (index, (_, speed)) in people.iter().enumerate() {
                    if gone[index + 1].is_none() {
                        total[index + 1] += speed;
                    }
                }
                for who in 0..count {
                    if gone[who].is_none() {
                        readings[who].push((second as f64, total[who]));
                    }
                }
                // Ends after its reading: nothing is done unseen.
                let due = (1..count).rev().find(|who| gone[*who].is_none() && second >= 10 * (count - who) as i64);
                if let Some(who) = due {
                    gone[who] = Some(second as f64 + 0.5);
                    total[parent[who - 1]] += total[who];
                }
            }
            let mut drawn = Drawn::new();
            for who in 0..count {
                let above = (who > 0).then(|| parent[who - 1] as u32);
                drawn.process(who as u32, above, 0.0, gone[who], &readings[who]);
            }
            without_inherited(&mut drawn.0);
            let speeds = std::iter::once(0).chain(people.iter().map(|it| it.1));
            for (who, speed) in speeds.enumerate() {
                let own: Vec<i64> = (1..=readings[who].len() as i64).map(|seconds| seconds * speed).collect();
                prop_assert_eq!(drawn.read(who as u32), own, "process {}", who);
            }
        }
    }
}
