//! Compared with the kernel's pressure of a control group with exactly the same threads; its file is read
//! only at start and end.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::bpf::pressure::Pressure;
use crate::bpf::thread_time::psi_groups::Membership;
use crate::bpf::thread_time::tests::{Started, as_target_within, loaded};
use crate::bpf::thread_time::waits::{Group, OnDisk, burn};
use crate::bpf::thread_time::{Record, ThreadTime};
use crate::clock::boottime;
use crate::hierarchies::Hierarchies;
use crate::requirement::skipped;

mod beside_kernel;
mod light;
mod several;

use beside_kernel::{Kernels, compared};

/// Stalls that both count: all but those of interrupts.
const COMPARED: usize = STALLS - 1;
/// Their names, in the order of our states.
const NAMES: [&str; COMPARED] = [
    "cpu some",
    "cpu full",
    "memory some",
    "memory full",
    "io some",
    "io full",
];

/// A v2 group, removed when this is dropped, after the processes in it.
struct Around {
    processes: Vec<Started>,
    folder: PathBuf,
}

impl Around {
    fn new() -> Self {
        let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
        let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
        let mount = hierarchies.v2.expect("there is a v2 hierarchy").point;
        let folder = mount.join(format!("stallscope-psi-groups-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("root may make groups");
        Self {
            processes: Vec::new(),
            folder,
        }
    }

    /// Starts a shell that is in the group from its first command on.
    fn run(&mut self, script: &str) -> u32 {
        let script = format!("echo $$ > {}/cgroup.procs; {script}", self.folder.display());
        let process = Started::new(Command::new("sh").args(["-c", &script]));
        let pid = process.0.id();
        self.processes.push(process);
        pid
    }

    /// The kernel's pressure totals so far, ns.
    fn totals(&self) -> [i64; COMPARED] {
        let resources = ["cpu", "memory", "io"].into_iter();
        let mut all = resources.flat_map(|resource| {
            let file = self.folder.join(format!("{resource}.pressure"));
            let text = std::fs::read_to_string(file).expect("pressure is counted");
            let totals = text.lines().filter_map(|it| it.rsplit_once("total="));
            let totals = totals.map(|(_, us)| us.parse::<i64>().expect("a number") * 1_000);
            totals.collect::<Vec<_>>()
        });
        std::array::from_fn(|_| all.next().expect("some and full of each"))
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        self.processes.clear();
        let end = Instant::now() + Duration::from_secs(3);
        while std::fs::remove_dir(&self.folder).is_err() && Instant::now() < end {
            sleep(Duration::from_millis(20));
        }
    }
}

/// Membership in the group at a place, and in no other.
fn alone(place: usize) -> Membership {
    Membership {
        service: Some(place),
        ..Membership::default()
    }
}

fn put(programs: &mut ThreadTime, pids: &[u32], membership: Membership) {
    let each = pids.iter();
    each.for_each(|pid| as_target_within(programs, *pid, membership));
}

/// A group of which nothing is known from before.
fn first_seen(programs: &impl StallSource, place: usize) -> PsiGroup {
    PsiGroup::new(programs, place, [0; STALLS], Timestamp::default())
}

fn worst(both: &[(f64, f64)]) -> f64 {
    let diff = both.iter().map(|(kernels, own)| (kernels - own).abs());
    diff.fold(0.0, f64::max)
}

fn shown(both: &[(f64, f64); COMPARED]) -> String {
    let each = NAMES
        .iter()
        .zip(both)
        .map(|(name, (kernels, own))| format!("{name} {:.3} {:.3}", 100.0 * kernels, 100.0 * own));
    each.collect::<Vec<_>>().join(", ")
}

/// Makes this process a load: the milliseconds that it is busy, and their period.
const BURSTS: &str = "STALLSCOPE_TEST_BURSTS";

/// The load: busy at the same moments in every process.
fn burst(times: &str) {
    let mut times = times.split(' ').map(|ms| ms.parse().expect("a number"));
    let (busy, period) = (times.next().expect("two"), times.next().expect("two"));
    loop {
        let since_boot = boottime().as_ns() as u64 / 1_000;
        sleep(Duration::from_micros(
            period * 1_000 - since_boot % (period * 1_000),
        ));
        burn(Duration::from_millis(busy));
    }
}

/// A script that runs such a load.
fn bursts(cpu: u32, busy_ms: u64, period_ms: u64, test: &str) -> String {
    let program = std::env::current_exe().expect("this is a program");
    format!(
        "{BURSTS}='{busy_ms} {period_ms}' exec taskset -c {cpu} {} --exact bpf::psi_group::tests::{test}",
        program.display()
    )
}

const BURN: &str = "while :; do :; done";

fn burn_on(cpu: u32) -> String {
    format!("taskset -pc {cpu} $$; {BURN}")
}

/// Another process may read the group's files, which makes the kernel end an interval early; and a missed
/// switch is backfilled only at the next one.
const TRIES: usize = 3;

/// What must come of a try.
#[derive(Clone, Copy)]
struct Expected {
    name: &'static str,
    most_apart: f64,
    /// The place in `NAMES` of the stall that there must be: without one both agree on nothing. Of a file that stayed
    /// in the page cache there is none.
    stall: usize,
}

/// Whether some and full of a group's processes agree with the kernel's, in at least one of several tries.
/// `begin` fills the group; it returns the processes to put into the PSI group, and what must live as long.
fn agree<T>(
    programs: &mut ThreadTime,
    expected: Expected,
    begin: impl Fn(&mut Around) -> (Vec<u32>, T),
) {
    agree_at(programs, expected, 0, |programs| {
        let mut group = Around::new();
        let (pids, limits) = begin(&mut group);
        put(programs, &pids, alone(0));
        (group, limits)
    })
}

/// The same for the PSI group at a place; `begin` puts the group's processes into it.
fn agree_at<T>(
    programs: &mut ThreadTime,
    expected: Expected,
    place: usize,
    begin: impl Fn(&mut ThreadTime) -> (Around, T),
) {
    let Expected {
        name,
        most_apart,
        stall,
    } = expected;
    let mut tries = Vec::new();
    for _ in 0..TRIES {
        let (group, _with_it) = begin(programs);
        sleep(Duration::from_millis(800));
        let [pressure, density] = compared(programs, &group, place);
        drop(group);
        let summary = format!("{}; of density: {}", shown(&pressure), shown(&density));
        println!("{name}: kernel's and ours: {summary}");
        tries.push(summary);
        let stalled = pressure[stall].0 > 0.01;
        if stalled && worst(&pressure) < most_apart && worst(&density) < most_apart {
            return;
        }
    }
    panic!("{name}: {tries:#?}");
}

#[test]
fn pressure_of_processes_agrees_with_the_kernels_for_their_group() {
    if let Ok(times) = std::env::var(BURSTS) {
        return burst(&times);
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let name = "pressure_of_processes_agrees_with_the_kernels_for_their_group";
    let file = std::env::temp_dir().join(format!("stallscope-psi-groups-{}", std::process::id()));
    let written = format!(
        "while :; do dd if=/dev/zero of={} bs=4k count=64 conv=fsync 2> /dev/null; sleep 0.02; done",
        file.display()
    );
    let full = [0, 0, 1, 1].map(burn_on).to_vec();
    let light = vec![bursts(0, 1, 50, name); 2];
    let mut mixed = light.clone();
    mixed.extend([bursts(1, 5, 50, name), burn_on(1), written]);
    for (name, scripts, most_apart) in [
        ("full", full, 0.001),
        ("light", light, 0.003),
        ("mixed", mixed, 0.003),
    ] {
        let expected = Expected {
            name,
            most_apart,
            stall: 0,
        };
        agree(&mut programs, expected, |group| {
            (scripts.iter().map(|it| group.run(it)).collect(), ())
        });
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_v1_group_has_the_pressure_of_the_v2_group_around_it() {
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let limits = [
        ("cpu.shares", "8192"),
        ("cpu.cfs_period_us", "100000"),
        ("cpu.cfs_quota_us", "60000"),
    ];
    if Group::new("cpu", &limits).is_none() {
        return skipped(
            "PSI groups",
            "there is no v1 hierarchy with the cpu controller that groups can be made in",
        );
    }
    let expected = Expected {
        name: "quota",
        most_apart: 0.003,
        stall: 0,
    };
    agree(&mut programs, expected, |group| {
        let limited = Group::new("cpu", &limits).expect("there was one");
        let pids: Vec<_> = [0, 0, 1].map(|cpu| group.run(&burn_on(cpu))).to_vec();
        pids.iter().for_each(|pid| limited.take(*pid));
        (pids, limited)
    });
}

/// Makes this process read a file over and over.
const AGAIN: &str = "STALLSCOPE_TEST_AGAIN";

#[test]
fn direct_reclaim_on_cpu_counts_as_a_memory_stall() {
    if let Some(file) = std::env::var_os(AGAIN) {
        let (file, mut block) = (std::fs::File::open(file).expect("it opens"), [0; 65_536]);
        // An evicted page counts as a refault only if it was used more than once.
        for place in (0..40_u64 << 20).step_by(block.len()).cycle() {
            (0..3).for_each(|_| drop(file.read_at(&mut block, place)));
        }
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let limits = [("memory.limit_in_bytes", "25165824")];
    if Group::new("memory", &limits).is_none() {
        return skipped(
            "PSI groups",
            "there is no v1 hierarchy with the memory controller that groups can be made in",
        );
    }
    let file = OnDisk::new("psi-groups", 40);
    let program = std::env::current_exe().expect("this is a program");
    let script = |cpu| {
        format!(
            "sleep 0.3; {AGAIN}={} exec taskset -c {cpu} {} --exact bpf::psi_group::tests::direct_reclaim_on_cpu_counts_as_a_memory_stall",
            file.path().display(),
            program.display()
        )
    };
    let expected = Expected {
        name: "memory",
        most_apart: 0.01,
        stall: 2,
    };
    agree(&mut programs, expected, |group| {
        // A limit has no effect on pages that are charged to another group.
        let path = format!("if={}", file.path().display());
        let mut out_of_memory = Command::new("dd");
        let out_of_memory = out_of_memory.args([&path, "iflag=nocache", "count=0", "status=none"]);
        assert!(out_of_memory.status().expect("dd is there").success());
        let limited = Group::new("memory", &limits).expect("there was one");
        let pids: Vec<_> = (0..2).map(|cpu| group.run(&script(cpu))).collect();
        pids.iter().for_each(|pid| limited.take(*pid));
        (pids, limited)
    });
}

#[test]
fn cpus_without_a_new_reading_do_not_grow() {
    let reading = |readings, ns| Reading {
        ns: [ns; STATES],
        readings,
    };
    let mut cpu = Cpu::new(reading(7, 500));
    let mut grown = |reading| cpu.grown(&reading, ThreadTime::growth);
    assert_eq!(grown(reading(7, 500)), None, "not read since");
    assert_eq!(grown(reading(8, 500)), None, "the first");
    assert_eq!(grown(reading(9, 700)), Some([200; STATES]));
    assert_eq!(grown(reading(9, 700)), None);
}

/// One CPU, whose times a test sets.
struct Drawn(Reading);

impl StallSource for Drawn {
    fn cpus(&self) -> usize {
        1
    }

    fn online(&self) -> usize {
        1
    }

    fn reading(&self, _place: usize, cpu: usize) -> Option<Reading> {
        (cpu == 0).then_some(self.0)
    }

    fn growth(from: u64, to: u64) -> i64 {
        Pressure::growth(from, to)
    }

    fn mark_missing(&self, _row: &mut [i64]) {}
}

#[test]
fn the_first_reading_and_skipped_ones_add_no_growth() {
    let mut drawn = Drawn(Reading::default());
    let mut group = first_seen(&drawn, 0);
    let mut stalled = |ns: u64, is_known: bool| {
        drawn.0.ns[4] = ns;
        drawn.0.readings += 1;
        if !is_known {
            group.skip();
        }
        group.take(&drawn);
        group.density()[4]
    };
    assert_eq!(stalled(700, true), 0);
    assert_eq!(stalled(900, true), 200);
    assert_eq!(stalled(5_000, false), 200);
    assert_eq!(stalled(5_100, true), 300);
    assert_eq!(stalled(5_090, true), 290, "a torn reading is made up for");
    assert_eq!(stalled(4_000_000_000, true), 3_999_995_200);
    assert_eq!(stalled(90, true), (1 << 32) - 4_710, "it wraps");
}

#[test]
fn without_the_kernels_fold_times_pressure_is_folded_every_2_s() {
    let at = |s: f64| Timestamp::from_ns((s * 1e9) as i64);
    // The first reading, ticks of 100 ms, a sampler that was delayed by 5 s, ticks again.
    let readings = std::iter::once(1_000.0)
        .chain((1..60).map(|tick| 1_000.0 + f64::from(tick) / 10.0))
        .chain((110..160).map(|tick| 1_000.0 + f64::from(tick) / 10.0));
    let readings: Vec<_> = readings.map(at).collect();
    let folds = |kernels| {
        let mut group = first_seen(&Drawn(Reading::default()), 0);
        let mut before = at(1_000.0);
        let folds = readings.iter().filter_map(|now| {
            let since = Window::new(std::mem::replace(&mut before, *now), *now);
            group.fold(since, kernels)
        });
        let folds = folds.map(|fold| fold.ns_since(at(1_000.0)) / 100_000_000);
        folds.collect::<Vec<_>>()
    };
    let unknown = Some(at(0.001));
    assert_eq!(folds(unknown), [0, 22, 44, 66, 110, 132, 154]);
    assert_eq!(folds(None), [0, 20, 40, 60, 110, 130, 150]);
}

/// Run-queue delay of some threads so far, ns, by thread-time accounting.
fn queued_ns(programs: &ThreadTime, is_wanted: impl Fn(&Record) -> bool) -> i64 {
    let records = programs.records().filter(is_wanted);
    let each = records.map(|it| it.account.queued_ns.iter().sum::<u64>());
    each.sum::<u64>().cast_signed()
}
