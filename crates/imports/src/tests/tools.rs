//! vmstat and iostat: numbers worked out by hand.

use model::EntityKind;

use super::*;

pub(super) const VMSTAT: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 9  9      0    999    999    999    9    9     9     9   99   99  9  9 72  9  9 2026-11-26 16:00:00
 2  1      0   1000     10     20    0    4   100   200   50   70 25  5 60 10  0 2026-11-26 16:00:10
 0  0      0   2000     10     20    0    0     0     0   50   30  0  0 99  0  1 2026-11-26 16:00:20
";

#[test]
fn the_first_line_of_vmstat_is_since_boot() {
    let imported = text(VMSTAT.as_bytes(), None).expect("vmstat prints this");
    assert_eq!(imported.tool, "vmstat");
    assert_eq!(imported.resolution_ns, 10_000_000_000);
    // 2026-11-26T16:00:00Z.
    assert_eq!(imported.start_realtime_ns, 1_795_708_800_000_000_000);
    let cpu = |name| column(&imported, "cpu", EntityKind::Cpu, name);
    // 25 % of 10 s, then nothing.
    assert_eq!(cpu("user_ns"), [0, 2_500_000_000, 2_500_000_000]);
    assert_eq!(cpu("iowait_ns"), [0, 1_000_000_000, 1_000_000_000]);
    assert_eq!(cpu("steal_ns"), [0, 0, 100_000_000]);
    let machine = |table, name| column(&imported, table, EntityKind::Machine, name);
    assert_eq!(machine("load", "switches"), [0, 700, 1000]);
    assert_eq!(machine("load", "running"), [2, 0]);
    assert_eq!(machine("memory", "free_bytes"), [1_024_000, 2_048_000]);
    assert_eq!(
        machine("paging", "page_in_bytes"),
        [0, 1_024_000, 1_024_000]
    );
    assert_eq!(machine("paging", "swap_out"), [0, 10, 10]);
    assert!(notes(&imported).contains("pressure.cpu_some_ns"));
    assert!(!notes(&imported).contains("local times"));
}

#[test]
fn vmstat_without_times_takes_a_period_and_headings_again() {
    let lines = VMSTAT.lines().map(|line| line.get(..80).unwrap_or(line));
    let lines: Vec<&str> = lines.collect();
    let plain = [&lines[1..4], &lines[1..2], &lines[4..]]
        .concat()
        .join("\n");
    let error = text(plain.as_bytes(), None).expect_err("no times");
    assert!(
        error
            .to_string()
            .starts_with("line 2: expected a time; make it again: LC_ALL=C vmstat -t 1; or say"),
        "{error}"
    );
    let imported = text(plain.as_bytes(), Some(10_000_000_000)).expect("a period");
    let timed = text(VMSTAT.as_bytes(), None).expect("times");
    assert_eq!(imported.tables, timed.tables);
}

pub(super) const IOSTAT: &str = "\
Linux 6.1.0 (db7) \t11/26/26 \t_x86_64_\t(2 CPU)

11/26/26 16:00:00
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           9.00    0.00    9.00    9.00    0.00   73.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
vda             99.00     99.00     0.00   0.00    9.00    99.00   99.00     99.00     0.00   0.00    9.00    99.00    9.00  99.00


11/26/26 16:00:10
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          50.00    0.00   10.00   20.00    0.00   20.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
vda             10.00     40.00     0.00   0.00    2.00     4.00    5.00     20.00     0.00   0.00    4.00     4.00    0.04   3.50


";

#[test]
fn means_of_iostat_become_sums() {
    let imported = text(IOSTAT.as_bytes(), None).expect("iostat prints this");
    assert_eq!((&*imported.tool, imported.cpus), ("iostat", Some(2)));
    assert_eq!(imported.node.as_deref(), Some("db7"));
    assert_eq!(imported.kernel.as_deref(), Some("6.1.0"));
    let disk = |name| column(&imported, "disk", EntityKind::Disk, name);
    assert_eq!(disk("reads"), [0, 100]);
    assert_eq!(disk("read_bytes"), [0, 409_600]);
    // 100 reads of 2 ms, 50 writes of 4 ms.
    assert_eq!(disk("read_ns"), [0, 200_000_000]);
    assert_eq!(disk("write_ns"), [0, 200_000_000]);
    // 3.5 % of 10 s busy, a queue of 0.04.
    assert_eq!(disk("busy_ns"), [0, 350_000_000]);
    assert_eq!(disk("queue_ns"), [0, 400_000_000]);
    let cpu = |name| column(&imported, "cpu", EntityKind::Cpu, name);
    assert_eq!(cpu("user_ns"), [0, 5_000_000_000]);
    assert_eq!(cpu("idle_ns"), [0, 2_000_000_000]);
    assert!(notes(&imported).contains("mean of all CPUs"));
}

#[test]
fn iostat_reads_other_ways_to_write_a_time() {
    let first = text(IOSTAT.as_bytes(), None).expect("times");
    let same = |from: &str, to: &str| {
        let written = IOSTAT
            .replace("11/26/26 16:00:", from)
            .replace("0\navg", to);
        text(written.as_bytes(), None).unwrap_or_else(|error| panic!("{error} in {written}"))
    };
    let iso = same("2026-11-26T16:00:", "0+0000\navg");
    let half = same("11/26/2026 04:00:", "0 PM\navg");
    for other in [&iso, &half] {
        assert_eq!(other.start_realtime_ns, first.start_realtime_ns);
        assert_eq!(other.tables, first.tables);
    }
    let untimed: String = IOSTAT
        .lines()
        .filter(|line| !line.starts_with("11/26"))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let imported = text(untimed.as_bytes(), Some(10_000_000_000)).expect("a period");
    assert_eq!(imported.tables, first.tables);
}

#[test]
fn other_numbers_and_dates_are_refused_with_the_command() {
    let comma = IOSTAT.replace("0.04", "0,04");
    let error = text(comma.as_bytes(), None)
        .expect_err("a comma")
        .to_string();
    assert!(
        error.starts_with("line 16: expected a number with a point, found \"0,04\"; make it again: LC_ALL=C S_TIME_FORMAT=ISO iostat"),
        "{error}"
    );
    let day_first = IOSTAT.replace("11/26/26 16", "26/11/26 16");
    let error = text(day_first.as_bytes(), None)
        .expect_err("no month 26")
        .to_string();
    assert!(
        error.starts_with("line 3: expected a date with a time"),
        "{error}"
    );
    let short = IOSTAT.replace("   3.50\n", "\n");
    let error = text(short.as_bytes(), None)
        .expect_err("a number lacks")
        .to_string();
    assert!(error.starts_with("line 16: expected 14 numbers"), "{error}");
    let sar = "Linux 6.1.0 (db7) \t11/26/26 \t_x86_64_\t(2 CPU)\n\n16:00:01        CPU     %user\n16:00:02        all      1.00\n";
    let error = text(sar.as_bytes(), None)
        .expect_err("sar's text")
        .to_string();
    assert!(error.contains("sadf -j FILE -- -A > sar.json"), "{error}");
}
