//! For tests: what they do where something cannot be had. They are skipped and say so, and fail where
//! everything is required.

use std::fmt::Display;

/// Skips a test of something.
pub(crate) fn skipped(what: &str, why: impl Display) {
    let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
    assert!(!required, "STALLSCOPE_REQUIRE=all, and {what}: {why}");
    println!("SKIPPED: {what}: {why}");
}

/// What a test needs; without it, `None`, and the test is skipped.
pub(crate) fn needed<T, E: Display>(what: &str, had: Result<T, E>) -> Option<T> {
    had.inspect_err(|why| skipped(what, why)).ok()
}
