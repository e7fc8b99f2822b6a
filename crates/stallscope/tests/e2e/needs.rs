//! What a test needs of the machine, and how it says that it is not there.

use std::path::Path;

/// Says why a test cannot run here.
///
/// # Panics
/// Under `STALLSCOPE_REQUIRE=all`, where nothing may be skipped.
pub fn skip(why: &str) {
    let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|value| value == "all");
    assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
    println!("SKIPPED: {why}");
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a test that needs root can run.
pub fn root() -> bool {
    if !is_root() {
        skip("it needs root");
    }
    is_root()
}

/// Whether a test that needs a program from `PATH` can run.
pub fn program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        skip(&format!("there is no {name} in PATH"));
    }
    found
}

/// Whether a test that needs pressure files can run.
pub fn pressure() -> bool {
    let read = std::fs::read(Path::new("/proc/pressure/cpu"));
    if read.is_err() {
        skip("this kernel shows no pressure (boot it with psi=1)");
    }
    read.is_ok()
}
