//! The CPUs: how busy they were, which of them the target may use, and who used them.

use model::{Entity, EntityId, EntityKind, LedgerClass, Role, Timeline, Window};

use crate::measure::Of;
use crate::neighbours;
use crate::scene::{Members, Scene};
use crate::stats::{mean, ratio};
use crate::subject::Subject;

/// The CPUs, as parts of their time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Machine {
    /// Doing anything.
    pub busy: f64,
    /// Doing nothing, without waiting for a disk.
    pub idle: f64,
    /// Idle, while somebody waited for a disk.
    pub iowait: f64,
    /// Taken away by the hypervisor.
    pub steal: f64,
    /// CPU time spent by anything, ns.
    pub busy_ns: f64,
    /// CPUs that were seen.
    pub cpus: u32,
}

/// CPU time over the window, ns.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CpuUse {
    /// By the target, with its children that nobody looked at.
    pub target_ns: f64,
    /// By the generator, with its children.
    pub generator_ns: f64,
    /// By Stallscope itself.
    pub recorder_ns: f64,
    /// All else that the machine did, named or not; without what the target calls.
    pub rest_ns: f64,
    /// Together, with what the target calls.
    pub all_ns: f64,
}

impl CpuUse {
    /// What a CPU time in ns is of all that was used.
    pub fn part(&self, ns: f64) -> f64 {
        if self.all_ns > 0.0 {
            ns / self.all_ns
        } else {
            0.0
        }
    }
}

/// One CPU over the window: parts of the time that was accounted to any state. An idle CPU stops its tick,
/// and what it did between ticks is accounted to none, so of the clock's time a part is in no state; of
/// what is in one, the parts agree with what threads ran.
#[derive(Clone, PartialEq, Debug)]
pub struct Core {
    /// Its number in the recording.
    pub id: EntityId,
    /// Which one.
    pub entity: Entity,
    /// Doing anything.
    pub busy: f64,
    /// The same of the time that the hypervisor left it.
    pub busy_of_usable: f64,
    /// Serving interrupts, hard and soft.
    pub interrupts: f64,
}

impl Core {
    /// The kernel's number of it.
    pub fn number(&self) -> Option<u32> {
        self.entity.name.strip_prefix("cpu")?.parse().ok()
    }
}

/// The states in which a CPU does anything.
pub(crate) const BUSY: [&str; 5] = ["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"];
/// Every state that a CPU's time is accounted to.
pub(crate) const STATES: [&str; 8] = [
    "user_ns",
    "nice_ns",
    "system_ns",
    "irq_ns",
    "softirq_ns",
    "idle_ns",
    "iowait_ns",
    "steal_ns",
];

/// How much the named states of a CPU grew.
fn spent(timeline: &Timeline, cpu: EntityId, window: Window, states: &[&str]) -> f64 {
    let of = Of::new(timeline, "cpu", cpu, window);
    states.iter().filter_map(|state| of.growth(state)).sum()
}

/// The CPUs one by one.
pub(crate) fn cores(timeline: &Timeline, window: Window) -> Vec<Core> {
    let cpus = timeline.entities.of_kind(EntityKind::Cpu);
    let all = cpus.filter_map(|cpu| {
        let spent = |states: &[&str]| spent(timeline, cpu.id, window, states);
        let total = spent(&STATES);
        let busy = spent(&BUSY);
        Some(Core {
            id: cpu.id,
            entity: cpu.entity.clone(),
            busy: ratio(busy, total)?,
            busy_of_usable: ratio(busy, total - spent(&["steal_ns"])).unwrap_or(0.0),
            interrupts: spent(&["irq_ns", "softirq_ns"]) / total,
        })
    });
    all.collect()
}

pub(crate) fn machine(timeline: &Timeline, window: Window) -> Option<Machine> {
    let cpus = || timeline.entities.of_kind(EntityKind::Cpu);
    let seen = cpus().filter(|cpu| {
        let idle = timeline.series("cpu", cpu.id, "idle_ns");
        idle.is_some_and(|idle| idle.covered(window).is_some())
    });
    let seen = seen.count() as u32;
    let sum = |states: &[&str]| -> f64 {
        cpus()
            .map(|cpu| spent(timeline, cpu.id, window, states))
            .sum()
    };
    let total = sum(&STATES);
    let busy = sum(&BUSY) / total;
    (total > 0.0).then(|| Machine {
        busy,
        idle: sum(&["idle_ns"]) / total,
        iowait: sum(&["iowait_ns"]) / total,
        steal: sum(&["steal_ns"]) / total,
        // The CPUs that were seen may not have been seen for the whole window.
        busy_ns: busy * f64::from(seen) * window.len_ns() as f64,
        cpus: seen,
    })
}

pub(crate) fn effective_cpus(scene: &Scene<'_>) -> u32 {
    let meta = scene.meta;
    let allowed = meta
        .targets
        .iter()
        .filter(|target| target.role == Role::Target)
        .filter_map(|target| target.cpus_allowed);
    allowed
        .chain(cpusets(scene))
        .chain([meta.cpus.max(1)])
        .min()
        .unwrap_or(1)
}

