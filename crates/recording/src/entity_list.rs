//! The entity list's file: one row per event, the list is their fold.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt32Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int64Array, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_schema::{DataType, Field, Schema};
use model::{Entities, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};

use crate::journal::{Event, Record};
use crate::list_file::{self, Item};
use crate::{plausible, schema};

impl Item for EntityEvent {
    const NAME: &'static str = "entities";

    fn schema() -> Schema {
        let fields = vec![
            schema::time_field(),
            Field::new("id", DataType::UInt32, false),
            Field::new("kind", DataType::Utf8, false),
            Field::new("name", DataType::Utf8, false),
            Field::new("path", DataType::Utf8, false),
            Field::new("parent", DataType::UInt32, true),
            Field::new("group", DataType::UInt32, true),
            Field::new("pressure_group", DataType::UInt32, true),
            Field::new("memory_group", DataType::UInt32, true),
            Field::new("io_group", DataType::UInt32, true),
            Field::new("role", DataType::Utf8, false),
            Field::new("serving", DataType::Boolean, false),
            Field::new("first_seen", DataType::Int64, false),
            Field::new("vanished", DataType::Int64, true),
        ];
        schema::of_list(fields)
    }

    /// A segment has the numbers of the whole recording, so they may lie far above the count of its events.
    fn check(&self, _number: usize) -> std::result::Result<(), String> {
        let record = &self.record;
        let id = record.id.0 as usize;
        if id >= Entities::MAX {
            return Err(format!(
                "entity number {id} is above the most that there can be, {}",
                Entities::MAX
            ));
        }
        let mut times = [Some(self.time), Some(record.first_seen), record.vanished]
            .into_iter()
            .flatten();
        match times.find(|time| !plausible(*time)) {
            Some(time) => Err(format!("{} ns is no time since boot", time.as_ns())),
            None => Ok(()),
        }
    }

    fn words_bytes(&self) -> usize {
        let Entity { name, path, .. } = &self.record.entity;
        name.len() + path.len()
    }

    fn encode(events: &[Self]) -> Vec<ArrayRef> {
        encode(events)
    }
}

/// An event as a journal's record holds it.
pub(crate) fn words_of(event: &EntityEvent) -> Event<'_> {
    let record = &event.record;
    let groups = [
        record.group,
        record.pressure_group,
        record.memory_group,
        record.io_group,
    ];
    Event {
        time: event.time.as_ns(),
        id: record.id.0,
        kind: record.entity.kind.word().into(),
        name: (&*record.entity.name).into(),
        path: (&*record.entity.path).into(),
        parent: record.parent.map(|id| id.0),
        groups: groups.map(|group| group.map(|id| id.0)),
        role: record.role.word().into(),
        serving: record.serving,
        first_seen: record.first_seen.as_ns(),
        vanished: record.vanished.map(Timestamp::as_ns),
    }
}

fn event_of(words: &Event<'_>) -> std::result::Result<EntityEvent, String> {
    let [group, pressure_group, memory_group, io_group] =
        words.groups.map(|group| group.map(EntityId));
    let record = EntityRecord {
        id: EntityId(words.id),
        entity: Entity::new(kind_of(&words.kind)?, &*words.name, &*words.path),
        parent: words.parent.map(EntityId),
        group,
        pressure_group,
        memory_group,
        io_group,
        role: role_of(&words.role)?,
        serving: words.serving,
        first_seen: Timestamp::from_ns(words.first_seen),
        vanished: words.vanished.map(Timestamp::from_ns),
    };
    Ok(EntityEvent {
        time: Timestamp::from_ns(words.time),
        record,
    })
}

/// The entity list being read.
#[derive(Default)]
pub(crate) struct EntityRows {
    /// The fold of the events so far.
    pub(crate) entities: Entities,
    events: usize,
}

impl EntityRows {
    /// Takes a batch of events: all of them or, with a reason, none.
    pub(crate) fn take(&mut self, batch: &RecordBatch) -> std::result::Result<(), String> {
        self.take_events(decode(batch)?)
    }

    /// Takes those events of a journal's record that the file lacks.
    pub(crate) fn take_record(&mut self, record: &Record) -> std::result::Result<(), String> {
        let new = list_file::lacking(self.events, record.first_event, &record.events, "events")?;
        self.take_events(
            new.iter()
                .map(event_of)
                .collect::<std::result::Result<_, _>>()?,
        )
    }

