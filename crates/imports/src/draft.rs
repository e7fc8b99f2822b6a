//! A recording in the making: values by table, time and entity, with where each column came from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{
    Column, Entity, EntityId, EntityKind, EntityRecord, MISSING, Quality, Rows, Sentence, Table,
    Timestamp, Window,
};

use crate::NotUnderstood;

/// Where the first row of an imported recording lies: the boot clock of the machine is not known.
const ORIGIN_NS: i64 = 1_000_000_000;
/// The longest time that one import may cover: a year. A damaged date would make a recording of centuries.
pub(crate) const LONGEST_NS: i64 = 366 * 86_400 * 1_000_000_000;
/// Times without rows that are listed one by one; of a file with more, the last one reaches to the end of all further.
const MOST_HOLES: usize = 1_000;

/// What was read of other tools' measurements.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// What measured it: `sar`, `atop`, `monitor.csv`, `/proc/pressure`; of several files all of them.
    pub tool: Cow<'static, str>,
    /// Its version, where the file has it.
    pub version: Option<String>,
    /// The usual distance of two rows, ns.
    pub resolution_ns: i64,
    /// The host's name, where the file has it.
    pub node: Option<String>,
    /// The kernel's release, where the file has it.
    pub kernel: Option<String>,
    /// The number of CPUs, where the file has it.
    pub cpus: Option<u32>,
    /// Wall-clock time of the window's start, ns since 1970.
    pub start_realtime_ns: i64,
    /// What it covers; its start stands for an instant of the boot clock that is not known.
    pub window: Window,
    /// Whom the rows are about.
    pub entities: Vec<EntityRecord>,
    /// The tables, each with those columns that the source has.
    pub tables: Vec<(Table, Rows)>,
    /// What is to be known of the source, by the table that it concerns.
    pub notes: Vec<(String, Sentence)>,
    /// When the source did not measure: counters stand still there, and that is no measurement.
    pub holes: Vec<Window>,
}

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    /// What the source calls it.
    pub(crate) source: &'a str,
    pub(crate) quality: Quality,
}

type Values = BTreeMap<usize, i64>;

/// The time that a row of the source stands for, in wall-clock ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Interval {
    /// Its length, ns.
    pub(crate) fn length(self) -> f64 {
        self.end.saturating_sub(self.start) as f64
    }

    /// Its length, s.
    pub(crate) fn seconds(self) -> f64 {
        self.length() / 1e9
    }
}

/// A counter so far, and up to when it is known.
#[derive(Clone, Copy)]
struct Total {
    amount: f64,
    until: i64,
}

/// A counter of an entity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counter {
    entity: u32,
    table: &'static str,
    column: &'static str,
}

#[derive(Default)]
pub(crate) struct Draft {
    /// By what identifies one: its kind and its path. The first name stays.
    entities: BTreeMap<(EntityKind, String), Known>,
    totals: BTreeMap<Counter, Total>,
    holes: Vec<Interval>,
    rows: BTreeMap<&'static str, BTreeMap<(i64, u32), Values>>,
    sources: BTreeMap<(&'static str, usize), (String, Quality)>,
    pub(crate) notes: Vec<(String, Sentence)>,
}

/// An entity with its number.
struct Known {
    entity: Entity,
    id: u32,
}

impl Draft {
    /// Takes a value at a wall-clock time, ns; a column that no sensor has is a mistake of this crate and is left out.
    pub(crate) fn put(&mut self, cell: Cell<'_>, entity: &Entity, time_ns: i64, value: i64) {
        let Some(table) = declared(cell.table) else {
            return;
        };
        let Some(place) = table.position(cell.column) else {
            return;
        };
        let id = self.id(entity);
        let rows = self.rows.entry(cell.table).or_default();
        rows.entry((time_ns, id)).or_default().insert(place, value);
        let source = (cell.source.to_owned(), cell.quality);
        self.sources.entry((cell.table, place)).or_insert(source);
    }

    fn id(&mut self, entity: &Entity) -> u32 {
        let next = self.entities.len() as u32;
        let known = self
            .entities
            .entry((entity.kind, entity.path.clone()))
            .or_insert_with(|| Known {
                entity: entity.clone(),
                id: next,
            });
        known.id
    }

