//! Tests that cannot run everywhere.

/// Says why a test is skipped; with `STALLSCOPE_REQUIRE=all` it fails instead.
#[track_caller]
pub fn skip(why: &str) {
    assert!(
        std::env::var("STALLSCOPE_REQUIRE").as_deref() != Ok("all"),
        "may not be skipped here: {why}"
    );
    println!("SKIPPED: {why}");
}