    fn take_events(&mut self, events: Vec<EntityEvent>) -> std::result::Result<(), String> {
        let first = self.events + 1;
        for (number, event) in (first..).zip(&events) {
            event.check(number)?;
        }
        self.events += events.len();
        for event in events {
            self.entities.apply(event);
        }
        Ok(())
    }
}

/// Columns that came with format 2; in older files nothing is known of them.
const SINCE_2: [&str; 2] = ["memory_group", "io_group"];

/// The file's format; refuses one that lacks a column.
pub(crate) fn check_schema(found: &Schema) -> std::result::Result<u32, String> {
    let is_due = |version, column: &str| version >= 2 || !SINCE_2.contains(&column);
    list_file::check_schema::<EntityEvent>(found, is_due)
}

fn encode(events: &[EntityEvent]) -> Vec<ArrayRef> {
    let records = || events.iter().map(|event| &event.record);
    let words = |word: fn(&EntityRecord) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(records().map(word)))
    };
    let numbers = |number: fn(&EntityRecord) -> Option<EntityId>| -> ArrayRef {
        Arc::new(
            records()
                .map(|r| number(r).map(|id| id.0))
                .collect::<UInt32Array>(),
        )
    };
    let times = |time: fn(&EntityEvent) -> Option<Timestamp>| -> ArrayRef {
        Arc::new(
            events
                .iter()
                .map(|e| time(e).map(Timestamp::as_ns))
                .collect::<Int64Array>(),
        )
    };
    vec![
        times(|event| Some(event.time)),
        numbers(|record| Some(record.id)),
        words(|record| record.entity.kind.word()),
        words(|record| &record.entity.name),
        words(|record| &record.entity.path),
        numbers(|record| record.parent),
        numbers(|record| record.group),
        numbers(|record| record.pressure_group),
        numbers(|record| record.memory_group),
        numbers(|record| record.io_group),
        words(|record| record.role.word()),
        Arc::new(
            records()
                .map(|record| Some(record.serving))
                .collect::<BooleanArray>(),
        ),
        times(|event| Some(event.record.first_seen)),
        times(|event| event.record.vanished),
    ]
}

fn decode(batch: &RecordBatch) -> std::result::Result<Vec<EntityEvent>, String> {
    let column = |name: &str| {
        batch
            .column_by_name(name)
            .ok_or_else(|| format!("it lacks {name}"))
    };
    let words = |name| column(name).map(|column| column.as_string::<i32>());
    let (kinds, names, paths, roles) = (
        words("kind")?,
        words("name")?,
        words("path")?,
        words("role")?,
    );
    let numbers = |name| column(name).map(|column| column.as_primitive::<UInt32Type>());
    let (ids, parents) = (numbers("id")?, numbers("parent")?);
    let (groups, pressure_groups) = (numbers("group")?, numbers("pressure_group")?);
    let [memory_groups, io_groups] = SINCE_2.map(|name| numbers(name).ok());
    let times = |name| column(name).map(|column| column.as_primitive::<Int64Type>());
    let (noticed, first_seen, vanished) =
        (times("time")?, times("first_seen")?, times("vanished")?);
    let serving = column("serving")?.as_boolean();
    let event = |row: usize| {
        let kind = kind_of(kinds.value(row))?;
        let record = EntityRecord {
            id: EntityId(ids.value(row)),
            entity: Entity::new(kind, names.value(row), paths.value(row)),
            parent: value(parents, row).map(EntityId),
            group: value(groups, row).map(EntityId),
            pressure_group: value(pressure_groups, row).map(EntityId),
            memory_group: memory_groups
                .and_then(|groups| value(groups, row))
                .map(EntityId),
            io_group: io_groups
                .and_then(|groups| value(groups, row))
                .map(EntityId),
            role: role_of(roles.value(row))?,
            serving: serving.value(row),
            first_seen: Timestamp::from_ns(first_seen.value(row)),
            vanished: value(vanished, row).map(Timestamp::from_ns),
        };
        Ok(EntityEvent {
            time: Timestamp::from_ns(noticed.value(row)),
            record,
        })
    };
    (0..batch.num_rows()).map(event).collect()
}

fn value<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    array.is_valid(row).then(|| array.value(row))
}

fn kind_of(word: &str) -> std::result::Result<EntityKind, String> {
    let known = EntityKind::ALL.into_iter().find(|kind| kind.word() == word);
    known.ok_or_else(|| format!("{word:?} is no kind of entity"))
}

fn role_of(word: &str) -> std::result::Result<Role, String> {
    let known = Role::ALL.into_iter().find(|role| role.word() == word);
    known.ok_or_else(|| format!("{word:?} is no role"))
}
