//! A recording's tables in plain values: counters as totals, times absolute, entities by name, and
//! nothing where nothing was read. Both CSV and Parquet are written from these.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use model::{
    Column, EntityId, EntityKind, EntityRecord, Gap, GapReason, MISSING, Table, TableData, Text,
    Timeline, Timestamp, Unit,
};

use super::clock::WallClock;

/// Rows that are held at a time.
const BATCH_ROWS: usize = 8192;

/// What stands before a table's own columns: name, type, what it is.
const KEYS: [(&str, DataType, &str); 7] = [
    ("time_ns", DataType::Int64, "Nanoseconds on CLOCK_BOOTTIME."),
    ("time_utc", UTC, "The same instant on the wall clock, UTC."),
    (
        "entity",
        DataType::UInt32,
        "Who the row is about: its id in the table entities.",
    ),
    ("entity_kind", DataType::Utf8, "What kind of thing that is."),
    ("entity_name", DataType::Utf8, "What a person calls it."),
    (
        "entity_path",
        DataType::Utf8,
        "What tells it from others of its kind.",
    ),
    ("entity_role", DataType::Utf8, ROLE_HELP),
];

const ROLE_HELP: &str = "Its part: target, generator, dependency, recorder or rest; of a thread or a connection that of its process.";

/// Arrow wants a shared word for the zone; a constant cannot hold one.
const UTC: DataType = DataType::Timestamp(TimeUnit::Nanosecond, None);

/// A table on its way out.
pub(crate) struct Sheet<'a> {
    /// Its name, and that of its file.
    pub(crate) name: String,
    /// Its columns, described in the fields' metadata.
    pub(crate) schema: SchemaRef,
    /// Its rows, some at a time.
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>,
}

/// A recording's table.
pub(crate) fn table<'a>(
    data: &'a TableData,
    timeline: &'a Timeline,
    clock: &'a WallClock,
) -> Sheet<'a> {
    let schema = Arc::new(schema_of(&data.table));
    let batch_schema = schema.clone();
    let starts = (0..data.len()).step_by(BATCH_ROWS);
    let batches = starts.map(move |start| {
        let rows = start..data.len().min(start + BATCH_ROWS);
        batch(data, rows, timeline, clock, batch_schema.clone())
    });
    Sheet {
        name: data.table.name.to_string(),
        schema,
        batches: Box::new(batches),
    }
}

fn schema_of(table: &Table) -> Schema {
    let mut fields: Vec<Field> = KEYS
        .into_iter()
        .map(|(name, kind, help)| {
            let nullable = !matches!(name, "time_ns" | "entity");
            described(Field::new(name, with_zone(kind), nullable), help)
        })
        .collect();
    for column in table.columns.iter() {
        let name = free_name(&column.name, &fields);
        let kind = match column.unit {
            Unit::String => DataType::Utf8,
            _ => DataType::Int64,
        };
        let field = Field::new(name, kind, true);
        fields.push(field.with_metadata(about(column)));
    }
    let about = serde_json::to_string(table).unwrap_or_default();
    Schema::new(fields).with_metadata([("stallscope.table".to_owned(), about)])
}

/// Two columns of one name would be lost on most readers; only tables from elsewhere have them.
fn free_name(name: &str, taken: &[Field]) -> String {
    let mut free = name.to_owned();
    while taken.iter().any(|field| *field.name() == free) {
        free.push('_');
    }
    free
}

fn with_zone(kind: DataType) -> DataType {
    match kind {
        DataType::Timestamp(unit, _) => DataType::Timestamp(unit, Some("UTC".into())),
        other => other,
    }
}

fn described(field: Field, help: &str) -> Field {
    let mut metadata = HashMap::from([("help".to_owned(), help.to_owned())]);
    if field.name().ends_with("_ns") {
        metadata.insert("unit".to_owned(), "nanoseconds".to_owned());
    }
    field.with_metadata(metadata)
}

