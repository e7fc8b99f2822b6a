//! The kept recordings are diagnosed again: every answer must be right, and every text is the one that
//! was read and accepted (`UPDATE_EXPECT=1` writes what is said now).

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;

fn stallscope() -> PathBuf {
    let lab = Path::new(env!("CARGO_BIN_EXE_stallscope-lab"));
    let stallscope = lab.with_file_name("stallscope");
    assert!(
        stallscope.is_file(),
        "{} is not there: cargo build -p stallscope",
        stallscope.display()
    );
    stallscope
}

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

#[test]
fn kept_recordings_are_diagnosed_as_they_were_made() {
    // Those of the first situations are also told without what programs in the kernel counted.
    let without = ["--set", "tuned", "--without", "thread_time,process_time"];
    for without in [&[][..], &without] {
        let output = Command::new(env!("CARGO_BIN_EXE_stallscope-lab"))
            .arg("kept")
            .arg("--from")
            .arg(recordings())
            .arg("--stallscope")
            .arg(stallscope())
            .args(without)
            .output()
            .expect("the lab was built for this test");
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{without:?}: {said}{errors}");
    }
}

#[test]
fn what_a_person_reads_of_each() {
    let room = tempfile::tempdir().expect("a folder");
    let packed = std::fs::read_dir(recordings()).expect("recordings are kept");
    let names: Vec<String> = packed
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".tar.zst")?.to_owned()))
        .collect();
    assert!(!names.is_empty(), "recordings are kept");
    for name in names {
        let path = recordings().join(format!("{name}.tar.zst"));
        let file = std::fs::File::open(path).expect("it was just seen");
        let unpacked = zstd::Decoder::new(file).expect("it is compressed");
        let mut archive = tar::Archive::new(unpacked);
        archive.unpack(room.path()).expect("there is room");
        let output = Command::new(stallscope())
            .arg("explain")
            .arg(format!("{name}.stall"))
            .current_dir(room.path())
            .env_remove("COLUMNS")
            .output()
            .expect("it was built for this test");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{name}: {text}"
        );
        expect_file![recordings().join(format!("{name}.txt"))].assert_eq(&text);
    }
}
