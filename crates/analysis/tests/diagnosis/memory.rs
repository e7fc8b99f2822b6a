//! `memory.*`: what the target reads because memory lacks it.

use expect_test::expect;

use crate::disk;
use crate::drawing::{answers, drawn, listed, told, with};

/// A group that fills its limit, meets it 500 times a second, and reads again what it had.
pub fn limit() -> String {
    with(
        disk::LATENCY,
        "
        cgroup_memory.usage_bytes  /server *1e9  99999999999999999999
        cgroup_memory.limit_bytes  /server *1e9  99999999999999999999
        cgroup_memory.limit_events /server *1000 55555555555555555555
        cgroup_memory.refault_file /server *2000 99999999999999999999
        paging.refault_file *2000 99999999999999999999
        ",
    )
}

/// The machine reads again most of what it reads; no group has a limit.
pub fn refault() -> String {
    with(
        disk::LATENCY,
        "
        memory 11111111111111111111
        paging.refault_file *2000 99999999999999999999
        ",
    )
}

/// Servers sit in page faults, and 8 MB/s come from swap.
pub fn swap() -> String {
    with(
        disk::LATENCY,
        "
        memory   33333333333333333333
        blocked  D-1
        paging.swap_in *2000 ####################
        ",
    )
}

/// Servers sit in the kernel's reclaim.
pub fn reclaim() -> String {
    with(
        disk::LATENCY,
        "
        memory   66666666666666666666
        blocked  D-1@600
        paging.allocation_stalls *1000 55555555555555555555
        ",
    )
}

/// Somebody was killed in the first seconds, in the target's own group.
pub fn oom() -> String {
    with(
        disk::FULL,
        "
        filesystem.available_bytes /data *1e12 99999999999999999999
        cgroup_memory.usage_bytes /server *1e9 11111111111111111111
        cgroup_memory.oom_kills   /server *10  01000000000000000000
        cgroup_memory.usage_bytes /        *1e9 11111111111111111111
        cgroup_memory.oom_kills   /        *10  01000000000000000000
        paging.oom_kills *10 01000000000000000000
        ",
    )
}

