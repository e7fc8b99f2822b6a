//! Each host recorded, its verdict read, and figures compared with the fixture's.

use expect_test::expect;

use crate::host::record;

#[test]
fn rhel_8_without_pressure() {
    let Some(outcome) = record("rhel8-4.18-v1", "pid:1200") else {
        return;
    };
    outcome.says(&expect![[r#"
        CPU is the bottleneck: both CPUs were 98 % busy, and 56 % of postgres's non-idle time was postgres
        waiting for one.                                                 cpu.saturated, postgres; consistent
          Window      0 s to 3.1 s
          PSI         not recorded
          Where the non-idle time of postgres goes
            postgres: waiting for a CPU     56 %  ######################  2.2 threads runnable on average
            postgres: on CPU                44 %  ##################
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            postgres 1303    98 %  43 %       55 %        0      0       2 %
            postgres 1301    98 %  43 %       55 %        0      0       2 %
            postgres 1300    98 %  43 %       55 %        0      0       2 %
            postgres 1302    98 %  43 %       55 %        0      0       2 %
            postgres 1200       0     0          0        0  100 %         0
          Estimated gain, if the rest stays as it is
            a third CPU            not known
            the machine to itself  not known  others take 12 % of the CPU
            none from              more clients, faster disk
          Ruled out   steal 0, throttling 0, disk 0, locks 0
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; no pressure was
                      recorded: pressure is switched off: add psi=1 to the kernel's boot parameters and
                      reboot; recording itself took 2.2 % of a CPU
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself; what this machine withheld: `stallscope doctor`
                         has the commands that give it
          Named       after 1 s, and from then on
          To confirm  under the same load: stallscope prove --target 'pid:1200' --capacity cpu
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: pressure proc/pressure/cpu: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
        gap: pressure proc/pressure/io: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
        gap: pressure proc/pressure/memory: not supported here: pressure is switched off: add psi=1 to the kernel's boot parameters and reboot
    "#]]);
    const GROUP: &str = "/system.slice/postgresql-15.service";
    outcome
        .grows("cpu", "cpu0", "user_ns", 0.76e9)
        .grows("cgroup_cpu", GROUP, "usage_ns", 1.72e9)
        .holds("cgroup_cpu", GROUP, "periods", 0)
        .holds("cgroup_limit", GROUP, "period_ns", 100_000_000)
        .lacks("cgroup_limit", GROUP, "quota_ns")
        .lacks("cgroup_memory", GROUP, "limit_bytes")
        .holds("cgroup_memory", GROUP, "usage_bytes", 50_000_000)
        .holds("paging", "/", "refault_file", 100)
        .lacks("disk", "vda", "flushes")
        .grows("disk", "vda", "writes", 30.0)
        .lacks("pressure", "/", "cpu_some_ns")
        .lacks("cgroup_pressure", GROUP, "cpu_some_ns");
}

#[test]
fn rhel_8_with_pressure_and_a_neighbour() {
    let Some(outcome) = record("rhel8-4.18-v1-psi1", "pid:1200") else {
        return;
    };
    outcome.says(&expect![[r#"
        A neighbour holds the CPU: cgroup /batch.slice/nightly.service used 77 % of the CPU time, and 78 %
        of postgres's non-idle time was postgres waiting for one.
                                                     cpu.neighbour, /batch.slice/nightly.service; consistent
          Window      0 s to 3.1 s
          PSI         cpu 93 % some, memory 0, io 0.4 % (machine)
          Where the non-idle time of postgres goes
            postgres: waiting for a CPU     78 %  ###############################
              1.4 threads runnable on average
            postgres: on CPU                22 %  #########
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            postgres 1300    92 %  20 %       72 %        0      0     8.1 %
            postgres 1301    92 %  20 %       72 %        0      0       8 %
            postgres 1200       0     0          0        0  100 %         0
          Estimated gain, if the rest stays as it is
            nightly.service elsewhere, or with less weight  not known  it takes 77 % of the CPU
            none from                                       more clients, faster disk, more memory
          Ruled out   steal 0, throttling 0, disk 0, memory 0, locks 0
          Evidence against  if nightly.service is the target's own client, say so: --target
                            generator=name:nightly.service
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; recording itself
                      took 2.2 % of a CPU
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself
          Named       after 1 s, and from then on
          To confirm  under the same load: stallscope prove --target 'pid:1200' --capacity cpu
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    outcome
        .grows("pressure", "/", "cpu_some_ns", 0.93e9)
        .lacks("pressure", "/", "cpu_full_ns")
        .lacks("pressure", "/", "irq_full_ns")
        .lacks("cgroup_pressure", "/batch.slice", "cpu_some_ns")
        .grows("cgroup_cpu", "/batch.slice", "usage_ns", 1.54e9);
}

#[test]
fn limits_of_cgroup_v2_and_pressure_of_interrupts() {
    let Some(outcome) = record("debian12-6.1-v2", "cgroup:/app.slice/web.service") else {
        return;
    };
    outcome.says(&expect![[r#"
        A CPU quota is the bottleneck: /app.slice ran out of its limit of 0.6 CPUs in 100 % of the periods,
        and 73 % of web's non-idle time was web held back by it, while the machine was 80 % idle.
                                                                           cpu.quota, /app.slice; consistent
          Window      0 s to 3.1 s
          PSI         cpu 71 % some, memory 0, io 1 % (machine); cpu 72 % some 42 % full, memory 0, io 1 %
                      (its cgroup)
          Where the non-idle time of web goes
            web: throttled by a CPU quota     73 %  #############################
            web: on CPU                       20 %  ########
            web: waiting for a CPU           6.2 %  ##  0.2 threads runnable on average
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            worker-0 901     95 %  19 %       76 %        0      0       5 %
            worker-2 903     95 %  19 %       76 %        0      0       5 %
            worker-1 902     95 %  19 %       76 %        0      0       5 %
            web 900           1 %   1 %          0        0   99 %         0
            the run queue includes what a CPU quota withheld
          Estimated gain, if the rest stays as it is
            a quota of 3 CPUs  not known
            none from          more clients, a larger machine with the same quota, faster disk, more memory
          Ruled out   steal 0, disk 0, memory 0, locks 0, other processes 25 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; recording itself
                      took 2.3 % of a CPU
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself
          Named       after 1 s, and from then on
          To confirm  under the same load: stallscope prove --target 'cgroup:/app.slice/web.service'
                      --capacity cpu
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    const GROUP: &str = "/app.slice/web.service";
    outcome
        .grows("pressure", "/", "irq_full_ns", 0.02e9)
        .lacks("pressure", "/", "cpu_full_ns")
        .grows("cgroup_pressure", GROUP, "cpu_full_ns", 0.42e9)
        .grows("cgroup_pressure", GROUP, "irq_full_ns", 0.015e9)
        .holds("cgroup_limit", "/app.slice", "quota_ns", 60_000_000)
        .holds("cgroup_limit", "/app.slice", "cpus", 4)
        .lacks("cgroup_limit", GROUP, "quota_ns")
        .grows("cgroup_cpu", "/app.slice", "throttled_ns", 2.1e9)
        .holds("cgroup_memory", "/app.slice", "limit_bytes", 1 << 30)
        .lacks("cgroup_memory", GROUP, "limit_bytes")
        .grows(
            "cgroup_io",
            "/app.slice/web.service/254:0",
            "write_bytes",
            327_680.0,
        );
}

#[test]
fn an_unprivileged_container() {
    let Some(outcome) = record("container-5.10", "pid:17") else {
        return;
    };
    outcome.says(&expect![[r#"
        Undetermined: io.throttled cannot be told, and could hold up to 60 % of the time of app's serving
        threads: what app was blocked in was not seen: run as root, or as the user who owns it.
                                                                                undetermined, app; suspected
          Window      0 s to 3.1 s
          PSI         not recorded
          Where the non-idle time of app goes
            app: on CPU               99.5 %  ########################################
            app: waiting for a CPU    0.5 %
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            app 17           40 %  40 %      0.2 %        0      0      60 %
          Ruled out   steal 0, throttling 0, other processes 32 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; no pressure was
                      recorded: this kernel shows no pressure: add psi=1 to its boot parameters and reboot
                      (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides
                      /proc/pressure)
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself; proc/diskstats cannot be read: Input/output
                         error (os error 5); what blocked threads wait for is not seen: run as root, or as
                         the user who owns them; what this machine withheld: `stallscope doctor` has the
                         commands that give it
          Also ruled out  cpu.quota: no control group of app was throttled; cpu.steal: steal was 0;
                          cpu.neighbour: app waited for a CPU for only 0.2 % of the time; cpu.saturated: the
                          CPUs were 30 % busy, under 90 %; cpu.imbalance: the fullest CPU was 30 % busy, the
                          emptiest 30 %; cpu.single_thread: the busiest thread of app was on a CPU for 40 %
                          of the time; event.*: no spikes stand out; cpu.softirq: cpu1 spent 0 in
                          interrupts; cpu.kernel: app spent 25 % of its CPU time in the kernel;
                          cpu.hot_code: the code of app limits nothing; healthy: io.throttled cannot be
                          told, and could hold up to 60 % of the time of app's serving threads
          To confirm  record as root on Linux 6.10 or later (request times are then seen in the kernel), or
                      give the load's own latency: --metric 'latency=([0-9.]+) ms'
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: disk proc/diskstats: not supported here: proc/diskstats cannot be read: Input/output error (os error 5)
        gap: pressure proc/pressure/cpu: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/io: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/memory: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: thread syscall: not allowed: what blocked threads wait for is not seen: run as root, or as the user who owns them
    "#]]);
    outcome
        .lacks("pressure", "/", "cpu_some_ns")
        .lacks("cgroup_pressure", "/", "cpu_some_ns")
        .lacks("process", "pid:17@4000", "read_bytes")
        .lacks("thread", "pid:17@4000/tid:17", "syscall")
        .holds("cgroup_limit", "/", "quota_ns", 200_000_000)
        .holds("cgroup_memory", "/", "limit_bytes", 1 << 29);
    assert!(
        !outcome.paths().contains(&"vda"),
        "a disk that cannot be read is none"
    );
}

#[test]
fn one_cpu_without_pressure_and_schedstat() {
    let Some(outcome) = record("no-psi-5.10-1cpu", "cgroup:/sensord") else {
        return;
    };
    outcome.says(&expect![[r#"
        Undetermined: how long sensord waited for a CPU was not recorded.   undetermined, sensord; suspected
          Window      0 s to 3.1 s
          PSI         not recorded
          Where the non-idle time of sensord goes
            sensord: on CPU    100 %  ########################################
          Thread by thread  awake   CPU  run queue  blocked  sleep
            sensord 77       25 %  25 %          -        0   75 %
            - is not counted by this kernel, and stands in the other columns
          Ruled out   steal 0, throttling 0, disk 0, locks 0
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; no pressure was
                      recorded: this kernel shows no pressure: add psi=1 to its boot parameters and reboot
                      (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides
                      /proc/pressure)
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself; no run-queue delay: this kernel was built
                         without CONFIG_SCHED_INFO (schedstats); what this machine withheld: `stallscope
                         doctor` has the commands that give it
          Also ruled out  cpu.quota: no control group of sensord was throttled; cpu.steal: steal was 0;
                          cpu.saturated: the CPUs were 27 % busy, under 90 %; cpu.imbalance: the fullest CPU
                          was 27 % busy, the emptiest 27 %; cpu.single_thread: the busiest thread of sensord
                          was on a CPU for 25 % of the time; event.*: no spikes stand out; cpu.softirq: cpu0
                          spent 1 % in interrupts; cpu.kernel: sensord spent 19 % of its CPU time in the
                          kernel; cpu.hot_code: the code of sensord limits nothing
          To confirm  run longer and alone on the machine
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: pressure proc/pressure/cpu: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/io: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: pressure proc/pressure/memory: not supported here: this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or later with CONFIG_PSI, and no sandbox that hides /proc/pressure)
        gap: thread schedstat: not supported here: no run-queue delay: this kernel was built without CONFIG_SCHED_INFO (schedstats)
    "#]]);
    outcome
        .lacks("thread", "pid:77@900/tid:77", "wait_ns")
        .grows("thread", "pid:77@900/tid:77", "run_ns", 0.25e9)
        .lacks("cgroup_memory", "/sensord", "usage_bytes");
}

#[test]
fn cpus_by_the_hundred() {
    let Some(outcome) = record("cpus256-5.15", "pid:4000") else {
        return;
    };
    outcome.says(&expect![[r#"
        One thread is the bottleneck: redis-server of redis-server was on a CPU for 98 % of the time, while
        the CPUs were 0.6 % busy.                                cpu.single_thread, redis-server; consistent
          Window      0 s to 3.1 s
          PSI         cpu 0.1 % some, memory 0, io 0 (machine); cpu 0 some, memory 0, io 0 (its cgroup)
          Where the non-idle time of redis-server goes
            redis-server: on CPU               99.9 %  ########################################
            redis-server: waiting for a CPU    0.1 %
          Thread by thread     awake   CPU  run queue  blocked  sleep  not seen
            redis-server 4000   99 %  98 %      0.1 %        0      0     1.4 %
            bio 4002               0     0          0        0  100 %         0
            bio 4003               0     0          0        0  100 %         0
            bio 4001               0     0          0        0  100 %         0
          Estimated gain, if the rest stays as it is
            the work of redis-server spread over 256 CPUs  not known
            none from                                      more clients, a machine with more CPUs, faster
                                                           disk, more memory
          Ruled out   steal 0, throttling 0, disk 0, memory 0, locks 0, other processes 32 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on; recording itself
                      took 4 % of a CPU
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself
          Named       after 1 s, and from then on
          To confirm  run with twice the clients: if throughput grows, this is wrong
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    let cpus = outcome
        .paths()
        .into_iter()
        .filter(|path| path.starts_with("cpu"));
    assert_eq!(cpus.count(), 256);
    assert_eq!(outcome.cpus(), (256, Some(256)));
    outcome
        .grows("cpu", "cpu200", "user_ns", 0.96e9)
        .grows("cpu", "cpu255", "idle_ns", 0.99e9)
        .holds("softnet", "cpu255", "processed", 4255);
}

#[test]
fn cpus_processes_and_groups_that_come_and_go() {
    let Some(outcome) = record("hotplug-5.15", "pid:500") else {
        return;
    };
    outcome.says(&expect![[r#"
        Undetermined: io.throttled cannot be told, and could hold up to 18 % of the time of app's serving
        threads: what app was blocked in was not seen: run as root, or as the user who owns it.
                                                                                undetermined, app; suspected
          Window      0 s to 3.1 s
          PSI         cpu 5 % some, memory 0, io 0 (machine); cpu 6 % some 3 % full, memory 0, io 0 (its
                      cgroup)
          Where the non-idle time of app goes
            app: on CPU                98 %  #######################################
            app: waiting for a CPU    2.4 %  #
          Thread by thread  awake   CPU  run queue  blocked  sleep  not seen
            app 500          82 %  80 %        2 %        0      0      18 %
          Ruled out   steal 0, throttling 0, memory 0, other processes 39 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself; cpu3 was away for 1.1 s
          Also ruled out  cpu.quota: no control group of app was throttled; cpu.steal: steal was 0;
                          cpu.neighbour: app waited for a CPU for only 2 % of the time; cpu.saturated: the
                          CPUs were 33 % busy, under 90 %; cpu.imbalance: the fullest CPU was 33 % busy, the
                          emptiest 33 %; cpu.single_thread: the busiest thread of app was on a CPU for 80 %
                          of the time; event.*: no spikes stand out; cpu.softirq: cpu3 spent 0 in
                          interrupts; cpu.kernel: app spent 25 % of its CPU time in the kernel;
                          cpu.hot_code: the code of app limits nothing; healthy: io.throttled cannot be
                          told, and could hold up to 18 % of the time of app's serving threads
          To confirm  record as root on Linux 6.10 or later (request times are then seen in the kernel), or
                      give the load's own latency: --metric 'latency=([0-9.]+) ms'
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
        gap: cpu cpu3: what was measured went away
    "#]]);
    let mut gaps = outcome.report.gaps.iter();
    let away = gaps.find(|gap| gap.reason == model::GapReason::Vanished);
    let window = away.and_then(|gap| gap.window);
    let seconds = window.map(model::Window::seconds);
    let is_right = seconds.is_some_and(|it| (0.9..2.0).contains(&it));
    assert!(is_right, "{seconds:?}");
    assert!(outcome.entity("pid:600@4100").vanished.is_some());
    let next = outcome.entity("pid:600@4100300");
    assert_eq!(
        (next.entity.name.as_str(), next.vanished),
        ("another", None)
    );
    outcome.grows("cpu", "cpu0", "user_ns", 0.25e9).grows(
        "process",
        "pid:500@4000",
        "user_ns",
        0.60e9,
    );
}

#[test]
fn names_that_their_owners_chose_badly() {
    let Some(outcome) = record("names-6.1", "pid:800") else {
        return;
    };
    outcome.says(&expect![[r#"
        No bottleneck: \x1b]0;own\x07)\x0a(%s waited for nothing worth naming; 97 % of its non-idle time it
        was on a CPU.                                            healthy, \x1b]0;own\x07)\x0a(%s; consistent
          Window      0 s to 3.1 s
          PSI         cpu 2 % some, memory 0, io 0 (machine); cpu 6 % some 3 % full, memory 0, io 0 (its
                      cgroup)
          Where the non-idle time of \x1b]0;own\x07)\x0a(%s goes
            \x1b]0;own\x07)\x0a(%s: on CPU                97 %  #######################################
            \x1b]0;own\x07)\x0a(%s: waiting for a CPU    2.6 %  #
          Thread by thread              awake   CPU  run queue  blocked  sleep  not seen
            \x1b]0;own\x07)\x0a(%s 800   77 %  75 %        2 %        0      0      23 %
            \xfe thread 803                 0     0          0        0  100 %         0
            \xff thread 802                 0     0          0        0  100 %         0
          Ruled out   steal 0, throttling 0, disk 0, memory 0, locks 0, other processes 25 % of the CPU used
          Caveats     only 3.1 s were steady: run at least 10 s for a verdict to rely on
          Not collected  who holds which lock, single waits: not recorded; in which functions CPU time was
                         spent: the files of another root are read; who had the CPUs that were waited for,
                         and every wait of every thread: the files of another root are read; whose requests
                         disks served, of which sizes and in which order: the files of another root are
                         read; who talks to whom, connections shorter than a second, UDP and unix sockets:
                         the files of another root are read; which programs were started, and how they
                         ended: the files of another root are read; connections are not seen through another
                         root: record on the machine itself
          Named       after 1 s, and from then on
          Next        give it more work: what it then waits for is its limit
        gap: connection: not supported here: connections are not seen through another root: record on the machine itself
    "#]]);
    const SLICE: &str = r"/evil \x1b[2J.slice";
    let group = |name| format!("{SLICE}/{name}");
    outcome
        .grows("cgroup_cpu", SLICE, "usage_ns", 1.0e9)
        .grows("cgroup_cpu", &group(r"caf\xe9"), "usage_ns", 0.75e9)
        .grows("cgroup_cpu", &group(r"caf\xe8"), "usage_ns", 0.25e9)
        .grows("cgroup_pressure", &group(r"caf\xe9"), "cpu_full_ns", 0.03e9)
        .holds("disk", r"md_\xff", "reads", 100)
        .holds("disk", r"md_\xfe", "reads", 200)
        .holds("disk", "md_a b", "writes", 60)
        .grows("network", r"e\x1b[31m%d", "rx_bytes", 300_000.0)
        .grows("network", r"e\xff", "rx_bytes", 100.0)
        .grows("network", r"e\xfe", "rx_bytes", 200.0);
    let name = |path| outcome.entity(path).entity.name.as_str();
    assert_eq!(name("pid:800@4000"), r"\x1b]0;own\x07)\x0a(%s");
    assert_eq!(name("pid:800@4000/tid:802"), r"\xff thread");
    assert_eq!(name("pid:800@4000/tid:803"), r"\xfe thread");
    assert!(
        outcome.paths().contains(&r"/dev-disk-by\x2duuid.swap"),
        "as systemd wrote it"
    );
    let placed = outcome.entity("pid:800@4000").group;
    assert_eq!(placed, Some(outcome.entity(&group(r"caf\xe9")).id));
}
