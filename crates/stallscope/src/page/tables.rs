//! The page's tables in bins: the recorded ones, and where the time of threads went.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Column, ColumnKind, EntityId, EntityKind, Meta, PageColumn, PageForm, PageTable, Role, Table,
    TableData, Timeline, Timestamp, Unit, Window,
};
use sensors::{wait_channel, wait_event};

use super::bins::{self, Binned};
use super::block::Numbers;
use super::edges::strided;
use super::entities::{Others, Places};
use super::entity_selection::EntitySelection;
use super::request_tables::without_buckets;
use super::size_estimate::{self, Room, SizeEstimate};

/// Steps of numbers in nanoseconds: microseconds tell enough, in less room.
const TIME_SCALE: i64 = 1_000;

/// A table and its numbers.
pub(super) struct Written {
    pub(super) table: PageTable,
    pub(super) numbers: Numbers,
}

/// Whose numbers a series' are: its entity's place in the page's list, its column, and the stride of its bins.
#[derive(Clone, Copy)]
pub(super) struct SeriesKey {
    pub(super) place: u32,
    pub(super) column: usize,
    pub(super) stride: usize,
}

/// What tables are made from, and how much room they have.
pub(super) struct PageWriter<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) meta: &'a Meta,
    /// Threads that serve requests.
    pub(super) serving: &'a BTreeSet<EntityId>,
    pub(super) edges: &'a [Timestamp],
    pub(super) selection: &'a EntitySelection,
    /// Part of the usual room, for a recording that is too large for it.
    pub(super) part: f64,
}

/// The tables of the recording in the order of the data dictionary; those that this version does not know
/// come last.
pub(super) fn in_order(timeline: &Timeline) -> Vec<&TableData> {
    let known = sensors::tables().chain(workloads::tables());
    let known: Vec<&str> = known.map(|table| &*table.name).collect();
    // The report has what it says of labels, and no chart draws more of it.
    let is_shown =
        |it: &&TableData| !it.is_empty() && it.table.name != workloads::SIGNAL_BY_LABEL.name;
    let mut tables: Vec<&TableData> = timeline.tables().filter(is_shown).collect();
    let place = |table: &&TableData| {
        let name = &*table.table.name;
        let place = known.iter().position(|it| *it == name);
        place.unwrap_or(known.len())
    };
    tables.sort_by_key(place);
    tables
}

/// Whether a table's rows stand for themselves.
pub(super) fn is_rows(table: &Table) -> bool {
    table.entity == EntityKind::Workload
}