fn about(column: &Column) -> HashMap<String, String> {
    let words = [
        ("unit", crate::outputs::json_word(&column.unit)),
        ("kind", crate::outputs::json_word(&column.kind)),
        ("quality", column.quality.word().to_owned()),
        ("help", column.help.to_string()),
        ("source", column.source.to_string()),
        ("since", column.since.to_string()),
    ];
    let said = words.into_iter().filter(|(_, word)| !word.is_empty());
    said.map(|(key, word)| (key.to_owned(), word)).collect()
}

fn batch(
    data: &TableData,
    rows: std::ops::Range<usize>,
    timeline: &Timeline,
    clock: &WallClock,
    schema: SchemaRef,
) -> Result<RecordBatch> {
    let keys: Vec<(Timestamp, EntityId)> = rows.clone().map(|row| data.key(row)).collect();
    let times = || keys.iter().map(|(time, _)| *time);
    let who: Vec<Option<&EntityRecord>> = keys
        .iter()
        .map(|(_, id)| timeline.entities.get(*id))
        .collect();
    let mut columns = vec![
        Arc::new(Int64Array::from_iter_values(times().map(Timestamp::as_ns))) as ArrayRef,
        utc(clock, times().map(Some)),
        Arc::new(UInt32Array::from_iter_values(
            keys.iter().map(|(_, id)| id.0),
        )),
        words(&who, |record| record.entity.kind.word()),
        words(&who, |record| &record.entity.name),
        words(&who, |record| &record.entity.path),
        roles(&who, timeline),
    ];
    let mut values = vec![Vec::with_capacity(keys.len()); data.table.columns.len()];
    for row in rows {
        for (column, value) in values.iter_mut().zip(data.row(row)) {
            column.push((value != MISSING).then_some(value));
        }
    }
    let described = data.table.columns.iter();
    columns.extend(
        values
            .into_iter()
            .zip(described)
            .map(|(values, column)| match column.unit {
                Unit::String => texts(timeline, &values),
                _ => Arc::new(Int64Array::from(values)) as ArrayRef,
            }),
    );
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// The texts that values stand for.
fn texts(timeline: &Timeline, values: &[Option<i64>]) -> ArrayRef {
    let text = |value: &Option<i64>| {
        let text = timeline.strings.of_value((*value)?)?;
        Some(&*text.text)
    };
    Arc::new(values.iter().map(text).collect::<StringArray>())
}

fn utc(clock: &WallClock, times: impl Iterator<Item = Option<Timestamp>>) -> ArrayRef {
    let instants: TimestampNanosecondArray = times
        .map(|time| time.and_then(|time| clock.at(time)))
        .collect();
    Arc::new(instants.with_timezone("UTC"))
}

fn words<'a>(
    records: &[Option<&'a EntityRecord>],
    word: fn(&'a EntityRecord) -> &'a str,
) -> ArrayRef {
    let words = records.iter().map(|record| record.map(word));
    Arc::new(words.collect::<StringArray>())
}

/// Parts are recorded of processes; what belongs to one plays its part.
fn roles(records: &[Option<&EntityRecord>], timeline: &Timeline) -> ArrayRef {
    let role = |record: &EntityRecord| {
        let owner = match record.entity.kind {
            EntityKind::Thread
            | EntityKind::Connection
            | EntityKind::Pool
            | EntityKind::File
            | EntityKind::BlockStream
            | EntityKind::Flow
            | EntityKind::Series => record.parent,
            EntityKind::Waker | EntityKind::WaitEvent | EntityKind::Statement => {
                let pool = record.parent.and_then(|pool| timeline.entities.get(pool));
                pool.and_then(|pool| pool.parent)
            }
            _ => None,
        };
        let owner = owner.and_then(|owner| timeline.entities.get(owner));
        owner.unwrap_or(record).role.word()
    };
    let words = records.iter().map(|record| record.map(role));
    Arc::new(words.collect::<StringArray>())
}

/// The entity list as a table: who the rows are about.
pub(crate) fn entities<'a>(timeline: &'a Timeline, clock: &'a WallClock) -> Sheet<'a> {
    let number = |name: &str, help| described(Field::new(name, DataType::UInt32, true), help);
    let word = |name: &str, help| described(Field::new(name, DataType::Utf8, false), help);
    let time = |name: &str, kind, help| described(Field::new(name, with_zone(kind), true), help);
    let schema = Arc::new(Schema::new(vec![
        described(
            Field::new("id", DataType::UInt32, false),
            "Its number in rows.",
        ),
        word("kind", "What kind of thing it is."),
        word("name", "What a person calls it."),
        word("path", "What tells it from others of its kind."),
        number("parent", "A thread's process, a process's parent."),
        number(
            "group",
            "A process's control group: of the v1 cpu hierarchy, else of v2.",
        ),
        number(
            "pressure_group",
            "Its group in the v2 hierarchy, whose pressure is known.",
        ),
        number("memory_group", "Its group where memory is limited."),
        number("io_group", "Its group where I/O is limited."),
        word("role", ROLE_HELP),
        described(
            Field::new("serving", DataType::Boolean, false),
            "Whether it holds a connection of the load generator.",
        ),
        time(
            "first_seen_ns",
            DataType::Int64,
            "When it was first sampled, on CLOCK_BOOTTIME.",
        ),
        time("first_seen_utc", UTC, "The same on the wall clock, UTC."),
        time(
            "vanished_ns",
            DataType::Int64,
            "When it was found gone, on CLOCK_BOOTTIME; empty while it lived.",
        ),
        time("vanished_utc", UTC, "The same on the wall clock, UTC."),
    ]));
    let records: Vec<Option<&EntityRecord>> = timeline.entities.iter().map(Some).collect();
    let starts = (0..records.len()).step_by(BATCH_ROWS);
    let of_schema = schema.clone();
    let batches = starts.map(move |start| {
        let end = records.len().min(start + BATCH_ROWS);
        let columns = entity_columns(&records[start..end], timeline, clock);
        Ok(RecordBatch::try_new(of_schema.clone(), columns)?)
    });
    Sheet {
        name: "entities".to_owned(),
        schema,
        batches: Box::new(batches),
    }
}

fn entity_columns(
    records: &[Option<&EntityRecord>],
    timeline: &Timeline,
    clock: &WallClock,
) -> Vec<ArrayRef> {
    let all = || records.iter().copied().flatten();
    let numbers = |number: fn(&EntityRecord) -> Option<EntityId>| -> ArrayRef {
        Arc::new(
            all()
                .map(|r| number(r).map(|id| id.0))
                .collect::<UInt32Array>(),
        )
    };
    let times = |time: fn(&EntityRecord) -> Option<Timestamp>| -> [ArrayRef; 2] {
        let plain: Int64Array = all().map(|r| time(r).map(Timestamp::as_ns)).collect();
        [Arc::new(plain), utc(clock, all().map(time))]
    };
    let serving: BooleanArray = all().map(|record| Some(record.serving)).collect();
    let [first_ns, first_utc] = times(|record| Some(record.first_seen));
    let [vanished_ns, vanished_utc] = times(|record| record.vanished);
    vec![
        numbers(|record| Some(record.id)),
        words(records, |record| record.entity.kind.word()),
        words(records, |record| &record.entity.name),
        words(records, |record| &record.entity.path),
        numbers(|record| record.parent),
        numbers(|record| record.group),
        numbers(|record| record.pressure_group),
        numbers(|record| record.memory_group),
        numbers(|record| record.io_group),
        roles(records, timeline),
        Arc::new(serving),
        first_ns,
        first_utc,
        vanished_ns,
        vanished_utc,
    ]
}

/// The texts that rows refer to, as a table.
pub(crate) fn strings(timeline: &Timeline) -> Sheet<'_> {
    let number = |name: &str, help| described(Field::new(name, DataType::UInt32, true), help);
    let word = |name: &str, help| described(Field::new(name, DataType::Utf8, false), help);
    let schema = Arc::new(Schema::new(vec![
        number("id", "Its number."),
        word("kind", "What it is: module, build_id, function, command."),
        number(
            "parent",
            "The text that it belongs to: a function's module, or the function that it is inlined into.",
        ),
        word("text", "The text."),
    ]));
    let all: Vec<&Text> = timeline.strings.iter().collect();
    let starts = (0..all.len()).step_by(BATCH_ROWS);
    let of_schema = schema.clone();
    let batches = starts.map(move |start| {
        let texts = &all[start..all.len().min(start + BATCH_ROWS)];
        let parents = texts.iter().map(|text| text.parent.map(|id| id.0));
        let words = |word: fn(&Text) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(
                texts.iter().map(|text| word(text)),
            ))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(
                texts.iter().map(|text| text.id.0),
            )),
            words(|text| text.kind.word()),
            Arc::new(parents.collect::<UInt32Array>()),
            words(|text| &text.text),
        ];
        Ok(RecordBatch::try_new(of_schema.clone(), columns)?)
    });
    Sheet {
        name: "strings".to_owned(),
        schema,
        batches: Box::new(batches),
    }
}

