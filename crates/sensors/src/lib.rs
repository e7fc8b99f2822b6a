//! What can be measured.
//!
//! A sensor is a value: the table that it fills, the files that it wants (by scope, never by absolute
//! place), how often, and a pure function from their bytes to rows. It opens nothing; `collectors` does.
//! Adding one is a file here, a line in `all()`, and a fixture.
#![warn(missing_docs)]

use std::time::Duration;

mod affinity;
pub mod bins;
pub mod block_io;
mod bytes;
mod cgroup;
mod connection;
mod cpu;
mod disk;
pub mod environment;
pub mod file_wait;
mod filesystem;
pub mod flow;
pub mod jvm;
pub mod kernel_wait;
mod load;
pub mod log;
mod memory;
pub mod mysql;
pub mod netlink;
mod network;
pub mod open_files;
mod paging;
pub mod pgbouncer;
pub mod postgres;
pub mod pressure;
mod process;
pub mod program_run;
mod recorder;
pub mod redis;
pub mod request;
mod run_queue;
pub mod scrape;
mod sensor;
pub mod serving;
mod softnet;
pub mod stack;
pub mod stall;
pub mod statement;
mod tcp;
mod thread;
pub mod thread_time;
pub mod wait_channel;
pub mod wait_event;
pub mod wakeup;

pub use affinity::{CpuList, cpus_allowed, cpus_online};
pub use connection::{CONNECTION, CONNECTION_PERIOD, TcpReading, parse_tcp};
pub use filesystem::{FILESYSTEM, FILESYSTEM_PERIOD};
pub use process::{ProcessStat, ProcessUsage, parse_stat};
pub use recorder::{
    CALL_COVERAGE, CLOCK, CLOCK_PERIOD, COVERAGE, COVERAGE_PERIOD, RECORDER, THREAD_TIME_COVERAGE,
    TICK,
};
pub use run_queue::RUN_QUEUE;
pub use sensor::{
    Facts, Hierarchy, Malformed, MemoryWord, Missing, Parse, Period, Place, Reading, Scope, Sensor,
    Source, Subject, Within,
};
pub use thread::{CALL_SOURCE, ThreadUsage, syscall, waits_for_file};

/// How often an application is asked what it reports.
pub const APPLICATION_PERIOD: Duration = Duration::from_secs(1);

/// Every sensor, in the order in which their tables are shown.
pub fn all() -> &'static [&'static Sensor] {
    static ALL: &[&Sensor] = &[
        &pressure::MACHINE,
        &pressure::CGROUP,
        &cpu::SENSOR,
        &load::SENSOR,
        &memory::SENSOR,
        &paging::SENSOR,
        &disk::SENSOR,
        &network::SENSOR,
        &tcp::SENSOR,
        &softnet::SENSOR,
        &cgroup::cpu::SENSOR,
        &cgroup::limit::SENSOR,
        &cgroup::memory::SENSOR,
        &cgroup::io::SENSOR,
        &process::SENSOR,
        &thread::SENSOR,
    ];
    ALL
}

/// A table that no sensor fills: a collector or an application does.
pub struct OtherTable {
    /// The table.
    pub table: &'static model::Table,
    /// How often it is read.
    pub period: Duration,
    /// Where or when else, to follow "every 1 s"; empty where that is all.
    pub when: &'static str,
}

