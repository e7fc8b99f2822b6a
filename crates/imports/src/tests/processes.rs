//! pidstat and atop: numbers worked out by hand, and whose they are.

use model::EntityKind;

use super::*;

pub(super) const PIDSTAT: &str = "\
Linux 6.1.0 (db7) \t11/26/26 \t_x86_64_\t(2 CPU)

23:59:40      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
23:59:50      105       812   50.00   10.00    0.00   20.00   60.00     1  postgres

23:59:40      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
23:59:50      105       812     -1.00     -1.00     -1.00       0  postgres

23:59:50      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
00:00:00      105       812    0.00    1.00    0.00   20.00   60.00     1  postgres
00:00:00        0       900    5.00    0.00    0.00    0.00    5.00     0  /usr/bin/mysql -psecret --execute=select 1

23:59:50      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
00:00:00      105       812      8.00      4.00      0.00       0  postgres

Average:      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
Average:      105       812   25.00    5.00    0.00   20.00   60.00     -  postgres
";

#[test]
fn pidstat_goes_on_over_midnight_and_keeps_no_argument() {
    let imported = text(PIDSTAT.as_bytes(), None).expect("pidstat prints this");
    assert_eq!(
        (&*imported.tool, imported.window.len_ns()),
        ("pidstat", 20_000_000_000)
    );
    let names: Vec<&str> = imported
        .entities
        .iter()
        .map(|it| &*it.entity.name)
        .collect();
    assert_eq!(names, ["postgres", "mysql"]);
    let first = |name| column(&imported, "process", EntityKind::Process, name);
    assert_eq!(first("user_ns"), [0, 5_000_000_000, 5_000_000_000]);
    assert_eq!(first("system_ns"), [0, 1_000_000_000, 1_100_000_000]);
    // -1 is not known; the counter begins where it is.
    assert_eq!(first("read_bytes"), [0, 81_920]);
    let (table, rows) = &imported.tables[0];
    let user = table.position("user_ns").expect("it is there");
    let second = imported.entities[1].id;
    let second: Vec<i64> = rows
        .iter()
        .filter(|(_, whom, _)| *whom == second)
        .map(|(_, _, values)| values[user])
        .collect();
    assert_eq!(second, [0, 500_000_000]);
    assert!(!format!("{imported:?}").contains("secret"));
}

#[test]
fn threads_are_left_to_their_process() {
    let threads = "\
Linux 6.1.0 (db7) \t2026-11-26 \t_x86_64_\t(2 CPU)

# Time        UID      TGID       TID    %usr %system  %guest   %wait    %CPU   CPU  Command
16:00:10        0       812         -   20.00    0.00    0.00    0.00   20.00     0  java
16:00:10        0         -       812   20.00    0.00    0.00    0.00   20.00     0  |__java
16:00:20        0       812         -   20.00    0.00    0.00    0.00   20.00     0  java
";
    let imported = text(threads.as_bytes(), None).expect("pidstat -h -t prints this");
    assert_eq!(imported.entities.len(), 1);
    let user = column(&imported, "process", EntityKind::Process, "user_ns");
    assert_eq!(user, [0, 2_000_000_000, 4_000_000_000]);
}

