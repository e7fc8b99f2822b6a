//! What to do where a machine cannot make a situation: say why and go on, or count it as a failure
//! where the environment says that everything must run.

/// Names what must not be skipped; `all` is the only value known.
const VARIABLE: &str = "STALLSCOPE_REQUIRE";

/// Whether a skip is a failure (`STALLSCOPE_REQUIRE=all`).
pub fn everything() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "all")
}

/// Says that `what` is skipped, and why.
///
/// # Panics
/// When everything is required: for tests, where that is how a failure is said.
#[cfg(test)]
pub fn skip(what: &str, why: &str) {
    assert!(
        !everything(),
        "{what} must not be skipped ({VARIABLE}=all): {why}"
    );
    println!("SKIPPED: {what}: {why}");
}
