//! Whole machines as text, and what the report says about each. Their files have the texts of the kernels and
//! distributions that are named.

mod hardware;
mod pressure;
mod rights;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rustix::io::Errno;

use super::probes::testing::{everything, ordinary};
use super::tree::testing::Drawn;
use super::*;

/// A machine on which nothing is missing: Debian 13 on a KVM host, with a disk and a group.
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
    sys/fs/cgroup/system.slice/cpu.max = max 100000\n
    sys/fs/cgroup/system.slice/cpu.pressure = some total=1\n
    sys/fs/cgroup/system.slice/io.max = x
    sys/fs/cgroup/system.slice/memory.max = max\n
    sys/kernel/btf/vmlinux = x
"#;

/// `WHOLE` without the lines that begin with one of `without`, plus the lines of `with`.
fn redrawn(without: &[&str], with: &str) -> Drawn {
    let stays = |line: &&str| !without.iter().any(|path| line.trim().starts_with(path));
    let lines: Vec<_> = WHOLE.lines().filter(stays).collect();
    Drawn::new(&(lines.join("\n") + "\n" + with))
}

fn report_of(tree: &Drawn, probes: Option<Probes>) -> DoctorReport {
    examine(&HostFacts::new(tree, probes, false), Path::new("/"))
}

/// The answer of one check.
fn of(tree: &Drawn, probes: Option<Probes>, check: &str) -> String {
    let report = report_of(tree, probes);
    let found = report.capabilities.iter().find(|it| it.check == check);
    let found = found.expect("it is a check");
    let mut lines = vec![format!("{:?}: {}", found.availability, found.sentence)];
    if let Some(fix) = &found.fix {
        lines.extend((!fix.how.is_empty()).then(|| format!("({})", fix.how)));
        lines.extend(fix.commands.iter().map(|it| format!("$ {it}")));
    }
    lines.join("\n") + "\n"
}

/// Everything that is not fine, one line each.
fn wanting(tree: &Drawn, probes: Option<Probes>) -> String {
    let report = report_of(tree, probes);
    let mut lines = vec![report.summary, report.machine];
    let rest = report.capabilities.into_iter();
    let rest = rest.filter(|it| it.availability != Availability::Fine);
    lines.extend(rest.map(|it| format!("{} {:?}: {}", it.check, it.availability, it.sentence)));
    lines.join("\n") + "\n"
}

fn assert_answer(check: &str, without: &[&str], with: &str, expected: &Expect) {
    let tree = redrawn(without, with);
    expected.assert_eq(&of(&tree, Some(everything()), check));
}

fn as_user(check: &str, change: fn(&mut Probes), expected: &Expect) {
    let mut probes = ordinary();
    change(&mut probes);
    expected.assert_eq(&of(&redrawn(&[], ""), Some(probes), check));
}

