//! What went wrong between us and a server, as a sentence that says what to do.

use postgres::error::SqlState;

use super::Address;
use super::address::WITHOUT_TLS;
use crate::{Trouble, TroubleKind};

/// No connection came about, or a question was not answered.
pub(super) fn failed(error: &postgres::Error, address: &Address) -> Trouble {
    let said = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => causes(error),
    };
    let (kind, advice) = advice(error, &said);
    let sentence = format!("PostgreSQL's own word ({address}) was not heard: {said}; {advice}");
    Trouble { kind, sentence }
}

/// The answer was none that this version understands.
pub(super) fn odd(address: &Address, what: &str) -> Trouble {
    Trouble {
        kind: TroubleKind::Away,
        sentence: format!(
            "PostgreSQL's own word ({address}) was not understood: {what}; name the server itself, not a pooler, in --postgres"
        ),
    }
}

fn advice(error: &postgres::Error, said: &str) -> (TroubleKind, String) {
    use TroubleKind::{Away, Denied};
    if said.contains("no encryption") || said.contains("SSL off") {
        return (Denied, format!("it wants TLS, and {WITHOUT_TLS}"));
    }
    if said.contains("startup parameter") {
        let advice = "a pooler passes no session settings on: name the server itself in --postgres";
        return (Denied, advice.to_owned());
    }
    if said.contains("password missing") {
        let advice = "put it into PGPASSWORD or ~/.pgpass (mode 600)";
        return (Denied, advice.to_owned());
    }
    let (kind, advice) = match error.code() {
        Some(&SqlState::INVALID_PASSWORD) => (
            Denied,
            "put the right password into PGPASSWORD or ~/.pgpass, or name another role",
        ),
        Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => (
            Denied,
            "name a role that pg_hba.conf lets in: --postgres 'user=ROLE'",
        ),
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            (Denied, "name a database: --postgres 'dbname=NAME'")
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => (
            Denied,
            "GRANT CONNECT on the database and pg_monitor to this role",
        ),
        Some(&SqlState::TOO_MANY_CONNECTIONS) => (
            Away,
            "a superuser may use the reserved connections: --postgres 'user=postgres'",
        ),
        Some(&SqlState::QUERY_CANCELED) | Some(&SqlState::LOCK_NOT_AVAILABLE) => (
            Away,
            "it was too busy to answer within 2 s and is asked again",
        ),
        Some(_) => (Away, "asked again until the end of the run"),
        None => (
            Away,
            "is it there? Name it: --postgres 'host=/var/run/postgresql port=5432'; asked again until the end of the run",
        ),
    };
    (kind, advice.to_owned())
}

/// The error with what caused it, each said once.
pub(crate) fn causes(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}