/// How many CPUs the cpusets of the target's groups allow, each.
fn cpusets<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = u32> + 'a {
    scene.roles.cpu_groups.all.iter().filter_map(|group| {
        let limit = scene.timeline.series("cgroup_limit", *group, "cpus")?;
        let cpus = u32::try_from(limit.gauge_at(scene.window.end)?).ok();
        cpus.filter(|cpus| *cpus > 0)
    })
}

/// CPUs that nothing but its affinity keeps the target off: its own settings or `taskset`, and no cpuset of its groups.
/// None where their cpusets were not recorded.
pub(crate) fn left_out(scene: &Scene<'_>, cores: &[Core], usable: &[Core]) -> Vec<Core> {
    let targets = scene.meta.targets.iter();
    let mut targets = targets.filter(|it| it.role == Role::Target);
    let is_known = targets.any(|it| !it.allowed.is_empty());
    let by_cpusets = cpusets(scene).min().unwrap_or(0);
    if !is_known || by_cpusets < scene.meta.cpus {
        return Vec::new();
    }
    let is_usable = |core: &Core| usable.iter().any(|it| it.id == core.id);
    let cores = cores.iter().filter(|core| !is_usable(core));
    cores.cloned().collect()
}

/// Busy part of the CPUs that the target may use, of what the hypervisor left them.
pub(crate) fn effective_busy(
    machine: Option<Machine>,
    usable: &[Core],
    is_pinned: bool,
) -> Option<f64> {
    let machine = machine?;
    if !is_pinned {
        return Some(ratio(machine.busy, 1.0 - machine.steal).unwrap_or(0.0));
    }
    let usable = usable.iter();
    mean(&usable.map(|core| core.busy_of_usable).collect::<Vec<_>>())
}

/// Those of the CPUs that the target may use, `effective` in number: by their numbers, where those were recorded;
/// else the busiest that many stand for them.
pub(crate) fn usable(scene: &Scene<'_>, cores: &[Core], effective: u32) -> Vec<Core> {
    let targets = scene.meta.targets.iter();
    let allowed = targets.filter(|it| it.role == Role::Target);
    let allowed = allowed.map(|it| &it.allowed).find(|it| !it.is_empty());
    let is_allowed = |core: &&Core| {
        let number = core.number();
        allowed.is_none_or(|allowed| number.is_none_or(|number| allowed.contains(&number)))
    };
    let mut usable: Vec<Core> = cores.iter().filter(is_allowed).cloned().collect();
    usable.sort_by(|a, b| b.busy_of_usable.total_cmp(&a.busy_of_usable));
    usable.truncate(effective as usize);
    usable
}

pub(crate) fn cpu_use(
    scene: &Scene<'_>,
    machine: Option<Machine>,
    target: Option<&Subject>,
    generator: Option<&Subject>,
) -> CpuUse {
    let on_cpu = |subject: Option<&Subject>| {
        subject.map_or(0.0, |subject| subject.ledger.get(LedgerClass::OnCpu))
    };
    let (timeline, window) = (scene.timeline, scene.window);
    let own = timeline.entities.machine().and_then(|machine| {
        timeline
            .series("recorder", machine.id, "cpu_ns")?
            .growth(window)
    });
    let ended = |members: &Members<'_>| ended_children_ns(scene, members);
    let target_ns = on_cpu(target) + ended(&scene.roles.target);
    let generator_ns = on_cpu(generator) + ended(&scene.roles.generator);
    let recorder_ns = own.unwrap_or(0.0);
    let known = target_ns + generator_ns + recorder_ns + dependency_ns(scene);
    // What no process shows (interrupts, processes that lived between two looks) is of the rest.
    let unnamed = machine.map_or(0.0, |machine| machine.busy_ns - known);
    let rest_ns = neighbours::background_cpu_ns(scene).max(unnamed);
    CpuUse {
        target_ns,
        generator_ns,
        recorder_ns,
        rest_ns,
        all_ns: known + rest_ns,
    }
}

/// CPU time of what the target calls, ns: neither its own nor a stranger's.
fn dependency_ns(scene: &Scene<'_>) -> f64 {
    let run = |(thread, _): &(EntityId, bool)| {
        let run = scene.timeline.series("thread", *thread, "run_ns")?;
        run.growth(scene.window)
    };
    let threads = scene.roles.dependency.threads.iter();
    threads.filter_map(run).sum()
}

/// CPU time of children that lived too shortly to be sampled (a backend per connection), ns: what their
/// parents reaped, without those that have rows of their own (`without_inherited`).
fn ended_children_ns(scene: &Scene<'_>, members: &Members<'_>) -> f64 {
    let reaped = members.processes.iter().filter_map(|process| {
        Of::new(scene.timeline, "process", process.id, scene.window).growth("children_ns")
    });
    reaped.sum()
}

/// Part of the target's CPU time that it spent in the kernel.
pub(crate) fn kernel_part(scene: &Scene<'_>) -> Option<f64> {
    let (mut user, mut system) = (0.0, 0.0);
    for (thread, _) in &scene.roles.target.threads {
        let of = Of::new(scene.timeline, "thread", *thread, scene.window);
        user += of.growth("user_ns").unwrap_or(0.0);
        system += of.growth("system_ns").unwrap_or(0.0);
    }
    ratio(system, user + system)
}
