//! Against the kernel's own account, under real load: a file is read only at start and end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::clock::boottime;
use crate::hierarchies::Hierarchies;
use crate::probe::Scratch;
use crate::registry::Registry;

/// A group of v2 with processes in it; both are gone when it is dropped.
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

fn loaded() -> Option<Stalls> {
    match Stalls::load(EntityId(0)) {
        Ok(stalls) => Some(stalls),
        Err(why) => {
            let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
            assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
            println!("SKIPPED: pressure by BPF: {why}");
            None
        }
    }
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

/// Pressure of the machine and of a group under a load: (by file, by BPF), share of the time.
fn compared(load: impl FnOnce(&mut Loaded), name: &str) -> Option<[(f64, f64); 2]> {
    let mut stalls = loaded()?;
    // File and programs are to be read at one time, whoever else wants the CPU.
    crate::limits::raise_priority();
    let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let mount = hierarchies
        .v2
        .clone()
        .expect("there is a v2 hierarchy")
        .point;
    let mut group = Loaded::new(&mount, name);
    load(&mut group);
    let mut cgroups = Cgroups::new(hierarchies, |_| false);
    let (mut scratch, mut registry) =
        (Scratch::new(sensors::Facts::default()), Registry::default());
    let path = format!("/{}", group.folder.file_name()?.to_str()?);
    cgroups.ensure(&path, boottime(), &mut scratch, &mut registry);
    cgroups.mark_near(std::iter::once(&path), &mut scratch.gaps);
    stalls.follow(&cgroups, &mut scratch.gaps);
    sleep(Duration::from_millis(300));
    let files = [
        PathBuf::from("/proc/pressure/cpu"),
        group.folder.join("cpu.pressure"),
    ];
    let mut density = intakes();
    let mut pressure: Vec<Intake> = sensors::all()
        .iter()
        .map(|it| Intake::new(it.table))
        .collect();
    stalls.take_folds(boottime(), &cgroups, &mut pressure);
    let mut read = |stalls: &mut Stalls| {
        stalls.sample(boottime(), (&mut density, &mut pressure));
    };
    read(&mut stalls);
    let (begin, files_before) = (Instant::now(), files.each_ref().map(|it| total(it)));
    read(&mut stalls);
    // Whoever reads the file has the kernel end an interval then.
    let folded = |stalls: &mut Stalls| {
        [0, 1].map(|slot| {
            let watched = stalls.watched[slot].as_mut().expect("both are watched");
            watched.stalled.settle(Some(1.0));
            watched.stalled.pressure()[0]
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
/// Two of it on one CPU: each waits for the other ten times a second, for a moment.
const LIGHT: &str = "taskset -pc 0 $$; while :; do sleep 0.1; done";

/// The kernel's share and ours differ by this much at most, of the machine and of a group.
const MOST_APART: [f64; 2] = [0.003, 0.001];
/// When exactly the kernel ended an interval is known; how a load was spread over the 100 ms around it is
/// not, and with others on the same CPUs it is uneven at times.
const TRIES: usize = 3;

#[test]
fn it_is_the_kernels_number_whatever_the_load() {
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
                let apart = both.map(|(file, own)| (file - own).abs());
                (0..2).all(|it| apart[it] < MOST_APART[it])
            })
        });
        assert!(agree, "{name}: {seen:?}");
        let shown = seen.last().map(|both| both.map(|(_, own)| own));
        println!("{name}: {shown:?}");
    }
}
