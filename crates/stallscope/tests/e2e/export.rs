//! What `export` writes, read back by other programs: each value is the recording's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::{
    Column, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Gap, GapReason, MISSING, Meta,
    Role, Rows, Table, Timestamp, Unit, Window,
};
use recording::{Recording, Writer};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::needs;
use crate::place::Place;
use crate::process::{Running, is_alive};

/// Wall-clock time at boot of the drawn recording, ns: 2026-11-22 03:00:00.
const BOOT: i64 = 1_795_316_400_000_000_000;

static COLUMNS: &[Column] = &[
    Column::counter(
        "run_ns",
        Unit::Nanoseconds,
        "Time on a CPU.",
        "schedstat field 1",
    ),
    Column::gauge("state", Unit::Code, "A state.", "stat field 3").since("5.1"),
];
static TABLE: Table = Table::new("thread", EntityKind::Thread, "Threads.", COLUMNS);

/// Names that need quoting, or that a careless reader takes for more than one field.
const NAMES: [&str; 6] = [
    "plain",
    "with, comma and \"quotes\"",
    "line\nend\r\nand\ttab",
    "\u{fffd}\u{1b}[31m<script>",
    "",
    "'=1+1; ünïcode 漢字",
];

fn record(id: usize, name: &str) -> EntityRecord {
    EntityRecord {
        parent: (id > 0).then_some(EntityId(0)),
        serving: id == 1,
        vanished: (id == 2).then_some(Timestamp::from_ns(5)),
        role: if id == 0 {
            Role::Target
        } else {
            Role::Background
        },
        ..EntityRecord::new(
            EntityId(id as u32),
            Entity::new(EntityKind::Thread, name, format!("/{name}")),
            Timestamp::from_ns(1),
        )
    }
}

/// A recording with hostile names, values at the ends of their range, and values that were not read.
fn drawn(folder: &Path) {
    let window = Window::new(Timestamp::from_ns(0), Timestamp::from_ns(10_000_000_000));
    let meta: Meta = serde_json::from_value(json!({
        "format_version": model::FORMAT_VERSION,
        "identity": {"recording_id": "r", "machine_id": "", "boot_id": "", "node": "n",
            "stallscope": "0.1.0", "anchor_realtime_ns": BOOT, "anchor_boottime": 0},
        "plan": {"command": "record", "targets": [], "fast_period_ns": 1},
        "window": window, "complete": true, "cpus": 1, "environment": {}, "targets": [],
        "workload": null,
        "gaps": [
            {"table": "*", "window": null, "reason": "denied", "detail": "so, \"it\" is"},
            {"table": "thread", "what": "stat", "window": window, "reason": "dropped", "detail": 7},
        ],
        "cost": model::Cost::default(),
    }))
    .expect("it is a meta");
    let mut writer = Writer::create(folder, &meta).expect("the folder is ours");
    let events = NAMES.iter().enumerate().map(|(id, name)| EntityEvent {
        time: Timestamp::from_ns(1),
        record: record(id, name),
    });
    writer
        .entities(&events.collect::<Vec<_>>())
        .expect("they fit");
    let mut rows = Rows::with_capacity(2, 10_000);
    for row in 0..9_000i64 {
        let values = match row % 4 {
            0 => [row * 1_000_000_007, MISSING],
            1 => [MISSING, -row],
            2 => [i64::MAX - row, i64::MIN + 1 + row],
            _ => [MISSING, MISSING],
        };
        // One more entity than there are: what is unknown has no name.
        let entity = EntityId((row % 7) as u32);
        rows.push(Timestamp::from_ns(1_000_000 * row + 123), entity, &values);
    }
    writer.append(&TABLE, &rows).expect("they fit");
    writer.close(&meta).expect("there is room");
}

