//! Everything that causes are judged by, measured once over the window.
//!
//! Causes hold no arithmetic on rows: they compare what stands here with thresholds. A value that
//! could not be had is `None`, and the cause that needs it cannot tell.

use std::collections::BTreeMap;

use model::{
    Account, Entity, EntityId, EntityKind, LedgerClass, Meta, Pressure, ReportSubject, Resource,
    Role, StallKind, Timeline, Window,
};

use crate::account;
use crate::ledger::{self, Ledger};
use crate::neighbours::{self, Culprit};
use crate::signals::{self, Bin, Mean};
use crate::thresholds::Thresholds;

/// What was measured over one window.
pub(crate) struct Facts<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) meta: &'a Meta,
    pub(crate) window: Window,
    pub(crate) target: Option<Subject>,
    pub(crate) generator: Option<Subject>,
    /// The workload's signal; `None` without one.
    pub(crate) signal: Option<Mean>,
    /// Where the response time went; `None` without a target.
    pub(crate) account: Option<Account>,
    /// The same second by second, for intervals.
    pub(crate) slices: Vec<Slice>,
    /// `None` when /proc/stat was not recorded.
    pub(crate) machine: Option<Machine>,
    pub(crate) cpu: CpuUse,
    /// CPUs that the target may use.
    pub(crate) effective_cpus: u32,
    /// Part of those that was busy.
    pub(crate) effective_busy: Option<f64>,
    pub(crate) quota: Option<Quota>,
    /// Whether the CPU account of any group of the target was seen.
    pub(crate) quota_seen: bool,
    pub(crate) culprit: Option<Culprit>,
    pub(crate) pressure: Vec<Pressure>,
    /// Part of the window in which nothing was completed.
    pub(crate) empty_bins: usize,
}

/// Target or generator.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) role: Role,
    pub(crate) entity: Entity,
    /// What a person calls it.
    pub(crate) name: String,
    pub(crate) found_by: String,
    pub(crate) unit: String,
    /// Processes that hold a connection of the generator.
    pub(crate) serving: u32,
    /// All of its threads.
    pub(crate) ledger: Ledger,
    /// Those that serve requests; all when none is known to.
    pub(crate) serving_ledger: Ledger,
    /// Part of its life that the busiest thread was on a CPU.
    pub(crate) busiest: f64,
    /// Threads that did at least a hundredth of what the busiest did.
    pub(crate) active_threads: u32,
    /// Part of their lives that those were on a CPU, and waiting for one.
    pub(crate) active: (f64, f64),
}

/// One second of the account.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Slice {
    /// Time that requests took, or busy time, ns.
    pub(crate) total_ns: f64,
    pub(crate) cpu_wait_ns: f64,
    pub(crate) throttled_ns: f64,
    /// Time for which the group's queues were held back, ns, added up over CPUs.
    pub(crate) held_back_ns: f64,
    pub(crate) wall_ns: f64,
}

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

/// The CPU limit that held the target back most.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    pub(crate) group: Entity,
    /// Part of the quota periods in which it ran out.
    pub(crate) throttled_periods: f64,
    /// Part of the window for which its queues were held back, per CPU.
    pub(crate) throttled_time: f64,
    /// CPUs that the quota allows.
    pub(crate) cpus: Option<f64>,
    /// CPUs that the group used.
    pub(crate) used_cpus: Option<f64>,
}

/// Measures.
pub(crate) fn measure<'a>(
    timeline: &'a Timeline,
    meta: &'a Meta,
    bins: &[Bin],
    window: Window,
    thresholds: &Thresholds,
) -> Facts<'a> {
    let signal = signals::mean(bins, window).filter(|mean| mean.response_ns > 0.0 && trusted(meta));
    let mut target = subject(timeline, meta, window, Role::Target);
    let generator = subject(timeline, meta, window, Role::Generator);
    let machine = machine(timeline, window);
    let effective_cpus = effective_cpus(timeline, meta, window);
    let groups = target_groups(timeline);
    let slices = slices(
        timeline,
        meta,
        bins,
        window,
        signal.is_some(),
        &groups,
        effective_cpus,
    );
    if let Some(target) = &mut target {
        let throttled = throttled_over(&slices, signal.map_or(window, |mean| mean.span));
        target
            .serving_ledger
            .shift(LedgerClass::CpuWait, LedgerClass::Throttled, throttled);
        target
            .ledger
            .shift(LedgerClass::CpuWait, LedgerClass::Throttled, throttled);
    }
    let cpu = cpu_use(
        timeline,
        window,
        machine,
        target.as_ref(),
        generator.as_ref(),
    );
    let account = target
        .as_ref()
        .and_then(|target| account::account(target, generator.as_ref(), signal.as_ref()));
    let quota_seen = quota_seen(timeline, window, &groups);
    Facts {
        quota: quota(timeline, window, &groups, effective_cpus),
        quota_seen,
        culprit: neighbours::culprit(timeline, window, cpu.rest_ns, thresholds),
        pressure: pressure(timeline, window),
        effective_busy: effective_busy(timeline, window, machine, meta.cpus, effective_cpus),
        empty_bins: signals::inside(bins, window)
            .filter(|bin| bin.completed() == 0.0)
            .count(),
        timeline,
        meta,
        window,
        target,
        generator,
        signal,
        account,
        slices,
        machine,
        cpu,
        effective_cpus,
    }
}

