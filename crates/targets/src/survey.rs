//! Which parts of a machine use and wait for its CPUs and disks: services, containers, virtual machines, and
//! processes that are in none.
//!
//! Two looks at all threads, from files that every user may read. They say who is worth being followed, no more:
//! what somebody waits for is measured then.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use kernel::process_list::{self, Process};
use kernel::process_tree::program_root;
use kernel::units::{self, GroupUnit};
use model::{MachineUnit, UnitKind, name_of};

/// The parent of the kernel's own threads, `kthreadd`.
const KERNEL_THREADS: u32 = 2;
/// What Podman and CRI-O leave beside each container: the parent of the container's first process.
const MONITOR: &str = "conmon";
/// A list read while processes come and go may have a cycle.
const DEEPEST: usize = 1000;

/// What all processes had used and waited for at one moment.
pub struct Look {
    at: Instant,
    processes: BTreeMap<u32, Seen>,
}

/// A process as it was seen.
struct Seen {
    process: Process,
    threads: u32,
    /// On a CPU so far, and waiting for one, all threads, ns.
    run_ns: u64,
    delay_ns: u64,
    /// Threads in uninterruptible sleep.
    blocked: u32,
}

/// A part of the machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// What it is.
    pub unit: MachineUnit,
    /// What people call it.
    pub name: String,
    /// Its processes; of one that is no control group, the topmost alone.
    pub pids: Vec<u32>,
    /// Threads of it.
    pub threads: u32,
    /// Threads that had a CPU, waited for one, or were in uninterruptible sleep, on average.
    pub on_cpu: f64,
    /// See `on_cpu`.
    pub delayed: f64,
    /// See `on_cpu`. From how many were in it at each of two looks.
    pub blocked: f64,
}

impl Part {
    /// Threads that wanted to go on and could not, on average.
    pub fn waiting(&self) -> f64 {
        self.delayed + self.blocked
    }
}

impl Look {
    /// Looks at every thread of the machine, but the kernel's and those of `own`.
    pub fn new(proc: &Path, own: Option<u32>) -> Self {
        let at = Instant::now();
        let mut processes = process_list::all(proc);
        processes.retain(|pid, process| {
            let is_kernels = *pid == KERNEL_THREADS || process.parent == KERNEL_THREADS;
            !is_kernels && !process.zombie && Some(*pid) != own
        });
        let seen = |(pid, process)| (pid, Seen::new(proc, process));
        Self {
            at,
            processes: processes.into_iter().map(seen).collect(),
        }
    }

    /// What was used and waited for since an earlier look, by part of the machine; who did most comes first.
    pub fn since(&self, before: &Self, proc: &Path, own: Option<u32>) -> Vec<Part> {
        let passed_ns = self.at.duration_since(before.at).as_nanos().max(1) as f64;
        let home = own.and_then(|own| group_of(proc, own));
        let mut parts: BTreeMap<Key, Part> = BTreeMap::new();
        for (pid, seen) in &self.processes {
            let earlier = before.processes.get(pid);
            let earlier = earlier.filter(|it| it.process.started == seen.process.started);
            let (run, delay) = earlier.map_or((0, 0), |it| (it.run_ns, it.delay_ns));
            // A thread may have ended in between.
            let part = |now: u64, then: u64| now.saturating_sub(then) as f64 / passed_ns;
            let (on_cpu, delayed) = (part(seen.run_ns, run), part(seen.delay_ns, delay));
            let blocked = seen.blocked + earlier.map_or(seen.blocked, |it| it.blocked);
            let blocked = f64::from(blocked) / 2.0;
            let Some((key, unit)) = self.place(proc, *pid, seen, home.as_deref()) else {
                continue;
            };
            // Its name is read once: many processes may be in a container, and its engine's files may be long.
            let of = parts.entry(key).or_insert_with(|| unit.named(proc));
            if of.unit.group.is_some() {
                of.pids.push(*pid);
            }
            of.threads += seen.threads;
            of.on_cpu += on_cpu;
            of.delayed += delayed;
            of.blocked += blocked;
        }
        let mut parts: Vec<Part> = parts.into_values().collect();
        let weight = |part: &Part| part.waiting() + part.on_cpu;
        parts.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        parts
    }

    /// The part of the machine that a process belongs to; `None` if it has ended.
    ///
    /// The group that we are in ourselves is where a person works: what runs there is told apart by process.
    fn place(
        &self,
        proc: &Path,
        pid: u32,
        seen: &Seen,
        home: Option<&str>,
    ) -> Option<(Key, Place)> {
        let group = group_of(proc, pid).filter(|group| Some(&**group) != home);
        if let Some(found) = group.and_then(|group| GroupUnit::of(&group)) {
            let key = Key::Group(found.unit.group.clone()?);
            return Some((key, Place::Group(found)));
        }
        let comm = seen.process.comm.clone();
        if let Some((root, monitor)) = self.monitored(pid) {
            let place = Place::Monitored {
                root,
                monitor,
                comm,
            };
            return Some((Key::Process(root), place));
        }
        let root = program_root(proc, pid)?;
        Some((Key::Process(root), Place::Process { root, comm }))
    }

