//! What is measured of one phase to be compared with the next: rates of whole pieces of it, so that what varies within it
//! is known.

use model::{Entity, EntityId, EntityKind, EntityRecord, LedgerClass, Resource, Timeline, Window};

use super::measure::{Family, Measure, Unit};
use crate::cpus;
use crate::facts::Facts;
use crate::measure::Of;
use crate::pieces::{Piece, pieces};
use crate::pressure;
use crate::stacks::{self, ByFunction};

/// The time for which a group's queues were held back by its quota.
pub(super) const THROTTLED: &str = "throttled";

/// A phase on one side of a border.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(super) window: Window,
    /// In the order in which those of one family are preferred.
    pub(super) measures: Vec<Measure>,
    /// The part of the time for which somebody waited for a disk.
    pub(super) disk: f64,
    pub(super) latency_ns: Option<f64>,
    /// CPUs of the machine.
    pub(super) cpus: f64,
    /// The word for throughput: `tps`.
    pub(super) rate_unit: String,
    pub(super) pieces: Vec<Piece>,
    /// Who of the rest stands out.
    culprit: Option<EntityId>,
    pub(super) target: Option<Entity>,
    /// The target's CPU time by function, ns, of each piece; `None` where what it executed is not known.
    pub(super) code: Option<ByFunction>,
}

impl Side {
    /// The phase that these facts are about.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let pieces = pieces(&facts.scene.roles.bins, facts.window);
        let io = facts.pressure.iter();
        let io = io.filter(|it| it.resource == Resource::Io);
        let io = io.map(|it| it.share).fold(0.0, f64::max);
        // Bytes say more of a disk than pressure does.
        let measures = [throttled, of_disks, of_pressure, of_waits, of_machine];
        Self {
            window: facts.window,
            measures: measures.iter().flat_map(|of| of(facts, &pieces)).collect(),
            disk: facts.share_of(&LedgerClass::DISK).max(io),
            latency_ns: facts.signal.and_then(|it| it.latency_ns),
            cpus: f64::from(facts.meta.cpus.max(1)),
            rate_unit: facts.rate_unit().to_owned(),
            culprit: facts.culprit.as_ref().map(|it| it.id),
            target: facts.target.as_ref().map(|it| it.entity.clone()),
            code: stacks::cpu_by_function(facts.timeline, &pieces),
            pieces,
        }
    }

    /// CPU time of whoever of the rest stands out on either side, on both.
    pub(super) fn others(timeline: &Timeline, before: &Self, after: &Self) -> Vec<[Measure; 2]> {
        let mut who: Vec<EntityId> = before.culprit.into_iter().chain(after.culprit).collect();
        who.dedup();
        let records = who.into_iter().filter_map(|id| timeline.entities.get(id));
        let of = |side: &Self, record| used_by(timeline, record, &side.pieces);
        records
            .map(|record| [of(before, record), of(after, record)])
            .collect()
    }
}

/// A value of each piece.
fn each(pieces: &[Piece], of: impl Fn(&Piece) -> Option<f64>) -> Vec<f64> {
    let value = |piece| of(piece).unwrap_or(f64::NAN);
    pieces.iter().map(value).collect()
}

/// What people call it: a group by its path.
fn name_of(entity: &Entity) -> &str {
    match entity.kind {
        EntityKind::Cgroup => &entity.path,
        EntityKind::Machine => "the machine",
        _ => &entity.name,
    }
}

/// For how much of the time quotas held groups of the target back.
fn throttled(facts: &Facts<'_>, pieces: &[Piece]) -> Vec<Measure> {
    let timeline = facts.timeline;
    let cpus = f64::from(facts.effective_cpus.max(1));
    let groups = facts.scene.roles.cpu_groups.all.iter();
    let records = groups.filter_map(|group| timeline.entities.get(*group));
    let of_group = |group: &EntityRecord| Measure {
        what: THROTTLED.to_owned(),
        family: Family::Quota,
        column: "cgroup_cpu.throttled_ns".to_owned(),
        entity: group.entity.clone(),
        unit: Unit::Share,
        subject: format!("The time for which a quota held back {}", group.entity.path),
        of: "",
        values: each(pieces, |piece| {
            let of = Of::new(timeline, "cgroup_cpu", group.id, piece.window);
            Some(of.rate("throttled_ns")? / 1e9 / cpus)
        }),
    };
    records.map(of_group).collect()
}

