//! Answers put together: each node with its rows, at the times when it was scraped.

mod clock;

use std::collections::{BTreeMap, BTreeSet};

use model::{Entity, EntityKind, Quality, Sentence, sentence};

use super::answer::{Answers, StoredSeries, instant};
use super::counter::{Backward, Counter, Step};
use super::metrics::{BOOT_TIME, CPU_SECONDS, MEMORY_TOTAL, METRICS, Metric, UNAME, Whose};
use super::names::Names;
use super::questions::{Subject, host};
use super::sorted::Sorted;
use crate::Imported;
use crate::draft::{Cell, Draft, Interval, all_cpus, machine};

pub use clock::ClockAhead;

/// Scrapes further apart than so many of the usual distance have a gap between them.
const GAP: f64 = 2.5;
/// A boot time that moved by less is the same: it is worked out from two clocks.
const SAME_BOOT_S: f64 = 30.0;
/// Distinct counters that ran backwards, of one node.
const MOST_BACKWARD: usize = 100;
/// Series of one node that `--also` may add.
const MOST_FURTHER: usize = 2_000;

/// A node as a store knows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What the store calls it.
    pub name: String,
    /// Its rows.
    pub imported: Imported,
    /// Its memory, bytes.
    pub memory_bytes: Option<f64>,
    /// How many CPUs it had, or might use, over time.
    pub sizes: Vec<Size>,
    /// When it was started anew.
    pub restarts: Vec<Restart>,
    /// Counters that ran backwards without a reset.
    pub backward: Vec<Backward>,
    /// How far its clock is from the store's, where its exporter says what time it is.
    pub clock: Option<ClockAhead>,
}

/// How many CPUs a node may use from an instant on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// Since when, ns since 1970.
    pub since_ns: i64,
    /// So many.
    pub cpus: f64,
}

/// A node that was started anew, or another machine under its name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Restart {
    /// The first scrape behind it, ns since 1970.
    pub at_ns: i64,
    /// Whether the machine behind the name is another one: its host name or its memory is different.
    pub is_other: bool,
}

/// The nodes that the answers are about, by name, and what is to be known of how they were put together.
pub fn nodes(names: &Names, answers: &Answers) -> (Vec<Node>, Vec<Sentence>) {
    let sorted = Sorted::of(names, answers);
    let mut notes = Vec::new();
    let mut nodes = Vec::new();
    for (name, own) in &sorted.own {
        match Reader::new(names, name, own, sorted.beside(name)).node(&mut notes) {
            Some(node) => nodes.push(node),
            None => notes.push(sentence!(
                "The store has fewer than two scrapes of {} then",
                (*name).to_owned()
            )),
        }
    }
    (nodes, notes)
}

