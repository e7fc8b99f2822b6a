//! `cache.cold`: what the target reads because it has not yet been read.

use expect_test::expect;

use crate::disk;
use crate::drawing::{answers, drawn, listed, told, with};

/// Reads fall from second to second, and with them the part of each request that they take.
pub fn cold() -> String {
    with(
        disk::LATENCY,
        "
        run x4   33333333333333333333
        blocked  D17
        disk.reads           vda *1000 98877766655544433322
        disk.read_bytes      vda *1e7  98877766655544433322
        paging.page_in_bytes *1e7      98877766655544433322
        process.read_bytes server *1e7 98877766655544433322
        ",
    )
}

#[test]
fn cold_caches_lead_while_reads_fall() {
    let report = drawn(&cold()).diagnose();
    expect![[r#"
        cache.cold | process server | consistent | 0.700 (0.700 to 0.700)
        Caches are cold: reads fell from 7.17 to 2.83 MB/s within this window, and 70 % of each request was server reading the disk.
        helps: time, or a warm-up before the measurement: +195 % to +257 % by CPU law
        not: more clients, more CPUs
        wrong if: run again at once, caches warm: if it is as slow, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["cache.cold server 0.70"].assert_eq(&listed(&report));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn cold_caches_and_what_speaks_against_them() {
    let changes = [
        (
            "its own reads stay the same",
            "process.read_bytes server *1e7 33333333333333333333",
        ),
        (
            "reads fall by a little less than half",
            "disk.read_bytes vda *1e7 99998888777766665555",
        ),
        (
            "reads vary and do not fall",
            "disk.read_bytes vda *1e7 94949294949294929494",
        ),
        (
            "they cost the server nothing any more",
            "
            blocked S232
            run x4 88888888888888888888",
        ),
        (
            "it is a neighbour who reads less and less",
            "
            rest 11111111111111111111 /batch
            disk.read_bytes vda *1e8 98877766655544433322
            disk.reads      vda *1e3 98877766655544433322
            process.read_bytes  other1 *1e8 98877766655544433322
            process.write_bytes other1 *1e8 00000000000000000000
            process.read_bytes  server *1e7 11111111111111111111",
        ),
        ("too short", "tps 44444444------------"),
        (
            "disks were not recorded",
            "
            disk.reads      vda *1000 --------------------
            disk.read_bytes vda *1e7  --------------------",
        ),
        (
            "what falls are refaults",
            "paging.refault_file *2000 99999999999999999999",
        ),
        (
            "read in the first third only",
            "blocked D17 D17 D17 D17 D17 D17 D17 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232",
        ),
    ];
    expect![[r#"
        its own reads stay the same
          absent: the target itself read 3.00 MB/s in the first third of the window and 3.00 in the last: others read less and less
          headline: io.latency
        reads fall by a little less than half
          absent: disk reads did not fall steadily: 8.50 MB/s in the first third, 5.33 in the last
          headline: io.latency
        reads vary and do not fall
          absent: disk reads did not fall steadily: 6.17 MB/s in the first third, 6.17 in the last
          headline: io.latency
        they cost the server nothing any more
          absent: server was not seen reading the disk
          headline: healthy
        it is a neighbour who reads less and less
          absent: io.neighbour explains it: batch
          headline: io.neighbour
        too short
          cannot tell: the window is too short to see reads fall, or disks were not recorded
          headline: io.latency
        disks were not recorded
          cannot tell: the window is too short to see reads fall, or disks were not recorded
          headline: undetermined
        what falls are refaults
          absent: memory.refault explains it: machine
          headline: memory.refault
        read in the first third only
          present: Caches are cold: reads fell from 7.17 to 2.83 MB/s within this window, and 22 % of each request was server reading the disk.
    "#]].assert_eq(&answers(&cold(), "cache.cold", &changes));
}

/// The disk gives all that a limit allows, until the data is in memory and requests need it no more.
fn warming(tps: &str) -> String {
    let lane = format!("tps {tps}");
    with(&disk::throttled(), &lane)
}

#[test]
fn a_limit_on_reads_that_fade_is_no_bottleneck_of_its_own() {
    let over = crate::drawing::seconds(0.0, 20.0);
    let report = drawn(&warming("11111122233345566789")).diagnose_over(over);
    expect![[r#"
        cache.cold | process server | consistent | 0.900 (0.900 to 0.900)
        Caches are cold: reads for each request fell from 85.0 kB to 13.0 kB within this window, and 90 % of each request was server reading the disk.
        helps: time, or a warm-up before the measurement: +703 % to +1150 % by CPU law
        not: more clients, more CPUs
        wrong if: run again at once, caches warm: if it is as slow, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: server used 90 % of the 1,000 reads per second that it is allowed, and needs it less and less: its reads for each request fell from 9.00 to 1.37 within this window (cache.cold)"].assert_eq(&crate::drawing::said(&report, "io.throttled"));
    // By less than that factor: data that does not fit in the run.
    let report = drawn(&warming("11111111111112222222")).diagnose_over(over);
    expect!["io.throttled server 0.90"].assert_eq(&listed(&report));
    expect!["absent: io.throttled explains it: server"]
        .assert_eq(&crate::drawing::said(&report, "cache.cold"));
    // Others read less and less.
    let others = with(
        &warming("11111122233345566789"),
        "process.read_bytes server *1e7 11122233344455667789",
    );
    expect!["io.throttled server 0.90"].assert_eq(&listed(&drawn(&others).diagnose_over(over)));
}