#[test]
fn a_limit_leads_and_not_the_disk() {
    let report = drawn(&limit()).diagnose();
    expect![[r#"
        memory.limit | cgroup server | consistent | 0.783 (0.783 to 0.783)
        A memory limit is the bottleneck: /server filled 100 % of it, and 78 % of each request was server reading again evicted pages.
        helps: a higher memory limit for server (now 858 MiB): not known (CPU time that reclaim takes goes too, and is not counted apart)
        not: more memory in the machine with the same limit, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity memory
    "#]].assert_eq(&told(&report));
    expect!["memory.limit server 0.78"].assert_eq(&listed(&report));
    expect![[r#"
        the disk
          absent: memory.limit explains it: server
          headline: memory.limit
    "#]]
    .assert_eq(&answers(&limit(), "io.latency", &[("the disk", "")]));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn a_limit_and_what_speaks_against_it() {
    let changes = [
        (
            "a little under full",
            "cgroup_memory.usage_bytes /server *1e9 88888888888888888888
            cgroup_memory.limit_bytes /server *1e9 ####################",
        ),
        (
            "met less than once a second",
            "cgroup_memory.limit_events /server *1 99999999999999999999",
        ),
        (
            "full of page cache that nobody misses",
            "
            cgroup_memory.refault_file /server *2000 00000000000000000000
            paging.refault_file *2000 00000000000000000000",
        ),
        (
            "it costs the server nothing",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
        (
            "how often the limit was met was not recorded",
            "cgroup_memory.limit_events /server *1000 --------------------",
        ),
        (
            "the group's memory was not recorded",
            "
            cgroup_memory.usage_bytes  /server *1e9  --------------------
            cgroup_memory.limit_bytes  /server *1e9  --------------------
            cgroup_memory.limit_events /server *1000 --------------------
            cgroup_memory.refault_file /server *2000 --------------------",
        ),
        (
            "only that of the group above was",
            "
            cgroup_memory.usage_bytes  /server *1e9  --------------------
            cgroup_memory.limit_bytes  /server *1e9  --------------------
            cgroup_memory.limit_events /server *1000 --------------------
            cgroup_memory.refault_file /server *2000 --------------------
            cgroup_memory.usage_bytes  / *1e9 ####################",
        ),
        (
            "no reads were recorded",
            "
            cgroup_memory.refault_file /server *2000 --------------------
            paging.refault_file  *2000 --------------------
            paging.page_in_bytes *1e7  --------------------",
        ),
        (
            "the soft limit of a group above",
            "
            group /slice/server
            cgroup_memory.usage_bytes  /slice/server *1e9 99999999999999999999
            cgroup_memory.limit_events /slice/server *1e9 00000000000000000000
            cgroup_memory.usage_bytes  /slice *1e9  99999999999999999999
            cgroup_memory.high_bytes   /slice *1e9  99999999999999999999
            cgroup_memory.high_events  /slice *1000 55555555555555555555
            cgroup_memory.refault_file /slice *2000 99999999999999999999",
        ),
        (
            "the limit of a group beside",
            "
            cgroup_memory.limit_bytes  /server *1e9  --------------------
            cgroup_memory.usage_bytes  /batch *1e9  99999999999999999999
            cgroup_memory.limit_bytes  /batch *1e9  99999999999999999999
            cgroup_memory.limit_events /batch *1000 55555555555555555555",
        ),
        (
            "in three of ten seconds only",
            "blocked D17 S232 S232 D17 S232 S232 S232 D17 S232 S232",
        ),
        (
            "an I/O limit besides",
            "cgroup_io.limit_reads /server:254:0 *1000 99999999999999999999",
        ),
    ];
    expect![[r#"
        a little under full
          absent: no control group of the target was at its memory limit
          headline: memory.refault
        met less than once a second
          absent: no control group of the target was at its memory limit
          headline: memory.refault
        full of page cache that nobody misses
          absent: server was not seen reading again evicted pages
          headline: io.latency
        it costs the server nothing
          absent: server was not seen reading again evicted pages
          headline: healthy
        how often the limit was met was not recorded
          cannot tell: /server was full, and how often it met its limit was not recorded
          headline: memory.refault
        the group's memory was not recorded
          cannot tell: the memory of the target's control groups was not recorded
          headline: memory.refault
        only that of the group above was
          cannot tell: the memory of the target's control groups was not recorded
          headline: memory.refault
        no reads were recorded
          cannot tell: how much was read again was not recorded
          headline: io.latency
        the soft limit of a group above
          present: A memory limit is the bottleneck: /slice filled 100 % of it, and 78 % of each request was server reading again evicted pages.
        the limit of a group beside
          absent: no control group of the target was at its memory limit
          headline: memory.refault
        in three of ten seconds only
          absent: it took 21 % of each request on the whole, but over 10 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
        an I/O limit besides
          absent: io.throttled explains it: server
          headline: io.throttled
    "#]].assert_eq(&answers(&limit(), "memory.limit", &changes));
}

#[test]
fn refaults_lead_and_not_the_disk() {
    let report = drawn(&refault()).diagnose();
    expect![[r#"
        memory.refault | machine machine | consistent | 0.783 (0.783 to 0.783)
        Memory is the bottleneck: 87 % of the disk reads brought back what had just been evicted, and 78 % of each request was server waiting for them.
        helps: more memory, or less to keep in it: +394 % to +408 % by waits removed, closed loop
        not: more clients, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity memory
    "#]].assert_eq(&told(&report));
    expect!["memory.refault machine 0.78"].assert_eq(&listed(&report));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn refaults_and_what_speaks_against_them() {
    let changes = [
        (
            "a little under 30 % of the reads",
            "paging.refault_file *600 99999999999999999999",
        ),
        (
            "the server waits for no disk",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
        (
            "refaults were not recorded",
            "paging.refault_file *2000 --------------------",
        ),
        (
            "reads were not recorded",
            "paging.page_in_bytes *1e7 --------------------",
        ),
        (
            "nothing was read",
            "paging.page_in_bytes *1e7 00000000000000000000",
        ),
        (
            "it is a neighbour who lacks memory",
            "
            cgroup_memory.refault_file /server *100 99999999999999999999
            rest 11111111111111111111 /batch
            disk.read_bytes vda *1e8 99999999999999999999
            paging.page_in_bytes *1e8 99999999999999999999
            paging.refault_file *2e4 99999999999999999999
            process.read_bytes  other1 *1e8 99999999999999999999
            process.write_bytes other1 *1e8 00000000000000000000",
        ),
        ("nobody saw what the servers were blocked in", "blocked S"),
        (
            "in three of ten seconds only",
            "blocked D17 S232 S232 D17 S232 S232 S232 D17 S232 S232",
        ),
    ];
    expect![[r#"
        a little under 30 % of the reads
          absent: 26 % of the disk reads brought back evicted pages
          headline: io.latency
        the server waits for no disk
          absent: server was not seen reading again evicted pages
          headline: healthy
        refaults were not recorded
          cannot tell: refaults were not recorded
          headline: io.latency
        reads were not recorded
          cannot tell: what was read from disk was not recorded
          headline: io.latency
        nothing was read
          absent: nothing was read from disk
          headline: io.latency
        it is a neighbour who lacks memory
          absent: the target's group read again 0.5 % of all that was read again: it is others who lack memory
          headline: io.neighbour
        nobody saw what the servers were blocked in
          cannot tell: what server was blocked in was not seen: run as root, or as the user who owns it
          headline: undetermined
        in three of ten seconds only
          absent: it took 21 % of each request on the whole, but over 10 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(&refault(), "memory.refault", &changes));
}

#[test]
fn swap_leads() {
    expect![[r#"
        memory.swap | machine machine | consistent | 0.870 (0.870 to 0.870)
        Memory is the bottleneck: 8.19 MB/s came back from swap, and 87 % of each request was server waiting for that.
        helps: more memory, or fewer users of it: +701 % to +810 % by CPU law
        not: more clients, more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity memory
    "#]].assert_eq(&told(&drawn(&swap()).diagnose()));
}

#[test]
fn swap_and_what_speaks_against_it() {
    let changes = [
        (
            "so little of the reads that it cost under 5 %",
            "paging.swap_in *100 ####################",
        ),
        (
            "nothing came from swap",
            "paging.swap_in *2000 00000000000000000000",
        ),
        (
            "swapping was not recorded",
            "paging.swap_in *2000 --------------------",
        ),
        (
            "a compressed swap in memory: no disk reads",
            "paging.page_in_bytes *1e7 00000000000000000000",
        ),
        (
            "others' memory comes back",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
        (
            "a limit of the server's group",
            "
            cgroup_memory.usage_bytes  /server *1e9  99999999999999999999
            cgroup_memory.limit_bytes  /server *1e9  99999999999999999999
            cgroup_memory.limit_events /server *1000 55555555555555555555
            cgroup_memory.refault_anon /server *2000 99999999999999999999",
        ),
        (
            "in three of ten seconds only",
            "blocked D-1 S232 S232 D-1 S232 S232 S232 D-1 S232 S232",
        ),
    ];
    expect![[r#"
        so little of the reads that it cost under 5 %
          absent: server was waiting for swap for only 4.4 % of each request
          headline: io.latency
        nothing came from swap
          absent: nothing came back from swap
          headline: io.latency
        swapping was not recorded
          cannot tell: swapping was not recorded
          headline: io.latency
        a compressed swap in memory: no disk reads
          present: Memory is the bottleneck: 8.19 MB/s came back from swap, and 90 % of each request was server waiting for that.
        others' memory comes back
          absent: server was not seen waiting for swap
          headline: healthy
        a limit of the server's group
          absent: memory.limit explains it: server
          headline: memory.limit
        in three of ten seconds only
          absent: it took 23 % of each request on the whole, but over 5 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(&swap(), "memory.swap", &changes));
}

#[test]
fn reclaim_leads_and_what_speaks_against_it() {
    expect![[r#"
        memory.reclaim | machine machine | consistent | 0.900 (0.900 to 0.900)
        Memory is the bottleneck: 90 % of each request was server direct reclaim before it got some.
        helps: more memory, or fewer users of it: +703 % to +1150 % by CPU law
        not: more clients, more CPUs, faster disk
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity memory
    "#]]
    .assert_eq(&told(&drawn(&reclaim()).diagnose()));
    let changes = [
        (
            "a little under a tenth",
            "run x4 99999999999999999999
            blocked D-1@600 D-1@600 D-1@600 D-1@100",
        ),
        ("it may not be seen where they wait", "blocked D-1"),
        (
            "it may not be seen, and nobody waits for memory",
            "blocked D-1
            memory 00000000000000000000",
        ),
        ("they wait for pages", "blocked D-1@100"),
        (
            "in three of ten seconds only",
            "blocked D-1@600 S232@0 S232@0 D-1@600 S232@0 S232@0 S232@0 D-1@600 S232@0 S232@0",
        ),
    ];
    expect![[r#"
        a little under a tenth
          absent: server was direct reclaim for only 7.4 % of each request
          headline: healthy
        it may not be seen where they wait
          cannot tell: which function of the kernel server waits in was not seen: run as root
          headline: io.latency
        it may not be seen, and nobody waits for memory
          absent: server was not seen direct reclaim
          headline: io.latency
        they wait for pages
          absent: server was not seen direct reclaim
          headline: io.latency
        in three of ten seconds only
          absent: it took 24 % of each request on the whole, but over 10 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(&reclaim(), "memory.reclaim", &changes));
}

#[test]
fn kills_lead_whatever_they_cost() {
    expect![[r#"
        memory.oom | cgroup server | measured | none
        Out of memory: the kernel killed 1 process in /server during this recording.
        wrong if: look for `Out of memory` or `oom-kill` in the kernel's log: dmesg | grep -i oom
    "#]]
    .assert_eq(&told(&drawn(&oom()).diagnose()));
    let run = drawn(&oom());
    let evidence = &run.diagnose().verdict.findings[0].evidence[0];
    assert_eq!(
        evidence.window, run.timeline.window,
        "they are counted whenever they happened"
    );
    let none = "
        cgroup_memory.oom_kills /server *10 --------------------
        cgroup_memory.oom_kills /       *10 --------------------";
    let beside = format!("{none}\n paging.oom_kills *10 03000000000000000000");
    let nobody = "
        cgroup_memory.oom_kills /server *10 00000000000000000000
        cgroup_memory.oom_kills /       *10 00000000000000000000
        paging.oom_kills *10 00000000000000000000";
    let unseen = format!("{none}\n paging.oom_kills *10 --------------------");
    let changes = [
        ("in another group", beside.as_str()),
        ("nobody", nobody),
        ("kills were not recorded", unseen.as_str()),
    ];
    expect![[r#"
        in another group
          present: Out of memory: the kernel killed 3 processes on this machine during this recording.
        nobody
          absent: nobody was killed for want of memory
          headline: healthy
        kills were not recorded
          cannot tell: kills were not recorded
          headline: healthy
    "#]].assert_eq(&answers(&oom(), "memory.oom", &changes));
}
