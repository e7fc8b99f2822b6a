//! Whole machines, drawn: what each is told. Texts are those of the kernels and distributions named.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rustix::io::Errno;

use super::tree::testing::Drawn;
use super::trials::testing::{everything, ordinary};
use super::*;

/// A machine on which nothing lacks: Debian 13 on a host of KVM, with a disk and a group.
const WHOLE: &str = r#"
    etc/os-release = PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n
    etc/default/grub = GRUB_CMDLINE_LINUX=""\n
    boot/config-6.12.48+deb13-amd64 = CONFIG_PSI=y\nCONFIG_HZ_250=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n
    proc/cmdline = BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro quiet\n
    proc/cpuinfo = processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n
    proc/diskstats = 254 0 vda 1 2 3 4 5 6 7 8 9 10 11\n
    proc/pressure/cpu = some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n
    proc/pressure/io = some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n
    proc/pressure/memory = some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n
    proc/pressure/irq = full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n
    proc/self/mountinfo = 22 1 0:20 / /proc rw - proc proc rw\n25 30 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n
    proc/self/schedstat = 1081250 20042 7\n
    proc/stat = cpu  900 0 50 9000 10 0 4 36 0 0\ncpu0 450 0 25 4500 5 0 2 18 0 0\ncpu1 450 0 25 4500 5 0 2 18 0 0\n
    proc/sys/kernel/osrelease = 6.12.48+deb13-amd64\n
    proc/sys/kernel/perf_event_paranoid = 3\n
    proc/sys/kernel/task_delayacct = 1\n
    proc/sys/kernel/unprivileged_bpf_disabled = 2\n
    proc/sys/kernel/yama/ptrace_scope = 1\n
    proc/1/comm = systemd\n
    proc/1/fd/3 -> /dev/null
    sys/block/vda/queue/iostats = 1\n
    sys/class/dmi/id/sys_vendor = QEMU\n
    sys/devices/system/clocksource/clocksource0/current_clocksource = kvm-clock\n
    sys/devices/system/cpu/smt/active = 0\n
    sys/fs/cgroup/cgroup.subtree_control = cpuset cpu io memory pids\n
    sys/fs/cgroup/system.slice/cpu.pressure = some total=1\n
    sys/kernel/btf/vmlinux = x
"#;

/// The drawing without the lines that begin with one of `without`, and with others.
fn redrawn(without: &[&str], with: &str) -> Drawn {
    let stays = |line: &&str| !without.iter().any(|path| line.trim().starts_with(path));
    let lines: Vec<_> = WHOLE.lines().filter(stays).collect();
    Drawn::new(&(lines.join("\n") + "\n" + with))
}

fn survey_of(tree: &Drawn, trials: Option<Trials>) -> Survey {
    examine(&Patient::new(tree, trials, false), Path::new("/"))
}

/// What was said of one check.
fn of(tree: &Drawn, trials: Option<Trials>, check: &str) -> String {
    let survey = survey_of(tree, trials);
    let found = survey.capabilities.iter().find(|it| it.check == check);
    let found = found.expect("it is a check");
    let mut lines = vec![format!("{:?}: {}", found.availability, found.sentence)];
    if let Some(mend) = &found.mend {
        lines.extend((!mend.how.is_empty()).then(|| format!("({})", mend.how)));
        lines.extend(mend.commands.iter().map(|it| format!("$ {it}")));
    }
    lines.join("\n") + "\n"
}

/// What is not fine, in a line each.
fn wanting(tree: &Drawn, trials: Option<Trials>) -> String {
    let survey = survey_of(tree, trials);
    let mut lines = vec![survey.summary, survey.machine];
    let rest = survey.capabilities.into_iter();
    let rest = rest.filter(|it| it.availability != Availability::Fine);
    lines.extend(rest.map(|it| format!("{} {:?}: {}", it.check, it.availability, it.sentence)));
    lines.join("\n") + "\n"
}

fn told(check: &str, without: &[&str], with: &str, expected: &Expect) {
    let tree = redrawn(without, with);
    expected.assert_eq(&of(&tree, Some(everything()), check));
}

fn as_user(check: &str, change: fn(&mut Trials), expected: &Expect) {
    let mut trials = ordinary();
    change(&mut trials);
    expected.assert_eq(&of(&redrawn(&[], ""), Some(trials), check));
}