impl Facts<'_> {
    /// Part of the response time (or busy time) that went to a class.
    pub(crate) fn share(&self, class: LedgerClass) -> f64 {
        let items = self.account.iter().flat_map(|account| &account.items);
        items
            .filter(|item| item.class == class)
            .map(|item| item.share)
            .sum()
    }

    /// What a share is of, in words.
    pub(crate) fn whole(&self) -> &'static str {
        if self.signal.is_some() {
            "each request"
        } else {
            "its non-idle time"
        }
    }

    /// Whether run-queue delay of a part of the target's serving threads that matters is not known.
    pub(crate) fn wait_unseen(&self, thresholds: &Thresholds) -> bool {
        self.target.as_ref().is_some_and(|target| {
            let ledger = &target.serving_ledger;
            ledger.wait_unseen_ns > thresholds.floors.share * ledger.wall_ns
        })
    }

    /// Asked-for rate of the generator.
    pub(crate) fn asked_rate(&self) -> Option<f64> {
        self.meta.workload.as_ref()?.load.rate
    }

    /// The word for the generator's rate: `tps`.
    pub(crate) fn rate_unit(&self) -> &str {
        let unit = self
            .meta
            .workload
            .as_ref()
            .map(|workload| workload.load.rate_unit.as_str());
        unit.filter(|unit| !unit.is_empty()).unwrap_or("per second")
    }

    /// Mean pressure of the machine.
    pub(crate) fn machine_pressure(&self, resource: Resource, kind: StallKind) -> Option<f64> {
        let found = self.pressure.iter().find(|p| {
            p.entity.kind == EntityKind::Machine && p.resource == resource && p.kind == kind
        });
        found.map(|pressure| pressure.share)
    }

    /// Target and generator as they are reported.
    pub(crate) fn subjects(&self) -> Vec<ReportSubject> {
        let report = |subject: &Subject| ReportSubject {
            role: subject.role,
            entity: subject.entity.clone(),
            found_by: subject.found_by.clone(),
            unit: subject.unit.clone(),
            serving: subject.serving,
            cpu_ns: subject.ledger.get(LedgerClass::OnCpu).round() as i64,
            threads: Some(subject.ledger.account()),
        };
        self.target
            .iter()
            .chain(&self.generator)
            .map(report)
            .collect()
    }
}

/// A latency that the tool derives from clients and throughput is no evidence.
fn trusted(meta: &Meta) -> bool {
    meta.workload
        .as_ref()
        .is_none_or(|workload| workload.latency != model::Provenance::Derived)
}

/// The threads of a role: (thread, whether its process serves).
pub(crate) fn threads_of(timeline: &Timeline, role: Role) -> Vec<(EntityId, bool)> {
    let threads = timeline.entities.of_kind(EntityKind::Thread);
    threads
        .filter_map(|thread| {
            let process = timeline.entities.get(thread.parent?)?;
            (process.role == role).then_some((thread.id, process.serving))
        })
        .collect()
}

