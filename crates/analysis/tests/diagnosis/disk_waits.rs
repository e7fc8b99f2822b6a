//! What the target waits for at its disk: the sites in the kernel, and the files.

use expect_test::expect;

use crate::disk::{LATENCY, throttled};
use crate::drawing::{answers, drawn, headline, with};

/// What the headline's evidence says of what kept the target.
fn kept(report: &model::Report) -> String {
    evidence_from("kernel_wait", report)
}

/// The headline's evidence from a table.
fn evidence_from(table: &str, report: &model::Report) -> String {
    let evidence = headline(report).evidence.iter();
    let from = evidence.filter(|it| it.column.split('.').next() == Some(table));
    let line = |it: &model::Evidence| format!("{:.2} {} ({})\n", it.value, it.what, it.column);
    from.map(line).collect()
}

#[test]
fn the_files_that_were_waited_for_are_named() {
    let said = |files: &str| {
        let report = drawn(&with(crate::locks::SYNC, files)).diagnose();
        let evidence = evidence_from("file_wait", &report);
        format!("{}\n{evidence}", headline(&report).sentence)
    };
    let one = "
        file_wait.sync_ns   /data/log   *1e9 99999999999999999999
        file_wait.syncs_met /data/log   *10  99999999999999999999
        file_wait.io_ns     /data/table *1e9 99999999999999999999
        file_wait.ios_met   /data/table *10  99999999999999999999";
    let two = "
        file_wait.sync_ns   /data/log   *1e9 66666666666666666666
        file_wait.syncs_met /data/log   *10  66666666666666666666
        file_wait.sync_ns   /data/table *1e9 33333333333333333333
        file_wait.syncs_met /data/table *10  33333333333333333333";
    let seldom = "
        file_wait.sync_ns   /data/log *1e9 00000000999990000000
        file_wait.syncs_met /data/log *1   00000000999990000000";
    let written = "
        file_wait.sync_ns   /data/table *1e9 00000000999990000000
        file_wait.syncs_met /data/table *1   00000000999990000000
        file_wait.io_ns     /data/log   *1e9 99999999999999999999
        file_wait.ios_met   /data/log   *10  99999999999999999999";
    expect![[r#"
        Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync of /data/log (88 % behind another's).
        1.00 of its time in fsync, for this file (file_wait.sync_ns)

        Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync, mostly of /data/log (88 % behind another's).
        0.67 of its time in fsync, for this file (file_wait.sync_ns)
        0.33 of its time in fsync, for this file (file_wait.sync_ns)

        Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's).

        Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's); its other waits for the disk were reads and writes of /data/log.
        1.00 of its time in reads and writes, for this file (file_wait.io_ns)
    "#]].assert_eq(&[one, two, seldom, written].map(said).join("\n"));
    let read = "
        file_wait.io_ns     /data/table *1e9 88888888888888888888
        file_wait.ios_met   /data/table *10  88888888888888888888
        file_wait.io_ns     /data/index *1e9 11111111111111111111
        file_wait.sync_ns   /data/log   *1e9 99999999999999999999";
    let report = drawn(&with(LATENCY, read)).diagnose();
    expect![[r#"
        0.89 of its time in reads and writes, for this file (file_wait.io_ns)
        0.11 of its time in reads and writes, for this file (file_wait.io_ns)
    "#]]
    .assert_eq(&evidence_from("file_wait", &report));
}

#[test]
fn what_the_kernel_kept_the_target_for_is_said_where_it_waited_for_a_disk() {
    let kept_by = "
        kernel_wait.journal_ns worker1 *1e8 66666666666666666666
        kernel_wait.page_ns    worker1 *1e8 33333333333333333333
        kernel_wait.other_ns   worker1 *1e6 11111111111111111111
    ";
    let report = drawn(&with(
        crate::locks::SYNC,
        &kept_by.replace("worker1", "hot1"),
    ))
    .diagnose();
    assert_eq!(headline(&report).cause, "io.sync");
    expect![[r#"
        0.67 of its kernel waits, in the file system's journal (kernel_wait.journal_ns)
        0.33 of its kernel waits, for a page of a file (kernel_wait.page_ns)
    "#]]
    .assert_eq(&kept(&report));
    let report = drawn(&with(LATENCY, kept_by)).diagnose();
    assert_eq!(headline(&report).cause, "io.latency");
    assert_eq!(kept(&report).lines().count(), 2);
    let report = drawn(&with(&throttled(), kept_by)).diagnose();
    assert_eq!(headline(&report).cause, "io.throttled");
    assert_eq!(kept(&report).lines().count(), 2);
    assert_eq!(kept(&drawn(LATENCY).diagnose()), "");
}

#[test]
fn who_waits_in_the_kernel_and_not_for_a_disk_is_told_what_for() {
    let idle = "disk.queue_ns vda *1e7 11111111111111111111";
    let locked = format!(
        "{idle}
        kernel_wait.kernel_lock_ns *1e8 99999999999999999999"
    );
    let changes = [("not looked at", idle), ("behind a lock", &*locked)];
    expect![[r#"
        not looked at
          cannot tell: 3.60 threads of server waited in the kernel at a time, and the disks had only 0.001 operations in progress: they wait for something else, like a network filesystem, an I/O limit, or a lock of the kernel
          headline: undetermined
        behind a lock
          cannot tell: 3.60 threads of server waited in the kernel at a time, and the disks had only 0.001 operations in progress: they wait for something else, like a network filesystem, an I/O limit, or a lock of the kernel (of what it kept them, 100 % behind a lock inside the kernel)
          headline: undetermined
    "#]].assert_eq(&answers(LATENCY, "io.latency", &changes));
}