#[test]
fn on_a_whole_machine_root_lacks_nothing() {
    expect![[r#"
        Stallscope works here, and nothing that it uses lacks.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, asked as root
    "#]]
    .assert_eq(&wanting(&redrawn(&[], ""), Some(everything())));
}

#[test]
fn an_ordinary_user_lacks_rights() {
    expect![[r#"
        Stallscope works here, with cpu times, pressure, group pressure, run queue delay, control groups, disks; 3 things lack: other users, priority, memory lock.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, asked as user 1000
        other_users Lacking: This is user 1000, without CAP_SYS_PTRACE: only its own threads say what they are blocked in; what PostgreSQL itself says it waits for is closed even to its owner (kernel.yama.ptrace_scope).
        priority Lacking: The sampler stays at normal priority: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0.
        memory_lock Lacking: The sampler may not lock its memory: no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is limited.
        bpf Lacking: bpf(2) takes no map here (EPERM): no CAP_BPF, and kernel.unprivileged_bpf_disabled is 2. This version uses no BPF.
        perf Lacking: cpu-clock events can be opened for own processes only (kernel.perf_event_paranoid is 3); hardware counters cannot (ENOENT). No verdict of this version uses them.
    "#]].assert_eq(&wanting(&redrawn(&[], ""), Some(ordinary())));
}

#[test]
fn files_alone_do_not_tell_what_a_kernel_allows() {
    expect![[r#"
        Stallscope works here, and nothing that it uses lacks; 7 things cannot be told.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, captured files: what its kernel allows was not tried
        other_users CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        descriptors CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        priority CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        memory_lock CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        recordings CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        perf CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
    "#]].assert_eq(&wanting(&redrawn(&[], ""), None));
}

#[test]
fn pressure_that_refuses_was_switched_off_at_boot() {
    let rhel = r#"
        etc/os-release = PRETTY_NAME="Red Hat Enterprise Linux 8.9 (Ootpa)"\nID="rhel"\n
        proc/sys/kernel/osrelease = 4.18.0-513.5.1.el8_9.x86_64\n
        proc/pressure/cpu ! EOPNOTSUPP"#;
    let without = ["etc/", "proc/sys/kernel/osrelease", "proc/pressure/cpu"];
    told(
        "pressure",
        &without,
        rhel,
        &expect![[r#"
        Lacking: Pressure is switched off: the kernel has it and was not booted with psi=1 (reading /proc/pressure/cpu gives EOPNOTSUPP).
        $ grubby --update-kernel=ALL --args=psi=1
        $ reboot
    "#]],
    );
}

#[test]
fn pressure_without_files_is_off_not_built_or_hidden() {
    let none = ["proc/pressure", "boot/"];
    let mut text = String::new();
    for config in [
        "CONFIG_PSI=y\\nCONFIG_PSI_DEFAULT_DISABLED=y\\n",
        "# CONFIG_PSI is not set\\n",
        "CONFIG_PSI=y\\n",
    ] {
        let config = format!("boot/config-6.12.48+deb13-amd64 = {config}");
        text.push_str(&of(
            &redrawn(&none, &config),
            Some(everything()),
            "pressure",
        ));
    }
    text.push_str(&of(&redrawn(&none, ""), Some(everything()), "pressure"));
    let off = [&none[..], &["proc/cmdline"]].concat();
    let booted = "proc/cmdline = quiet psi=0\nboot/config-6.12.48+deb13-amd64 = CONFIG_PSI=y\\n";
    text.push_str(&of(&redrawn(&off, booted), Some(everything()), "pressure"));
    let old = [&none[..], &["proc/sys/kernel/osrelease"]].concat();
    let release = "proc/sys/kernel/osrelease = 3.10.0-1160.el7.x86_64\\n";
    text.push_str(&of(&redrawn(&old, release), Some(everything()), "pressure"));
    expect![[r#"
        Lacking: Pressure is switched off: the kernel has it, but /boot/config-6.12.48+deb13-amd64 has CONFIG_PSI_DEFAULT_DISABLED=y, and it was not booted with psi=1.
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Lacking: This kernel was built without pressure: /boot/config-6.12.48+deb13-amd64 has no CONFIG_PSI=y, and there is no /proc/pressure/cpu.
        (a kernel built with CONFIG_PSI=y: no boot parameter helps)
        Lacking: The kernel has pressure and it is on, but there is no /proc/pressure/cpu: a sandbox hides it.
        (run outside of the sandbox (of systemd: a unit without ProcSubset=pid and InaccessiblePaths=))
        Lacking: There is no /proc/pressure/cpu: pressure is switched off, not built in, or hidden by a sandbox, and no kernel configuration tells which.
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Lacking: Pressure is switched off: the kernel has it, but it was booted with psi=0.
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Lacking: There is no /proc/pressure/cpu: Linux 3.10.0-1160.el7.x86_64 is older than pressure, which came with 4.20 (4.18 on RHEL 8).
        (a kernel of 4.20 or later)
    "#]].assert_eq(&text);
}

#[test]
fn a_sandbox_that_forbids_pressure_is_told_from_a_kernel_without() {
    let without = ["proc/pressure/memory"];
    told(
        "pressure",
        &without,
        "proc/pressure/memory ! EACCES",
        &expect![[r#"
            Lacking: /proc/pressure/memory may not be read (EACCES): a sandbox or a security policy hides it.
            (run outside of the sandbox (of systemd: a unit without ProcSubset=pid and InaccessiblePaths=))
        "#]],
    );
}

#[test]
fn groups_may_have_their_pressure_switched_off() {
    let off = "sys/fs/cgroup/db.slice/cgroup.pressure = 0\\n";
    told(
        "group_pressure",
        &[],
        off,
        &expect![[r#"
        Lacking: 1 group has pressure switched off: /sys/fs/cgroup/db.slice/cgroup.pressure is 0.
        $ echo 1 | tee /sys/fs/cgroup/db.slice/cgroup.pressure
    "#]],
    );
    let v1 = "proc/self/mountinfo = 30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\\n";
    told(
        "group_pressure",
        &["proc/self/mountinfo"],
        v1,
        &expect![[r#"
            Lacking: No v2 hierarchy is mounted (layout by /proc/self/mountinfo: v1), and only v2 groups have pressure.
            (with systemd; all groups then are v2, those of containers too)
            $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX systemd.unified_cgroup_hierarchy=1"' | tee -a /etc/default/grub
            $ update-grub
            $ reboot
        "#]],
    );
}

#[test]
fn controllers_are_counted_wherever_they_are() {
    let few = "sys/fs/cgroup/cgroup.subtree_control = memory pids\\n";
    told(
        "control_groups",
        &["sys/fs/cgroup/cgroup.subtree_control"],
        few,
        &expect![[r#"
            Lacking: v2 at /sys/fs/cgroup, with memory for its groups; not with io (by /sys/fs/cgroup/cgroup.subtree_control).
            (until the next boot; with systemd, MemoryAccounting=yes and IOAccounting=yes of a unit keep it)
            $ echo +io | tee /sys/fs/cgroup/cgroup.subtree_control
        "#]],
    );
    // What a container sees as the root is a group with limits of its own.
    let contained = "sys/fs/cgroup/cgroup.subtree_control = \\n\nsys/fs/cgroup/cpu.max = max 100000\\n\n\
        sys/fs/cgroup/memory.max = max\\n\nsys/fs/cgroup/io.max = \\n";
    let without = ["sys/fs/cgroup/cgroup.subtree_control"];
    told("control_groups", &without, contained, &expect![[r#"
        Fine: v2 at /sys/fs/cgroup, with cpu, memory, io for its groups.
    "#]]);
    let hybrid = "proc/self/mountinfo = 25 30 0:23 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\\n\
        30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\\n\
        31 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\\n\
        32 1 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\\n";
    told(
        "control_groups",
        &["proc/self/mountinfo"],
        hybrid,
        &expect![[r#"
            Fine: A hybrid layout: v2 at /sys/fs/cgroup/unified, v1 for blkio, cpu, cpuacct, memory, with cpu, memory, io for its groups.
        "#]],
    );
    told(
        "control_groups",
        &["proc/self/mountinfo"],
        "",
        &expect![[r#"
            Lacking: No cgroup hierarchy is mounted (/proc/self/mountinfo).
            $ mount -t cgroup2 none /sys/fs/cgroup
        "#]],
    );
}

#[test]
fn run_queue_delay_may_be_missing_or_off() {
    let schedstat = ["proc/self/schedstat"];
    told(
        "run_queue_delay",
        &schedstat,
        "",
        &expect![[r#"
        Lacking: /proc/self/schedstat cannot be read (ENOENT): the kernel was built without CONFIG_SCHED_INFO.
        (another kernel: CONFIG_SCHEDSTATS=y or CONFIG_TASK_DELAY_ACCT=y)
    "#]],
    );
    told(
        "run_queue_delay",
        &schedstat,
        "proc/self/schedstat = 0 0 0\\n",
        &expect![[r#"
            Lacking: /proc/self/schedstat is all zeros: the kernel can count run-queue delay, and it is switched off.
            $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX delayacct"' | tee -a /etc/default/grub
            $ update-grub
            $ reboot
        "#]],
    );
}

#[test]
fn other_readers_of_pressure_are_named() {
    let holder = "proc/77/comm = greedy\n\
        proc/77/fd/4 -> /sys/fs/cgroup/db.slice/memory.pressure\n\
        proc/77/fdinfo/4 = pos:\\t0\\nflags:\\t0100000\\n";
    told(
        "pressure_readers",
        &[],
        holder,
        &expect![[r#"
        CannotTell: Pressure files are held open by greedy (77): how often they are read is not told.
        (see how often)
        $ timeout 10 strace -f -y -e trace=read,pread64 -p 77
    "#]],
    );
    // A trigger is held open for writing: it costs nobody anything.
    let trigger = "proc/77/comm = waiter\n\
        proc/77/fd/4 -> /proc/pressure/memory\n\
        proc/77/fdinfo/4 = pos:\\t0\\nflags:\\t0100002\\n";
    told(
        "pressure_readers",
        &[],
        trigger,
        &expect![[r#"
            Fine: No other reader of pressure among 2 processes.
        "#]],
    );
    let known = "proc/78/comm = systemd-oomd\nproc/78/fd/4 -> /dev/null\nproc/79/comm = node_exporter\nproc/79/fd/4 -> /dev/null";
    told(
        "pressure_readers",
        &[],
        known,
        &expect![[r#"
        Fine: Pressure is also read by systemd-oomd (78, every 1 s), as it comes: about 1 % of a light load's pressure is lost. (3 processes looked at.)
    "#]],
    );
}

#[test]
fn a_look_at_very_many_processes_is_cut_short_and_says_so() {
    let many: String = (100..5_000)
        .map(|pid| format!("proc/{pid}/comm = sleep\nproc/{pid}/fd/0 -> /dev/null\n"))
        .collect();
    told(
        "pressure_readers",
        &[],
        &many,
        &expect![[r#"
        Fine: No other reader of pressure among 4000 processes (901 more were left out).
    "#]],
    );
}

#[test]
fn processes_may_be_hidden() {
    let hidden = "proc/self/mountinfo = 22 1 0:20 / /proc rw - proc proc rw,hidepid=2\\n";
    let tree = redrawn(&["proc/self/mountinfo"], hidden);
    let said = [everything(), ordinary()].map(|it| of(&tree, Some(it), "processes"));
    expect![[r#"
        Fine: /proc is mounted with hidepid=2, which hides nothing from CAP_SYS_PTRACE.
        Lacking: /proc is mounted with hidepid=2: processes of other users are not shown.
        (or run as root; an entry of /proc in /etc/fstab may set it again)
        $ sudo mount -o remount,hidepid=0 /proc
    "#]]
    .assert_eq(&said.concat());
}

#[test]
fn nobody_may_look_into_others_under_yama_3() {
    let scope = "proc/sys/kernel/yama/ptrace_scope = 3\\n";
    told(
        "other_users",
        &["proc/sys/kernel/yama/ptrace_scope"],
        scope,
        &expect![[r#"
            Lacking: kernel.yama.ptrace_scope is 3: nobody may look into another process, root neither.
            (it cannot be lowered while the machine runs: set it to 1 where /etc/sysctl.d sets it, then)
            $ reboot
        "#]],
    );
}

#[test]
fn limits_are_held_against_what_is_here() {
    as_user(
        "descriptors",
        |it| it.most_files = Some(512),
        &expect![[r#"
            Lacking: 803 files would be open for 1 process, 2 groups and 200 threads of a target, and the hard limit is 512 (ulimit -Hn).
            (for this shell and what it starts)
            $ sudo prlimit --pid $$ --nofile=65536
        "#]],
    );
    as_user(
        "recordings",
        |it| it.free = Ok(3 << 20),
        &expect![[r#"
        Lacking: /home/ada has 3 MB left.
        (choose another folder with -o, such as)
        $ stallscope record -o ~/first.stall --for 10s
    "#]],
    );
    as_user(
        "recordings",
        |it| it.writable = Err(Errno::ROFS),
        &expect![[r#"
            Lacking: /home/ada cannot be written (EROFS).
            (choose another folder with -o, such as)
            $ stallscope record -o ~/first.stall --for 10s
        "#]],
    );
}

#[test]
fn a_container_asks_the_one_who_starts_it() {
    let contained = |sign: &str| {
        let mut trials = everything();
        (trials.own_pids, trials.own_groups) = (false, false);
        trials.profile = "docker-default (enforce)".to_owned();
        let tree = redrawn(&[], sign);
        of(&tree, Some(trials), "container")
    };
    let docker = contained(".dockerenv = x");
    let kubernetes = contained("run/secrets/kubernetes.io/serviceaccount/namespace = default");
    expect![[r#"
        Lacking: This process is in a container (Docker's, by /.dockerenv), with namespaces of its own for processes, control groups: of these it sees its own only.
        (ask the one who starts it for this, then record from inside)
        $ docker run --pid=host --cgroupns=host --cap-add=SYS_PTRACE --cap-add=DAC_READ_SEARCH --cap-add=SYS_NICE --cap-add=IPC_LOCK -v /:/host:ro --security-opt apparmor=unconfined IMAGE
        $ stallscope record --root /host --for 30s
        Lacking: This process is in a container (Kubernetes', by /run/secrets/kubernetes.io), with namespaces of its own for processes, control groups: of these it sees its own only.
        (ask for this in the pod (hostPID: true; a hostPath volume of / mounted at /host; securityContext: capabilities: add: [SYS_PTRACE, DAC_READ_SEARCH, SYS_NICE, IPC_LOCK]), then record from inside)
        $ stallscope record --root /host --for 30s
        Lacking: This process is in a container, with namespaces of its own for processes, control groups: of these it sees its own only.
        (run Stallscope outside of it; docs/doctor.md says what Docker, Podman and Kubernetes need)
    "#]].assert_eq(&[docker, kubernetes, contained("")].concat());
}

#[test]
fn a_slow_clock_is_changed_where_a_fast_one_is_offered() {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let clocks = format!(
        "{folder}/current_clocksource = hpet\\n\n{folder}/available_clocksource = tsc hpet acpi_pm\\n"
    );
    told(
        "clock",
        &[folder],
        &clocks,
        &expect![[r#"
        Lacking: The clock source is hpet, which is slow; a reading takes 50 ns.
        (until the next boot; clocksource=tsc as a boot parameter keeps it)
        $ echo tsc | tee /sys/devices/system/clocksource/clocksource0/current_clocksource
    "#]],
    );
    told(
        "clock",
        &[folder],
        &format!("{folder}/current_clocksource = acpi_pm\\n"),
        &expect![[r#"
            Lacking: The clock source is acpi_pm, which is slow; a reading takes 50 ns.
            (the kernel offers no faster one here: `dmesg | grep -i -e tsc -e clocksource` says why)
        "#]],
    );
}

#[test]
fn steal_is_told_or_not() {
    let quiet = "proc/stat = cpu  900 0 50 9000 10 0 4 0 0 0\\ncpu0 900 0 50 9000 10 0 4 0 0 0\\n";
    told(
        "steal",
        &["proc/stat"],
        quiet,
        &expect![[r#"
        CannotTell: This is a guest of QEMU, and steal in /proc/stat is 0 since boot: nothing was taken, or it is not told.
    "#]],
    );
    let vmware = format!("{quiet}\nsys/class/dmi/id/sys_vendor = VMware, Inc.\\n");
    told(
        "steal",
        &["proc/stat", "sys/class/dmi"],
        &vmware,
        &expect![[r#"
            CannotTell: This is a guest of VMware, and steal in /proc/stat is 0 since boot: nothing was taken, or it is not told.
            (VMware tells it to guests whose configuration has stealclock.enable = "TRUE" (hardware version 13 or newer, Linux 5.8 or later))
        "#]],
    );
    told(
        "steal",
        &["proc/cpuinfo"],
        "proc/cpuinfo = flags\\t: fpu vme\\n",
        &expect![[r#"
            Fine: No hypervisor is below (no `hypervisor` among the flags of /proc/cpuinfo): nobody steals.
        "#]],
    );
    told(
        "steal",
        &["sys/class/dmi"],
        "",
        &expect![[r#"
        Fine: This is a guest of a hypervisor without a name, which tells what it takes: 0.4 % of the time since boot (steal in /proc/stat).
    "#]],
    );
}

#[test]
fn disks_may_not_be_counted() {
    let off = "sys/block/sdb/queue/iostats = 0\\n";
    told(
        "disks",
        &[],
        off,
        &expect![[r#"
        Lacking: The kernel does not count what sdb does: /sys/block/sdb/queue/iostats is 0.
        (until the next boot)
        $ echo 1 | tee /sys/block/sdb/queue/iostats
    "#]],
    );
}

#[test]
fn bpf_says_why_not() {
    as_user(
        "bpf",
        |it| it.filtered = true,
        &expect![[r#"
            Lacking: bpf(2) takes no map here (EPERM): a seccomp filter watches over this process. This version uses no BPF.
        "#]],
    );
    as_user(
        "bpf",
        |it| it.bpf_map = Err(Errno::NOSYS),
        &expect![[r#"
            Lacking: bpf(2) takes no map here (ENOSYS): the kernel was built without CONFIG_BPF_SYSCALL. This version uses no BPF.
        "#]],
    );
    let locked = "sys/kernel/security/lockdown = none integrity [confidentiality]\\n";
    told(
        "bpf",
        &[],
        locked,
        &expect![[r#"
        Lacking: Maps and programs are taken, but the kernel is locked down for confidentiality (/sys/kernel/security/lockdown): programs may not read its memory. This version uses no BPF.
    "#]],
    );
    as_user(
        "perf",
        |it| it.cpu_clock = Err(Errno::ACCESS),
        &expect![[r#"
            Lacking: perf_event_open(2) gives EACCES (kernel.perf_event_paranoid is 3). No verdict of this version uses it.
            (until the next boot; `kernel.perf_event_paranoid=2` in /etc/sysctl.d/90-stallscope.conf keeps it)
            $ sudo sysctl -w kernel.perf_event_paranoid=2
        "#]],
    );
}

#[test]
fn every_lack_says_what_it_costs_or_that_no_verdict_needs_it() {
    let nothing = survey_of(&Drawn::new("proc/version = Linux"), Some(ordinary()));
    for it in &nothing.capabilities {
        let is_lack = it.availability == Availability::Lacking;
        let unneeded = ["this version", "cpu.softirq knows it"];
        let said = it.hurts()
            || unneeded
                .iter()
                .any(|words| it.sentence.to_lowercase().contains(words));
        assert!(!is_lack || said, "{it:?}");
        assert!(it.sentence.ends_with('.'), "{it:?}");
    }
    expect!["Stallscope can say next to nothing here; 8 things lack: cpu times, pressure, group pressure, control groups, other users, priority, memory lock, disks; 7 things cannot be told."].assert_eq(&nothing.summary);
}

#[test]
fn names_of_checks_are_short_and_told_apart() {
    for (index, (name, _)) in CHECKS.iter().enumerate() {
        assert!(name.len() <= 16, "{name} leaves its text no room");
        assert!(
            CHECKS[..index].iter().all(|(other, _)| other != name),
            "{name}"
        );
    }
}

proptest! {
    /// Files of another machine may hold anything.
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..WHOLE.len()) {
        struct Noise(Vec<u8>);
        impl Tree for Noise {
            fn read(&self, _: &str) -> Result<Vec<u8>, Errno> { Ok(self.0.clone()) }
            fn entries(&self, path: &str) -> Result<Vec<tree::Entry>, Errno> {
                let entry = |name: &str| tree::Entry { name: name.to_owned(), is_folder: path.len() < 40 };
                Ok(vec![entry("1"), entry("vda"), entry("cpu.pressure")])
            }
            fn link(&self, _: &str) -> Result<String, Errno> { Ok(String::from_utf8_lossy(&self.0).into_owned()) }
        }
        let mut mixed = WHOLE.replace("\\n", "\n").into_bytes();
        let end = (cut + bytes.len()).min(mixed.len());
        mixed.splice(cut.min(end)..end, bytes);
        let survey = examine(&Patient::new(&Noise(mixed), Some(ordinary()), true), Path::new("/x"));
        prop_assert_eq!(survey.capabilities.len(), CHECKS.len());
    }
}