/// A Python that can read Parquet: `scripts/python.sh` makes one.
fn python() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python3");
    let candidates = [made, PathBuf::from("python3")];
    let found = candidates.into_iter().find(|python| {
        let tried = Command::new(python).args(["-c", "import pyarrow"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    if found.is_none() {
        needs::skip("there is no Python with pyarrow: scripts/python.sh makes one");
    }
    found
}

/// Every exported file, read by Python.
fn read_back(python: &Path, folder: &Path) -> BTreeMap<String, Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/read_back.py");
    let output = Command::new(python).arg(script).arg(folder).output();
    let output = output.expect("it was just run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let files = text.lines().map(|line| {
        let file: Value = serde_json::from_str(line).expect("it is JSON");
        (
            file["name"].as_str().expect("it has a name").to_owned(),
            file,
        )
    });
    files.collect()
}

/// What the rows of a table must be, from the recording itself.
fn expected_rows(recording: &Recording, table: &str, boot: i64) -> Vec<Vec<Value>> {
    let Recording { timeline, .. } = recording;
    let data = timeline.table(table).expect("it was recorded");
    let row =
        |index| {
            let (time, id) = data.key(index);
            let entity = timeline.entities.get(id);
            let belongs = |it: &&EntityRecord| {
                matches!(it.entity.kind, EntityKind::Thread | EntityKind::Connection)
            };
            let owner = entity
                .filter(belongs)
                .and_then(|it| timeline.entities.get(it.parent?))
                .or(entity);
            let word = |word: Option<&str>| word.map_or(Value::Null, Value::from);
            let mut row = vec![
                Value::from(time.as_ns()),
                Value::from(time.as_ns() + boot),
                Value::from(id.0),
                word(entity.map(|it| it.entity.kind.word())),
                word(entity.map(|it| it.entity.name.as_str())),
                word(entity.map(|it| it.entity.path.as_str())),
                word(owner.map(|it| it.role.word())),
            ];
            row.extend(data.row(index).zip(data.table.columns.iter()).map(
                |(value, column)| match (value, column.unit) {
                    (MISSING, _) => Value::Null,
                    (value, Unit::String) => {
                        word(timeline.strings.of_value(value).map(|it| &*it.text))
                    }
                    (value, _) => Value::from(value),
                },
            ));
            row
        };
    (0..data.len()).map(row).collect()
}

/// The same as CSV has it: everything is text, and nothing is empty.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn rows(file: &Value) -> Vec<Vec<Value>> {
    serde_json::from_value(file["rows"].clone()).expect("rows are lists")
}

fn utc(ns: i64) -> String {
    let (s, ns) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let minutes = (s - BOOT / 1_000_000_000) / 60;
    format!("2026-11-22T03:{minutes:02}:{:02}.{ns:09}Z", s % 60)
}

