//! A kept recording of a real machine, written once more: what its rows take on disk, and what writing
//! them costs.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use model::{
    Entity, EntityEvent, EntityId, EntityRecord, Meta, Rows, TableData, Timeline, Timestamp,
};
use recording::{Reader, Writer};
use rustix::time::{ClockId, clock_gettime};

/// What was written again.
pub(crate) struct Replayed {
    pub(crate) series: u64,
    /// A value is a series at a sample of its period, whether it changed or not, as other recorders
    /// count.
    pub(crate) values: u64,
    pub(crate) seconds: f64,
    pub(crate) bytes: u64,
    /// CPU time of the writing, ns.
    pub(crate) cpu_ns: i64,
}

/// Writes a recording's rows and entities into a new one, second by second as they came.
pub(crate) fn replay(from: &Path, to: &Path) -> Result<Replayed> {
    let recording = Reader::open(from).with_context(|| format!("{}", from.display()))?;
    let timeline = &recording.timeline;
    let seconds = by_second(timeline);
    let before = cpu_ns();
    let mut writer = Writer::create(to, &recording.meta)?;
    for second in seconds.values() {
        writer.entities(&second.events)?;
        for (table, rows) in &second.rows {
            writer.append(&table.table, rows)?;
        }
        writer.flush()?;
    }
    let bytes = writer.close(&recording.meta)?;
    let cpu_ns = cpu_ns() - before;
    let (mut series, mut values) = (0, 0);
    for data in timeline.tables() {
        let columns = data.table.columns.len() as u64;
        series += data.entities().count() as u64 * columns;
        values += samples(timeline, data) * columns;
    }
    Ok(Replayed {
        series,
        values,
        seconds: timeline.window.seconds(),
        bytes,
        cpu_ns,
    })
}

/// Copies a recording without the names in it, and without what `meta.json` reports the machine.
pub(crate) fn keep(from: &Path, to: &Path) -> Result<()> {
    let Recorded { meta, timeline } = read(from)?;
    let mut writer = Writer::create(to, &meta)?;
    for second in by_second(&timeline).values() {
        let nameless = |event: &EntityEvent| EntityEvent {
            record: EntityRecord {
                entity: nameless(&event.record),
                ..event.record.clone()
            },
            ..event.clone()
        };
        let events: Vec<EntityEvent> = second.events.iter().map(nameless).collect();
        writer.entities(&events)?;
        for (table, rows) in &second.rows {
            writer.append(&table.table, rows)?;
        }
        writer.flush()?;
    }
    writer.close(&meta)?;
    Ok(())
}

struct Recorded {
    meta: Meta,
    timeline: Timeline,
}

fn read(from: &Path) -> Result<Recorded> {
    let recording = Reader::open(from)?;
    let meta = Meta {
        environment: Default::default(),
        targets: Vec::new(),
        workload: None,
        gaps: Vec::new(),
        format_version: model::FORMAT_VERSION,
        identity: crate::mixed::identity(recording.meta.window.start),
        ..recording.meta
    };
    Ok(Recorded {
        meta,
        timeline: recording.timeline,
    })
}

/// As long as the names were.
fn nameless(record: &EntityRecord) -> Entity {
    let EntityRecord { id, entity, .. } = record;
    let word = entity.kind.word();
    let filled = |like: &str, with: String| {
        let length = like.len().max(with.len());
        format!("{with:~<length$}")
    };
    let name = filled(&entity.name, format!("{word}-{}", id.0));
    let path = filled(
        &entity.path,
        format!("{word}:{}@{}", id.0, record.first_seen.as_ns()),
    );
    Entity::new(entity.kind, name, path)
}

#[derive(Default)]
struct Second<'a> {
    events: Vec<EntityEvent>,
    rows: Vec<(&'a TableData, Rows)>,
}

fn by_second(timeline: &Timeline) -> BTreeMap<i64, Second<'_>> {
    let second = |at: Timestamp| at.ns_since(timeline.window.start).max(0) / 1_000_000_000;
    let mut seconds: BTreeMap<i64, Second<'_>> = BTreeMap::new();
    for record in timeline.entities.iter() {
        let mut states = vec![(record.first_seen, None)];
        states.extend(record.vanished.map(|time| (time, Some(time))));
        for (time, vanished) in states {
            let record = EntityRecord {
                vanished,
                ..record.clone()
            };
            let events = &mut seconds.entry(second(time)).or_default().events;
            events.push(EntityEvent { time, record });
        }
    }
    for second in seconds.values_mut() {
        second
            .events
            .sort_by_key(|event| (event.time, event.record.id));
    }
    let mut values = Vec::new();
    for data in timeline.tables() {
        for index in 0..data.len() {
            let (time, entity) = data.key(index);
            let rows = &mut seconds.entry(second(time)).or_default().rows;
            if rows
                .last()
                .is_none_or(|(last, _)| last.table.name != data.table.name)
            {
                rows.push((data, Rows::with_capacity(data.table.columns.len(), 64)));
            }
            values.clear();
            values.extend(data.row(index));
            if let Some((_, rows)) = rows.last_mut() {
                rows.push(time, entity, &values);
            }
        }
    }
    seconds
}

/// How often the entities of a table were looked at, all together.
///
/// A recording does not say how often it looked at what did not change. But none has more rows than it
/// was looked at: so the looks at each are taken to be the rows that the busiest tenth of a table's
/// entities (of few, the busiest third) have at least, in the part of the recording in which the entity
/// was there. Some were looked at more often: that would make the share smaller.
fn samples(timeline: &Timeline, data: &TableData) -> u64 {
    let mut rows: BTreeMap<EntityId, u64> = BTreeMap::new();
    for index in 0..data.len() {
        *rows.entry(data.key(index).1).or_default() += 1;
    }
    let mut counts: Vec<u64> = rows.values().copied().collect();
    counts.sort_by_key(|count| std::cmp::Reverse(*count));
    let part = if counts.len() > 20 { 10 } else { 3 };
    let looks = counts.get(counts.len() / part).copied().unwrap_or(0) as f64;
    let window = timeline.window;
    let of_entity = |(id, rows): (&EntityId, &u64)| {
        let there = timeline.entities.get(*id).and_then(|record| {
            let until = record.vanished.unwrap_or(window.end);
            window.intersect(model::Window::new(record.first_seen, until))
        });
        let share = there.map_or(0.0, |there| there.seconds() / window.seconds());
        ((looks * share) as u64).max(*rows)
    };
    rows.iter().map(of_entity).sum()
}

fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
