//! Segments put together again: rows in the order of the segments, each row once.

use std::collections::{HashMap, HashSet};

use model::{
    EntityEvent, EntityId, Gap, GapReason, Meta, RowKind, Sentence, TableData, Timeline, Window,
    sentence,
};

use crate::damage::ALL_TABLES;
use crate::{Damage, Recording};

/// Segments read so far, as one recording.
#[derive(Default)]
pub(super) struct Joined {
    meta: Option<Meta>,
    timeline: Option<Timeline>,
    damage: Vec<Damage>,
    tables: HashMap<String, Table>,
    /// The number of the newest one.
    number: u32,
    /// How many segments since the newest one could not be read.
    lost: u32,
}

/// A table so far.
struct Table {
    data: TableData,
    /// Where the newest row of each entity is.
    newest: HashMap<EntityId, usize>,
    /// Of definitions, those that are there.
    defined: HashSet<Vec<i64>>,
}

impl Joined {
    /// Whether no segment could be read yet.
    pub(super) fn is_empty(&self) -> bool {
        self.meta.is_none()
    }

    /// Notes a segment that cannot be read.
    pub(super) fn lose(&mut self, damage: Damage) {
        self.damage.push(damage);
        self.lost += 1;
    }

    /// Adds the next segment.
    pub(super) fn take(&mut self, name: &str, part: Recording) {
        let Recording {
            meta,
            timeline: mut next,
            damage,
        } = part;
        let damage = damage.into_iter().map(|mut it| {
            it.file = format!("{name}/{}", it.file);
            it
        });
        self.damage.extend(damage);
        let number = meta.segment.map_or(self.number + 1, |it| it.number);
        let timeline = self.timeline.get_or_insert_with(|| {
            let mut first = Timeline::new(Window::new(next.window.start, next.window.start));
            first.closed = next.closed;
            first
        });
        let before = timeline.window.end;
        if self.meta.is_some() && next.window.start > before {
            let window = Window::new(before, next.window.start);
            let missing = number.saturating_sub(self.number + 1);
            timeline.gaps.push(between(window, missing.max(self.lost)));
        }
        for data in next.tables() {
            let table = self.tables.entry(data.table.name.to_string());
            let table = table.or_insert_with(|| Table::new(data.table.clone()));
            if let Err(damage) = table.take(name, data) {
                self.damage.push(damage);
            }
        }
        for record in next.entities.iter() {
            timeline.entities.apply(EntityEvent {
                time: record.first_seen,
                record: record.clone(),
            });
        }
        for text in next.strings.iter() {
            timeline.strings.insert(text.clone());
        }
        for gap in std::mem::take(&mut next.gaps) {
            keep(&mut timeline.gaps, gap);
        }
        timeline.marks.append(&mut next.marks);
        timeline.window.end = before.max(next.window.end);
        timeline.closed = next.closed;
        (self.number, self.lost) = (number, 0);
        self.describe(meta);
    }

    /// The newest description is that of all, as far as it does not say what happened when.
    fn describe(&mut self, mut meta: Meta) {
        if let Some(before) = self.meta.take() {
            meta.window.start = before.window.start;
            meta.complete &= before.complete;
            let mut firings = before.firings;
            firings.retain(|firing| !meta.firings.contains(firing));
            meta.firings.splice(..0, firings);
        }
        self.meta = Some(meta);
    }

    /// The recording; `None` where no segment could be read.
    pub(super) fn finish(self) -> Option<Recording> {
        let (mut meta, mut timeline) = self.meta.zip(self.timeline)?;
        for table in self.tables.into_values() {
            timeline.insert(table.data);
        }
        if self.lost > 0 {
            let end = Window::new(timeline.window.end, timeline.window.end);
            timeline.gaps.push(between(end, self.lost));
        }
        timeline.marks.sort_by_key(|mark| mark.at);
        meta.window.end = meta.window.end.max(meta.window.start);
        meta.gaps.clone_from(&timeline.gaps);
        meta.segment = None;
        Some(Recording {
            meta,
            timeline,
            damage: self.damage,
        })
    }
}

impl Table {
    fn new(table: model::Table) -> Self {
        Self {
            data: TableData::new(table),
            newest: HashMap::new(),
            defined: HashSet::new(),
        }
    }

    /// Adds those rows of a segment that are not there yet: it begins with the newest row of each series before it, and
    /// has the definitions that its rows refer to.
    fn take(&mut self, name: &str, data: &TableData) -> Result<(), Damage> {
        if data.table != self.data.table {
            let what = "its columns are others than in the segments before".to_owned();
            let mut damage = Damage::of_table(&data.table.name, 0, what);
            damage.file = format!("{name}/{}", damage.file);
            return Err(damage);
        }
        let kind = self.data.table.rows;
        let new: Vec<usize> = match kind {
            RowKind::Events => (0..data.len()).collect(),
            RowKind::Definitions => (0..data.len())
                .filter(|row| self.defined.insert(data.row(*row).collect()))
                .collect(),
            RowKind::Readings => {
                let mut begun = HashSet::new();
                (0..data.len())
                    .filter(|row| !begun.insert(data.key(*row).1) || !self.has(data, *row))
                    .collect()
            }
        };
        let start = self.data.len();
        self.data.append_from(data, &new);
        if kind == RowKind::Readings {
            for row in start..self.data.len() {
                self.newest.insert(self.data.key(row).1, row);
            }
        }
        Ok(())
    }

    /// Whether a series' newest row is that row.
    fn has(&self, data: &TableData, row: usize) -> bool {
        let (time, entity) = data.key(row);
        self.newest.get(&entity).is_some_and(|newest| {
            self.data.key(*newest).0 == time && self.data.row(*newest).eq(data.row(row))
        })
    }
}

/// Adds a gap, or lengthens the one that it goes on with.
fn keep(gaps: &mut Vec<Gap>, gap: Gap) {
    if gaps.contains(&gap) {
        return;
    }
    let goes_on = |other: &&mut Gap| {
        let same = other.table == gap.table && other.what == gap.what;
        let touches = other
            .window
            .zip(gap.window)
            .is_some_and(|(other, gap)| other.start <= gap.end && gap.start <= other.end);
        same && touches && is_alike(&other.reason, &gap.reason)
    };
    match gaps.iter_mut().rev().find(goes_on) {
        Some(other) => {
            if let Some((one, two)) = other.window.zip(gap.window) {
                let (start, end) = (one.start.min(two.start), one.end.max(two.end));
                other.window = Some(Window::new(start, end));
            }
            if let (GapReason::Dropped(sum), GapReason::Dropped(more)) =
                (&mut other.reason, &gap.reason)
            {
                // It was counted on.
                *sum = (*sum).max(*more);
            }
        }
        None => gaps.push(gap),
    }
}

fn is_alike(one: &GapReason, other: &GapReason) -> bool {
    matches!((one, other), (GapReason::Dropped(_), GapReason::Dropped(_))) || one == other
}

/// The gap where segments are missing, or the recorder wrote none.
fn between(window: Window, missing: u32) -> Gap {
    let what: Sentence = match missing {
        0 => "nothing was written between two segments".into(),
        1 => "a segment is missing, or cannot be read".into(),
        many => sentence!("{} segments are missing, or cannot be read", many),
    };
    Gap {
        table: ALL_TABLES.to_owned(),
        what: Sentence::default(),
        window: Some(window),
        reason: GapReason::Malformed(what),
    }
}
