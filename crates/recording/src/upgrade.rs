//! What older formats call otherwise: their tables and columns get today's names when they are opened.
//!
//! A name on disk may change with a new format only, and then gets a line here. Nothing else may know the old one.

use std::borrow::Cow;

use model::{Gap, TableData};

use crate::damage::Damage;

/// A table that was called otherwise before a format.
struct RenamedTable {
    since: u32,
    old: &'static str,
    new: &'static str,
}

const TABLES: &[RenamedTable] = &[
    table(4, "thread_ledger", "thread_time"),
    table(4, "process_ledger", "process_time"),
];

const fn table(since: u32, old: &'static str, new: &'static str) -> RenamedTable {
    RenamedTable { since, old, new }
}

/// A column that was called otherwise before a format.
struct RenamedColumn {
    since: u32,
    /// Today's name of its table.
    table: &'static str,
    old: &'static str,
    new: &'static str,
}

const COLUMNS: &[RenamedColumn] = &[
    column(4, "process_time", ["held_up_ns", "delay_caused_ns"]),
    column(4, "recorder", ["paused_ns", "detached_ns"]),
    column(4, "recorder", ["rest_stretch", "background_period_factor"]),
    column(4, "requests", ["merged", "pipelined"]),
    column(4, "requests", ["unasked", "unsolicited"]),
    column(4, "thread_time", ["held_up_ns", "delay_caused_ns"]),
    column(4, "thread_time", ["run_apart_ns", "run_diff_ns"]),
    column(4, "thread_time", ["wait_apart_ns", "wait_diff_ns"]),
    // Wait events are not PostgreSQL's alone.
    column(5, "thread_time", ["postgres_lwlock_ns", "event_lwlock_ns"]),
    column(5, "thread_time", ["postgres_wal_lock_ns", "event_log_ns"]),
    column(5, "thread_time", ["postgres_lock_ns", "event_lock_ns"]),
    column(
        5,
        "thread_time",
        ["postgres_buffer_pin_ns", "event_buffer_ns"],
    ),
    column(
        5,
        "thread_time",
        ["postgres_activity_ns", "event_activity_ns"],
    ),
    column(5, "thread_time", ["postgres_client_ns", "event_client_ns"]),
    column(
        5,
        "thread_time",
        ["postgres_extension_ns", "event_extension_ns"],
    ),
    column(5, "thread_time", ["postgres_ipc_ns", "event_ipc_ns"]),
    column(
        5,
        "thread_time",
        ["postgres_timeout_ns", "event_timeout_ns"],
    ),
    column(5, "thread_time", ["postgres_io_ns", "event_io_ns"]),
];

const fn column(since: u32, table: &'static str, [old, new]: [&'static str; 2]) -> RenamedColumn {
    RenamedColumn {
        since,
        table,
        old,
        new,
    }
}

/// Gives the tables of a recording in an older format today's names, where gaps and damage speak of them too.
pub(crate) fn names(
    format: u32,
    tables: &mut [TableData],
    gaps: &mut [Gap],
    damage: &mut [Damage],
) {
    for data in tables {
        let table = &mut data.table;
        if let Some(name) = table_name(format, &table.name) {
            table.name = Cow::Borrowed(name);
        }
        let name = table.name.clone();
        let own = || {
            COLUMNS
                .iter()
                .filter(|it| it.since > format && it.table == name)
        };
        if own().next().is_none() {
            continue;
        }
        for column in table.columns.to_mut() {
            if let Some(renamed) = own().find(|it| it.old == column.name) {
                column.name = Cow::Borrowed(renamed.new);
            }
        }
    }
    let of_gaps = gaps.iter_mut().map(|gap| &mut gap.table);
    for table in of_gaps.chain(damage.iter_mut().map(|it| &mut it.table)) {
        if let Some(name) = table_name(format, table) {
            *table = name.to_owned();
        }
    }
}

/// Today's name of a table of an older format, where it was called otherwise.
fn table_name(format: u32, old: &str) -> Option<&'static str> {
    let mut renamed = TABLES.iter().filter(|it| it.since > format);
    renamed.find(|it| it.old == old).map(|it| it.new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, EntityKind, Table, Unit};

    #[test]
    fn no_name_is_given_twice() {
        for RenamedColumn {
            table, old, new, ..
        } in COLUMNS
        {
            let other = COLUMNS.iter().filter(|it| it.table == *table);
            assert_eq!(
                other.clone().filter(|it| it.old == *old).count(),
                1,
                "{old}"
            );
            assert_eq!(other.filter(|it| it.new == *new).count(), 1, "{new}");
            assert!(!TABLES.iter().any(|it| it.old == *table), "{table} is old");
        }
        for RenamedTable { old, new, .. } in TABLES {
            assert_eq!(
                TABLES.iter().filter(|it| it.old == *old).count(),
                1,
                "{old}"
            );
            assert!(!TABLES.iter().any(|it| it.old == *new), "{new} is old, too");
        }
    }

    #[test]
    fn a_recording_gets_the_names_that_are_newer_than_its_format() {
        let column = |name: &'static str| Column::counter(name, Unit::Nanoseconds, "", "");
        let columns = || vec![column("held_up_ns"), column("postgres_lock_ns")];
        let named = |format, table: &'static str| {
            let table = Table {
                columns: columns().into(),
                ..Table::new(table, EntityKind::Thread, "", &[])
            };
            let mut data = [TableData::new(table)];
            names(format, &mut data, &mut [], &mut []);
            let [data] = data;
            let columns = data.table.columns.iter().map(|it| it.name.to_string());
            format!(
                "{}: {}",
                data.table.name,
                columns.collect::<Vec<_>>().join(" ")
            )
        };
        assert_eq!(
            named(3, "thread_ledger"),
            "thread_time: delay_caused_ns event_lock_ns"
        );
        assert_eq!(
            named(4, "thread_time"),
            "thread_time: held_up_ns event_lock_ns"
        );
        assert_eq!(
            named(5, "thread_time"),
            "thread_time: held_up_ns postgres_lock_ns"
        );
        assert_eq!(named(3, "session"), "session: held_up_ns postgres_lock_ns");
    }
}
