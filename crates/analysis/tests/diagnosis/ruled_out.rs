//! Decoys: what looks bad and costs the target nothing leaves it healthy.

use expect_test::expect;

use crate::drawing::{drawn, headline, listed, with};
use crate::healthy::HEALTHY;

/// What is said of a healthy target beside a decoy.
fn beside(decoy: &str) -> String {
    let report = drawn(&with(HEALTHY, decoy)).diagnose();
    assert_eq!(headline(&report).cause, "healthy", "{}", listed(&report));
    let all_ruled_out = report.verdict.ruled_out.iter();
    let all_ruled_out: Vec<&str> = all_ruled_out.map(|it| it.sentence.as_str()).collect();
    format!("{}: {}", listed(&report), all_ruled_out.join(", "))
}

#[test]
fn a_neighbours_disk_traffic() {
    let decoy = "
        io   99999999999999999999
        rest 11111111111111111111 /batch
        disk.reads       vda *1e4 44444444444444444444
        disk.writes      vda *1e4 44444444444444444444
        disk.write_bytes vda *1e8 99999999999999999999
        disk.busy_ns     vda *1e9 ####################
        disk.queue_ns    vda *1e11 33333333333333333333
        process.read_bytes  other1 *1e8 00000000000000000000
        process.write_bytes other1 *1e8 99999999999999999999
    ";
    expect!["healthy server 1.00, load.concurrency loadgen none: steal 0, throttling 0, disk 0 (though the machine's io pressure was 90 %), memory 0, locks 0, network (round trip 10.0 us, 0 sent again), other processes 38 % of the CPU used"].assert_eq(&beside(decoy));
}

#[test]
fn a_nice_batch_that_fills_the_cpus_and_gives_way() {
    let decoy = "
        busy ####################
        rest ####################
        rest ####################
        rest ####################
        cpu  99999999999999999999
    ";
    expect!["healthy server 1.00: steal 0, throttling 0, disk 0, memory 0, locks 0, network (round trip 10.0 us, 0 sent again)"]
        .assert_eq(&beside(decoy));
}

#[test]
fn a_group_beside_it_that_meets_its_own_limits() {
    let decoy = "
        throttled 99999999999999999999 /batch
        rest      44444444444444444444 /batch
        cpu       99999999999999999999
        cgroup_memory.usage_bytes  /batch *1e9  ####################
        cgroup_memory.limit_bytes  /batch *1e9  ####################
        cgroup_memory.limit_events /batch *1e4  ####################
        cgroup_memory.refault_file /batch *1e4  ####################
        cgroup_memory.usage_bytes  /server *1e9 ####################
        paging.refault_file  *1e4 ####################
        paging.page_in_bytes *1e8 ####################
        cgroup_io.reads       /batch:254:0 *1e3 ####################
        cgroup_io.limit_reads /batch:254:0 *1e3 ####################
        memory 55555555555555555555
        memory 00000000000000000000 /server
    ";
    expect!["healthy server 1.00, load.concurrency loadgen none: steal 0, throttling 0, disk 0, memory 0 (though the machine's memory pressure was 50 %), locks 0, network (round trip 10.0 us, 0 sent again), other processes 38 % of the CPU used"].assert_eq(&beside(decoy));
}

#[test]
fn a_group_full_of_page_cache_that_meets_its_limit() {
    let decoy = "
        cgroup_memory.usage_bytes  /server *1e9  ####################
        cgroup_memory.limit_bytes  /server *1e9  ####################
        cgroup_memory.limit_events /server *1e3  ####################
        cgroup_memory.refault_file /server *1    ####################
        paging.page_in_bytes *1e6 ####################
    ";
    expect!["healthy server 1.00, load.concurrency loadgen none: steal 0, throttling 0, disk 0, memory 0, locks 0, network (round trip 10.0 us, 0 sent again), other processes 38 % of the CPU used"].assert_eq(&beside(decoy));
}

#[test]
fn swapping_of_others_and_packets_that_nobody_wants() {
    let decoy = "
        run 99999999999999999999
        gen ####################
        paging.swap_in *1e4 ####################
        network.rx_drops eth0 *100 ####################
        network.tx_drops eth0 *100 00000000000000000000
        tcp.retransmitted_segments *1e3 ####################
        tcp.out_segments           *1e4 ####################
        cpu.softirq_ns cpu3 *1e9 33333333333333333333
    ";
    expect!["healthy server 1.00: steal 0, throttling 0, disk 0, memory 0, locks 0, other processes 0 of the CPU used"].assert_eq(&beside(decoy));
}

#[test]
fn a_warm_up_that_reads_before_a_steady_part_that_does_not() {
    let decoy = "
        blocked D17 D17 D17 D17 D17 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232 S232
        run     22222888888888888888
        tps     11111222222222222222
        disk.reads      vda *1e3 99999000000000000000
        disk.writes     vda *1e3 00000000000000000000
        disk.read_bytes vda *1e7 98765000000000000000
        disk.queue_ns   vda *1e9 99999000000000000000
        disk.busy_ns    vda *1e9 99999000000000000000
    ";
    expect!["healthy server 1.00, load.concurrency loadgen none: steal 0, throttling 0, disk 0, memory 0, locks 0, network (round trip 10.0 us, 0 sent again), other processes 38 % of the CPU used"].assert_eq(&beside(decoy));
}
