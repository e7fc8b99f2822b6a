//! What can be measured.
//!
//! A sensor is a value: the table that it fills, the files that it wants (by scope, never by absolute
//! place), how often, and a pure function from their bytes to rows. It opens nothing; `collectors` does.
//! Adding one is a file here, a line in `all()`, and a fixture.
#![warn(missing_docs)]

use std::time::Duration;

mod affinity;
mod bytes;
mod cgroup;
mod connection;
mod cpu;
mod disk;
pub mod environment;
mod filesystem;
pub mod kernel_wait;
mod load;
mod memory;
pub mod netlink;
mod network;
mod paging;
pub mod postgres;
pub mod pressure;
mod process;
mod recorder;
pub mod request;
mod sensor;
mod softnet;
pub mod stall;
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
    CLOCK, CLOCK_PERIOD, COVERAGE, COVERAGE_PERIOD, RECORDER, THREAD_TIME_COVERAGE, TICK,
};
pub use sensor::{
    Facts, Hierarchy, Malformed, MemoryWord, Missing, Parse, Period, Place, Reading, Scope, Sensor,
    Source, Subject, Within,
};
pub use thread::{ThreadUsage, syscall};

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

/// Tables that no sensor fills, with how often each is read: collectors and applications fill them.
fn others() -> impl Iterator<Item = (&'static model::Table, Duration)> {
    let all: [(&'static model::Table, Duration); 21] = [
        (&stall::STALL, TICK),
        (&stall::CGROUP_STALL, TICK),
        (&stall::COUNTED_CGROUP_PRESSURE, stall::FOLD),
        (&stall::COUNTED_CGROUP_STALL, TICK),
        (&stall::PROCESS_PRESSURE, stall::FOLD),
        (&stall::PROCESS_STALL, TICK),
        (&thread_time::THREAD_TIME, TICK),
        (&thread_time::PROCESS_TIME, thread_time::BACKGROUND_PERIOD),
        (&kernel_wait::KERNEL_WAIT, TICK),
        (&wakeup::WAKEUP, wakeup::PERIOD),
        (&wakeup::THREAD_POOL, wakeup::PERIOD),
        (&wait_event::WAIT_EVENT, wait_event::PERIOD),
        (&request::REQUESTS, TICK),
        (&request::CALLS, TICK),
        (&FILESYSTEM, FILESYSTEM_PERIOD),
        (&CONNECTION, CONNECTION_PERIOD),
        (&postgres::SESSION, APPLICATION_PERIOD),
        (&postgres::DATABASE, APPLICATION_PERIOD),
        (&CLOCK, CLOCK_PERIOD),
        (&RECORDER, TICK),
        (&COVERAGE, COVERAGE_PERIOD),
    ];
    all.into_iter()
}

/// Every table that a recording of this version can hold, apart from the workload's signal.
pub fn tables() -> impl Iterator<Item = &'static model::Table> {
    let of_sensors = all().iter().map(|sensor| sensor.table);
    of_sensors.chain(others().map(|(table, _)| table))
}

/// How often each of those tables is read, by name, unless that costs too much.
pub fn periods() -> impl Iterator<Item = (&'static str, Period)> {
    let of_sensors = all()
        .iter()
        .map(|sensor| (&*sensor.table.name, sensor.period));
    of_sensors.chain(others().map(|(table, period)| {
        let same = Period {
            tracked: period,
            background: period,
        };
        (&*table.name, same)
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
