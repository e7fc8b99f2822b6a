//! The CPUs: how busy they were, which of them the target may use, and who used them.

use std::collections::BTreeMap;

use model::{EntityKind, LedgerClass, Meta, Role, Timeline, Window};

use crate::neighbours;
use crate::quota::target_groups;
use crate::subject::{Subject, threads_of};

/// The CPUs, as parts of their time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Machine {
    pub(crate) busy: f64,
    pub(crate) idle: f64,
    pub(crate) iowait: f64,
    pub(crate) steal: f64,
    /// CPU time spent by anything, ns.
    pub(crate) busy_ns: f64,
}

/// CPU time over the window, ns.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct CpuUse {
    pub(crate) target_ns: f64,
    pub(crate) generator_ns: f64,
    pub(crate) recorder_ns: f64,
    /// All else that the machine did, named or not.
    pub(crate) rest_ns: f64,
}

impl CpuUse {
    /// A part of all CPU time used.
    pub(crate) fn part(&self, ns: f64) -> f64 {
        let all = self.target_ns + self.generator_ns + self.recorder_ns + self.rest_ns;
        if all > 0.0 { ns / all } else { 0.0 }
    }
}

pub(crate) fn machine(timeline: &Timeline, window: Window) -> Option<Machine> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    const STATES: [&str; 8] = [
        "user_ns",
        "nice_ns",
        "system_ns",
        "idle_ns",
        "iowait_ns",
        "irq_ns",
        "softirq_ns",
        "steal_ns",
    ];
    let mut seen = 0;
    for cpu in timeline.entities.of_kind(EntityKind::Cpu) {
        let idle = timeline.series("cpu", cpu.id, "idle_ns");
        seen += u32::from(idle.is_some_and(|idle| idle.covered(window).is_some()));
        for state in STATES {
            if let Some(growth) = timeline
                .series("cpu", cpu.id, state)
                .and_then(|series| series.growth(window))
            {
                *sums.entry(state).or_default() += growth;
            }
        }
    }
    let total: f64 = sums.values().sum();
    let sum = |states: &[&str]| {
        states
            .iter()
            .filter_map(|state| sums.get(state))
            .sum::<f64>()
    };
    let busy = sum(&["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"]) / total;
    (total > 0.0).then(|| Machine {
        busy,
        idle: sum(&["idle_ns"]) / total,
        iowait: sum(&["iowait_ns"]) / total,
        steal: sum(&["steal_ns"]) / total,
        // The CPUs that were seen may not have been seen for the whole window.
        busy_ns: busy * f64::from(seen) * window.len_ns() as f64,
    })
}

pub(crate) fn effective_cpus(timeline: &Timeline, meta: &Meta, window: Window) -> u32 {
    let allowed = meta
        .targets
        .iter()
        .filter(|target| target.role == Role::Target)
        .filter_map(|target| target.cpus_allowed);
    let cpusets = target_groups(timeline).into_iter().filter_map(|group| {
        let cpus = timeline
            .series("cgroup_limit", group, "cpus")?
            .gauge_at(window.end)?;
        u32::try_from(cpus).ok().filter(|cpus| *cpus > 0)
    });
    allowed
        .chain(cpusets)
        .chain([meta.cpus.max(1)])
        .min()
        .unwrap_or(1)
}

/// Busy part of the CPUs that the target may use: of all of them, or of the busiest that many.
pub(crate) fn effective_busy(
    timeline: &Timeline,
    window: Window,
    machine: Option<Machine>,
    cpus: u32,
    effective: u32,
) -> Option<f64> {
    let machine = machine?;
    let usable = 1.0 - machine.steal;
    if effective >= cpus {
        return Some(if usable > 0.0 {
            machine.busy / usable
        } else {
            0.0
        });
    }
    let mut busy: Vec<f64> = timeline
        .entities
        .of_kind(EntityKind::Cpu)
        .filter_map(|cpu| {
            // Per second of what is known of this CPU.
            let rate = |state| timeline.series("cpu", cpu.id, state)?.rate(window);
            let idle = rate("idle_ns")?
                + rate("iowait_ns").unwrap_or(0.0)
                + rate("steal_ns").unwrap_or(0.0);
            Some(1.0 - idle / 1e9)
        })
        .collect();
    busy.sort_by(|a, b| b.total_cmp(a));
    let chosen = &busy[..busy.len().min(effective as usize)];
    (!chosen.is_empty()).then(|| chosen.iter().sum::<f64>() / chosen.len() as f64)
}

pub(crate) fn cpu_use(
    timeline: &Timeline,
    window: Window,
    machine: Option<Machine>,
    target: Option<&Subject>,
    generator: Option<&Subject>,
) -> CpuUse {
    let on_cpu = |subject: Option<&Subject>| {
        subject.map_or(0.0, |subject| subject.ledger.get(LedgerClass::OnCpu))
    };
    let own = timeline.entities.machine().and_then(|machine| {
        timeline
            .series("recorder", machine.id, "cpu_ns")?
            .growth(window)
    });
    let ended = |role| unseen_children_ns(timeline, role, window);
    let mut cpu = CpuUse {
        target_ns: on_cpu(target) + ended(Role::Target),
        generator_ns: on_cpu(generator) + ended(Role::Generator),
        recorder_ns: own.unwrap_or(0.0),
        rest_ns: neighbours::rest_cpu_ns(timeline, window),
    };
    if let Some(machine) = machine {
        // What no process shows (interrupts, processes that lived between two looks) is of the rest.
        let dependencies = dependency_ns(timeline, window);
        let known = cpu.target_ns + cpu.generator_ns + cpu.recorder_ns + dependencies;
        cpu.rest_ns = cpu.rest_ns.max(machine.busy_ns - known);
    }
    cpu
}

/// CPU time of what the target calls, ns: neither its own nor a stranger's.
fn dependency_ns(timeline: &Timeline, window: Window) -> f64 {
    let threads = threads_of(timeline, Role::Dependency).into_iter();
    let run = |(thread, _)| timeline.series("thread", thread, "run_ns")?.growth(window);
    threads.filter_map(run).sum()
}

/// CPU time of children that lived too shortly to be sampled (a backend per connection), ns: what
/// their parents buried, less what was seen of those that ended.
fn unseen_children_ns(timeline: &Timeline, role: Role, window: Window) -> f64 {
    let mut unseen = 0.0;
    for process in timeline
        .entities
        .of_kind(EntityKind::Process)
        .filter(|it| it.role == role)
    {
        let buried = timeline.series("process", process.id, "children_ns");
        unseen += buried
            .and_then(|series| series.growth(window))
            .unwrap_or(0.0);
    }
    for (thread, _) in threads_of(timeline, role) {
        let ended = timeline
            .entities
            .get(thread)
            .and_then(|record| record.vanished);
        if ended.is_some_and(|end| window.contains(end)) {
            let last = timeline
                .series("thread", thread, "run_ns")
                .and_then(|run| run.values().next_back());
            unseen -= last.map_or(0.0, |(_, ns)| ns as f64);
        }
    }
    unseen.max(0.0)
}
