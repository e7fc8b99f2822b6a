//! What a recorder could leave behind on a machine: groups, files outside its recording, changed
//! settings, processes of its own; and what it could do to a process that it started or watched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::recorder;
use crate::groups::Hierarchies;

/// Settings that somebody who measures could want to change.
const SETTINGS: [&str; 10] = [
    "kernel/bpf_stats_enabled",
    "kernel/kptr_restrict",
    "kernel/nmi_watchdog",
    "kernel/perf_event_paranoid",
    "kernel/sched_rt_runtime_us",
    "kernel/sched_schedstats",
    "kernel/task_delayacct",
    "kernel/yama/ptrace_scope",
    "fs/file-max",
    "fs/nr_open",
];
/// Where programs put files that nobody asked for, beside the folder that they are told is for that.
const PLACES: [&str; 3] = ["/var/tmp", "/dev/shm", "/run"];
/// What is there for longer was left: other tests may run on the same machine, and it may be slow.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it is looked for.
const POLL: Duration = Duration::from_millis(100);
/// In the name of what the program would make; the lab's own names go on behind it.
const NAME: &str = "stallscope";
const LAB: &str = "stallscope-lab";

/// The machine as a recorder must leave it.
#[derive(PartialEq, Eq)]
pub(super) struct Traces {
    settings: BTreeMap<&'static str, String>,
    made: BTreeSet<PathBuf>,
}

impl Traces {
    /// As it is now.
    pub(super) fn now() -> Result<Self> {
        let settings = SETTINGS.into_iter().filter_map(|name| {
            let value = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
            Some((name, value))
        });
        let mut made = BTreeSet::new();
        for place in PLACES {
            made.extend(folders_and_files(Path::new(place)).filter(|path| is_ours(path)));
        }
        for hierarchy in Hierarchies::find()?.all() {
            groups_below(&hierarchy.mount, &mut made);
        }
        Ok(Self {
            settings: settings.collect(),
            made,
        })
    }

    /// An error if anything is there now that was not before.
    pub(super) fn unchanged(&self) -> Result<()> {
        let now = Self::now()?;
        let changed = |name: &&&str| now.settings.get(**name) != self.settings.get(**name);
        if let Some(name) = self.settings.keys().find(changed) {
            bail!(
                "the setting {name} was {:?} and is {:?}",
                self.settings.get(name),
                now.settings.get(name)
            );
        }
        // Tests of the program make groups by its name, and take them away again.
        let since = Instant::now();
        for left in now.made.difference(&self.made) {
            while left.exists() {
                if since.elapsed() > PATIENCE {
                    bail!("{} was left behind", left.display());
                }
                std::thread::sleep(POLL);
            }
        }
        Ok(())
    }
}

fn folders_and_files(place: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(NAME) && !name.contains(LAB)
}

fn groups_below(folder: &Path, made: &mut BTreeSet<PathBuf>) {
    for path in folders_and_files(folder).filter(|path| path.is_dir()) {
        groups_below(&path, made);
        if is_ours(&path) {
            made.insert(path);
        }
    }
}

/// No process of a round's recorder is left but these, and no file but these names in its folder.
pub(super) fn nothing_else(folder: &Path, processes: &[u32], files: &[&str]) -> Result<()> {
    let left = recorder::offspring(folder);
    if let Some(pid) = left.iter().find(|pid| !processes.contains(pid)) {
        bail!("process {pid} was left behind");
    }
    let temporary = folder.join("tmp");
    for path in folders_and_files(folder).chain(folders_and_files(&temporary)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let expected = name.ends_with(".out") || name.ends_with(".err") || name == "tmp";
        if !expected && !files.contains(&&*name) {
            bail!("{} was left behind", path.display());
        }
    }
    Ok(())
}

/// What a process runs under: limits, priority, CPUs.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Terms {
    limits: String,
    allowed: String,
    /// Fields 18, 19 and 41 of proc(5): priority, nice, policy.
    priority: Vec<String>,
}

impl Terms {
    /// Those of a process, which must not be stopped; `None` when it has ended.
    pub(super) fn of(pid: u32) -> Result<Option<Self>> {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        let (Ok(limits), Ok(status), Ok(stat)) = (read("limits"), read("status"), read("stat"))
        else {
            return Ok(None);
        };
        let of_status = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let state = of_status("State:").unwrap_or_default().trim();
        if state.starts_with(['Z', 'X']) {
            return Ok(None);
        }
        if !state.starts_with(['R', 'S', 'D']) {
            bail!("process {pid} is in state {state}");
        }
        let (_, after_name) = stat.rsplit_once(") ").context("a stat line has a name")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        let field = |number: usize| (*fields.get(number - 3).unwrap_or(&"")).to_owned();
        let allowed = of_status("Cpus_allowed:").unwrap_or_default().to_owned();
        Ok(Some(Self {
            limits,
            allowed,
            priority: [18, 19, 41].map(field).to_vec(),
        }))
    }
}
