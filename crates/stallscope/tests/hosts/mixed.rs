//! Hosts that change, or have two of something.

use expect_test::expect;

use crate::host::record;

#[test]
fn pressure_that_is_switched_off_midway() {
    let Some(outcome) = record("pressure-off-6.1", "pid:810") else {
        return;
    };
    outcome.says(&expect![[r#"
        Undetermined: io.throttled cannot be told, and could hold up to 25 % of the time of a's serving
        threads: what a was blocked in was not seen: run as root, or as the user who owns it.
                                                                                  undetermined, a; suspected
          Window      0 s to 3.1 s
          PSI         cpu 12 % some, memory 0, io 0 (machine)
          Where the non-idle time of a goes
            a: on CPU                93 %  #####################################
            a: waiting for a CPU    6.7 %  ###
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            a 810            75 %  70 %        5 %        0      0      25 %
          Ruled out   steal 0, throttling 0, memory 0, other processes 29 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; pressure of /b.slice is switched off:
                         write 1 into its cgroup.pressure; pressure of /b.slice/a.service is switched off:
                         write 1 into its cgroup.pressure; /b.slice/a.service was away for 3.1 s;
                         connections are not seen through another root: record on the machine itself
          Also ruled out  cpu.quota: no control group of a was throttled; cpu.steal: steal was 0;
                          cpu.neighbour: a waited for a CPU for only 5 % of the time; cpu.saturated: the
                          CPUs were 50 % busy, under 90 %; cpu.imbalance: the fullest CPU was 50 % busy, the
                          emptiest 50 %; cpu.single_thread: the busiest thread of a was on a CPU for 70 % of
                          the time; event.*: no spikes stand out; cpu.softirq: cpu1 spent 0 in interrupts;
                          cpu.kernel: a spent 14 % of its CPU time in the kernel; cpu.hot_code: the code of
                          a limits nothing; healthy: io.throttled cannot be told, and could hold up to 25 %
                          of the time of a's serving threads
          To confirm  record as root on Linux 6.10 or later (request times are then seen in the kernel), or
                      give the load's own latency: --metric 'latency=([0-9.]+) ms'
        gap: cgroup_pressure /b.slice/a.service: not supported here: pressure of /b.slice/a.service is switched off: write 1 into its cgroup.pressure
        gap: cgroup_pressure /b.slice/a.service: what was measured went away
        gap: cgroup_pressure /b.slice: not supported here: pressure of /b.slice is switched off: write 1 into its cgroup.pressure
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    outcome.grows("pressure", "/", "cpu_some_ns", 0.12e9).lacks(
        "cgroup_pressure",
        "/b.slice",
        "cpu_some_ns",
    );
}

#[test]
fn both_hierarchies() {
    let Some(outcome) = record("hybrid-6.18", "cgroup:/fixture.service") else {
        return;
    };
    outcome.says(&expect![[r#"
        A CPU quota is the bottleneck: /fixture.service ran out of its limit of 0.2 CPUs in 100 % of the
        periods, and 37 % of sh's non-idle time was sh held back by it, while no CPU was idle.
                                                                     cpu.quota, /fixture.service; consistent
          Window      0 s to 3.1 s
          PSI         cpu 102 % some, memory 0, io 1.8 % (machine); cpu 99.9 % some 80 % full, memory 0, io
                      0 (its cgroup)
          Where the non-idle time of sh goes
            sh: waiting for a CPU            53 %  #####################  1.0 threads runnable on average
            sh: throttled by a CPU quota     37 %  ###############
            sh: on CPU                       10 %  ####
          Thread by thread  awake    CPU  run queue  blocked  sleep  not seen
            perl 15002       97 %  9.7 %       87 %        0      0     3.5 %
            perl 15001       95 %  9.6 %       86 %        0      0     4.8 %
            sh 14998            0      0          0        0  100 %         0
            the run queue includes what a CPU quota withheld
          Estimated gain, if the rest stays as it is
            a quota of 0.3 CPUs  not known
            none from            more clients, a larger machine with the same quota, faster disk, more
                                 memory
          Ruled out   steal 0, disk 0, memory 0, locks 0
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; recording itself
                      took 2.8 % of a CPU
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself
          Named       after 1 s, and from then on
          To confirm  under the same load: stallscope prove --target 'cgroup:/fixture.service' --capacity
                      cpu
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    const GROUP: &str = "/fixture.service";
    outcome
        .holds("cgroup_limit", GROUP, "quota_ns", 20_000_000)
        .holds("cgroup_memory", GROUP, "limit_bytes", 1 << 28)
        .holds("cgroup_limit", "/", "cpus", 2);
}
