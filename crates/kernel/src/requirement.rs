//! For tests that need something the machine may not have. They are skipped with a message, or fail if
//! everything is required.
#![allow(clippy::print_stdout)]

use std::fmt::Display;

/// Skips a test.
pub fn skipped(what: &str, why: impl Display) {
    let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
    assert!(!required, "STALLSCOPE_REQUIRE=all, and {what}: {why}");
    println!("SKIPPED: {what}: {why}");
}

/// What a test needs; `None` skips the test.
pub fn needed<T, E: Display>(what: &str, result: Result<T, E>) -> Option<T> {
    result.inspect_err(|why| skipped(what, why)).ok()
}
