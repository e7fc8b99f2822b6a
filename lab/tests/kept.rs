//! The kept recordings are diagnosed again, and every answer must be right.

use std::path::Path;
use std::process::Command;

#[test]
fn kept_recordings_are_diagnosed_as_they_were_made() {
    let lab = Path::new(env!("CARGO_BIN_EXE_stallscope-lab"));
    let stallscope = lab.with_file_name("stallscope");
    assert!(
        stallscope.is_file(),
        "{} is not there: cargo build -p stallscope",
        stallscope.display()
    );
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let output = Command::new(lab)
        .arg("kept")
        .arg("--from")
        .arg(recordings)
        .arg("--stallscope")
        .arg(stallscope)
        .output()
        .expect("the lab was built for this test");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}
