//! Compared with the kernel's own pressure under real load; its file is read only at start and end.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use model::EntityId;
use rustix::process::Signal;

use super::*;
use kernel::clock::boottime;
use kernel::hierarchies::Hierarchies;
use kernel::requirement::needed;

/// A v2 group with processes in it; both are removed when this is dropped.
struct Loaded {
    folder: PathBuf,
    children: Vec<Child>,
}

impl Loaded {
    fn new(mount: &Path, name: &str) -> Self {
        let folder = mount.join(format!("stallscope-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("root may make groups");
        Self {
            folder,
            children: Vec::new(),
        }
    }

    fn run(&mut self, script: &str) {
        let command = format!("echo $$ > {}/cgroup.procs; {script}", self.folder.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).stdout(Stdio::null());
        kernel::signal_at_parents_end(&mut shell, Signal::KILL);
        self.children.push(shell.spawn().expect("sh is there"));
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let end = Instant::now() + Duration::from_secs(2);
        while std::fs::remove_dir(&self.folder).is_err() && Instant::now() < end {
            sleep(Duration::from_millis(20));
        }
    }
}

fn loaded() -> Option<(Stalls, Output)> {
    let mut out = Output::default();
    let stalls = needed("pressure by BPF", Stalls::load(&mut out))?;
    Some((stalls, out))
}

/// `some total=` of a pressure file, ns.
fn total(file: &Path) -> i64 {
    let text = std::fs::read_to_string(file).expect("pressure is counted");
    let some = text
        .lines()
        .next()
        .and_then(|line| line.rsplit_once("total="));
    some.expect("it has a total")
        .1
        .parse::<i64>()
        .expect("a number")
        * 1_000
}

/// Pressure of the machine and of a group under a load: (by file, by BPF), as shares of the time.
fn compared(load: impl FnOnce(&mut Loaded), name: &str) -> Option<[(f64, f64); 2]> {
    let (mut stalls, mut out) = loaded()?;
    // File and programs have to be read at the same time, whatever else wants the CPU.
    kernel::limits::raise_priority();
    let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let mount = hierarchies
        .v2
        .clone()
        .expect("there is a v2 hierarchy")
        .point;
    let mut group = Loaded::new(&mount, name);
    load(&mut group);
    let mut cgroups = Cgroups::new(hierarchies, Vec::new());
    let path = format!("/{}", group.folder.file_name()?.to_str()?);
    cgroups.ensure(&path, boottime(), &mut out);
    cgroups.mark_tracked(std::iter::once(&path), &mut out.gaps);
    stalls.follow(boottime(), &cgroups, &mut out.gaps);
    sleep(Duration::from_millis(300));
    let files = [
        PathBuf::from("/proc/pressure/cpu"),
        group.folder.join("cpu.pressure"),
    ];
    stalls.take_folds(boottime(), &cgroups, &mut out);
    let mut read = |stalls: &mut Stalls| stalls.read(boottime(), &cgroups, &mut out);
    read(&mut stalls);
    let (begin, files_before) = (Instant::now(), files.each_ref().map(|it| total(it)));
    read(&mut stalls);
    // Reading the file makes the kernel end an interval at that moment.
    let folded = |stalls: &mut Stalls| {
        [0, 1].map(|slot| {
            let monitored = stalls.monitored[slot].as_mut().expect("both are watched");
            let group = &mut monitored.series.group;
            assert!(group.end(boottime()), "it was folded before");
            group.pressure()[0]
        })
    };
    let before = folded(&mut stalls);
    while begin.elapsed() < Duration::from_secs(8) {
        sleep(Duration::from_millis(100));
        read(&mut stalls);
    }
    let after = folded(&mut stalls);
    let (files_after, wall) = (files.each_ref().map(|it| total(it)), begin.elapsed());
    let share = |grown: i64| grown as f64 / wall.as_nanos() as f64;
    Some([0, 1].map(|it| {
        (
            share(files_after[it] - files_before[it]),
            share(after[it] - before[it]),
        )
    }))
}

const BURN: &str = "while :; do :; done";
/// Two of these on one CPU: each waits for the other ten times a second, for a moment.
const LIGHT: &str = "taskset -pc 0 $$; while :; do sleep 0.1; done";

/// Largest difference between the kernel's share and ours, of the machine and of a group.
const MOST_APART: [f64; 2] = [0.003, 0.001];
/// The end of the kernel's interval is known exactly, but not how the load was spread over the 100 ms
/// around that time, and with other threads on the same CPUs it is sometimes uneven.
const TRIES: usize = 3;

#[test]
fn pressure_agrees_with_the_kernels_under_any_load() {
    type Load = fn(&mut Loaded);
    let full: Load = |it| (0..4).for_each(|_| it.run(BURN));
    let light: Load = |it| (0..2).for_each(|_| it.run(LIGHT));
    let mixed: Load = |it| {
        it.run("taskset -pc 1 $$; while :; do :; done");
        (0..2).for_each(|_| it.run(LIGHT));
    };
    for (name, load) in [("full", full), ("light", light), ("mixed", mixed)] {
        let mut seen = Vec::new();
        let agree = (0..TRIES).any(|_| {
            let pressure = compared(load, name);
            seen.extend(pressure);
            pressure.is_none_or(|both| {
                let diff = both.map(|(file, own)| (file - own).abs());
                (0..2).all(|it| diff[it] < MOST_APART[it])
            })
        });
        assert!(agree, "{name}: {seen:?}");
        let shown = seen.last().map(|both| both.map(|(_, own)| own));
        println!("{name}: {shown:?}");
    }
}

impl Loaded {
    /// Its path from the root of the hierarchy.
    fn path(&self) -> String {
        let name = self.folder.file_name().and_then(|it| it.to_str());
        format!("/{}", name.expect("a plain name"))
    }

    fn track(&self, cgroups: &mut Cgroups, out: &mut Output) -> EntityId {
        let path = self.path();
        let entity = cgroups.ensure(&path, boottime(), out);
        cgroups.mark_tracked(std::iter::once(&path), &mut out.gaps);
        entity
    }

    fn switch_pressure(&self, to: &str) {
        std::fs::write(self.folder.join("cgroup.pressure"), to).expect("root may switch it");
    }
}

/// Groups of the machine, and where those of v2 are.
fn groups_of_the_machine() -> (Cgroups, PathBuf) {
    let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let mount = hierarchies.v2.clone().expect("there is a v2 hierarchy");
    (Cgroups::new(hierarchies, Vec::new()), mount.point)
}

fn read_three_times(stalls: &mut Stalls, cgroups: &Cgroups, out: &mut Output) {
    for _ in 0..3 {
        sleep(Duration::from_millis(30));
        let now = boottime();
        stalls.follow(now, cgroups, &mut out.gaps);
        stalls.read(now, cgroups, out);
        stalls.take_folds(now, cgroups, out);
    }
}

#[test]
fn disabled_pressure_is_a_gap_and_resumes_afterwards() {
    let Some((mut stalls, mut out)) = loaded() else {
        return;
    };
    let (mut cgroups, mount) = groups_of_the_machine();
    let mut group = Loaded::new(&mount, "off");
    group.run(BURN);
    let entity = group.track(&mut cgroups, &mut out);
    for switch in ["1", "0", "1"] {
        group.switch_pressure(switch);
        read_three_times(&mut stalls, &cgroups, &mut out);
    }
    stalls.end(&mut out);
    let reported: Vec<_> = out.gaps.take_fresh().collect();
    let reasons: Vec<_> = reported.iter().map(|gap| &gap.reason).collect();
    assert!(
        matches!(reasons[..], [GapReason::Unsupported(why), GapReason::Vanished, GapReason::Vanished]
            if why.to_string().contains("switched off")),
        "{reported:?}"
    );
    let window = reported[1].window.expect("it is over");
    let mut rows = out.tables[stalls.groups.density].rows.iter();
    assert!(rows.any(|(time, ..)| time >= window.end));
    let mut rows = out.tables[stalls.groups.density].rows.iter();
    assert!(rows.all(|(time, ..)| !(window.start < time && time < window.end)));
    let stalled = out.tables[stalls.groups.pressure].rows.iter();
    let of_group: Vec<_> = stalled.filter(|(_, whose, _)| *whose == entity).collect();
    let (first, last) = (of_group[0].2[0], of_group[of_group.len() - 1].2[0]);
    let lasted = of_group[of_group.len() - 1].0.ns_since(of_group[0].0);
    assert!((0..=lasted).contains(&(last - first)), "{of_group:?}");
    assert!(
        of_group.is_sorted_by_key(|(time, ..)| *time),
        "{of_group:?}"
    );
}

#[test]
fn a_group_whose_pressure_is_off_throughout_has_a_gap_and_no_rows() {
    let Some((mut stalls, mut out)) = loaded() else {
        return;
    };
    let (mut cgroups, mount) = groups_of_the_machine();
    let group = Loaded::new(&mount, "always-off");
    group.switch_pressure("0");
    let never = group.track(&mut cgroups, &mut out);
    read_three_times(&mut stalls, &cgroups, &mut out);
    stalls.end(&mut out);
    let reported: Vec<_> = out.gaps.take_fresh().collect();
    assert!(
        matches!(&reported[..], [gap] if gap.what == *group.path() && gap.window.is_none()),
        "{reported:?}"
    );
    let tables = [stalls.groups.density, stalls.groups.pressure];
    let mut all = tables.iter().flat_map(|it| out.tables[*it].rows.iter());
    assert!(!all.any(|(_, whose, _)| whose == never));
}

#[test]
fn a_removed_but_referenced_group_frees_its_slot() {
    let Some((mut stalls, _)) = loaded() else {
        return;
    };
    let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let mount = hierarchies.v2.expect("there is a v2 hierarchy").point;
    let group = Loaded::new(&mount, "removed");
    let id = group.folder.metadata().expect("it is there").ino();
    let mut is_read = || {
        stalls.programs.read_totals().expect("it is loaded");
        stalls.programs.totals().any(|it| it.id == id)
    };
    assert!(is_read());
    // A socket refers to the group in which it was created.
    let script = format!(
        "echo $$ > {0}/cgroup.procs; exec 3<>/dev/udp/127.0.0.1/9; echo $$ > {1}/cgroup.procs; \
         rmdir {0} && echo removed; read",
        group.folder.display(),
        mount.display()
    );
    let mut bash = Command::new("bash");
    let bash = bash
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut bash = bash.spawn().expect("bash is there");
    let mut reported = [0; 8];
    let out = bash.stdout.as_mut().expect("it is piped");
    out.read_exact(&mut reported).expect("it is removed");
    let is_read = is_read();
    drop(bash.stdin.take());
    let _ = bash.wait();
    assert!(!is_read);
}

#[test]
fn once_loaded_it_needs_no_privilege() {
    let Some((mut stalls, _)) = loaded() else {
        return;
    };
    let unprivileged = std::thread::spawn(move || {
        kernel::privileges::give_up_all_but(kernel::privileges::Duty::Handed);
        let online = stalls.programs.online();
        stalls.programs.calibrate().expect("clocks are looked at");
        assert_eq!(stalls.programs.online(), online);
        stalls.programs.watch(1, 1).expect("a group is watched");
        stalls.programs.read_monitored().expect("it is read");
        assert!(stalls.programs.state(0).is_some(), "the machine is there");
        stalls.programs.read_totals().expect("folds are read");
    });
    unprivileged.join().expect("nothing was refused");
}