fn subject(timeline: &Timeline, meta: &Meta, window: Window, role: Role) -> Option<Subject> {
    let targets: Vec<_> = meta
        .targets
        .iter()
        .filter(|target| target.role == role)
        .collect();
    let first = targets.first()?;
    let architecture = meta
        .environment
        .get("machine.architecture")
        .map_or("", String::as_str);
    let record = first.root.and_then(|root| timeline.entities.get(root));
    let name = record.map_or_else(|| first.name.clone(), |record| record.entity.name.clone());
    let mut subject = Subject {
        role,
        entity: record.map_or_else(
            || Entity::new(EntityKind::Process, &first.name, ""),
            |record| record.entity.clone(),
        ),
        name,
        found_by: targets
            .iter()
            .map(|target| target.found_by.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        unit: first.unit.clone(),
        serving: 0,
        ledger: Ledger::default(),
        serving_ledger: Ledger::default(),
        busiest: 0.0,
        active_threads: 0,
        active: (0.0, 0.0),
    };
    let ledgers: Vec<(Ledger, bool)> = threads_of(timeline, role)
        .into_iter()
        .filter_map(|(thread, serving)| {
            Some((
                ledger::of_thread(timeline, thread, window, architecture)?,
                serving,
            ))
        })
        .collect();
    gather(&mut subject, &ledgers);
    subject.serving = serving_processes(timeline, role, window);
    Some(subject)
}

fn gather(subject: &mut Subject, ledgers: &[(Ledger, bool)]) {
    let any_serving = ledgers.iter().any(|(_, serving)| *serving);
    let most = ledgers
        .iter()
        .map(|(ledger, _)| ledger.get(LedgerClass::OnCpu))
        .fold(0.0, f64::max);
    let mut active = Ledger::default();
    for (ledger, serving) in ledgers {
        subject.ledger.merge(ledger);
        if *serving || !any_serving {
            subject.serving_ledger.merge(ledger);
        }
        if ledger.get(LedgerClass::OnCpu) >= most / 100.0 && most > 0.0 {
            active.merge(ledger);
        }
        if ledger.get(LedgerClass::OnCpu) == most {
            subject.busiest = ledger.part(LedgerClass::OnCpu);
        }
    }
    subject.active_threads = active.threads;
    subject.active = (
        active.part(LedgerClass::OnCpu),
        active.part(LedgerClass::CpuWait),
    );
}

fn serving_processes(timeline: &Timeline, role: Role, window: Window) -> u32 {
    let alive = |record: &&model::EntityRecord| {
        record.role == role
            && record.first_seen < window.end
            && record.vanished.is_none_or(|end| end > window.start)
    };
    let processes: Vec<_> = timeline
        .entities
        .of_kind(EntityKind::Process)
        .filter(alive)
        .collect();
    let serving = processes.iter().filter(|process| process.serving).count();
    (if serving > 0 {
        serving
    } else {
        processes.len()
    }) as u32
}

fn machine(timeline: &Timeline, window: Window) -> Option<Machine> {
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

fn effective_cpus(timeline: &Timeline, meta: &Meta, window: Window) -> u32 {
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
fn effective_busy(
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

fn cpu_use(
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
    let mut cpu = CpuUse {
        target_ns: on_cpu(target),
        generator_ns: on_cpu(generator),
        recorder_ns: own.unwrap_or(0.0),
        rest_ns: neighbours::rest_cpu_ns(timeline, window),
    };
    if let Some(machine) = machine {
        // What no process shows (interrupts, processes that lived between two looks) is of the rest.
        let known = cpu.target_ns + cpu.generator_ns + cpu.recorder_ns;
        cpu.rest_ns = cpu.rest_ns.max(machine.busy_ns - known);
    }
    cpu
}

/// The groups that hold serving processes of the target, and all groups above them.
fn target_groups(timeline: &Timeline) -> Vec<EntityId> {
    let processes = timeline
        .entities
        .of_kind(EntityKind::Process)
        .filter(|process| process.role == Role::Target);
    let mut groups: Vec<EntityId> = processes.filter_map(|process| process.group).collect();
    groups.sort();
    groups.dedup();
    let paths: Vec<&str> = groups
        .iter()
        .filter_map(|id| Some(timeline.entities.get(*id)?.entity.path.as_str()))
        .collect();
    let above = |path: &str| {
        paths.iter().any(|own| {
            path == "/"
                || own
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let ancestors = timeline
        .entities
        .of_kind(EntityKind::Cgroup)
        .filter(|group| above(&group.entity.path))
        .map(|group| group.id);
    let mut all: Vec<EntityId> = ancestors.chain(groups.iter().copied()).collect();
    all.sort();
    all.dedup();
    all
}

fn quota(timeline: &Timeline, window: Window, groups: &[EntityId], cpus: u32) -> Option<Quota> {
    // Per second of what is known of the group.
    let rate = |group: EntityId, column| {
        timeline
            .series("cgroup_cpu", group, column)
            .and_then(|series| series.rate(window))
    };
    let worst = groups
        .iter()
        .filter_map(|group| Some((*group, rate(*group, "throttled_ns")?)))
        .filter(|(_, throttled)| *throttled > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (group, throttled_ns) = worst;
    let periods = rate(group, "periods").unwrap_or(0.0);
    let limit = |column| {
        timeline
            .series("cgroup_limit", group, column)
            .and_then(|series| series.gauge_at(window.end))
    };
    Some(Quota {
        group: timeline.entities.get(group)?.entity.clone(),
        throttled_periods: if periods > 0.0 {
            rate(group, "throttled_periods").unwrap_or(0.0) / periods
        } else {
            0.0
        },
        throttled_time: throttled_ns / 1e9 / f64::from(cpus.max(1)),
        cpus: limit("quota_ns")
            .zip(limit("period_ns").filter(|period| *period > 0))
            .map(|(quota, period)| quota as f64 / period as f64),
        used_cpus: rate(group, "usage_ns").map(|usage| usage / 1e9),
    })
}

/// Whether any of the groups has a CPU account in the window; a group without a limit has one too.
fn quota_seen(timeline: &Timeline, window: Window, groups: &[EntityId]) -> bool {
    groups.iter().any(|group| {
        let usage = timeline.series("cgroup_cpu", *group, "usage_ns");
        usage.is_some_and(|usage| usage.covered(window).is_some())
    })
}

/// Delay that a quota caused over a span of which the slices may cover a part.
fn throttled_over(slices: &[Slice], span: Window) -> f64 {
    let sum = |of: fn(&Slice) -> f64| slices.iter().map(of).sum::<f64>();
    let covered = sum(|slice| slice.wall_ns);
    if covered > 0.0 {
        sum(|slice| slice.throttled_ns) / covered * span.len_ns() as f64
    } else {
        0.0
    }
}

fn slices(
    timeline: &Timeline,
    meta: &Meta,
    bins: &[Bin],
    window: Window,
    has_signal: bool,
    groups: &[EntityId],
    cpus: u32,
) -> Vec<Slice> {
    let architecture = meta
        .environment
        .get("machine.architecture")
        .map_or("", String::as_str);
    let threads = threads_of(timeline, Role::Target);
    let any_serving = threads.iter().any(|(_, serving)| *serving);
    let serving: Vec<EntityId> = threads
        .into_iter()
        .filter(|(_, serving)| *serving || !any_serving)
        .map(|(id, _)| id)
        .collect();
    let of_bins: Vec<(Window, f64)> = signals::inside(bins, window)
        .map(|bin| (bin.window, bin.latency_ns.unwrap_or(0.0) * bin.completed()))
        .collect();
    let pieces = if has_signal {
        of_bins
    } else {
        ledger::seconds(window)
            .into_iter()
            .map(|slice| (slice, 0.0))
            .collect()
    };
    pieces
        .into_iter()
        .filter_map(|(slice, response_ns)| {
            let mut ledger = Ledger::default();
            for thread in &serving {
                ledger.merge(
                    &ledger::of_thread(timeline, *thread, slice, architecture).unwrap_or_default(),
                );
            }
            // A second in which the delay was not recorded is no second without delay.
            if ledger.wait_unseen_ns * 2.0 > ledger.wall_ns {
                return None;
            }
            let held = |group: &EntityId| {
                timeline
                    .series("cgroup_cpu", *group, "throttled_ns")?
                    .growth(slice)
            };
            let held_back_ns = groups.iter().filter_map(held).fold(0.0, f64::max);
            let wait_ns = ledger.get(LedgerClass::CpuWait);
            let throttled_ns =
                ledger::throttled_part(wait_ns, held_back_ns, slice, f64::from(cpus));
            Some(Slice {
                total_ns: if has_signal {
                    response_ns
                } else {
                    ledger.busy_ns()
                },
                cpu_wait_ns: wait_ns - throttled_ns,
                throttled_ns,
                held_back_ns,
                wall_ns: slice.len_ns() as f64,
            })
        })
        .collect()
}

fn pressure(timeline: &Timeline, window: Window) -> Vec<Pressure> {
    /// The kernel's own averaging period: how often the files are read.
    const FOLD_NS: i64 = 2_000_000_000;
    let target = timeline
        .entities
        .of_kind(EntityKind::Process)
        .find(|process| process.role == Role::Target && process.serving);
    let target = target.or_else(|| {
        timeline
            .entities
            .of_kind(EntityKind::Process)
            .find(|process| process.role == Role::Target)
    });
    let group = target
        .and_then(|process| process.pressure_group)
        .and_then(|id| timeline.entities.get(id));
    let group = group.filter(|group| group.entity.path != "/");
    let places = timeline
        .entities
        .machine()
        .map(|machine| ("pressure", machine))
        .into_iter();
    let mut all = Vec::new();
    for (table, record) in places.chain(group.map(|group| ("cgroup_pressure", group))) {
        for resource in Resource::ALL {
            for (kind, word) in [(StallKind::Some, "some"), (StallKind::Full, "full")] {
                let column = format!("{}_{word}_ns", resource.word());
                let share = timeline
                    .series(table, record.id, &column)
                    .and_then(|series| series.rate(window));
                all.extend(share.map(|rate| Pressure {
                    entity: record.entity.clone(),
                    resource,
                    kind,
                    share: rate / 1e9,
                    fold_ns: FOLD_NS,
                }));
            }
        }
    }
    all
}
