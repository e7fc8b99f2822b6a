//! What a user is told: what, on what, what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::{Expect, expect};
use model::{Rows, Table, Timestamp};
use recording::{Error, Reader, Writer};

use crate::sample::{self, THREADS, meta};

fn check(home: &Path, error: &Error, sentence: Expect) {
    sentence.assert_eq(&error.to_string().replace(home.to_str().unwrap(), "HOME"));
}

fn create_error(folder: &Path) -> Error {
    Writer::create(folder, &meta(false)).err().unwrap()
}

#[test]
fn where_nothing_can_be_written() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("x.stall");
    fs::create_dir(&folder).unwrap();
    check(
        home.path(),
        &create_error(&folder),
        expect![
            "cannot write the recording: folder HOME/x.stall exists. Choose another with -o FOLDER"
        ],
    );
    check(
        home.path(),
        &create_error(&home.path().join("no/x.stall")),
        expect![
            "cannot write the recording HOME/no/x.stall: there is no folder HOME/no. Make it, or choose another place with -o FOLDER"
        ],
    );
    fs::write(home.path().join("file"), "").unwrap();
    check(
        home.path(),
        &create_error(&home.path().join("file/x.stall")),
        expect![
            "cannot write the recording HOME/file/x.stall: Not a directory (os error 20). Choose another place with -o FOLDER"
        ],
    );
}

#[test]
fn where_this_user_may_not_write() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write anywhere; then there is nothing to see here.
    if fs::create_dir(home.path().join("probe")).is_err() {
        check(
            home.path(),
            &create_error(&home.path().join("x.stall")),
            expect![
                "cannot write the recording HOME/x.stall: this user may not write in HOME. Choose another place with -o FOLDER"
            ],
        );
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_no_recording() {
    let home = tempfile::tempdir().unwrap();
    let open = |name: &str| Reader::open(&home.path().join(name)).unwrap_err();
    check(
        home.path(),
        &open("x.stall"),
        expect!["there is no recording HOME/x.stall. Name a folder that ends in .stall"],
    );
    fs::write(home.path().join("file"), "").unwrap();
    check(
        home.path(),
        &open("file"),
        expect![
            "HOME/file is a file, and a recording is a folder. Name the folder that ends in .stall"
        ],
    );
    fs::create_dir(home.path().join("empty")).unwrap();
    check(
        home.path(),
        &open("empty"),
        expect![
            "HOME/empty is not a recording: it has no meta.json. Name a folder that ends in .stall"
        ],
    );
}

#[test]
fn what_meta_cannot_say() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("x.stall");
    sample::write_open(&folder).close(&meta(true)).unwrap();
    let with = |text: &str| {
        fs::write(folder.join("meta.json"), text).unwrap();
        match Reader::open(&folder) {
            Err(error) => error.to_string(),
            Ok(recording) => {
                assert_eq!(recording.timeline.tables().count(), 1, "they are read");
                assert_eq!(recording.damage.len(), 1);
                recording.damage[0].to_string()
            }
        }
    };
    let check = |home: &Path, said: String, sentence: Expect| {
        sentence.assert_eq(&said.replace(home.to_str().unwrap(), "HOME"));
    };
    check(
        home.path(),
        with(r#"{"format_version": 8, "whatever": []}"#),
        expect![
            "HOME/x.stall is in format 8, and this stallscope reads up to format 7. Open it with a newer stallscope"
        ],
    );
    check(
        home.path(),
        with(r#"{"format_version": 0}"#),
        expect![
            "meta.json: it cannot be understood: there is no format 0. The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking"
        ],
    );
    check(
        home.path(),
        with("{"),
        expect![
            "meta.json: it cannot be understood: EOF while parsing an object at line 1 column 1. The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking"
        ],
    );
    let mut wild = meta(true);
    wild.window.start = Timestamp::from_ns(i64::MIN);
    check(
        home.path(),
        with(&serde_json::to_string(&wild).unwrap()),
        expect![
            "meta.json: it cannot be understood: -9223372036854775808 ns is no time since boot. The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking"
        ],
    );
}

#[test]
fn rows_that_do_not_fit_are_refused_and_spoil_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("x.stall");
    let mut writer = sample::write_open(&folder);
    let mut narrow = Rows::with_capacity(1, 1);
    narrow.push(Timestamp::from_ns(1), model::EntityId(0), &[1]);
    check(
        home.path(),
        &writer.append(&THREADS, &narrow).unwrap_err(),
        expect![
            "cannot write HOME/x.stall/threads.arrow: rows of 1 values for 3 columns. This is a defect of stallscope: please report it"
        ],
    );
    let before_boot = sample::rows(&[(-1.0, 0, [1, 2, 3])]);
    check(
        home.path(),
        &writer.append(&THREADS, &before_boot).unwrap_err(),
        expect![
            "cannot write HOME/x.stall/threads.arrow: -1000000000 ns is no time since boot. This is a defect of stallscope: please report it"
        ],
    );
    check(
        home.path(),
        &writer
            .entities(&[sample::event(90_000_000, "far", None)])
            .unwrap_err(),
        expect![
            "cannot write HOME/x.stall/entities.arrow: entity number 90000000 is above the most that there can be, 16000000. This is a defect of stallscope: please report it"
        ],
    );
    writer.close(&meta(true)).unwrap();
    let timeline = Reader::open(&folder).unwrap().timeline;
    assert_eq!(timeline.table("threads").unwrap().len(), 7);
}

#[test]
fn a_table_outside_the_folder_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = sample::write_open(&home.path().join("x.stall"));
    let outside = Table {
        name: "../x".into(),
        ..THREADS.clone()
    };
    check(
        home.path(),
        &writer.append(&outside, &sample::batches()[0]).unwrap_err(),
        expect![[
            r#"cannot write HOME/x.stall: "../x" cannot be a table's name. This is a defect of stallscope: please report it"#
        ]],
    );
}