#[test]
fn parquet_is_read_back_value_by_value() {
    let Some(python) = python() else { return };
    let place = Place::new();
    drawn(&place.path().join("odd.stall"));
    let ended = place.run(&["export", "--format", "parquet"]);
    ended
        .status(0)
        .says("Saved odd-parquet: 3 tables, 9,008 rows");
    let files = read_back(&python, &place.path().join("odd-parquet"));
    let thread = &files["thread"];
    let wanted = expected_rows(&place.opened(), "thread", BOOT);
    assert_eq!(wanted.len(), 9_000);
    for (found, wanted) in rows(thread).iter().zip(&wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(rows(thread).len(), wanted.len());
    assert_eq!(
        thread["fields"]["state"],
        json!({"type": "int64", "unit": "code", "kind": "gauge", "quality": "exact",
            "help": "A state.", "source": "stat field 3", "since": "5.1"})
    );
    assert_eq!(
        thread["fields"]["time_utc"]["type"],
        "timestamp[ns, tz=UTC]"
    );
    assert_eq!(thread["fields"]["run_ns"]["kind"], "counter");

    let entities = rows(&files["entities"]);
    let names: Vec<&Value> = entities.iter().map(|row| &row[2]).collect();
    assert_eq!(names, NAMES);
    assert_eq!(
        entities[2][11..],
        [json!(1), json!(BOOT + 1), json!(5), json!(BOOT + 5)]
    );
    assert_eq!(entities[0][4..9], vec![Value::Null; 5]);
    assert_eq!(entities[1][10], json!(true));
    assert_eq!(
        rows(&files["gaps"]),
        [
            vec![
                json!("*"),
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
                json!("denied"),
                json!("so, \"it\" is")
            ],
            vec![
                json!("thread"),
                json!("stat"),
                json!(0),
                json!(BOOT),
                json!(10_000_000_000i64),
                json!(BOOT + 10_000_000_000),
                json!("dropped"),
                json!("7")
            ],
        ]
    );
}

#[test]
fn csv_is_read_back_value_by_value() {
    let Some(python) = python() else { return };
    let place = Place::new();
    drawn(&place.path().join("odd.stall"));
    place
        .run(&["export", "odd.stall", "--format", "csv", "-o", "out"])
        .status(0);
    let files = read_back(&python, &place.path().join("out"));
    let found = rows(&files["thread"]);
    let wanted = expected_rows(&place.opened(), "thread", BOOT);
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        let mut wanted: Vec<String> = wanted.iter().map(as_text).collect();
        wanted[1] = utc(wanted[1].parse().expect("a number"));
        assert_eq!(found, &wanted);
    }
    let entities = rows(&files["entities"]);
    let names: Vec<&Value> = entities.iter().map(|row| &row[2]).collect();
    assert_eq!(names, NAMES);
    let readme = place.read("out/README.md");
    assert!(readme.contains("| `run_ns` | nanoseconds | counter | exact | Time on a CPU. |"));
    let meta: Meta = serde_json::from_str(&place.read("out/meta.json")).expect("it is a meta");
    assert_eq!(meta.gaps.len(), 2);
    let dropped = Gap {
        table: "thread".to_owned(),
        what: "stat".to_owned().into(),
        window: Some(meta.window),
        reason: GapReason::Dropped(7),
    };
    assert_eq!(meta.gaps[1], dropped);
}

#[test]
fn a_real_recording_is_read_back_value_by_value() {
    let Some(python) = python() else { return };
    let place = Place::new();
    place.run(&["run", "-q", "--", "sleep", "2"]).status(0);
    place
        .run(&["export", "--format", "parquet", "-o", "p"])
        .status(0);
    let recording = place.opened();
    let files = read_back(&python, &place.path().join("p"));
    for data in recording.timeline.tables() {
        let name = &*data.table.name;
        let mut found = rows(&files[name]);
        let mut wanted = expected_rows(&recording, name, 0);
        assert_eq!(found.len(), wanted.len(), "{name}");
        // Wall-clock time goes with the clocks; the drawn recording has one that stands still.
        for (found, wanted) in found.iter_mut().zip(&mut wanted) {
            found.remove(1);
            wanted.remove(1);
            // Only threads and connections play their owner's part.
            if !matches!(
                data.table.entity,
                EntityKind::Thread | EntityKind::Connection
            ) {
                found.remove(5);
                wanted.remove(5);
            }
            assert_eq!(found, wanted, "{name}");
        }
    }
    let clock = &files["clock"];
    let columns: Vec<&String> = clock["fields"]
        .as_object()
        .expect("fields")
        .keys()
        .collect();
    let realtime = columns.iter().position(|name| *name == "realtime_ns");
    assert!(realtime.is_some(), "{columns:?}");
    for row in rows(clock) {
        assert!(
            row.contains(&row[1]),
            "where it was read, it is the wall clock: {row:?}"
        );
    }
}

#[test]
fn a_table_from_elsewhere_that_is_called_like_our_own_goes_out_beside_it() {
    let place = Place::new();
    let folder = place.path().join("odd.stall");
    drawn(&folder);
    let meta = recording::Reader::open(&folder)
        .expect("it can be read")
        .meta;
    let mut writer = Writer::create(&place.path().join("odder.stall"), &meta).expect("it is ours");
    let mut rows = Rows::with_capacity(2, 1);
    rows.push(Timestamp::from_ns(5), EntityId(0), &[1, 2]);
    let table = Table {
        name: "gaps".into(),
        ..TABLE.clone()
    };
    writer.append(&table, &rows).expect("they fit");
    writer.close(&meta).expect("there is room");
    place
        .run(&["export", "odder.stall", "--format", "csv", "-o", "x"])
        .status(0)
        .says("Saved x: 3 tables, 3 rows");
    assert!(place.read("x/gaps.csv").contains("so, \"\"it\"\" is"));
    assert!(place.read("x/gaps_.csv").contains(",1,2"));
}

