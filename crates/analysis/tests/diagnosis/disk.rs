//! `io.*` but for syncing: the disk is slow, at its cap, limited, held by somebody else, or full.

use expect_test::expect;
use model::{EntityKind, LedgerClass};

use crate::drawing::{answers, drawn, headline, listed, part, told, with};

/// Four servers read all the time, 2 ms each, one operation after the other.
pub const LATENCY: &str = "
    cpus 4  clients 4
    busy      11111111111111111111
    run x4    11111111111111111111
    wait      00000000000000000000
    blocked   D17
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        99999999999999999999
    memory    00000000000000000000
    tps       44444444444444444444
    disk.reads             vda *1000 98989898989898989898
    disk.writes            vda *1000 00000000000000000000
    disk.read_bytes        vda *1e7  98989898989898989898
    disk.write_bytes       vda *1e7  00000000000000000000
    disk.busy_ns           vda *1e9  99999999999999999999
    disk.queue_ns          vda *4e9  44444444444444444444
    cgroup_io.reads        /server:254:0 *1000 98989898989898989898
    paging.refault_file    *1000 00000000000000000000
    paging.page_in_bytes   *1e7  98989898989898989898
    cgroup_memory.usage_bytes /server *1e9 11111111111111111111
    process.read_bytes  server *1e7  98989898989898989898
    process.write_bytes server *1e7  00000000000000000000
";

/// The same with a deep queue at a disk that gives 900 operations per second and not one more.
pub fn cap() -> String {
    with(
        LATENCY,
        "
        disk.reads      vda *1000 99999999999999999999
        disk.read_bytes vda *1e7  99999999999999999999
        disk.queue_ns   vda *9e9  99999999999999999999
        ",
    )
}

/// Another group moves nine tenths of the bytes of a disk that is always busy.
pub fn neighbour() -> String {
    with(
        LATENCY,
        "
        rest                11111111111111111111 /batch
        disk.write_bytes    vda *1e8 88888888888888888888
        disk.writes         vda *1e3 35353535353535353535
        process.read_bytes  other1 *1e8 00000000000000000000
        process.write_bytes other1 *1e8 88888888888888888888
        ",
    )
}

/// The group may read 1,000 times per second, and does so 900 times; the disk is idle.
pub fn throttled() -> String {
    with(
        LATENCY,
        "
        disk.busy_ns  vda *1e9 00000000000000000000
        disk.queue_ns vda *1e8 00000000000000000000
        cgroup_io.reads       /server:254:0 *1000 99999999999999999999
        cgroup_io.limit_reads /server:254:0 *1000 ####################
        ",
    )
}

/// The data directory has half a gigabyte left.
pub const FULL: &str = "
    cpus 4  clients 1
    busy      44444444444444444444
    run       88888888888888888888
    wait      00000000000000000000
    gen       22222222222222222222
    memory    00000000000000000000
    tps       22222222222222222222
    filesystem.total_bytes     /data *1e12 ####################
    filesystem.available_bytes /data *1e9  55555555555555555555
    filesystem.inodes          /data *1e6  ####################
    filesystem.free_inodes     /data *1e6  99999999999999999999
";