impl PageWriter<'_> {
    /// A recorded table.
    pub(super) fn table(&self, data: &TableData, places: &mut Places<'_>) -> Written {
        let (entities, left_out) = self.selection.of_table(data);
        let shown = without_buckets(&data.table);
        let strides = self.strides(
            &entities,
            size_estimate::of(shown.entity),
            |estimate, entity, edges| {
                estimate.add(self.timeline, &shown, entity, edges);
            },
        );
        let mut numbers = Numbers::default();
        let mut codes: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
        for (entity, near) in entities {
            let Some(place) = places.of(entity) else {
                continue;
            };
            let bins = strides.of(near);
            for (column, declared) in shown.columns.iter().enumerate() {
                let series = self.timeline.series(&shown.name, entity, &declared.name);
                let scale = scale(declared);
                let binned = series.and_then(|series| match (declared.kind, declared.unit) {
                    (ColumnKind::Counter, _) => bins::counter(&series, &bins.edges, scale),
                    (ColumnKind::Gauge, Unit::Code) => bins::code(&series, &bins.edges),
                    (ColumnKind::Gauge, _) => bins::gauge(&series, &bins.edges, scale),
                });
                if let Some(binned) = binned {
                    if declared.unit == Unit::Code {
                        codes.entry(column).or_default().extend(&binned.numbers);
                    }
                    let key = SeriesKey {
                        place,
                        column,
                        stride: bins.stride,
                    };
                    self.write(&binned, key, &mut numbers);
                }
            }
        }
        let mut table = described(&shown, strides.form(), left_out);
        for (column, seen) in codes {
            let declared = &shown.columns[column];
            table.columns[column].words = code_names(declared, &seen, self.meta);
        }
        Written { table, numbers }
    }

    /// Where the time of threads went. Those that are left out are in it together, so that the threads of
    /// a role add up.
    pub(super) fn ledger(&self, data: &TableData, places: &mut Places<'_>) -> Written {
        let (kept, left_out) = self.selection.of_table(data);
        let strides = self.strides(&kept, size_estimate::OF_TIME, |estimate, thread, edges| {
            estimate.add_time(self.timeline, thread, edges);
        });
        let kept: BTreeMap<EntityId, bool> = kept.into_iter().collect();
        let over_time = [false, true].map(|near| {
            let edges = &strides.of(near).edges;
            analysis::LedgerOverTime::new(self.timeline, self.meta, edges)
        });
        let mut together: BTreeMap<(Role, bool), Sum> = BTreeMap::new();
        let mut numbers = Numbers::default();
        for thread in data.entities() {
            let of_kept = kept.get(&thread);
            let near = of_kept
                .copied()
                .unwrap_or_else(|| self.selection.is_near(thread));
            let run = self.timeline.series("thread", thread, "run_ns");
            let known = run.and_then(|run| run.known());
            let time = over_time[usize::from(near)].of(thread);
            let (Some(known), Some(time)) = (known, time) else {
                continue;
            };
            let stride = strides.of(near).stride;
            if of_kept.is_none() {
                let key = self.part(thread);
                let sum = together
                    .entry(key)
                    .or_insert_with(|| Sum::new(known, stride));
                sum.add(known, &time);
            } else if let Some(place) = places.of(thread) {
                self.write_time(place, stride, known, &time, &mut numbers);
            }
        }
        for ((role, serving), sum) in together {
            let others = Others {
                kind: EntityKind::Thread,
                name: format!("{} others", analysis::integer(sum.threads as f64)),
                role,
                serving,
                seen: sum.known,
            };
            let place = places.others(others);
            self.write_time(place, sum.stride, sum.known, &sum.time, &mut numbers);
        }
        let [near, _] = &over_time;
        let table = described(&near.table(), strides.form(), left_out);
        Written { table, numbers }
    }

    /// The part that a thread's process plays, and whether the thread serves.
    fn part(&self, thread: EntityId) -> (Role, bool) {
        let entities = &self.timeline.entities;
        let record = entities.get(thread);
        let process = record.and_then(|record| entities.get(record.parent?));
        let role = process.map_or(Role::Background, |it| it.role);
        (role, self.serving.contains(&thread))
    }

    fn write_time(
        &self,
        place: u32,
        stride: usize,
        known: Window,
        time: &analysis::ThreadTime,
        numbers: &mut Numbers,
    ) {
        for class in 0..analysis::THREAD_CLASSES {
            let growth = time.bins.iter().map(|bin| bin[class]);
            let binned = bins::grown(known, time.first_bin, growth, TIME_SCALE);
            if !binned.is_zero() {
                let key = SeriesKey {
                    place,
                    column: class,
                    stride,
                };
                self.write(&binned, key, numbers);
            }
        }
    }

    pub(super) fn write(&self, binned: &Binned, key: SeriesKey, numbers: &mut Numbers) {
        let Some(first_edge) = self.edges.first() else {
            return;
        };
        numbers.push(i64::from(key.place));
        numbers.count(key.column);
        numbers.count(key.stride);
        binned.write(*first_edge, numbers);
    }

    /// Bins for the near ones and for the others, so long that what `ask` adds for each has room.
    fn strides(
        &self,
        entities: &[(EntityId, bool)],
        room: Room,
        ask: impl Fn(&mut SizeEstimate, EntityId, usize),
    ) -> Strides {
        let bins = |near, most: f64| {
            let mut estimate = SizeEstimate::default();
            let mut used = false;
            for (entity, _) in entities.iter().filter(|(_, is)| *is == near) {
                ask(&mut estimate, *entity, self.edges.len());
                used = true;
            }
            let stride = estimate.stride(most * self.part, self.edges.len());
            Bins {
                edges: strided(self.edges, stride),
                stride,
                used,
            }
        };
        Strides {
            near: bins(true, room.near),
            far: bins(false, room.far),
        }
    }
}

