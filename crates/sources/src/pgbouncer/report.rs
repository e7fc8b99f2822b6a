//! The console's answers as a row. Pure.

use std::collections::HashMap;

use model::MISSING;

/// A row of an answer, by column.
pub(crate) type Record = HashMap<String, String>;

/// The pool of the console itself.
const OWN: &str = "pgbouncer";

/// A row of the table, each value with the name of its column.
pub(crate) fn row(
    pools: &[Record],
    stats: &[Record],
    lists: &[Record],
    clients_limit: Option<i64>,
) -> Vec<(&'static str, i64)> {
    let pools = others(pools);
    let stats = others(stats);
    let sum = |columns: &[&str]| total(&pools, columns);
    let counter = |column| total(&stats, &[column]);
    let ns = |us: Option<i64>| us.map(|us| us.saturating_mul(1_000));
    let waiting = pools
        .iter()
        .filter(|pool| number(pool, "cl_waiting").is_some_and(|waiting| waiting > 0));
    let login = lists
        .iter()
        .find(|list| list.get("list").is_some_and(|name| name == "login_clients"));
    let values = [
        ("pools", Some(pools.len() as i64)),
        ("pools_waiting", Some(waiting.count() as i64)),
        ("clients_active", sum(&["cl_active"])),
        ("clients_waiting", sum(&["cl_waiting"])),
        (
            "clients_login",
            login.and_then(|list| number(list, "items")),
        ),
        ("clients_limit", clients_limit),
        (
            "servers_active",
            sum(&["sv_active", "sv_active_cancel", "sv_being_canceled"]),
        ),
        ("servers_idle", sum(&["sv_idle", "sv_used", "sv_tested"])),
        ("servers_login", sum(&["sv_login"])),
        ("longest_wait_ns", longest_wait_ns(&pools)),
        ("transactions", counter("total_xact_count")),
        ("queries", counter("total_query_count")),
        ("received_bytes", counter("total_received")),
        ("sent_bytes", counter("total_sent")),
        ("transaction_time_ns", ns(counter("total_xact_time"))),
        ("query_time_ns", ns(counter("total_query_time"))),
        ("wait_time_ns", ns(counter("total_wait_time"))),
    ];
    values
        .map(|(column, value)| (column, value.unwrap_or(MISSING)))
        .to_vec()
}

/// Without the console's own.
fn others(records: &[Record]) -> Vec<&Record> {
    let is_own = |record: &&Record| record.get("database").is_some_and(|name| name == OWN);
    records.iter().filter(|record| !is_own(record)).collect()
}

/// The sum over records and columns; a version that lacks some of the columns has nothing to count there.
/// `None` where the first column is missing, 0 without any record.
fn total(records: &[&Record], columns: &[&str]) -> Option<i64> {
    let of = |record: &&Record| {
        let first = number(record, columns[0])?;
        let more = columns[1..].iter().filter_map(|it| number(record, it));
        Some(more.fold(first, i64::saturating_add))
    };
    let mut values = records.iter().map(of);
    values.try_fold(0i64, |sum, value| Some(sum.saturating_add(value?)))
}

fn longest_wait_ns(pools: &[&Record]) -> Option<i64> {
    let waits = pools.iter().map(|pool| {
        let (s, us) = (number(pool, "maxwait")?, number(pool, "maxwait_us")?);
        Some(
            s.saturating_mul(1_000_000)
                .saturating_add(us)
                .saturating_mul(1_000),
        )
    });
    waits
        .collect::<Option<Vec<i64>>>()
        .map(|waits| waits.into_iter().max().unwrap_or(0))
}

fn number(record: &Record, column: &str) -> Option<i64> {
    record.get(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;
    use sensors::pgbouncer::PGBOUNCER;

    /// An answer as psql -A prints it.
    fn records(text: &str) -> Vec<Record> {
        let mut lines = text.lines().map(|line| line.split('|'));
        let names: Vec<&str> = lines.next().into_iter().flatten().collect();
        let record = |cells: std::str::Split<'_, char>| {
            let named = names.iter().zip(cells);
            named
                .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
                .collect()
        };
        lines.map(record).collect()
    }

    fn shown(row: &[(&str, i64)]) -> String {
        let lines = row.iter().map(|(name, value)| match *value {
            MISSING => format!("{name} is missing"),
            value => format!("{name}={value}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Five clients, of whom a pool of two lets two through.
    #[test]
    fn what_pgbouncer_1_18_reports() {
        let pools = records(include_str!("fixtures/pools-1.18.txt"));
        let stats = records(include_str!("fixtures/stats-1.18.txt"));
        let lists = records(include_str!("fixtures/lists-1.18.txt"));
        let row = row(&pools, &stats, &lists, Some(50));
        let columns: Vec<&str> = PGBOUNCER.columns.iter().map(|it| &*it.name).collect();
        let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, columns);
        expect![[r#"
            pools=1
            pools_waiting=1
            clients_active=2
            clients_waiting=3
            clients_login=0
            clients_limit=50
            servers_active=2
            servers_idle=0
            servers_login=0
            longest_wait_ns=2087945000
            transactions=5
            queries=5
            received_bytes=48
            sent_bytes=84
            transaction_time_ns=0
            query_time_ns=0
            wait_time_ns=6723000"#]]
        .assert_eq(&shown(&row));
    }

    #[test]
    fn columns_of_other_versions_are_missing_and_no_pool_is_zero() {
        let pools = records("database|user|cl_active|cl_waiting\nb|u|1|2");
        let row = row(&pools, &records("database|total_requests\nb|5"), &[], None);
        let of = |name| {
            row.iter()
                .find(|(it, _)| *it == name)
                .map(|(_, value)| *value)
        };
        assert_eq!(of("clients_waiting"), Some(2));
        for missing in [
            "servers_active",
            "longest_wait_ns",
            "queries",
            "clients_limit",
        ] {
            assert_eq!(of(missing), Some(MISSING), "{missing}");
        }
        let row = super::row(&[], &[], &[], None);
        assert_eq!(row[..2], [("pools", 0), ("pools_waiting", 0)]);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in "(database|cl_waiting|maxwait|maxwait_us|[|\n0-9-]){0,40}") {
            let records = records(&text);
            row(&records, &records, &records, None);
        }
    }
}