pub(super) const ATOP: &str = "\
RESET
cpu db7 1795708800 2026/11/26 16:00:00 5000 100 0 99 99 0 99 0 0 0 0 0 2000 100 0 0
SEP
cpu db7 1795708810 2026/11/26 16:00:10 10 100 0 100 400 0 300 200 0 0 0 0 2000 100 0 0
CPL db7 1795708810 2026/11/26 16:00:10 10 2 1.50 0.75 0.10 7000 900
MEM db7 1795708810 2026/11/26 16:00:10 10 4096 1000 10 20 30 40 50 60 0 0 0 0
PSI db7 1795708810 2026/11/26 16:00:10 10 y 1.0 1.0 1.0 3000000 0.0 0.0 0.0 0 0.0 0.0 0.0 0 9.9 9.9 9.9 500000 9.9 9.9 9.9 250000
DSK db7 1795708810 2026/11/26 16:00:10 10 vda 350 100 800 50 1600 -1 0 0 1.2
NET db7 1795708810 2026/11/26 16:00:10 10 upper 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
NET db7 1795708810 2026/11/26 16:00:10 10 eth0 5 600 7 800 1000 1
PRG db7 1795708810 2026/11/26 16:00:10 10 812 (a) b) S 105 105 812 1 0 1 (mysql -psecret) 1
PRC db7 1795708810 2026/11/26 16:00:10 10 812 (a) b) S 100 50 25 0 120 0 0 1 0 812 y 77 (ep_poll) 0
PRC db7 1795708810 2026/11/26 16:00:10 10 813 (t) S 100 50 25 0 120 0 0 1 0 812 n 77 (ep_poll) 0
PRM db7 1795708810 2026/11/26 16:00:10 10 812 (a) b) S 4096 9000 300 1 0 0 1 0 1 1 1 0 812 y 0
PRD db7 1795708810 2026/11/26 16:00:10 10 812 (a) b) S n y 1 16 1 8 0 812 n y
SEP
cpu db7 1795708840 2026/11/26 16:00:40 10 100 0 1000 0 0 0 0 0 0 0 0 2000 100 0 0
SEP
";

#[test]
fn amounts_of_atop_are_added_up() {
    let imported = text(ATOP.as_bytes(), None).expect("atop prints this");
    assert_eq!((&*imported.tool, imported.cpus), ("atop", Some(2)));
    assert_eq!(imported.node.as_deref(), Some("db7"));
    let cpu = |name| column(&imported, "cpu", EntityKind::Cpu, name);
    // Since boot counts nothing. 400 ticks of 10 ms; and none in the hole from 10 to 30 s.
    assert_eq!(
        cpu("user_ns"),
        [0, 4_000_000_000, 4_000_000_000, 4_000_000_000]
    );
    assert_eq!(
        cpu("system_ns"),
        [0, 1_000_000_000, 1_000_000_000, 11_000_000_000]
    );
    let hole = imported.holes[0];
    assert_eq!((imported.holes.len(), hole.len_ns()), (1, 20_000_000_000));
    let machine = |table, name| column(&imported, table, EntityKind::Machine, name);
    assert_eq!(machine("load", "load1_hundredths"), [150]);
    assert_eq!(machine("load", "switches"), [0, 7000]);
    assert_eq!(machine("memory", "reclaimable_bytes"), [60 * 4096]);
    assert_eq!(machine("pressure", "cpu_some_ns"), [0, 3_000_000_000]);
    assert_eq!(machine("pressure", "io_full_ns"), [0, 250_000_000]);
    let disk = |name| column(&imported, "disk", EntityKind::Disk, name);
    assert_eq!(disk("busy_ns"), [0, 350_000_000]);
    assert_eq!(disk("write_bytes"), [0, 819_200]);
    let bytes = column(&imported, "network", EntityKind::Interface, "tx_bytes");
    assert_eq!(bytes, [0, 800]);
}

#[test]
fn a_process_of_atop_has_its_threads_time_once_and_no_arguments() {
    let imported = text(ATOP.as_bytes(), None).expect("atop prints this");
    let processes = imported.entities.iter();
    let processes = processes.filter(|it| it.entity.kind == EntityKind::Process);
    let names: Vec<&str> = processes.map(|it| &*it.entity.name).collect();
    assert_eq!(names, ["a)"]);
    let process = |name| column(&imported, "process", EntityKind::Process, name);
    assert_eq!(process("user_ns"), [0, 500_000_000]);
    assert_eq!(process("resident_bytes"), [307_200]);
    assert_eq!(process("write_bytes"), [0, 4096]);
    assert!(!format!("{imported:?}").contains("secret"));
}

#[test]
fn mistakes_in_atop_are_told_with_their_line() {
    let error = |from: &str, to: &str| {
        let text = super::text(ATOP.replace(from, to).as_bytes(), None);
        text.expect_err("it is wrong").to_string()
    };
    assert!(error("CPL db7", "CPL").starts_with("line 5: expected a label"));
    assert!(error("1795708840", "1795708805").starts_with("line 17: expected a later time"));
    assert!(error("10 100 0 100 400", "10 100 0 x 400").starts_with("line 4: expected a number"));
    assert!(error("812 (a) b) S n", "812 (a b S n").starts_with("line 15: expected a process"));
}
