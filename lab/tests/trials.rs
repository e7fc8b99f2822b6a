//! The short form of every trial: what must hold whatever is done to the program.

use std::path::Path;
use std::process::Command;

#[test]
fn every_trial_holds_in_its_short_form() {
    let lab = Path::new(env!("CARGO_BIN_EXE_stallscope-lab"));
    let room = tempfile::tempdir().expect("a folder");
    // The lab ends with this test, and cleans up.
    let output = Command::new("setpriv")
        .args(["--pdeathsig", "TERM", "--"])
        .arg(lab)
        .args(["soak", "--short", "--out"])
        .arg(room.path())
        .arg("--stallscope")
        .arg(lab.with_file_name("stallscope"))
        .output()
        .expect("the lab was built for this test");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    print!("{said}");
    assert!(output.status.success(), "{said}{errors}");
}