/// The bins of one table.
struct Strides {
    near: Bins,
    far: Bins,
}

struct Bins {
    edges: Vec<Timestamp>,
    stride: usize,
    /// Whether anybody is in them.
    used: bool,
}

impl Strides {
    fn of(&self, near: bool) -> &Bins {
        if near { &self.near } else { &self.far }
    }

    fn form(&self) -> PageForm {
        let used = [&self.near, &self.far].into_iter().filter(|it| it.used);
        let finest = used.map(|bins| bins.stride).min().unwrap_or(1);
        PageForm::Bins {
            stride: u32::try_from(finest).unwrap_or(u32::MAX),
        }
    }
}

/// Threads taken together.
struct Sum {
    threads: usize,
    known: Window,
    stride: usize,
    time: analysis::ThreadTime,
}

impl Sum {
    fn new(known: Window, stride: usize) -> Self {
        let time = analysis::ThreadTime {
            first_bin: 0,
            bins: Vec::new(),
        };
        Self {
            threads: 0,
            known,
            stride,
            time,
        }
    }

    fn add(&mut self, known: Window, time: &analysis::ThreadTime) {
        self.threads += 1;
        self.known.start = self.known.start.min(known.start);
        self.known.end = self.known.end.max(known.end);
        let end = time.first_bin + time.bins.len();
        if self.time.bins.len() < end {
            self.time.bins.resize(end, [0; analysis::THREAD_CLASSES]);
        }
        for (sum, own) in self.time.bins[time.first_bin..].iter_mut().zip(&time.bins) {
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum = sum.saturating_add(*own);
            }
        }
    }
}

/// What a column's numbers are divided by in the page.
pub(super) fn scale(column: &Column) -> i64 {
    match column.unit {
        Unit::Nanoseconds => TIME_SCALE,
        _ => 1,
    }
}

/// A table as the page describes it; its block is numbered later, and how often it is read is the run's.
pub(super) fn described(table: &Table, form: PageForm, left_out: u32) -> PageTable {
    let column = |column: &Column| PageColumn {
        name: column.name.to_string(),
        unit: column.unit,
        kind: column.kind,
        quality: column.quality,
        help: column.help.to_string(),
        source: column.source.to_string(),
        since: column.since.to_string(),
        words: BTreeMap::new(),
        scale: if form == PageForm::Rows {
            1
        } else {
            scale(column)
        },
    };
    PageTable {
        name: table.name.to_string(),
        entity: table.entity,
        help: table.help.to_string(),
        columns: table.columns.iter().map(column).collect(),
        form,
        block: 0,
        every: None,
        left_out,
    }
}

/// What codes of a column stand for that were seen, where the recording alone does not say it: PostgreSQL's waits,
/// numbered as in the server's version, and the kernel's functions, by the recorder's list. Those without a word are
/// left out.
fn code_names(column: &Column, seen: &BTreeSet<i64>, meta: &Meta) -> BTreeMap<i64, String> {
    let word: &dyn Fn(i64) -> Option<String> = match &*column.name {
        "wait_event" => &|code| {
            let told = meta.targets.iter().filter_map(|it| it.version.as_deref());
            wait_event::title(wait_event::versions(told), u32::try_from(code).ok()?)
        },
        "wait_channel" => &|code| wait_channel::name(code).map(str::to_owned),
        _ => return BTreeMap::new(),
    };
    let worded = |code: &i64| Some((*code, word(*code)?));
    seen.iter().filter_map(worded).collect()
}
