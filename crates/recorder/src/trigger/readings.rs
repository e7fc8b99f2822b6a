//! What rows say of requests and of pressure, as sums per interval of 100 ms.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{EntityEvent, EntityId, EntityKind, MISSING, Role, Rows, Table};
use sensors::request::{BUCKETS, first_bucket, upper_ns};

/// The length of an interval, ns: how often requests are read.
pub(super) const INTERVAL_NS: i64 = 100_000_000;

/// Requests that ended in an interval, or in several.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Requests {
    count: f64,
    timed: f64,
    timed_ns: f64,
    /// Those of 33.6 ms and more, which are all timed.
    long: f64,
    long_ns: f64,
    buckets: Vec<f64>,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            count: 0.0,
            timed: 0.0,
            timed_ns: 0.0,
            long: 0.0,
            long_ns: 0.0,
            buckets: vec![0.0; BUCKETS],
        }
    }
}

impl Requests {
    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.timed += other.timed;
        self.timed_ns += other.timed_ns;
        self.long += other.long;
        self.long_ns += other.long_ns;
        let sums = self.buckets.iter_mut().zip(&other.buckets);
        sums.for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn count(&self) -> f64 {
        self.count
    }

    /// For how many requests a timed one under 33.6 ms stands.
    fn weight(&self) -> f64 {
        let short = self.timed - self.long;
        match short > 0.0 {
            true => ((self.count - self.long) / short).max(1.0),
            false => 1.0,
        }
    }

    /// Mean latency, ns; `None` where none was timed.
    pub(super) fn mean_ns(&self) -> Option<f64> {
        let weight = self.weight();
        let count = (self.timed - self.long) * weight + self.long;
        let sum = (self.timed_ns - self.long_ns) * weight + self.long_ns;
        (count > 0.0).then(|| sum / count)
    }

    /// A percentile of latency, ns: evenly within a bucket, a quarter of an octave wide; `None` where none was timed.
    pub(super) fn percentile_ns(&self, percentile: f64) -> Option<f64> {
        let weight = self.weight();
        let counts = self.buckets.iter().enumerate().map(|(place, count)| {
            match place < sensors::request::FIRST_LONG {
                true => count * weight,
                false => *count,
            }
        });
        let all: f64 = counts.clone().sum();
        if all <= 0.0 {
            return None;
        }
        let mut left = all * percentile / 100.0;
        let mut lower = 0.0;
        for (place, count) in counts.enumerate() {
            // Nothing is known of what is above the last bound but that.
            let upper = upper_ns(place).map_or(lower, |it| it as f64);
            if count > 0.0 && count >= left {
                return Some(lower + (upper - lower) * left / count);
            }
            left -= count;
            lower = upper;
        }
        Some(lower)
    }
}

/// Rows of table `requests`, as sums of all connections of targets per interval.
#[derive(Default)]
pub(super) struct RequestReadings {
    columns: Option<Columns>,
    /// The counters of each connection at its last row.
    last: HashMap<EntityId, Box<[i64]>>,
    dependencies: HashSet<EntityId>,
    of_dependencies: HashSet<EntityId>,
    intervals: BTreeMap<i64, Requests>,
}

/// Where the columns are.
struct Columns {
    counters: [usize; 5],
    first_bucket: usize,
}

impl Columns {
    fn of(table: &Table) -> Option<Self> {
        let at = |name| table.position(name);
        Some(Self {
            counters: [
                at("requests")?,
                at("timed")?,
                at("timed_ns")?,
                at("long")?,
                at("long_ns")?,
            ],
            first_bucket: first_bucket(table),
        })
    }
}

impl RequestReadings {
    /// Notes whose connections count.
    pub(super) fn entities(&mut self, events: &[EntityEvent]) {
        for record in events.iter().map(|event| &event.record) {
            if record.vanished.is_some() {
                self.last.remove(&record.id);
                self.dependencies.remove(&record.id);
                self.of_dependencies.remove(&record.id);
                continue;
            }
            match record.entity.kind {
                EntityKind::Process if record.role == Role::Dependency => {
                    self.dependencies.insert(record.id);
                }
                EntityKind::Process => drop(self.dependencies.remove(&record.id)),
                EntityKind::Connection => {
                    let parent = record.parent;
                    if parent.is_some_and(|it| self.dependencies.contains(&it)) {
                        self.of_dependencies.insert(record.id);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes rows. What a connection's first row has came before it was seen, and counts as nothing.
    pub(super) fn take(&mut self, table: &Table, rows: &Rows) {
        if self.columns.is_none() {
            self.columns = Columns::of(table);
        }
        let Some(columns) = &self.columns else {
            return;
        };
        for (time, entity, values) in rows.iter() {
            if self.of_dependencies.contains(&entity) {
                continue;
            }
            if let Some(last) = self.last.get_mut(&entity) {
                let grown = |place: usize| match (last[place], values[place]) {
                    (MISSING, _) | (_, MISSING) => 0.0,
                    (before, now) => now.saturating_sub(before).max(0) as f64,
                };
                let [count, timed, timed_ns, long, long_ns] = columns.counters.map(grown);
                let buckets = columns.first_bucket..values.len();
                let requests = Requests {
                    count,
                    timed,
                    timed_ns,
                    long,
                    long_ns,
                    buckets: buckets.map(grown).collect(),
                };
                // A row is about the time before it.
                let interval = (time.as_ns() - 1).div_euclid(INTERVAL_NS);
                self.intervals.entry(interval).or_default().add(&requests);
                last.copy_from_slice(values);
            } else {
                self.last.insert(entity, values.into());
            }
        }
    }

    /// The intervals up to this one, and what ended in each.
    pub(super) fn drain(&mut self, until: i64) -> BTreeMap<i64, Requests> {
        let later = self.intervals.split_off(&(until + 1));
        std::mem::replace(&mut self.intervals, later)
    }
}