#[test]
fn latency_leads_when_the_disk_is_slow_and_its_queue_short() {
    let report = drawn(LATENCY).diagnose();
    expect![[r#"
        io.latency | disk vda | consistent | 0.900 (0.900 to 0.900)
        The disk is the bottleneck: vda took 1.89 ms per operation, and 90 % of each request was server waiting for it.
        helps: a disk that answers faster: +703 % to +1150 % by CPU law
        helps: what is read kept in memory: +703 % to +1150 % by CPU law
        not: more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    assert!((part(&report, LedgerClass::ReadWrite) - 0.9).abs() < 0.01);
}

#[test]
fn latency_and_what_speaks_against_it() {
    let changes = [
        (
            "for a little less than a fifth",
            "run x4 88888888888888888888
            blocked D17 D17 D17 D17 D17 D17 D17 D17 D17 S232",
        ),
        ("nobody saw what the servers were blocked in", "blocked S"),
        (
            "no disk was recorded",
            "
            disk.reads  vda *1000 --------------------
            disk.writes vda *1000 --------------------",
        ),
        (
            "in three of ten seconds only, and then much",
            "blocked D17 S232 S232 D17 S232 S232 S232 D17 S232 S232",
        ),
        (
            "a deep queue, and no flat rate",
            "disk.queue_ns vda *9e9 99999999999999999999",
        ),
    ];
    expect![[r#"
        for a little less than a fifth
          absent: server was waiting for a disk for only 18 % of each request
          headline: undetermined
        nobody saw what the servers were blocked in
          cannot tell: what server was blocked in was not seen: run as root, or as the user who owns it
          headline: undetermined
        no disk was recorded
          cannot tell: no disk was seen doing anything
          headline: undetermined
        in three of ten seconds only, and then much
          absent: it took 24 % of each request on the whole, but over 20 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
        a deep queue, and no flat rate
          absent: vda had 8.10 operations in progress on average, and no flat rate: it is busy rather than slow
          headline: undetermined
    "#]].assert_eq(&answers(LATENCY, "io.latency", &changes));
}

#[test]
fn cap_leads_when_a_deep_queue_gets_a_flat_rate() {
    let report = drawn(&cap()).diagnose();
    expect![[r#"
        io.cap | disk vda | consistent | 0.900 (0.900 to 0.900)
        The disk is at its cap: vda gave 900 operations per second, flat, with 8.10 in its queue, and 90 % of each request was server waiting for it.
        helps: a disk that gives more than 900 operations per second: +703 % to +1150 % by CPU law
        not: more clients, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    assert_eq!(headline(&report).entity.kind, EntityKind::Disk);
}

#[test]
fn cap_and_what_speaks_against_it() {
    let changes = [
        (
            "a queue just under 4",
            "disk.queue_ns vda *4e9 99999999999999999999",
        ),
        (
            "operations vary, bytes are flat",
            "disk.reads vda *1000 97979797979797979797",
        ),
        (
            "both vary",
            "
            disk.reads      vda *1000 97979797979797979797
            disk.read_bytes vda *1e7  97979797979797979797",
        ),
        (
            "no disk was recorded",
            "
            disk.reads  vda *1000 --------------------
            disk.writes vda *1000 --------------------",
        ),
        (
            "the reads bring back what was evicted",
            "paging.refault_file *2500 99999999999999999999",
        ),
        ("the servers sync", "blocked D75"),
        (
            "in three of ten seconds only",
            "blocked D17 S232 S232 D17 S232 S232 S232 D17 S232 S232",
        ),
    ];
    expect![[r#"
        a queue just under 4
          absent: vda had 3.60 operations in progress on average
          headline: io.latency
        operations vary, bytes are flat
          present: The disk is at its cap: vda gave 9.00 MB/s, flat, with 8.10 in its queue, and 90 % of each request was server waiting for it.
        both vary
          absent: operations of vda varied by 13 % and bytes by 13 % from second to second
          headline: undetermined
        no disk was recorded
          cannot tell: no disk was seen doing anything
          headline: undetermined
        the reads bring back what was evicted
          absent: memory.refault explains it: machine
          headline: memory.refault
        the servers sync
          absent: io.sync explains it: server
          headline: io.sync
        in three of ten seconds only
          absent: it took 24 % of each request on the whole, but over 20 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(&cap(), "io.cap", &changes));
}

#[test]
fn neighbour_leads_and_names_the_group() {
    let report = drawn(&neighbour()).diagnose();
    expect![[r#"
        io.neighbour | cgroup batch | consistent | 0.814 (0.814 to 0.814)
        A neighbour holds the disk: cgroup /batch moved 90 % of its bytes (80.0 MB/s), and 90 % of each request was server waiting for a disk.
        helps: /batch on another disk, or with an I/O limit: +53 % to +502 % by waits removed, closed loop
        not: more clients, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    expect!["io.neighbour batch 0.81"].assert_eq(&listed(&report));
}

#[test]
fn neighbour_and_what_speaks_against_it() {
    let changes = [
        (
            "the others move a little less than half",
            "process.write_bytes other1 *1e8 99999999999999999999
            process.read_bytes server *1e8 ####################
            disk.read_bytes vda *1e8 ####################
            disk.write_bytes vda *1e8 99999999999999999999",
        ),
        (
            "the disk is busy for less than half of the time",
            "disk.busy_ns vda *1e9 44444444444444444444",
        ),
        (
            "nobody may see who moves what",
            "
            process.read_bytes  other1 *1e8 --------------------
            process.write_bytes other1 *1e8 --------------------",
        ),
        ("the server syncs behind it", "blocked D75"),
        (
            "a limit of the server's own",
            "cgroup_io.limit_reads /server:254:0 *1000 99999999999999999999",
        ),
        (
            "it costs the server nothing",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
    ];
    expect![[r#"
        the others move a little less than half
          absent: batch, which moved most of all others, moved at most 47 % of the bytes of vda
          headline: io.latency
        the disk is busy for less than half of the time
          absent: vda was busy for 40 % of the time
          headline: io.latency
        nobody may see who moves what
          cannot tell: who moves how many bytes may be seen by root only
          headline: io.latency
        the server syncs behind it
          present: A neighbour holds the disk: cgroup /batch moved 90 % of its bytes (80.0 MB/s), and 90 % of each request was server waiting for a disk.
        a limit of the server's own
          absent: io.throttled explains it: server
          headline: io.throttled
        it costs the server nothing
          absent: server was not seen waiting for a disk
          headline: healthy
    "#]].assert_eq(&answers(&neighbour(), "io.neighbour", &changes));
}

#[test]
fn throttled_leads_when_a_limit_is_used_up_while_the_disk_is_idle() {
    let report = drawn(&throttled()).diagnose();
    expect![[r#"
        io.throttled | cgroup server | consistent | 0.900 (0.900 to 0.900)
        An I/O limit is the bottleneck: /server used 90 % of the 1,000 reads per second that it is allowed, and 90 % of each request was server waiting for a disk.
        helps: a higher limit for server: +703 % to +1150 % by CPU law
        not: a faster disk with the same limit, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    expect!["io.throttled server 0.90"].assert_eq(&listed(&report));
    let bytes = with(
        &throttled(),
        "
        cgroup_io.limit_reads /server:254:0 *1000 --------------------
        cgroup_io.read_bytes       /server:254:0 *1e7 99999999999999999999
        cgroup_io.limit_read_bytes /server:254:0 *1e7 ####################
        ",
    );
    expect!["An I/O limit is the bottleneck: /server used 90 % of the 10.0 MB/s of read bytes that it is allowed, and 90 % of each request was server waiting for a disk."].assert_eq(&headline(&drawn(&bytes).diagnose()).sentence);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn throttled_and_what_speaks_against_it() {
    let changes = [
        (
            "a little under the limit",
            "cgroup_io.reads /server:254:0 *1000 78787878787878787878",
        ),
        (
            "no limit",
            "cgroup_io.limit_reads /server:254:0 *1000 --------------------",
        ),
        (
            "what groups do was not recorded",
            "
            cgroup_io.reads       /server:254:0 *1000 --------------------
            cgroup_io.limit_reads /server:254:0 *1000 --------------------",
        ),
        (
            "the limit of a group above",
            "
            group /slice/server
            cgroup_io.reads       /slice/server:254:0 *1000 99999999999999999999
            cgroup_io.reads       /server:254:0 *1000 00000000000000000000
            cgroup_io.reads       /slice:254:0 *1000 99999999999999999999
            cgroup_io.limit_reads /slice:254:0 *1000 ####################",
        ),
        (
            "the limit of a group beside",
            "
            cgroup_io.limit_reads /server:254:0 *1000 --------------------
            cgroup_io.reads       /batch:254:0 *1000 ####################
            cgroup_io.limit_reads /batch:254:0 *1000 ####################",
        ),
        (
            "the server waits for no disk",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
        (
            "in three of ten seconds only",
            "blocked D17 S232 S232 D17 S232 S232 S232 D17 S232 S232",
        ),
    ];
    expect![[r#"
        a little under the limit
          absent: server used 75 % of the 1,000 reads per second that it is allowed
          headline: undetermined
        no limit
          absent: no control group of server has an I/O limit
          headline: undetermined
        what groups do was not recorded
          cannot tell: what the control groups of server did to disks, and may do, was not recorded
          headline: undetermined
        the limit of a group above
          present: An I/O limit is the bottleneck: /slice used 90 % of the 1,000 reads per second that it is allowed, and 90 % of each request was server waiting for a disk.
        the limit of a group beside
          absent: no control group of server has an I/O limit
          headline: undetermined
        the server waits for no disk
          absent: server was not seen waiting for a disk
          headline: healthy
        in three of ten seconds only
          absent: it took 24 % of each request on the whole, but over 10 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(&throttled(), "io.throttled", &changes));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn a_full_disk_leads_whatever_else_there_is() {
    let report = drawn(FULL).diagnose();
    expect![[r#"
        io.full_disk | filesystem /data | measured | none
        A disk is full: /data had only 500 MB left, 0.1 % of it.
        wrong if: see what is free: df -h /data; df -i /data: if there is room, this is wrong
    "#]]
    .assert_eq(&told(&report));
    let changes = [
        (
            "a little more than 1 %",
            "filesystem.available_bytes /data *1e11 11111111111111111111",
        ),
        (
            "half a percent, and that is 5 GB",
            "filesystem.available_bytes /data *1e10 55555555555555555555",
        ),
        (
            "half a percent of many inodes",
            "
            filesystem.available_bytes /data *1e11 99999999999999999999
            filesystem.inodes          /data *1e8  ####################
            filesystem.free_inodes     /data *1e6  55555555555555555555",
        ),
        (
            "no inodes left",
            "
            filesystem.available_bytes /data *1e11 99999999999999999999
            filesystem.free_inodes     /data *1e3  11111111111111111111",
        ),
        (
            "it counts no inodes",
            "
            filesystem.inodes      /data *1e6  00000000000000000000
            filesystem.free_inodes /data *1e6  00000000000000000000",
        ),
        (
            "it was full for one second",
            "filesystem.available_bytes /data *1e11 99999909999999999999",
        ),
        (
            "nobody looked",
            "
            filesystem.total_bytes     /data *1e12 --------------------
            filesystem.available_bytes /data *1e9 --------------------
            filesystem.inodes          /data *1e6  --------------------
            filesystem.free_inodes     /data *1e6  --------------------",
        ),
    ];
    expect![[r#"
        a little more than 1 %
          absent: 1 % of /data was free
          headline: healthy
        half a percent, and that is 5 GB
          absent: 0.5 % of /data was free, and 5.00 GB are room for a while
          headline: healthy
        half a percent of many inodes
          absent: 0.5 % of /data was free, and 90.0 GB are room for a while
          headline: healthy
        no inodes left
          present: A disk is full: /data had only 100 inodes left.
        it counts no inodes
          present: A disk is full: /data had only 500 MB left, 0.1 % of it.
        it was full for one second
          present: A disk is full: /data had no room left.
        nobody looked
          cannot tell: the target's filesystems were not recorded
          headline: healthy
    "#]]
    .assert_eq(&answers(FULL, "io.full_disk", &changes));
}