    /// The first process of the container that `pid` is in, and the monitor that is the parent of it.
    fn monitored(&self, pid: u32) -> Option<(u32, u32)> {
        let mut line = std::iter::successors(Some(pid), |pid| {
            let parent = self.processes.get(pid)?.process.parent;
            (parent != 0).then_some(parent)
        });
        let mut below = line.next()?;
        line.take(DEEPEST).find_map(|pid| {
            let first = std::mem::replace(&mut below, pid);
            let seen = self.processes.get(&pid)?;
            (seen.process.comm == MONITOR).then_some((first, pid))
        })
    }
}

impl Seen {
    fn new(proc: &Path, process: Process) -> Self {
        let mut seen = Self {
            process,
            threads: 0,
            run_ns: 0,
            delay_ns: 0,
            blocked: 0,
        };
        let tasks = proc.join(seen.process.pid.to_string()).join("task");
        for thread in fs::read_dir(tasks).into_iter().flatten().flatten() {
            let thread = thread.path();
            seen.threads += 1;
            let times = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
            let mut times = times.split(' ').map(|time| time.parse().unwrap_or(0));
            seen.run_ns += times.next().unwrap_or(0);
            seen.delay_ns += times.next().unwrap_or(0);
            let stat = fs::read(thread.join("stat")).unwrap_or_default();
            seen.blocked += u32::from(is_blocked(&stat));
        }
        seen
    }
}

fn is_blocked(stat: &[u8]) -> bool {
    sensors::parse_stat(stat).is_ok_and(|stat| stat.state == b'D')
}

/// What parts are told apart by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Group(String),
    Process(u32),
}

/// Where a process belongs, before anybody has read what people call it.
enum Place {
    /// A service, a container, a virtual machine or another group.
    Group(GroupUnit),
    /// A container without a group of its own, by its first process, and the engine's monitor of it.
    Monitored {
        root: u32,
        monitor: u32,
        comm: String,
    },
    /// A program that is in none, by its topmost process, and the name of a process of it.
    Process { root: u32, comm: String },
}

impl Place {
    /// The part that it is, with the name that people know.
    fn named(self, proc: &Path) -> Part {
        let machine = proc.parent().unwrap_or(proc);
        let (unit, name, pids) = match self {
            Self::Group(found) => {
                let found = found.named(machine);
                (found.unit, found.name, Vec::new())
            }
            Self::Monitored {
                root,
                monitor,
                comm,
            } => {
                let name = units::monitored(machine, monitor);
                let kind = match name {
                    Some(_) => UnitKind::Container,
                    None => UnitKind::Process,
                };
                let unit = MachineUnit { kind, group: None };
                let name = name.or_else(|| process_list::name_of(proc, root));
                (unit, name.unwrap_or(comm), vec![root])
            }
            Self::Process { root, comm } => {
                let machine = virtual_machine(proc, root);
                let kind = match machine {
                    Some(_) => UnitKind::VirtualMachine,
                    None => UnitKind::Process,
                };
                let known = machine.or_else(|| process_list::name_of(proc, root));
                let unit = MachineUnit { kind, group: None };
                (unit, known.unwrap_or(comm), vec![root])
            }
        };
        Part {
            unit,
            name,
            pids,
            threads: 0,
            on_cpu: 0.0,
            delayed: 0.0,
            blocked: 0.0,
        }
    }
}

/// The control group that says most of a process: where its CPU time is shared out, else of v2, else where its
/// memory is limited.
fn group_of(proc: &Path, pid: u32) -> Option<String> {
    let text = fs::read(proc.join(pid.to_string()).join("cgroup")).ok()?;
    let groups = kernel::groups_of(&text);
    let all = [groups.cpu, groups.v2, groups.memory, groups.io];
    let mut named = all
        .into_iter()
        .flatten()
        .map(|path| name_of(path).into_owned());
    named.find(|path| path != "/")
}

/// The name that QEMU was given: `-name guest=web,debug-threads=on`, or `-name web`.
fn virtual_machine(proc: &Path, pid: u32) -> Option<String> {
    let program = process_list::program_name(proc, pid)?;
    if !program.starts_with("qemu-system") && !program.starts_with("qemu-kvm") && program != "kvm" {
        return None;
    }
    let value = process_list::option_of(proc, pid, "-name")?;
    let first = value
        .split(',')
        .find_map(|setting| match setting.split_once('=') {
            Some(("guest", name)) => Some(name),
            Some(_) => None,
            None => Some(setting),
        });
    first.filter(|name| !name.is_empty()).map(str::to_owned)
}