/// Pressure of the target's own group, then of the machine.
fn of_pressure(facts: &Facts<'_>, pieces: &[Piece]) -> Vec<Measure> {
    let mut all = Vec::new();
    let mut sources = pressure::sources(facts.scene);
    sources.reverse();
    let families = [
        (Resource::Cpu, "some", Family::Cpu),
        (Resource::Cpu, "full", Family::Cpu),
        (Resource::Memory, "some", Family::Memory),
        (Resource::Io, "some", Family::Disk),
    ];
    for (resource, kind, family) in families {
        for (table, whose) in &sources {
            // Of the machine `full` says nothing of CPUs.
            if kind == "full" && whose.entity.kind == EntityKind::Machine {
                continue;
            }
            let column = format!("{}_{kind}_ns", resource.word());
            let word = match resource {
                Resource::Cpu => "CPU",
                Resource::Io => "I/O",
                _ => "Memory",
            };
            let full = if kind == "full" { " (full)" } else { "" };
            all.push(Measure {
                what: format!("pressure.{}", resource.word()),
                family,
                column: format!("{table}.{column}"),
                entity: whose.entity.clone(),
                unit: Unit::Share,
                subject: format!("{word} pressure{full} of {}", name_of(&whose.entity)),
                of: "",
                values: each(pieces, |piece| {
                    let of = Of::new(facts.timeline, table, whose.id, piece.window);
                    Some(of.rate(&column)? / 1e9)
                }),
            });
        }
    }
    all
}

/// Reads of all disks, by the second and by the request.
fn of_disks(facts: &Facts<'_>, pieces: &[Piece]) -> Vec<Measure> {
    let timeline = facts.timeline;
    let read = |piece: &Piece| {
        let disks = timeline.entities.of_kind(EntityKind::Disk);
        let read = disks.filter_map(|disk| {
            Of::new(timeline, "disk", disk.id, piece.window).growth("read_bytes")
        });
        read.reduce(|a, b| a + b)
    };
    let reads: Vec<Option<f64>> = pieces.iter().map(read).collect();
    let values = |per: fn(&Piece) -> f64| {
        let each = pieces.iter().zip(&reads);
        each.map(|(piece, read)| match (per(piece), read) {
            (per, Some(read)) if per > 0.0 => read / per,
            _ => f64::NAN,
        })
        .collect()
    };
    let measure = |unit, of, values| {
        Some(Measure {
            what: "disk.read".to_owned(),
            family: Family::Disk,
            column: "disk.read_bytes".to_owned(),
            entity: timeline.entities.machine()?.entity.clone(),
            unit,
            subject: "Reads from disk".to_owned(),
            of,
            values,
        })
    };
    let all = [
        measure(
            Unit::BytesPerSecond,
            "",
            values(|piece| piece.window.seconds()),
        ),
        measure(
            Unit::BytesPerRequest,
            " per request",
            values(|piece| piece.completed),
        ),
    ];
    all.into_iter().flatten().collect()
}

/// Waits of the target's serving threads that are told, with their families.
const WAITS: [(&str, Family, &[LedgerClass]); 5] = [
    ("wait.cpu", Family::Cpu, &[LedgerClass::CpuWait]),
    (
        "wait.disk",
        Family::Disk,
        &[
            LedgerClass::ReadWrite,
            LedgerClass::PageFault,
            LedgerClass::Uninterruptible,
        ],
    ),
    (
        "wait.sync",
        Family::Sync,
        &[LedgerClass::Sync, LedgerClass::SyncQueue],
    ),
    ("wait.memory", Family::Memory, &[LedgerClass::Reclaim]),
    (
        "wait.lock",
        Family::Lock,
        &[
            LedgerClass::DatabaseLock,
            LedgerClass::InternalLock,
            LedgerClass::Futex,
        ],
    ),
];

