//! What older formats call otherwise: their tables and columns get today's names when they are opened.
//!
//! A name on disk may change with a new format only, and then gets a line here. Nothing else may know the old one.

use std::borrow::Cow;

use model::{Gap, TableData};

use crate::damage::Damage;

/// The first format with today's names.
const SINCE_NAMES: u32 = 4;

/// Tables: the name until format 3, and today's.
const TABLES: &[(&str, &str)] = &[
    ("thread_ledger", "thread_time"),
    ("process_ledger", "process_time"),
];

/// Columns: today's name of their table, the name until format 3, and today's.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("process_time", "held_up_ns", "delay_caused_ns"),
    ("recorder", "paused_ns", "detached_ns"),
    ("recorder", "rest_stretch", "background_period_factor"),
    ("requests", "merged", "pipelined"),
    ("requests", "unasked", "unsolicited"),
    ("thread_time", "held_up_ns", "delay_caused_ns"),
    ("thread_time", "run_apart_ns", "run_diff_ns"),
    ("thread_time", "wait_apart_ns", "wait_diff_ns"),
];

/// Gives the tables of a recording in an older format today's names, where gaps and damage speak of them too.
pub(crate) fn names(
    format: u32,
    tables: &mut [TableData],
    gaps: &mut [Gap],
    damage: &mut [Damage],
) {
    if format >= SINCE_NAMES {
        return;
    }
    for data in tables {
        let table = &mut data.table;
        if let Some(name) = renamed(TABLES, &table.name) {
            table.name = Cow::Borrowed(name);
        }
        let own = COLUMNS.iter().filter(|it| it.0 == table.name);
        let own: Vec<_> = own.map(|it| (it.1, it.2)).collect();
        for column in table.columns.to_mut() {
            if let Some(name) = renamed(&own, &column.name) {
                column.name = Cow::Borrowed(name);
            }
        }
    }
    let of_gaps = gaps.iter_mut().map(|gap| &mut gap.table);
    for table in of_gaps.chain(damage.iter_mut().map(|it| &mut it.table)) {
        if let Some(name) = renamed(TABLES, table) {
            *table = name.to_owned();
        }
    }
}

fn renamed(names: &[(&'static str, &'static str)], old: &str) -> Option<&'static str> {
    names.iter().find(|it| it.0 == old).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        for (table, old, new) in COLUMNS {
            let other = COLUMNS.iter().filter(|it| it.0 == *table);
            assert_eq!(other.clone().filter(|it| it.1 == *old).count(), 1, "{old}");
            assert_eq!(other.filter(|it| it.2 == *new).count(), 1, "{new}");
            assert!(!TABLES.iter().any(|it| it.0 == *table), "{table} is old");
        }
        for (old, new) in TABLES {
            assert_eq!(TABLES.iter().filter(|it| it.0 == *old).count(), 1, "{old}");
            assert!(!TABLES.iter().any(|it| it.0 == *new), "{new} is old, too");
        }
    }
}
