//! Files that the tools wrote at the same time on one machine, while a compiler ran: they agree.

use model::EntityKind;

use super::*;

const VMSTAT: &str = include_str!("../../fixtures/vmstat/load.txt");
const IOSTAT: &str = include_str!("../../fixtures/iostat/load.txt");
const PIDSTAT: &str = include_str!("../../fixtures/pidstat/load.txt");
const ATOP: &str = include_str!("../../fixtures/atop/load.txt");
const PERF: &str = include_str!("../../fixtures/perf/load.txt");

fn read(text: &str) -> Imported {
    super::text(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}"))
}

/// By how much a counter of all entities of a kind grew, on average per second.
fn rate(imported: &Imported, table: &str, name: &str) -> f64 {
    let found = imported.tables.iter().find(|(it, _)| it.name == table);
    let (table, rows) = found.expect("the table is there");
    let place = table.position(name).expect("the column is there");
    let of = |record: &model::EntityRecord| {
        let own = rows.iter().filter(|(_, entity, _)| *entity == record.id);
        let known = own.map(|(_, _, values)| values[place]);
        known.filter(|value| *value != MISSING).max().unwrap_or(0)
    };
    let grown: i64 = imported.entities.iter().map(of).sum();
    grown as f64 / imported.window.seconds()
}

#[test]
fn tools_that_measured_the_same_time_agree() {
    let (vmstat, iostat, atop) = (read(VMSTAT), read(IOSTAT), read(ATOP));
    // vmstat and iostat over 8 s, their mean CPU; atop over 6 of these, both CPUs.
    assert_eq!(vmstat.window.len_ns(), 8_000_000_000);
    assert_eq!(iostat.window.len_ns(), 8_000_000_000);
    assert_eq!(vmstat.start_realtime_ns, iostat.start_realtime_ns);
    for column in ["user_ns", "system_ns", "idle_ns"] {
        let (a, b) = (rate(&vmstat, "cpu", column), rate(&iostat, "cpu", column));
        assert!((a - b).abs() < 2e7, "{column}: {a} and {b}");
    }
    // 43 + 75 + 77 + 79 % of 2 s each.
    let user = column(&vmstat, "cpu", EntityKind::Cpu, "user_ns");
    assert_eq!(user.last(), Some(&5_480_000_000));
    // 166 + 8, 152 + 144 ticks of 10 ms in the first two samples of atop.
    let first: Vec<i64> = column(&atop, "cpu", EntityKind::Cpu, "user_ns");
    assert_eq!(first[..3], [0, 1_660_000_000, 3_180_000_000]);
    assert_eq!((atop.cpus, iostat.cpus), (Some(2), Some(2)));
    let disk = column(&atop, "disk", EntityKind::Disk, "read_bytes");
    assert_eq!(disk[..3], [0, 54_320 * 512, (54_320 + 49_768) * 512]);
    let stalled = column(&atop, "pressure", EntityKind::Machine, "cpu_some_ns");
    assert_eq!(stalled[..3], [0, 41_004_000, 292_997_000]);
}

#[test]
fn who_used_the_cpus_is_named_by_pidstat_and_atop() {
    for (imported, tool) in [(read(PIDSTAT), "pidstat"), (read(ATOP), "atop")] {
        assert_eq!(imported.tool, tool);
        let names: Vec<&str> = imported
            .entities
            .iter()
            .map(|it| &*it.entity.name)
            .collect();
        assert!(
            names.contains(&"cargo") && names.contains(&"rustc"),
            "{names:?}"
        );
        assert!(rate(&imported, "process", "user_ns") > 1e7);
        // A process has less than the machine's two CPUs.
        assert!(rate(&imported, "process", "user_ns") < 2e9);
    }
}

#[test]
fn perf_says_how_long_threads_ran_and_were_in_line() {
    let imported = read(PERF);
    let run = rate(&imported, "thread", "run_ns");
    // One CPU's events at least, of two.
    assert!((1e8..=2e9).contains(&run), "{run}");
    assert!(rate(&imported, "thread", "wait_ns") > 0.0);
    let names: Vec<&str> = imported
        .entities
        .iter()
        .map(|it| &*it.entity.name)
        .collect();
    assert!(names.contains(&"rustc"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("swapper")),
        "{names:?}"
    );
}

#[test]
fn everything_together_is_one_recording() {
    let files = [SAR, VMSTAT, IOSTAT, PIDSTAT, ATOP];
    let error = merged(files.into_iter().chain([PERF]).map(read).collect());
    error.expect_err("perf has no time of day");
    let all = merged(files.into_iter().map(read).collect()).expect("one machine, one day");
    assert_eq!(all.tool, "sar, vmstat, iostat, pidstat, atop");
    let mut tables: Vec<&str> = all.tables.iter().map(|(table, _)| &*table.name).collect();
    tables.sort_unstable();
    let expected = [
        "cpu", "disk", "load", "memory", "network", "paging", "pressure", "process",
    ];
    assert_eq!(tables, expected);
}