/// One node in the making.
struct Reader<'a, 'b> {
    names: &'a Names,
    name: &'a str,
    own: &'b [(Subject, &'a StoredSeries)],
    beside: &'b [(Subject, &'a StoredSeries)],
    /// Its job: of a node that two jobs scrape, the first one's values are taken.
    job: &'a str,
    /// When it was scraped last, ns, by the instant that was asked about.
    times: BTreeMap<i64, i64>,
    holes: BTreeSet<(i64, i64)>,
    restarts: Vec<Restart>,
    draft: Draft,
    backward: BTreeMap<String, Backward>,
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(
        names: &'a Names,
        name: &'a str,
        own: &'b [(Subject, &'a StoredSeries)],
        beside: &'b [(Subject, &'a StoredSeries)],
    ) -> Self {
        let mut reader = Self {
            names,
            name,
            own,
            beside,
            job: "",
            times: BTreeMap::new(),
            holes: BTreeSet::new(),
            restarts: Vec::new(),
            draft: Draft::default(),
            backward: BTreeMap::new(),
        };
        let jobs = reader.answer(Subject::Times).map(|it| it.label("job"));
        reader.job = jobs.min().unwrap_or_default();
        let times = reader.series(Subject::Times).flat_map(|it| {
            let at = |(asked, scraped): &(i64, f64)| Some((*asked, instant(*scraped)?));
            it.points.iter().filter_map(at)
        });
        reader.times = times.collect();
        reader
    }

    /// Series of an answer about this node.
    fn answer(&self, subject: Subject) -> impl Iterator<Item = &'a StoredSeries> + use<'a, 'b> {
        let own = self.own.iter();
        own.filter(move |it| it.0 == subject).map(|it| it.1)
    }

    /// The same of the job whose values are taken.
    fn series(&self, subject: Subject) -> impl Iterator<Item = &'a StoredSeries> + use<'a, 'b> {
        let job = self.job;
        self.answer(subject)
            .filter(move |it| it.label("job") == job)
    }

    /// A series' values at the times when they were scraped, each once.
    fn scraped(&self, series: &StoredSeries) -> Vec<(i64, f64)> {
        let at = |(asked, value): &(i64, f64)| {
            (self.times.get(asked).copied().unwrap_or(*asked), *value)
        };
        in_order(series.points.iter().map(at))
    }

    fn node(mut self, notes: &mut Vec<Sentence>) -> Option<Node> {
        let jobs: BTreeSet<&str> = self
            .answer(Subject::Times)
            .map(|it| it.label("job"))
            .collect();
        if jobs.len() > 1 {
            notes.push(sentence!(
                "{} is scraped by several jobs; the values of one, {}, are taken",
                self.name.to_owned(),
                self.job.to_owned()
            ));
        }
        self.find_holes();
        self.find_restarts();
        let mut cpus = BTreeSet::new();
        for subject in super::metrics::TABLES {
            for series in self.series(Subject::Table(subject)) {
                cpus.extend(Some(series.label("cpu")).filter(|it| !it.is_empty()));
                self.take(subject, series);
            }
        }
        self.take_further();
        self.say_what_is_missing();
        let sizes = self.sizes(cpus.len());
        let memory = self.fact(MEMORY_TOTAL);
        let memory_bytes = memory.last().map(|it| it.1);
        let kernel = self.label_of_uname("release");
        let clock = clock::ahead(
            self.series(Subject::Clock)
                .flat_map(|it| it.points.iter().map(|it| it.1)),
        );
        let imported = self.draft.finish("the store").ok()?;
        Some(Node {
            name: self.name.to_owned(),
            imported: Imported {
                node: Some(host(self.name).to_owned()),
                kernel,
                cpus: Some(cpus.len())
                    .filter(|it| *it > 0)
                    .or_else(|| sizes.last().map(|it| it.cpus.ceil() as usize))
                    .and_then(|it| u32::try_from(it).ok()),
                ..imported
            },
            memory_bytes,
            sizes,
            restarts: self.restarts,
            backward: self.backward.into_values().collect(),
            clock,
        })
    }

    /// When it was not scraped: two scrapes lie much further apart than usual.
    fn find_holes(&mut self) {
        let mut scraped: Vec<i64> = self.times.values().copied().collect();
        scraped.sort_unstable();
        scraped.dedup();
        let mut apart: Vec<i64> = scraped.windows(2).map(|it| it[1] - it[0]).collect();
        apart.sort_unstable();
        let Some(usual) = apart.get(apart.len() / 2) else {
            return;
        };
        let most = (*usual as f64 * GAP) as i64;
        for pair in scraped.windows(2) {
            if pair[1] - pair[0] > most {
                let (start, end) = (pair[0], pair[1]);
                self.holes.insert((start, end));
                self.draft.hole(Interval { start, end });
            }
        }
    }

    /// The values of a fact about the node.
    fn fact(&self, metric: &str) -> Vec<(i64, f64)> {
        let stored = self.names.stored(metric);
        let of = self.series(Subject::Facts);
        let mut of = of.filter(|it| it.label(&self.names.name) == stored);
        of.next().map_or(Vec::new(), |it| self.scraped(it))
    }

    fn unames(&self) -> impl Iterator<Item = &'a StoredSeries> + use<'a, 'b> {
        let stored = self.names.stored(UNAME).to_owned();
        let name = &self.names.name;
        self.series(Subject::Facts)
            .filter(move |it| it.label(name) == stored)
    }

    /// A label of the newest `node_uname_info`.
    fn label_of_uname(&self, label: &str) -> Option<String> {
        let newest = self
            .unames()
            .max_by_key(|it| it.points.last().map(|it| it.0))?;
        Some(newest.label(label).to_owned()).filter(|it| !it.is_empty())
    }

    /// Where the boot time moves; another host name or another amount of memory behind it is another machine.
    fn find_restarts(&mut self) {
        let boots = self.fact(BOOT_TIME);
        let memory = self.fact(MEMORY_TOTAL);
        let at = |time: i64| memory.iter().rev().find(|it| it.0 <= time).map(|it| it.1);
        let host = |time: i64| {
            let mut all = self.unames().filter(|it| {
                let points = self.scraped(it);
                points
                    .first()
                    .zip(points.last())
                    .is_some_and(|(a, b)| a.0 <= time && time <= b.0)
            });
            all.next().map(|it| it.label("nodename").to_owned())
        };
        let mut restarts = Vec::new();
        for pair in boots.windows(2) {
            let [(before, old), (after, new)] = [pair[0], pair[1]];
            if (new - old).abs() > SAME_BOOT_S {
                let differs =
                    |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| a != b);
                let is_other = host(before).zip(host(after)).is_some_and(|(a, b)| a != b)
                    || differs(at(before), at(after));
                restarts.push(Restart {
                    at_ns: after,
                    is_other,
                });
            }
        }
        self.restarts = restarts;
    }

    fn take(&mut self, table: &'static str, series: &StoredSeries) {
        let name = series.label(&self.names.name);
        let is_it = |metric: &&Metric| {
            let named = name.is_empty() || self.names.stored(metric.name) == name;
            let has = metric
                .having
                .is_none_or(|(label, value)| series.label(label) == value);
            metric.table == table && named && has
        };
        let Some(metric) = METRICS.iter().find(is_it) else {
            return;
        };
        let device = series.label("device");
        let entity = match metric.whose {
            Whose::Machine => machine(),
            Whose::Cpu => match series.label("cpu") {
                "" => all_cpus(),
                cpu => Entity::new(EntityKind::Cpu, format!("cpu{cpu}"), cpu),
            },
            Whose::Disk => Entity::new(EntityKind::Disk, device, device),
            Whose::Interface => Entity::new(EntityKind::Interface, device, device),
        };
        let cell = Cell {
            table: metric.table,
            column: metric.column,
            source: metric.name,
            quality: Quality::Sampled,
        };
        let values = self.scraped(series);
        match metric.is_counter {
            true => self.count(cell, &entity, metric.scale, &values),
            false => {
                for (at, value) in values {
                    let value = value * metric.scale;
                    if (0.0..9e18).contains(&value) {
                        self.draft.put(cell, &entity, at, value.round() as i64);
                    }
                }
            }
        }
    }

    fn count(&mut self, cell: Cell<'_>, entity: &Entity, scale: f64, values: &[(i64, f64)]) {
        let Some((mut before, first)) = values.first().copied() else {
            return;
        };
        let mut counter = Counter::at(first);
        for (at, value) in values.iter().skip(1) {
            let interval = Interval {
                start: before,
                end: *at,
            };
            before = *at;
            let restarted = self.restarts.iter().any(|it| it.at_ns == *at);
            // What a counter of seconds loses and regains is less than the time between two readings.
            let step = counter.next(*value, interval.seconds(), restarted);
            let mut grown = match step {
                Step::Grown(by) => by,
                Step::Reset(to) => to,
                Step::Back(by) => {
                    self.ran_backwards(cell.source, by, *at);
                    0.0
                }
            };
            // What grew while nobody looked is known, and not when.
            if self.holes.contains(&(interval.start, interval.end)) {
                continue;
            }
            // A counter of seconds that began anew in this interval holds no more than it.
            if matches!(step, Step::Reset(_)) && scale == 1e9 {
                grown = grown.min(interval.seconds());
            }
            self.draft.grow(cell, entity, interval, grown * scale);
        }
    }

    fn ran_backwards(&mut self, metric: &str, by: f64, at_ns: i64) {
        if self.backward.len() >= MOST_BACKWARD && !self.backward.contains_key(metric) {
            return;
        }
        let known = self.backward.entry(metric.to_owned()).or_insert(Backward {
            metric: metric.to_owned(),
            times: 0,
            most: 0.0,
            first_ns: at_ns,
        });
        known.times += 1;
        known.most = known.most.max(by);
        known.first_ns = known.first_ns.min(at_ns);
    }

    /// Metrics that were asked for by `--also`, of whatever exporter on the same host.
    fn take_further(&mut self) {
        let names = self.names;
        let own = self.beside.iter().filter(|it| it.0 == Subject::Also);
        for (_, series) in own.take(MOST_FURTHER) {
            let metric = series.label(&names.name);
            let is_counter = ["_total", "_sum", "_count"]
                .iter()
                .any(|it| metric.ends_with(it))
                || is_monotone(&series.points);
            let shown = shown(series, names);
            let entity = Entity::new(EntityKind::Series, shown.clone(), shown);
            let cell = Cell {
                table: "scraped",
                column: match is_counter {
                    true => "counter_millionths",
                    false => "gauge_millionths",
                },
                source: metric,
                quality: Quality::Sampled,
            };
            let scale = sensors::scrape::SCALE;
            // Another exporter is scraped at other times: its values stand where they were asked for.
            match is_counter {
                true => self.count(
                    cell,
                    &entity,
                    scale,
                    &in_order(series.points.iter().copied()),
                ),
                false => {
                    for (at, value) in &series.points {
                        let value = value * scale;
                        if value.abs() < 9e18 {
                            self.draft.put(cell, &entity, *at, value.round() as i64);
                        }
                    }
                }
            }
        }
    }

    fn sizes(&self, each: usize) -> Vec<Size> {
        let by_query = self.beside.iter().find(|it| it.0 == Subject::Cpus);
        let mut sizes: Vec<Size> = match by_query {
            Some((_, series)) => series
                .points
                .iter()
                .map(|(since_ns, cpus)| Size {
                    since_ns: *since_ns,
                    cpus: *cpus,
                })
                .collect(),
            None => self.counted(each),
        };
        sizes.dedup_by(|later, earlier| later.cpus == earlier.cpus);
        sizes
    }

    /// How many CPUs have a value of their own, over time.
    fn counted(&self, each: usize) -> Vec<Size> {
        let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
        let idle = self.series(Subject::Table("cpu"));
        let stored = self.names.stored(CPU_SECONDS);
        for series in
            idle.filter(|it| it.label("mode") == "idle" && it.label(&self.names.name) == stored)
        {
            for (at, _) in &series.points {
                *counts.entry(*at).or_default() += 1.0;
            }
        }
        if each == 0 {
            return Vec::new();
        }
        let size = |(since_ns, cpus)| Size { since_ns, cpus };
        counts.into_iter().map(size).collect()
    }

    fn say_what_is_missing(&mut self) {
        let has = |table: &'static str| self.series(Subject::Table(table)).next().is_some();
        let (pressure, cpu, disk) = (has("pressure"), has("cpu"), has("disk"));
        if !pressure {
            self.draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the store: the kernel of {} counts none (boot it with psi=1), or its node_exporter runs without --collector.pressure", self.name.to_owned()));
        }
        if !cpu {
            self.draft.note(
                "cpu",
                sentence!("cpu.user_ns and the other times of CPUs are not in the store"),
            );
        }
        if !disk {
            self.draft.note(
                "disk",
                sentence!("disk.busy_ns and the other columns of disks are not in the store"),
            );
        }
    }
}

