//! The recorded tables of requests, as the page has them.

use model::{Role, Table};
use sensors::request::{self, first_bucket};

/// What the page has of a recorded table for each entity: of request times their counts, not the buckets.
pub(super) fn without_buckets(table: &Table) -> Table {
    let mut table = table.clone();
    if sum_of(&table.name).is_some() {
        let counts = first_bucket(&table);
        table.columns.to_mut().truncate(counts);
    }
    table
}

/// The name of the sum of a recorded table, what it says, and whose connections are in it.
pub(super) fn sum_of(table: &str) -> Option<(&'static str, &'static str, Role)> {
    let served = (
        "request_times",
        "Requests that the target answered, over all its connections together.",
        Role::Target,
    );
    let called = (
        "call_times",
        "Requests that the generator sent and was answered, over all its connections together.",
        Role::Generator,
    );
    if table == request::REQUESTS.name {
        Some(served)
    } else {
        (table == request::CALLS.name).then_some(called)
    }
}
