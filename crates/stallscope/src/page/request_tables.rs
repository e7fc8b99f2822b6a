//! The recorded tables of requests, as the page has them.

use model::{Role, Table};
use sensors::request::{self, bound_ns};

/// What the page has of a recorded table for each entity: of request times their counts, not the buckets.
pub(super) fn without_buckets(table: &Table) -> Table {
    let mut table = table.clone();
    if sum_of(&table.name).is_some() || table.name == request::PEER_CALLS.name {
        let columns = table.columns.to_mut();
        columns.retain(|it| bound_ns(&it.name).is_none());
    }
    table
}

/// A table of the page with the sum over connections.
pub(super) struct SumTable {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    /// Whose connections are in it.
    pub(super) role: Role,
}

/// The sum of a recorded table, if it has one.
pub(super) fn sum_of(table: &str) -> Option<SumTable> {
    let served = SumTable {
        name: "request_times",
        help: "Requests that the target answered, over all its connections together.",
        role: Role::Target,
    };
    let called = SumTable {
        name: "call_times",
        help: "Requests that the generator sent and was answered, over all its connections together.",
        role: Role::Generator,
    };
    if table == request::REQUESTS.name {
        Some(served)
    } else {
        (table == request::CALLS.name).then_some(called)
    }
}