/// Values whose times grow, each time once.
fn in_order(values: impl Iterator<Item = (i64, f64)>) -> Vec<(i64, f64)> {
    let mut newest = i64::MIN;
    let is_new = |it: &(i64, f64)| {
        let before = newest;
        newest = newest.max(it.0);
        it.0 > before
    };
    values.filter(is_new).collect()
}

fn is_monotone(points: &[(i64, f64)]) -> bool {
    let grows = points.windows(2).all(|it| it[1].1 >= it[0].1);
    let first_and_last = points.first().zip(points.last());
    // Whole numbers that only grow, and do: a gauge hardly does that over many readings.
    grows && points.len() > 20 && first_and_last.is_some_and(|(a, b)| b.1 > a.1 && a.1 >= 0.0)
}

/// A series as it is written in a query, without the labels that every one of the node has.
fn shown(series: &StoredSeries, names: &Names) -> String {
    let usual = |label: &str| label == names.name || label == names.node || label == "job";
    let labels = series.labels.iter().filter(|(label, _)| !usual(label));
    let labels: Vec<String> = labels
        .map(|(label, value)| format!("{label}={value:?}"))
        .collect();
    let metric = series.label(&names.name);
    match labels.is_empty() {
        true => metric.to_owned(),
        false => format!("{metric}{{{}}}", labels.join(",")),
    }
}

#[cfg(test)]
mod tests;