#[test]
fn root_on_a_full_machine_misses_nothing() {
    expect![[r#"
        Stallscope works here: everything that it uses is there.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, asked as root
    "#]]
    .assert_eq(&wanting(&redrawn(&[], ""), Some(everything())));
}

#[test]
fn an_ordinary_user_misses_rights() {
    expect![[r#"
        Stallscope works here, with cpu times, pressure, group pressure, run queue delay, control groups, disks; 3 things are missing: other users, priority, memory lock.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, asked as user 1000
        other_users Missing: This is user 1000, without CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH: only threads of what it starts itself say what they are blocked in (kernel.yama.ptrace_scope is 1).
        priority Missing: The sampler stays at normal priority: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0.
        memory_lock Missing: The sampler may not lock its memory: no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is limited.
        bpf Missing: bpf(2) takes no map here (EPERM): no CAP_BPF, and kernel.unprivileged_bpf_disabled is 2. No verdict of this version needs it: pressure is read from files instead.
        bpf_pressure Missing: The program that reads pressure where the kernel counts it does not load: Operation not permitted (os error 1). Its files are read instead, every 2 s, as every verdict of this version wants it: what is shorter is not seen, and other readers bend it.
        bpf_thread_time Missing: The programs that count at every switch where the time of threads goes do not load: Operation not permitted (os error 1). Files are read instead, every 100 ms, as every verdict of this version wants it: times on a CPU and waiting for one are exact in them, what blocked threads wait for is a sample, and who had the CPU meanwhile is guessed.
        bpf_requests Missing: The programs that time requests at the sockets of servers do not load: Operation not permitted (os error 1). Verdicts of this version can do without: throughput and latency are then known as far as the load generator tells them.
        bpf_block Missing: The programs that count requests of block devices by process, control group and file do not load: Operation not permitted (os error 1). Verdicts of this version can do without: of disks /proc/diskstats tells how many operations there were and how long they took on average, but not whose, how large, in which order and how far apart they were.
        bpf_flow Missing: The programs that count what processes exchange with each peer do not load: Operation not permitted (os error 1). Verdicts of this version can do without: TCP connections of target, generator and dependencies are read once a second, without short ones; UDP, unix sockets and other processes are not seen.
        bpf_processes Missing: The programs that report starts and ends of processes do not load: Operation not permitted (os error 1). Verdicts of this version can do without: processes are looked for every 200 ms, so that those of shorter lives are not seen, nor what was started, by whom and how it ended.
        bpf_tasks Missing: The program that reads in one walk what all processes have used does not load: Operation not permitted (os error 1). Two files of each are read instead, which tell as much to 10 ms, and cost more; no verdict of this version needs it.
        perf Missing: cpu-clock events can be opened for own processes only (kernel.perf_event_paranoid is 3); hardware counters cannot (ENOENT). No verdict of this version uses them; without those of all processes no call stacks are recorded.
    "#]].assert_eq(&wanting(&redrawn(&[], ""), Some(ordinary())));
}

#[test]
fn captured_files_do_not_show_what_a_kernel_allows() {
    expect![[r#"
        Stallscope works here: everything that it uses is there; 15 things not known.
        Debian GNU/Linux 13 (trixie), Linux 6.12.48+deb13-amd64, 2 CPUs, captured files: what its kernel allows was not tried
        other_users CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        descriptors CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        priority CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        memory_lock CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        sockets CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        recordings CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_pressure CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_thread_time CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_requests CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_block CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_flow CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_processes CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        bpf_tasks CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
        perf CannotTell: Captured files do not tell: run `stallscope doctor` on that machine.
    "#]].assert_eq(&wanting(&redrawn(&[], ""), None));
}

#[test]
fn every_missing_capability_states_its_cost_or_that_no_verdict_needs_it() {
    let nothing = report_of(&Drawn::new("proc/version = Linux"), Some(ordinary()));
    for it in &nothing.capabilities {
        let is_missing = it.availability == Availability::Missing;
        let unneeded = ["this version", "cpu.softirq knows it"];
        let is_stated = it.hurts()
            || unneeded
                .iter()
                .any(|words| it.sentence.to_lowercase().contains(words));
        assert!(!is_missing || is_stated, "{it:?}");
        assert!(it.sentence.ends_with('.'), "{it:?}");
    }
    expect!["Stallscope can record next to nothing here; 9 things are missing: cpu times, pressure, group pressure, run queue delay, control groups, other users, priority, memory lock, disks; 5 things not known."].assert_eq(&nothing.summary);
}

#[test]
fn names_of_checks_are_short_and_distinct() {
    for (index, (name, _)) in CHECKS.iter().enumerate() {
        assert!(name.len() <= 16, "{name} leaves its text no room");
        assert!(
            CHECKS[..index].iter().all(|(other, _)| other != name),
            "{name}"
        );
    }
}

proptest! {
    /// Another machine's files may have any content.
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..WHOLE.len()) {
        struct Noise(Vec<u8>);
        impl Tree for Noise {
            fn read(&self, _: &str) -> Result<Vec<u8>, Errno> { Ok(self.0.clone()) }
            fn entries(&self, path: &str) -> Result<Vec<tree::Entry>, Errno> {
                let entry = |name: &str| tree::Entry { name: name.to_owned(), is_folder: path.len() < 20 };
                Ok(vec![entry("1"), entry("vda"), entry("cpu.pressure")])
            }
            fn link(&self, _: &str) -> Result<String, Errno> { Ok(String::from_utf8_lossy(&self.0).into_owned()) }
        }
        let mut mixed = WHOLE.replace("\\n", "\n").into_bytes();
        let end = (cut + bytes.len()).min(mixed.len());
        mixed.splice(cut.min(end)..end, bytes);
        let report = examine(&HostFacts::new(&Noise(mixed), Some(ordinary()), true), Path::new("/x"));
        prop_assert_eq!(report.capabilities.len(), CHECKS.len());
    }
}

#[test]
fn every_check_is_documented_in_its_order() {
    let page = include_str!("../../../../docs/doctor.md");
    let table = page.lines().filter(|line| line.starts_with("| `"));
    let table = table.take_while(|line| !line.contains("`summary`"));
    let names = table.flat_map(|line| line.split('|').nth(1).unwrap_or_default().split(','));
    let names: Vec<_> = names.map(|name| name.trim().trim_matches('`')).collect();
    let checks: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, checks);
}