/// Tables that no sensor fills, in the order in which they are shown.
pub fn others() -> impl Iterator<Item = OtherTable> {
    const BPF: &str = ", where BPF is allowed";
    #[rustfmt::skip]
    let all: [(&'static model::Table, Duration, &'static str); _] = [
        (&stall::STALL, TICK, BPF),
        (&stall::CGROUP_STALL, TICK, BPF),
        (&stall::COUNTED_CGROUP_PRESSURE, stall::FOLD, BPF),
        (&stall::COUNTED_CGROUP_STALL, TICK, BPF),
        (&stall::PROCESS_PRESSURE, stall::FOLD, BPF),
        (&stall::PROCESS_STALL, TICK, BPF),
        (&thread_time::THREAD_TIME, TICK, BPF),
        (&thread_time::PROCESS_TIME, thread_time::BACKGROUND_PERIOD, BPF),
        (&bins::CPU_BIN, TICK, ", the bins since then, where BPF is allowed"),
        (&kernel_wait::KERNEL_WAIT, TICK, BPF),
        (&serving::SERVING, TICK, BPF),
        (&wakeup::WAKEUP, wakeup::PERIOD, BPF),
        (&wakeup::THREAD_POOL, wakeup::PERIOD, BPF),
        (&wait_event::WAIT_EVENT, wait_event::PERIOD, BPF),
        (&statement::STATEMENT, statement::PERIOD, ", where BPF is allowed, of PostgreSQL 14 and later"),
        (&request::REQUESTS, TICK, BPF),
        (&request::CALLS, TICK, BPF),
        (&request::PEER_CALLS, TICK, BPF),
        (&bins::REQUEST_BIN, TICK, ", the bins since then, where BPF is allowed"),
        (&flow::FLOW, TICK, BPF),
        (&block_io::BLOCK_IO, TICK, BPF),
        (&file_wait::FILE_WAIT, TICK, ", while somebody waits for one"),
        (&stack::CPU_SAMPLE, TICK, ", what 49 samples a second of each CPU found, or as many as `--stacks` says"),
        (&stack::WAIT_SAMPLE, TICK, ", every wait of `--min-wait` or longer and some of the shorter ones"),
        (&stack::STACK, TICK, ", when a stack is new"),
        (&stack::SYMBOL, TICK, ", at the end"),
        (&stack::LOCK, TICK, ", at the end"),
        (&program_run::PROGRAM_RUN, TICK, ", where BPF is allowed, when a program ends"),
        (&log::LOG, TICK, ", with `--log`"),
        (&log::LOG_TEMPLATE, TICK, ", with `--log`, while such lines come"),
        (&log::LOGGED_CALL, TICK, ", with `--log`, while such lines come"),
        (&FILESYSTEM, FILESYSTEM_PERIOD, ""),
        (&open_files::OPEN_FILES, open_files::OPEN_FILES_PERIOD, ", of target, dependencies and generator, while it changes"),
        (&CONNECTION, CONNECTION_PERIOD, ""),
        (&postgres::SESSION, APPLICATION_PERIOD, ", with `--postgres`"),
        (&postgres::DATABASE, APPLICATION_PERIOD, ", with `--postgres`"),
        (&mysql::SESSION, APPLICATION_PERIOD, ", with `--mysql`"),
        (&mysql::MYSQL, APPLICATION_PERIOD, ", with `--mysql`"),
        (&pgbouncer::PGBOUNCER, APPLICATION_PERIOD, ", with `--pgbouncer`"),
        (&redis::REDIS, APPLICATION_PERIOD, ", with `--redis`"),
        (&scrape::SCRAPE, APPLICATION_PERIOD, ", with `--scrape`"),
        (&scrape::SCRAPED, APPLICATION_PERIOD, ", with `--scrape`"),
        (&RUN_QUEUE, APPLICATION_PERIOD, ", as often as it was scraped, from a store of metrics alone"),
        (&jvm::JVM, jvm::JVM_PERIOD, ", of target, dependencies and generator"),
        (&CLOCK, CLOCK_PERIOD, ""),
        (&RECORDER, TICK, ", at each wake-up of the sampler"),
        (&COVERAGE, COVERAGE_PERIOD, ", and at both edges of each on-window"),
    ];
    all.into_iter().map(|(table, period, when)| OtherTable {
        table,
        period,
        when,
    })
}

/// Every table that a recording of this version can hold, apart from the workload's signal.
pub fn tables() -> impl Iterator<Item = &'static model::Table> {
    let of_sensors = all().iter().map(|sensor| sensor.table);
    of_sensors.chain(others().map(|other| other.table))
}

/// How often each of those tables is read, by name, unless that costs too much.
pub fn periods() -> impl Iterator<Item = (&'static str, Period)> {
    let of_sensors = all()
        .iter()
        .map(|sensor| (&*sensor.table.name, sensor.period));
    of_sensors.chain(others().map(|other| {
        let same = Period {
            tracked: other.period,
            background: other.period,
        };
        (&*other.table.name, same)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_has_a_period() {
        let described: BTreeSet<&str> = tables().map(|table| &*table.name).collect();
        let read: BTreeSet<&str> = periods().map(|(table, _)| table).collect();
        assert_eq!(read, described);
    }

    #[test]
    fn what_is_counted_in_on_windows_only_is_not_declared_exact() {
        let windows: BTreeSet<&str> = COVERAGE.columns.iter().map(|it| &*it.name).collect();
        let covered = tables().filter(|table| !table.covered_by.is_empty());
        let mut names = BTreeSet::new();
        for table in covered {
            assert!(windows.contains(&*table.covered_by), "{}", table.name);
            names.insert(&*table.name);
            for column in table.columns.iter() {
                assert!(
                    column.kind != model::ColumnKind::Counter
                        || column.quality > model::Quality::Exact,
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
        }
        let from_bpf = |column: &model::Column| column.source.contains("sched_");
        let counted = |table: &&model::Table| {
            let mut counters = table.columns.iter();
            counters.any(|it| it.kind == model::ColumnKind::Counter && from_bpf(it))
        };
        let expected: BTreeSet<&str> = tables().filter(counted).map(|it| &*it.name).collect();
        assert_eq!(names, &expected | &BTreeSet::from(["kernel_wait"]));
    }

    #[test]
    fn tables_are_described_wholly_and_named_once() {
        let mut names = BTreeSet::new();
        for table in tables() {
            assert!(
                names.insert(table.name.clone()),
                "two tables are called {}",
                table.name
            );
            for column in table.columns.iter() {
                assert!(
                    !column.help.is_empty() && !column.source.is_empty(),
                    "{}.{}",
                    table.name,
                    column.name
                );
                assert!(
                    column.help.ends_with('.'),
                    "{}.{}: a sentence ends",
                    table.name,
                    column.name
                );
            }
        }
    }
}