/// An export is as often tried to be interrupted.
const TRIES: usize = 20;

#[test]
fn an_interrupt_leaves_nothing_half_done() {
    let place = Place::new();
    let folder = place.path().join("long.stall");
    drawn(&place.path().join("odd.stall"));
    let short = recording::Reader::open(&place.path().join("odd.stall")).expect("it can be read");
    let mut writer = Writer::create(&folder, &short.meta).expect("it is ours");
    let mut rows = Rows::with_capacity(2, 400_000);
    for row in 0..400_000 {
        rows.push(Timestamp::from_ns(row), EntityId(0), &[row, row]);
    }
    writer.append(&TABLE, &rows).expect("they fit");
    writer.close(&short.meta).expect("there is room");
    let room = place.path().join("room");
    fs::create_dir(&room).expect("it is ours");
    for (format, made, whole) in [
        ("csv", "long-csv", "long-csv"),
        ("parquet", "long-parquet", "long-parquet"),
        ("bundle", "room", "long.stallbundle"),
    ] {
        let (made, whole) = (place.path().join(made), place.path().join(whole));
        let holds_something = || fs::read_dir(&made).is_ok_and(|mut found| found.next().is_some());
        let interrupted = (0..TRIES).any(|_| {
            let mut command = place.stallscope(&["export", "long.stall", "--format", format]);
            command.env("TMPDIR", &room);
            let running = Running::start(command);
            while !holds_something() && is_alive(running.pid()) {
                std::thread::sleep(Duration::from_millis(1));
            }
            running.signal(Signal::INT);
            let ended = running.end();
            if ended.status == 0 {
                // On a busy machine it may have been done before the interrupt came.
                let removed = fs::remove_dir_all(&whole).or_else(|_| fs::remove_file(&whole));
                removed.expect("it is there");
                return false;
            }
            ended.status(130);
            true
        });
        assert!(interrupted, "{format} was always done before the interrupt");
        assert!(!holds_something(), "{format} left something behind");
        assert!(!whole.exists(), "{format} left half of it");
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_half_done_is_left() {
    let place = Place::new();
    drawn(&place.path().join("odd.stall"));
    for name in ["odd-csv", "odd-parquet", "odd.stallbundle"] {
        place.write(name, "mine");
    }
    for format in ["csv", "parquet", "bundle"] {
        place
            .run(&["export", "--format", format])
            .status(2)
            .says("exists, and nothing is overwritten. Choose another with -o PATH");
    }
    assert_eq!(place.read("odd.stallbundle"), "mine");
    place
        .run(&["export", "--format", "csv", "-o", "no/such/folder"])
        .status(2)
        .says("cannot write no/such/folder")
        .says("Choose another place with -o PATH");
    place
        .run(&["export", "--format", "csv", "-o", "x", "--table", "no"])
        .status(2)
        .says("the recording has no table no. It has: thread, entities, gaps");
    place
        .run(&["export", "--format", "csv", "-o", "x", "--preview"])
        .status(2)
        .says("are for --format bundle");
    place
        .run(&["export", "--format", "bundle", "--table", "thread"])
        .status(2)
        .says("leave --table out");
    assert!(!place.path().join("x").exists());
    place
        .run(&["export", "--format", "csv", "-o", "x", "--table", "gaps"])
        .status(0);
    let mut left: Vec<_> = fs::read_dir(place.path().join("x"))
        .expect("it was made")
        .map(|entry| entry.expect("it is there").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["README.md", "gaps.csv", "meta.json"]);
}
