//! A small made-up recording; `examples/make_fixture.rs` writes the same.

use std::path::Path;

use model::{
    Column, Cost, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, FORMAT_VERSION, Gap,
    GapReason, Identity, MISSING, Meta, Plan, Role, Rows, StringId, StringKind, Table, Text,
    Timestamp, Unit, Window,
};
use recording::Writer;

static COLUMNS: &[Column] = &[
    Column::counter(
        "run_ns",
        Unit::Nanoseconds,
        "Time on a CPU.",
        "/proc/PID/schedstat 1",
    ),
    Column::gauge("state", Unit::Code, "Task state.", "/proc/PID/stat 3"),
    Column::counter("switches", Unit::Count, "Switches.", "/proc/PID/status"),
];

/// A table with counters and a gauge.
pub static THREADS: Table = Table::new("threads", EntityKind::Thread, "Time of threads.", COLUMNS);

/// A point in time, in seconds since boot.
pub fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

/// What `meta.json` says of the sample: from 100 to 104 s.
pub fn meta(complete: bool) -> Meta {
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: "1f0c8f3e-5a52-4b7e-9c8e-000000000001".to_owned(),
            machine_id: String::new(),
            boot_id: "6a0e2c44-0000-4000-8000-000000000002".to_owned(),
            node: "made-up".to_owned(),
            stallscope: "0.1.0".to_owned(),
            anchor_realtime_ns: 1_750_000_000_000_000_000,
            anchor_boottime: at(100.0),
        },
        plan: Plan {
            command: "run".to_owned(),
            fast_period_ns: 100_000_000,
            ..Plan::default()
        },
        window: Window::new(at(100.0), at(104.0)),
        complete,
        cpus: 2,
        environment: [("kernel".to_owned(), "6.12".to_owned())].into(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: vec![Gap {
            table: "threads".to_owned(),
            what: "wait_ns".into(),
            window: None,
            reason: GapReason::Denied("needs CAP_BPF".into()),
        }],
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

/// The first state of an entity, or a later one.
pub fn event(id: u32, name: &str, vanished: Option<f64>) -> EntityEvent {
    EntityEvent {
        time: vanished.map_or(at(100.0), at),
        record: EntityRecord {
            id: EntityId(id),
            entity: Entity::new(EntityKind::Thread, name, format!("tid:{}@1", 40 + id)),
            parent: (id > 0).then_some(EntityId(0)),
            group: (id > 0).then_some(EntityId(7)),
            pressure_group: (id > 0).then_some(EntityId(8)),
            memory_group: (id > 0).then_some(EntityId(9)),
            io_group: None,
            role: Role::Target,
            serving: id == 1,
            first_seen: at(100.0),
            vanished: vanished.map(at),
        },
    }
}

/// The sample's strings: a module and a function in it.
pub fn strings() -> [Text; 2] {
    let text = |id, kind, text: &str| Text {
        id: StringId(id),
        kind,
        parent: id.checked_sub(1).map(StringId),
        text: text.into(),
    };
    [
        text(0, StringKind::Module, "/usr/bin/a"),
        text(1, StringKind::Function, "main"),
    ]
}

/// Rows of `THREADS`.
pub fn rows(rows: &[(f64, u32, [i64; 3])]) -> Rows {
    let mut buffer = Rows::with_capacity(3, rows.len());
    for (seconds, entity, values) in rows {
        buffer.push(at(*seconds), EntityId(*entity), values);
    }
    buffer
}

/// The sample's batches, one per flush.
pub fn batches() -> Vec<Rows> {
    vec![
        rows(&[
            (100.1, 0, [1_000_000, 82, 10]),
            (100.1, 1, [500, 83, MISSING]),
        ]),
        rows(&[
            (100.2, 1, [700, MISSING, 3]),
            (101.2, 0, [5_000_000, 82, 12]),
        ]),
        rows(&[
            (102.0, 1, [MISSING, 68, 4]),
            (102.0, 0, [6_000_000, 83, 12]),
            (103.5, 1, [900, 83, 9]),
        ]),
    ]
}

/// Writes the sample up to, not including, its close.
pub fn write_open(folder: &Path) -> Writer {
    let mut writer = Writer::create(folder, &meta(false)).unwrap();
    writer
        .entities(&[event(0, "leader", None), event(1, "worker", None)])
        .unwrap();
    writer.strings(&strings()).unwrap();
    for rows in batches() {
        writer.append(&THREADS, &rows).unwrap();
        writer.flush().unwrap();
    }
    writer
        .entities(&[event(1, "worker2", Some(103.6))])
        .unwrap();
    writer.flush().unwrap();
    writer
}