/// What was not seen, as a table.
pub(crate) fn gaps<'a>(timeline: &'a Timeline, clock: &'a WallClock) -> Sheet<'a> {
    let word = |name: &str, help| described(Field::new(name, DataType::Utf8, true), help);
    let time = |name: &str, kind, help| described(Field::new(name, with_zone(kind), true), help);
    let schema = Arc::new(Schema::new(vec![
        word("table", "The table concerned; * for all."),
        word(
            "what",
            "The column or source concerned; empty for the whole table.",
        ),
        time(
            "start_ns",
            DataType::Int64,
            "Its begin on CLOCK_BOOTTIME; empty for the whole recording.",
        ),
        time("start_utc", UTC, "The same on the wall clock, UTC."),
        time(
            "end_ns",
            DataType::Int64,
            "The first instant after it, on CLOCK_BOOTTIME.",
        ),
        time("end_utc", UTC, "The same on the wall clock, UTC."),
        word(
            "reason",
            "Why: unsupported, denied, vanished, overrun, unwritten, malformed or dropped.",
        ),
        word("detail", "What exactly; for dropped, how many."),
    ]));
    let of_schema = schema.clone();
    let once = std::iter::once_with(move || {
        Ok(RecordBatch::try_new(
            of_schema,
            gap_columns(&timeline.gaps, clock),
        )?)
    });
    Sheet {
        name: "gaps".to_owned(),
        schema,
        batches: Box::new(once),
    }
}