/// What the target waits for, of each request.
fn of_waits(facts: &Facts<'_>, pieces: &[Piece]) -> Vec<Measure> {
    let Some(target) = &facts.target else {
        return Vec::new();
    };
    let of_wait = |(what, family, classes): (&str, Family, &[LedgerClass])| {
        let mut sums: Vec<Option<f64>> = vec![None; pieces.len()];
        for slice in &facts.slices {
            let at = pieces.partition_point(|it| it.window.end <= slice.window.start);
            if let Some(sum) = sums.get_mut(at) {
                *sum = Some(sum.unwrap_or(0.0) + slice.own_ns(classes));
            }
        }
        let per_request = |(piece, sum): (&Piece, &Option<f64>)| match sum {
            Some(sum) if piece.completed > 0.0 => sum / piece.completed,
            _ => f64::NAN,
        };
        let words: Vec<&str> = classes.iter().map(|it| it.word()).collect();
        Measure {
            what: what.to_owned(),
            family,
            column: format!("thread_time: {}", words.join(", ")),
            entity: target.entity.clone(),
            unit: Unit::NsPerRequest,
            subject: format!(
                "What {} {}",
                target.name,
                match family {
                    Family::Cpu => "waits for a CPU",
                    Family::Disk => "waits for a disk",
                    Family::Sync => "syncing to disk (fsync)",
                    Family::Memory => "direct reclaim",
                    _ => "waits for locks",
                }
            ),
            of: " per request",
            values: pieces.iter().zip(&sums).map(per_request).collect(),
        }
    };
    WAITS.into_iter().map(of_wait).collect()
}

/// How busy the CPUs are, and what the hypervisor takes of them.
fn of_machine(facts: &Facts<'_>, pieces: &[Piece]) -> Vec<Measure> {
    let timeline = facts.timeline;
    let part = |states: &'static [&'static str]| {
        each(pieces, |piece| {
            let cpus = timeline.entities.of_kind(EntityKind::Cpu);
            let spent = cpus.filter_map(|cpu| {
                let of = Of::new(timeline, "cpu", cpu.id, piece.window);
                let spent = states.iter().filter_map(|state| of.growth(state));
                spent.reduce(|a, b| a + b)
            });
            let spent: Vec<f64> = spent.collect();
            let all = spent.len() as f64 * piece.window.len_ns() as f64;
            (all > 0.0).then(|| spent.iter().sum::<f64>() / all)
        })
    };
    let Some(machine) = timeline.entities.machine() else {
        return Vec::new();
    };
    let measure = |what: &str, family, column: &str, subject: &str, values| Measure {
        what: what.to_owned(),
        family,
        column: column.to_owned(),
        entity: machine.entity.clone(),
        unit: Unit::Share,
        subject: subject.to_owned(),
        of: "",
        values,
    };
    vec![
        measure(
            "cpu.steal",
            Family::Steal,
            "cpu.steal_ns",
            "What the hypervisor takes of the CPUs",
            part(&["steal_ns"]),
        ),
        measure(
            "cpu.busy",
            Family::Busy,
            "cpu.user_ns, cpu.nice_ns, cpu.system_ns, cpu.irq_ns, cpu.softirq_ns",
            "CPU use of the machine",
            part(&cpus::BUSY),
        ),
    ]
}

/// CPU time of a group or a process. Who was not there used none.
fn used_by(timeline: &Timeline, who: &EntityRecord, pieces: &[Piece]) -> Measure {
    let (table, columns): (_, &[&str]) = match who.entity.kind {
        EntityKind::Cgroup => ("cgroup_cpu", &["usage_ns"]),
        _ => ("process", &["user_ns", "system_ns"]),
    };
    let values = each(pieces, |piece| {
        let of = Of::new(timeline, table, who.id, piece.window);
        let used = columns.iter().filter_map(|column| of.growth(column));
        Some(used.fold(0.0, |a, b| a + b) / piece.window.len_ns().max(1) as f64)
    });
    let names: Vec<String> = columns.iter().map(|it| format!("{table}.{it}")).collect();
    Measure {
        what: "cpu.others".to_owned(),
        family: Family::Others,
        column: names.join(", "),
        entity: who.entity.clone(),
        unit: Unit::Cpus,
        subject: format!("CPU use of {}", name_of(&who.entity)),
        of: " CPUs",
        values,
    }
}
