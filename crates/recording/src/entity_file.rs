//! The entity list's file: one row per event, the list is their fold.
//!
//! Unlike tables it holds words, and times as they are: events are rare.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt32Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int64Array, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use model::{Entities, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};

use crate::arrow_file::{ArrowFile, BATCH_BYTES};
use crate::journal::{Event, Record};
use crate::table_file::From;
use crate::{Error, FolderHandle, Result, plausible, schema, table_file};

/// The name that no table may have.
pub(crate) const NAME: &str = "entities";

/// Events per batch.
const BATCH_EVENTS: usize = 4096;

/// The longest name and path together, so that a batch of events stays within its bytes.
const MAX_WORDS_BYTES: usize = BATCH_BYTES / BATCH_EVENTS;

/// The entity list being written.
pub(crate) struct EntityFile {
    path: PathBuf,
    file: ArrowFile,
    schema: SchemaRef,
    /// Events in the file.
    written: usize,
    /// Events that wait for a batch.
    waiting: Vec<EntityEvent>,
    waiting_bytes: usize,
    /// How many of those are in the journal.
    journaled: usize,
}

impl EntityFile {
    /// Makes the file in a recording's folder.
    pub(crate) fn create(folder: &Arc<FolderHandle>) -> Result<Self> {
        let schema = Arc::new(schema());
        let name = table_file::file_name(NAME);
        let path = folder.path_of(&name);
        let file = ArrowFile::create(folder.clone(), name, &schema)?;
        Ok(Self {
            path,
            file,
            schema,
            written: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            journaled: 0,
        })
    }

    /// Takes events to those that wait: all or, with an error, none.
    pub(crate) fn take(&mut self, events: &[EntityEvent]) -> Result<()> {
        let first = self.written + self.waiting.len() + 1;
        for (number, event) in (first..).zip(events) {
            check(event, number)
                .and_then(|()| check_words(event))
                .map_err(|what| Error::unfit(&self.path, what))?;
        }
        self.waiting_bytes += events.iter().map(event_bytes).sum::<usize>();
        self.waiting.extend_from_slice(events);
        Ok(())
    }

    /// Bytes of memory that the waiting events take.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Events that are neither in the file nor in the journal.
    pub(crate) fn exposed(&self) -> usize {
        self.waiting.len() - self.journaled
    }

    /// Waiting events for a journal's record, and how many come before them.
    pub(crate) fn part(&self, from: From) -> (u64, Vec<Event<'_>>) {
        let start = match from {
            From::Exposed => self.journaled,
            From::Waiting => 0,
        };
        let events = self.waiting[start..].iter().map(words_of).collect();
        ((self.written + start) as u64, events)
    }

    /// All waiting events are in the journal now.
    pub(crate) fn note_journaled(&mut self) {
        self.journaled = self.waiting.len();
    }

    /// Writes the waiting events, several batches when they are very many; with an error what was
    /// not written goes on waiting.
    pub(crate) fn write(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            let count = self.waiting.len().min(BATCH_EVENTS);
            let batch = RecordBatch::try_new(self.schema.clone(), encode(&self.waiting[..count]))
                .map_err(|error| Error::unfit(&self.path, error))?;
            self.file.write(&batch)?;
            self.written += count;
            self.journaled = self.journaled.saturating_sub(count);
            let written = self.waiting.drain(..count);
            self.waiting_bytes -= written.as_slice().iter().map(event_bytes).sum::<usize>();
        }
        Ok(())
    }

    /// Writes what waits and the end marker; returns the file's size.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        self.write()?;
        self.file.finish()
    }
}

/// What an event takes while it waits.
pub(crate) fn event_bytes(event: &EntityEvent) -> usize {
    let Entity { name, path, .. } = &event.record.entity;
    size_of::<EntityEvent>() + name.len() + path.len()
}

fn words_of(event: &EntityEvent) -> Event<'_> {
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
        let read = self.events as u64;
        if read
            >= record
                .first_event
                .saturating_add(record.events.len() as u64)
        {
            return Ok(());
        }
        if read < record.first_event {
            let lacking = record.first_event - read;
            return Err(format!(
                "{lacking} events before those of the journal are lacking"
            ));
        }
        // Smaller than the number of events, which is a usize.
        let new = record.events[(read - record.first_event) as usize..].iter();
        self.take_events(new.map(event_of).collect::<std::result::Result<_, _>>()?)
    }

    fn take_events(&mut self, events: Vec<EntityEvent>) -> std::result::Result<(), String> {
        let first = self.events + 1;
        for (number, event) in (first..).zip(&events) {
            check(event, number)?;
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

/// The file's format. Refuses one that lacks a column of its format's entity list; more are no harm.
pub(crate) fn check_schema(found: &Schema) -> std::result::Result<u32, String> {
    let version = schema::check_format(found)?;
    let since_then = |name: &str| version < 2 && SINCE_2.contains(&name);
    for field in schema()
        .fields()
        .iter()
        .filter(|field| !since_then(field.name()))
    {
        if !found
            .field_with_name(field.name())
            .is_ok_and(|found| schema::alike(found, field))
        {
            return Err(format!(
                "it lacks the column {} ({})",
                field.name(),
                field.data_type()
            ));
        }
    }
    Ok(version)
}

/// Refuses what can only be damage. `events` counts the event itself and those before it.
///
/// Numbers are handed out in order, each with an event, so one far above their count is damage.
fn check(event: &EntityEvent, events: usize) -> std::result::Result<(), String> {
    let record = &event.record;
    let id = record.id.0 as usize;
    if id >= Entities::MAX.min(65_536 + 16 * events) {
        return Err(format!(
            "entity number {id} is far above the count of {events} events"
        ));
    }
    let mut times = [Some(event.time), Some(record.first_seen), record.vanished]
        .into_iter()
        .flatten();
    match times.find(|time| !plausible(*time)) {
        Some(time) => Err(format!("{} ns is no time since boot", time.as_ns())),
        None => Ok(()),
    }
}

fn check_words(event: &EntityEvent) -> std::result::Result<(), String> {
    let Entity { name, path, .. } = &event.record.entity;
    match name.len() + path.len() {
        bytes if bytes > MAX_WORDS_BYTES => Err(format!(
            "an entity's name and path take {bytes} bytes of {MAX_WORDS_BYTES}"
        )),
        _ => Ok(()),
    }
}

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
    let format = (
        schema::FORMAT_KEY.to_owned(),
        model::FORMAT_VERSION.to_string(),
    );
    Schema::new(fields).with_metadata([format])
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
