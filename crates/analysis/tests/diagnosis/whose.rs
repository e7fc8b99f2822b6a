//! A machine holds others too: whose disk, kill, queue and way it is.

use expect_test::expect;

use crate::drawing::{answers, drawn, listed, said, told, with};
use crate::{cores, disk, memory, network, saturated};

/// The disk that the server's group uses has a number; beside it is one with a much longer queue.
fn two_disks() -> String {
    with(
        disk::LATENCY,
        "
        disk.device      vda *266338304 ####################
        disk.device      vdb *266338320 ####################
        disk.reads       vdb *1e4 99999999999999999999
        disk.writes      vdb *1e3 00000000000000000000
        disk.read_bytes  vdb *1e8 99999999999999999999
        disk.write_bytes vdb *1e8 00000000000000000000
        disk.busy_ns     vdb *1e9 ####################
        disk.queue_ns    vdb *2e10 99999999999999999999
        cgroup_io.device /server:254:0 *266338304 ####################
        ",
    )
}

#[test]
fn the_disk_is_the_one_that_the_targets_group_uses() {
    expect![[r#"
        io.latency | disk vda | consistent | 0.900 (0.900 to 0.900)
        The disk is the bottleneck: vda took 1.89 ms per operation, and 90 % of each request was server waiting for it.
        helps: a disk that answers faster: +703 % to +1150 % by CPU law
        helps: what is read kept in memory: +703 % to +1150 % by CPU law
        not: more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&drawn(&two_disks()).diagnose()));
    let changes = [
        (
            "its group uses the other",
            "cgroup_io.device /server:254:0 *266338320 ####################",
        ),
        (
            "which one was not recorded",
            "cgroup_io.device /server:254:0 *266338304 --------------------",
        ),
    ];
    expect![[r#"
        its group uses the other
          absent: io.cap explains it: vdb
          headline: io.cap
        which one was not recorded
          absent: io.cap explains it: vdb
          headline: io.cap
    "#]]
    .assert_eq(&answers(&two_disks(), "io.latency", &changes));
}

#[test]
fn who_moves_bytes_on_another_disk_is_no_neighbour_on_this_one() {
    let elsewhere = with(
        &two_disks(),
        "
        rest                11111111111111111111 /batch
        process.read_bytes  other1 *1e8 99999999999999999999
        process.write_bytes other1 *1e8 00000000000000000000
        ",
    );
    let report = drawn(&elsewhere).diagnose();
    expect![[r#"
        absent: batch, which moved most of all others, moved at most 0 of the bytes of vda
        io.latency vda 0.90"#]]
    .assert_eq(&format!(
        "{}\n{}",
        said(&report, "io.neighbour"),
        listed(&report)
    ));
}

#[test]
fn threads_in_a_network_filesystem_wait_for_no_disk_of_this_machine() {
    let remote = with(
        disk::LATENCY,
        "
        disk.busy_ns  vda *1e9 00000000000000000000
        disk.queue_ns vda *1e8 11111111111111111111
        ",
    );
    let report = drawn(&remote).diagnose();
    expect![[r#"
        cannot tell: 3.60 threads of server waited in the kernel at a time, and the disks had only 0.010 operations in progress: they wait for something else, like a network filesystem, an I/O limit, or a lock of the kernel
        undetermined server none"#]].assert_eq(&format!(
        "{}\n{}",
        said(&report, "io.latency"),
        listed(&report)
    ));
}

#[test]
fn a_kill_in_another_group_is_a_doubt_and_no_cause() {
    let elsewhere = with(
        &memory::oom(),
        "
        cgroup_memory.oom_kills /server *10 00000000000000000000
        cgroup_memory.oom_kills /       *10 00000000000000000000",
    );
    let report = drawn(&elsewhere).diagnose();
    let mut caveats = report.verdict.caveats.iter();
    let doubt = caveats.find(|caveat| caveat.gate == "gate.oom");
    expect![[r#"
        absent: the kernel killed 1 process for want of memory, and none of the target's control group
        healthy server 1.00, load.concurrency loadgen none
        the kernel killed 1 process beside the target for want of memory: what followed may differ from what was before"#]].assert_eq(&format!(
        "{}\n{}\n{}",
        said(&report, "memory.oom"),
        listed(&report),
        doubt.map_or("", |doubt| &doubt.sentence)
    ));
}

#[test]
fn an_overflow_leads_by_what_it_can_have_cost() {
    let full = "tcp.listen_overflows *10 55555555555555555555\n";
    let saturated =
        saturated::SATURATED.to_owned() + full + "softnet.dropped *10 00000000000000000000\n";
    expect!["cpu.saturated server 0.50, load.shares_cpu loadgen 0.20"]
        .assert_eq(&listed(&drawn(&saturated).diagnose()));
    let explained = with(&network::backlog(), "run x4 ####################");
    expect!["absent: 5.00 connections per second found a full queue on this machine, and no part of the requests is missing"].assert_eq(&said(&drawn(&explained).diagnose(), "net.backlog"));
    // Half of the clients do not get in, and those that do are answered at once.
    let kept_out = with(
        &network::backlog(),
        "
        cpus 4  clients 8
        run x4 ####################
        ms     11111111111111111111",
    );
    expect!["present: A queue of the network is full: connections refused by a full listen queue, 5.00 per second (of 8 clients only 4.00 waited for an answer at a time)."].assert_eq(&said(&drawn(&kept_out).diagnose(), "net.backlog"));
    // Seven of 180,000 packets.
    let busy = with(
        network::RTT,
        "
        network.rx_drops   eth0 *10  77777777777777777777
        network.rx_packets eth0 *1e5 99999999999999999999
        network.tx_packets eth0 *1e5 99999999999999999999",
    );
    expect!["absent: no queue of the network was full"]
        .assert_eq(&said(&drawn(&busy).diagnose(), "net.backlog"));
}

#[test]
fn who_is_only_connected_makes_no_way_long() {
    let idle = with(
        network::RTT,
        "
        connection.rtt_min_ns c1 *1e5 88888888888888888888
        connection.segments_out c2 *1e3 00000000000000000000",
    );
    expect!["absent: a round trip took 80.0 us, 0.8 % of each request"]
        .assert_eq(&said(&drawn(&idle).diagnose(), "net.rtt"));
}

#[test]
fn segments_that_are_too_few_carry_no_requests() {
    let others = "
        cpus 4  clients 4
        busy      22222222222222222222
        run x4    11111111111111111111
        wait      00000000000000000000
        gen       11111111111111111111
        tps       44444444444444444444
        tcp.out_segments           *100 55555555555555555555
        tcp.retransmitted_segments *10  55555555555555555555
    ";
    expect!["absent: the machine sent 50.0 segments per second, fewer than server answered requests: they did not go over TCP"].assert_eq(&said(&drawn(others).diagnose(), "net.loss"));
}

#[test]
fn threads_about_as_busy_as_the_busiest_are_no_single_thread() {
    let even = with(
        cores::SINGLE,
        "
        run x7 77777777777777777777
        hot x1 99999999999999999999",
    );
    expect!["absent: 8 threads of server were about as busy"]
        .assert_eq(&said(&drawn(&even).diagnose(), "cpu.single_thread"));
}

#[test]
fn interrupts_add_to_full_cpus_whatever_else_was_found() {
    let lossy = cores::softirq()
        + "
        cgroup_memory.usage_bytes /server *1e9 11111111111111111111
        cgroup_memory.oom_kills   /server *10  01000000000000000000
        ";
    expect!["present: Interrupts take 30 % of cpu1, which adds to cpu.saturated."]
        .assert_eq(&said(&drawn(&lossy).diagnose(), "cpu.softirq"));
}

#[test]
fn a_limit_of_the_group_is_why_its_programs_search_for_memory() {
    let anonymous = with(
        &memory::reclaim(),
        "
        cgroup_memory.usage_bytes  /server *1e9  99999999999999999999
        cgroup_memory.high_bytes   /server *1e9  99999999999999999999
        cgroup_memory.high_events  /server *1000 55555555555555555555
        cgroup_memory.refault_file /server *2000 00000000000000000000",
    );
    expect![[r#"
        memory.limit | cgroup server | consistent | 0.900 (0.900 to 0.900)
        A memory limit is the bottleneck: /server filled 100 % of it, and 90 % of each request was server direct reclaim.
        helps: a higher memory limit for server (now 858 MiB): not known (CPU time that reclaim takes goes too, and is not counted apart)
        not: more memory in the machine with the same limit, more CPUs, faster disk
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity memory
    "#]].assert_eq(&told(&drawn(&anonymous).diagnose()));
    // The same into a compressed swap in memory, which reads no disk.
    let compressed = with(
        &memory::swap(),
        "
        paging.page_in_bytes *1e7 00000000000000000000
        cgroup_memory.usage_bytes  /server *1e9  99999999999999999999
        cgroup_memory.limit_bytes  /server *1e9  99999999999999999999
        cgroup_memory.limit_events /server *1000 55555555555555555555
        cgroup_memory.refault_anon /server *2000 99999999999999999999",
    );
    expect!["memory.limit server 0.81"].assert_eq(&listed(&drawn(&compressed).diagnose()));
}