fn gap_columns(gaps: &[Gap], clock: &WallClock) -> Vec<ArrayRef> {
    let start = |gap: &Gap| gap.window.map(|window| window.start);
    let end = |gap: &Gap| gap.window.map(|window| window.end);
    let plain = |time: fn(&Gap) -> Option<Timestamp>| -> ArrayRef {
        let times = gaps.iter().map(|gap| time(gap).map(Timestamp::as_ns));
        Arc::new(times.collect::<Int64Array>())
    };
    let text = |texts: Vec<Option<String>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    vec![
        text(gaps.iter().map(|gap| filled(&gap.table)).collect()),
        text(
            gaps.iter()
                .map(|gap| filled(&gap.what.to_string()))
                .collect(),
        ),
        plain(start),
        utc(clock, gaps.iter().map(start)),
        plain(end),
        utc(clock, gaps.iter().map(end)),
        text(
            gaps.iter()
                .map(|gap| filled(reason(&gap.reason).0))
                .collect(),
        ),
        text(
            gaps.iter()
                .map(|gap| filled(&reason(&gap.reason).1))
                .collect(),
        ),
    ]
}

fn reason(reason: &GapReason) -> (&'static str, String) {
    match reason {
        GapReason::Unsupported(detail) => ("unsupported", detail.to_string()),
        GapReason::Denied(detail) => ("denied", detail.to_string()),
        GapReason::Vanished => ("vanished", String::new()),
        GapReason::Overrun => ("overrun", String::new()),
        GapReason::Unwritten(detail) => ("unwritten", detail.to_string()),
        GapReason::Malformed(detail) => ("malformed", detail.to_string()),
        GapReason::Dropped(count) => ("dropped", count.to_string()),
    }
}

/// How many entities of each kind there are.
pub(crate) fn population(timeline: &Timeline) -> BTreeMap<EntityKind, usize> {
    let mut counts = BTreeMap::new();
    for record in timeline.entities.iter() {
        *counts.entry(record.entity.kind).or_default() += 1;
    }
    counts
}
