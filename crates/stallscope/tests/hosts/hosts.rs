//! Each host recorded, its verdict read, and figures compared with the fixture's.

use expect_test::expect;

use crate::host::record;

#[test]
fn rhel_8_without_pressure() {
    let Some(outcome) = record("rhel8-4.18-v1", "pid:1200") else {
        return;
    };
    outcome.says(&expect![[r#"
        CPU is the bottleneck: both CPUs were 98 % busy, and 51 % of its non-idle time was postgres waiting
        for one.                                                       cpu.saturated of postgres, consistent
          judged      0 s to 3.1 s         pressure  not recorded
          Where the non-idle time of postgres went
            postgres waiting for a CPU   51 %  ####################  1.9 at a time
            postgres on a CPU            49 %  ####################
          Would help (at most, if the rest stays as it is)
            a third CPU            +53 %
            the machine to itself  +4.4 %  others take 4.2 % of the CPU
          Would not help    more clients, faster disk
          Found innocent    steal 0, throttling 0, disk 0, locks 0, other processes 4.2 % of the CPU used
          Doubts            only 3.1 s were steady: run at least 10 s for a verdict to rely on; no pressure
                            was recorded: pressure is switched off: add psi=1 to the kernel's boot
                            parameters and reboot
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Prove it wrong    halve the load: if throughput falls as much, this is wrong
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: pressure proc/pressure/cpu: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
        gap: pressure proc/pressure/io: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
        gap: pressure proc/pressure/memory: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
    "#]]);
}

#[test]
fn rhel_8_with_pressure_and_a_neighbour() {
    let Some(outcome) = record("rhel8-4.18-v1-psi1", "pid:1200") else {
        return;
    };
    outcome.says(&expect![[r#"
        A neighbour holds the CPU: cgroup /batch.slice/nightly.service used 88 % of the CPU time, and 86 %
        of its non-idle time was postgres waiting for one.
                                                   cpu.neighbour of /batch.slice/nightly.service, consistent
          judged      0 s to 3.2 s         pressure  cpu 93 % some, memory 0, io 0.4 % (machine)
          Where the non-idle time of postgres went
            postgres waiting for a CPU   86 %  ##################################
              1.2 at a time
            postgres on a CPU            14 %  ######
          Would help (at most, if the rest stays as it is)
            nightly.service elsewhere, or with less weight  +743 %  it takes 88 % of the CPU
          Would not help    more clients, faster disk, more memory
          Found innocent    steal 0, throttling 0, disk 0, memory 0, locks 0
          Speaks against it  if nightly.service is the target's own client, say so: --target
                             generator=name:nightly.service
          Doubts            only 3.2 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Prove it wrong    stop nightly.service for 10 s: if throughput stays the same, this is wrong
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

#[test]
fn limits_of_cgroup_v2_and_pressure_of_interrupts() {
    let Some(outcome) = record("debian12-6.1-v2", "cgroup:/app.slice/web.service") else {
        return;
    };
    outcome.says(&expect![[r#"
        A CPU quota is the bottleneck: /app.slice ran out of its limit of 0.6 CPUs in 100 % of the periods,
        and 78 % of its non-idle time was web held back by it, while the machine was 80 % idle.
                                                                         cpu.quota of /app.slice, consistent
          judged      0 s to 3.1 s         pressure  cpu 71 % some, memory 0, io 1 % (machine)
                                           pressure  cpu 72 % some 42 % full, memory 0, io 1 % (its group)
          Where the non-idle time of web went
            web held back by a CPU quota   78 %  ###############################
            web on a CPU                   22 %  #########
            web waiting for a CPU         0.1 %
          Would help (at most, if the rest stays as it is)
            a quota of 2.8 CPUs  +362 %  on the CPUs that this machine has
          Would not help    more clients, a larger machine with the same quota, faster disk, more memory
          Found innocent    steal 0, disk 0, memory 0, locks 0, other processes 26 % of the CPU used
          Doubts            only 3.1 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Prove it wrong    raise the quota of /app.slice to 2.8 CPUs: if throughput stays the same, this is
                            wrong
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

#[test]
fn an_unprivileged_container() {
    let Some(outcome) = record("container-5.10", "pid:17") else {
        return;
    };
    outcome.says(&expect![[r#"
        No bottleneck: app waited for nothing worth naming; 99.7 % of its non-idle time it was on a CPU.
                                                                                  healthy of app, consistent
          judged      0 s to 3.2 s         pressure  not recorded
          Where the non-idle time of app went
            app on a CPU           99.7 %  ########################################
            app waiting for a CPU  0.3 %
          Found innocent    steal 0, throttling 0, other processes 35 % of the CPU used
          Doubts            only 3.2 s were steady: run at least 10 s for a verdict to rely on; no pressure
                            was recorded: this kernel shows no pressure: add psi=1 to its boot parameters
                            and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that
                            hides /proc/pressure)
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF; what
                            blocked threads wait for is not seen: run as root, or as the user who owns them;
                            connections are not seen through another root: record on the machine itself
          Next              give it more work: what it then waits for is its limit
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: pressure proc/pressure/cpu: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/io: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/memory: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: thread syscall: not allowed: what blocked threads wait for is not seen: run as root, or as the user who owns them
    "#]]);
}

#[test]
fn one_cpu_without_pressure_and_schedstat() {
    let Some(outcome) = record("no-psi-5.10-1cpu", "cgroup:/sensord") else {
        return;
    };
    outcome.says(&expect![[r#"
        Undetermined: how long sensord waited for a CPU was not recorded.
                                                                          undetermined of sensord, suspected
          judged      0 s to 3.1 s         pressure  not recorded
          Where the non-idle time of sensord went
            sensord on a CPU  100 %  ########################################
          Found innocent    steal 0, throttling 0, disk 0, locks 0
          Doubts            only 3.1 s were steady: run at least 10 s for a verdict to rely on; no pressure
                            was recorded: this kernel shows no pressure: add psi=1 to its boot parameters
                            and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that
                            hides /proc/pressure)
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF; no
                            run-queue delay: this kernel was built without CONFIG_SCHED_INFO (schedstats);
                            connections are not seen through another root: record on the machine itself
          Ruled out         cpu.quota: no control group of sensord was throttled; cpu.steal: steal was 0;
                            cpu.saturated: the CPUs were 27 % busy, under 90 %; cpu.imbalance: the fullest
                            CPU was 27 % busy, the emptiest 27 %; cpu.single_thread: the busiest thread of
                            sensord was on a CPU for 25 % of the time; cpu.softirq: cpu0 spent 1 % in
                            interrupts; cpu.kernel: sensord spent 19 % of its CPU time in the kernel
          Prove it wrong    run longer and alone on the machine
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: pressure proc/pressure/cpu: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/io: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/memory: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: thread schedstat: not supported here: no run-queue delay: this kernel was built without CONFIG_SCHED_INFO (schedstats)
    "#]]);
}

#[test]
fn cpus_by_the_hundred() {
    let Some(outcome) = record("cpus256-5.15", "pid:4000") else {
        return;
    };
    outcome.says(&expect![[r#"
        One thread is the bottleneck: redis-server of redis-server was on a CPU for 99 % of the time, while
        the CPUs were 0.6 % busy.                              cpu.single_thread of redis-server, consistent
          judged      0 s to 3.1 s         pressure  cpu 0.1 % some, memory 0, io 0 (machine)
                                           pressure  cpu 0 some, memory 0, io 0 (its group)
          Where the non-idle time of redis-server went
            redis-server on a CPU           99.9 %  ########################################
            redis-server waiting for a CPU  0.1 %
          Would help (at most, if the rest stays as it is)
            the work of redis-server spread over 256 CPUs  +9900 %
          Would not help    more clients, a machine with more CPUs, faster disk, more memory
          Found innocent    steal 0, throttling 0, disk 0, memory 0, locks 0, other processes 34 % of the
                            CPU used
          Doubts            only 3.1 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Prove it wrong    run with twice the clients: if throughput grows, this is wrong
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

#[test]
fn cpus_processes_and_groups_that_come_and_go() {
    let Some(outcome) = record("hotplug-5.15", "pid:500") else {
        return;
    };
    outcome.says(&expect![[r#"
        No bottleneck: app waited for nothing worth naming; 98 % of its non-idle time it was on a CPU.
                                                                                  healthy of app, consistent
          judged      0 s to 3.2 s         pressure  cpu 5 % some, memory 0, io 0 (machine)
                                           pressure  cpu 4 % some, memory 0, io 0 (its group)
          Where the non-idle time of app went
            app on a CPU            98 %  #######################################
            app waiting for a CPU  2.4 %  #
          Found innocent    steal 0, throttling 0, memory 0, other processes 50 % of the CPU used
          Doubts            only 3.2 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Next              give it more work: what it then waits for is its limit
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

#[test]
fn names_that_their_owners_chose_badly() {
    let Some(outcome) = record("names-6.1", "pid:800") else {
        return;
    };
    outcome.says(&expect![[r#"
        No bottleneck: \x1b]0;own\x07)\x0a(%s waited for nothing worth naming; 97 % of its non-idle time it
        was on a CPU.                                          healthy of \x1b]0;own\x07)\x0a(%s, consistent
          judged      0 s to 3.2 s         pressure  cpu 2 % some, memory 0, io 0 (machine)
                                           pressure  cpu 2 % some 1 % full, memory 0, io 0 (its group)
          Where the non-idle time of \x1b]0;own\x07)\x0a(%s went
            \x1b]0;own\x07)\x0a(%s on a CPU            97 %  #######################################
            \x1b]0;own\x07)\x0a(%s waiting for a CPU  2.6 %  #
          Found innocent    steal 0, throttling 0, disk 0, memory 0, locks 0, other processes 25 % of the
                            CPU used
          Doubts            only 3.2 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Next              give it more work: what it then waits for is its limit
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

#[test]
fn pressure_that_is_switched_off_midway() {
    let Some(outcome) = record("pressure-off-6.1", "pid:810") else {
        return;
    };
    outcome.says(&expect![[r#"
        No bottleneck: a waited for nothing worth naming; 91 % of its non-idle time it was on a CPU.
                                                                                    healthy of a, consistent
          judged      0 s to 3.2 s         pressure  cpu 12 % some, memory 0, io 0 (machine)
          Where the non-idle time of a went
            a on a CPU            91 %  ####################################
            a waiting for a CPU  9.1 %  ####
          Found innocent    steal 0, throttling 0, memory 0, other processes 50 % of the CPU used
          Doubts            only 3.2 s were steady: run at least 10 s for a verdict to rely on
          Not seen          stacks, who holds which lock, single waits: this version uses no BPF;
                            connections are not seen through another root: record on the machine itself
          Next              give it more work: what it then waits for is its limit
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
}