    /// Takes by how much a counter grew in an interval. It stood still before it, and where no row counts it; what is no
    /// number adds nothing.
    pub(crate) fn grow(
        &mut self,
        cell: Cell<'_>,
        entity: &Entity,
        interval: Interval,
        amount: f64,
    ) {
        let counter = Counter {
            entity: self.id(entity),
            table: cell.table,
            column: cell.column,
        };
        let before = self.totals.get(&counter).copied().unwrap_or(Total {
            amount: 0.0,
            until: i64::MIN,
        });
        if before.until < interval.start {
            self.put(cell, entity, interval.start, before.amount.round() as i64);
        }
        let grown = if amount.is_finite() {
            amount.max(0.0)
        } else {
            0.0
        };
        let amount = (before.amount + grown).min(MOST);
        self.put(cell, entity, interval.end, amount.round() as i64);
        let until = interval.end;
        self.totals.insert(counter, Total { amount, until });
    }

    /// Says that the source did not measure then.
    pub(crate) fn hole(&mut self, hole: Interval) {
        let is_full = self.holes.len() >= MOST_HOLES;
        match self.holes.last_mut() {
            Some(last) if is_full => last.end = hole.end,
            _ => self.holes.push(hole),
        }
    }

    pub(crate) fn note(&mut self, table: &str, sentence: Sentence) {
        self.notes.push((table.to_owned(), sentence));
    }

    /// The whole; what only some sources say is left open.
    pub(crate) fn finish(self, tool: &'static str) -> Result<Imported, NotUnderstood> {
        let times = || {
            self.rows
                .values()
                .flat_map(|rows| rows.keys().map(|(time, _)| *time))
        };
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        if first >= last || last - first > LONGEST_NS {
            return Err(NotUnderstood::whole(
                "two rows or more, within a year, of which a column is known",
                "docs/import.md lists what is read of each format",
            ));
        }
        let mut distinct: Vec<i64> = times().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let at = |time: i64| Timestamp::from_ns(time - first + ORIGIN_NS);
        let tables = self.rows.iter().filter_map(|(name, rows)| {
            let columns: Vec<usize> = self
                .sources
                .keys()
                .filter(|(of, _)| of == name)
                .map(|key| key.1)
                .collect();
            Some((self.table(name, &columns)?, filled(rows, &columns, at)))
        });
        let start = at(first);
        let record =
            |known: &Known| EntityRecord::new(EntityId(known.id), known.entity.clone(), start);
        let whole = Window::new(start, at(last));
        let hole = |hole: &Interval| {
            let inside = |time: i64| at(time.clamp(first, last));
            let hole = Window::new(inside(hole.start), inside(hole.end));
            (!hole.is_empty()).then_some(hole)
        };
        Ok(Imported {
            tool: Cow::Borrowed(tool),
            version: None,
            resolution_ns: (last - first) / (distinct.len() as i64 - 1),
            node: None,
            kernel: None,
            cpus: None,
            start_realtime_ns: first,
            window: whole,
            entities: self.entities.values().map(record).collect(),
            tables: tables.collect(),
            notes: self.notes.clone(),
            holes: self.holes.iter().filter_map(hole).collect(),
        })
    }

    /// A sensor's table with these columns only, as the source has them.
    fn table(&self, name: &'static str, columns: &[usize]) -> Option<Table> {
        let declared = declared(name)?;
        let column = |place: &usize| {
            let (source, quality) = self.sources.get(&(name, *place))?;
            Some(Column {
                source: Cow::Owned(source.clone()),
                quality: *quality,
                ..declared.columns.get(*place)?.clone()
            })
        };
        Some(Table {
            columns: columns.iter().filter_map(column).collect(),
            ..declared.clone()
        })
    }
}

fn filled(
    rows: &BTreeMap<(i64, u32), Values>,
    columns: &[usize],
    at: impl Fn(i64) -> Timestamp,
) -> Rows {
    let mut filled = Rows::with_capacity(columns.len(), rows.len());
    for ((time, id), values) in rows {
        let value = |place: &usize| values.get(place).copied().unwrap_or(MISSING);
        let row: Vec<i64> = columns.iter().map(value).collect();
        filled.push(at(*time), EntityId(*id), &row);
    }
    filled
}

fn declared(name: &str) -> Option<&'static Table> {
    sensors::tables().find(|table| table.name == name)
}

/// What a counter holds at most: what becomes an i64 without loss of its sign.
const MOST: f64 = 9e18;

/// The machine as a whole.
pub(crate) fn machine() -> Entity {
    Entity::new(EntityKind::Machine, "machine", "/")
}

/// Where a source has the mean of all CPUs only.
pub(crate) fn all_cpus() -> Entity {
    Entity::new(EntityKind::Cpu, "mean of all CPUs", "all")
}
