//! What the documentation promises to readers who have no Stallscope.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::{Column, EntityId, EntityKind, Rows, Table, Unit};
use recording::Writer;

use crate::sample::{at, meta};

static COLUMNS: &[Column] = &[
    Column::counter("run_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("resident_bytes", Unit::Bytes, "", ""),
];
static THREAD: Table = Table::new("thread", EntityKind::Thread, "", COLUMNS);

/// A Python that has pyarrow: `scripts/python.sh` makes one.
fn python() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python3");
    let found = [made, PathBuf::from("python3")].into_iter().find(|python| {
        let tried = Command::new(python).args(["-c", "import pyarrow"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    if found.is_none() {
        let why = "there is no Python with pyarrow: scripts/python.sh makes one";
        let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|value| value == "all");
        assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
        println!("SKIPPED: {why}");
    }
    found
}

#[test]
fn the_documented_python_reads_a_recording() {
    let Some(python) = python() else { return };
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recording.md");
    let document = fs::read_to_string(document).unwrap();
    let (_, code) = document.split_once("```python\n").unwrap();
    let (code, _) = code.split_once("```").unwrap();

    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pgbench-1.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    let mut expected = String::new();
    // More than fits one batch.
    for second in 0..20_000 {
        let mut rows = Rows::with_capacity(2, 10);
        for entity in 0..10 {
            let run = second * 1_000_003 * i64::from(entity + 1);
            let time = at(100.0) + second * 1_000_000_000 + i64::from(entity);
            rows.push(time, EntityId(entity), &[run, second % 7 * 4096]);
            let seconds = time.as_ns() as f64 / 1e9;
            expected += &format!("{seconds:?} {entity} {run}\n");
        }
        writer.append(&THREAD, &rows).unwrap();
    }
    writer.close(&meta(true)).unwrap();
    let read = Command::new(python)
        .args(["-c", code])
        .current_dir(home.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stderr), "");
    let read = String::from_utf8(read.stdout).unwrap();
    let differing = read.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert_eq!(differing, None);
    assert_eq!(read.len(), expected.len());
}
