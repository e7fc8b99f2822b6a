//! What a finding rests on: evidence with its threshold, intervals, confidence.

use model::{Confidence, Entity, EntityKind, Evidence, Interval, LedgerClass};

use sensors::kernel_wait::IoIntent;
use sensors::thread_time::{THREAD_TIME, class};
use sensors::wait_channel::WaitChannel;

use super::cause::{NoFinding, cannot_tell};
use super::formulas;
use crate::bounds::Removed;
use crate::facts::Facts;
use crate::file_waits;
use crate::formula;
use crate::io::Disk;
use crate::kernel_waits;
use crate::number_format::percent;
use crate::slices::Slice;
use crate::stacks::Place;
use crate::stats::ratio_interval;

/// A share that must reach a threshold.
pub(super) fn share(
    facts: &Facts<'_>,
    what: &str,
    column: &str,
    entity: &Entity,
    value: f64,
    threshold: f64,
) -> Evidence {
    Evidence {
        what: what.to_owned(),
        column: column.to_owned(),
        entity: entity.clone(),
        window: facts.window,
        value,
        unit: "share".to_owned(),
        threshold: Some(threshold),
        passed: value >= threshold,
        formula: None,
    }
}

/// What the kernel kept the target for, where its stacks were looked at: each part that is worth saying.
pub(super) fn kept(facts: &Facts<'_>, entity: &Entity) -> Vec<Evidence> {
    let parts = facts.kept.iter().filter(|(_, part)| *part >= facts.floor);
    let each = |(channel, part): &(WaitChannel, f64)| {
        let what = format!("of its kernel waits, {}", kernel_waits::label(*channel));
        let column = kernel_waits::column(*channel);
        share(facts, &what, &column, entity, *part, 0.0).by(kernel_waits::formula(*channel))
    };
    parts.map(each).collect()
}

/// The files that the target waited for, where it was seen which: the largest parts of its time in fsync, or in reads and
/// writes.
pub(super) fn files(facts: &Facts<'_>, intent: IoIntent) -> Vec<Evidence> {
    const MOST: usize = 3;
    let what = match intent {
        IoIntent::Sync => "of its time in fsync, for this file",
        _ => "of its time in reads and writes, for this file",
    };
    let column = file_waits::column(intent);
    let parts = facts
        .files
        .parts(intent, facts.floor)
        .into_iter()
        .take(MOST);
    let each = parts.map(|it| share(facts, what, &column, it.entity, it.part, 0.0).by(it.formula));
    each.collect()
}

/// The file that most of the time with an intent was for, to follow what was done: " of /var/lib/mysql/ib_logfile0".
pub(super) fn at_file(facts: &Facts<'_>, intent: IoIntent) -> String {
    const ALMOST_ALL: f64 = 0.9;
    let parts = facts.files.parts(intent, 0.5);
    match parts.first() {
        Some(first) if first.part >= ALMOST_ALL => format!(" of {}", first.entity.name),
        Some(first) => format!(", mostly of {}", first.entity.name),
        None => String::new(),
    }
}

/// The machine, as the entity of evidence.
pub(super) fn machine(facts: &Facts<'_>) -> Entity {
    let machine = facts
        .timeline
        .entities
        .machine()
        .map(|record| record.entity.clone());
    machine.unwrap_or_else(|| Entity::new(EntityKind::Machine, &facts.meta.identity.node, "/"))
}

/// Where the target waits most, for which lock, and where those were who ended that.
pub(super) fn at_place(facts: &Facts<'_>, place: &Place, target: &Entity) -> Evidence {
    let lock = place.lock.as_ref();
    let lock = lock.map_or_else(String::new, |lock| match &lock.variable {
        Some(name) => format!(", for the lock {name} at {:#x}", lock.address),
        None => format!(", for the lock at {:#x}", lock.address),
    });
    let end = place
        .ended_in
        .as_ref()
        .map_or_else(String::new, |path| format!(", mostly ended in {path}"));
    let what = format!("of that in {}{lock}{end}", place.path);
    let column = "wait_sample.stack";
    share(facts, &what, column, target, place.part, 0.0)
}

/// The disk that the target waits for, if it waits for one.
pub(super) fn busiest_disk<'a>(facts: &'a Facts<'_>) -> Result<&'a Disk, NoFinding> {
    match facts.io.disks.first() {
        Some(disk) => Ok(disk),
        None => cannot_tell("no disk was seen doing anything"),
    }
}

/// How long a disk had operations in progress.
pub(super) fn disk_busy(facts: &Facts<'_>, disk: &Disk, least: f64) -> Evidence {
    let evidence = share(
        facts,
        "disk busy",
        "disk.busy_ns",
        &disk.entity,
        disk.busy,
        least,
    );
    evidence.by(formula::of_time(
        "disk",
        &["busy_ns"],
        formula::one(disk.id),
    ))
}

/// The mean number of a disk's operations in progress.
pub(super) fn mean_queue(facts: &Facts<'_>, disk: &Disk, least: f64) -> Evidence {
    let (what, column) = (("mean queue", "count"), "disk.queue_ns");
    let evidence = number(facts, what, column, &disk.entity, disk.queue, least);
    evidence.by(formula::of_time(
        "disk",
        &["queue_ns"],
        formula::one(disk.id),
    ))
}

/// The part of the response time that was outside of the target.
pub(super) fn outside_target(
    facts: &Facts<'_>,
    target: &Entity,
    outside: f64,
    least: f64,
) -> Evidence {
    let (what, column) = ("outside the target", "signal.latency_mean_ns");
    let formula = formulas::outside(facts);
    Evidence {
        formula,
        ..share(facts, what, column, target, outside, least)
    }
}

/// The 95 % interval of a share over the seconds of the window.
pub(super) fn interval(
    facts: &Facts<'_>,
    part: fn(&Slice) -> f64,
    whole: fn(&Slice) -> f64,
) -> Option<Interval> {
    // Seconds that are filled from the same on-window say the same: one on-window is one observation.
    let mut bins: Vec<(usize, (f64, f64))> = Vec::new();
    for (second, slice) in facts.slices.iter().enumerate() {
        let of = match facts.on_windows.is_empty() {
            true => second,
            false => {
                let starts = facts.on_windows.iter();
                starts.take_while(|it| it.start < slice.window.end).count()
            }
        };
        let own = (part(slice), whole(slice));
        match bins.last_mut() {
            Some((last, sum)) if *last == of => *sum = (sum.0 + own.0, sum.1 + own.1),
            _ => bins.push((of, own)),
        }
    }
    let bins: Vec<_> = bins.into_iter().map(|(_, bin)| bin).collect();
    ratio_interval(&bins)
}

/// A number with another unit that must reach a threshold.
pub(super) fn number(
    facts: &Facts<'_>,
    (what, unit): (&str, &str),
    column: &str,
    entity: &Entity,
    value: f64,
    threshold: f64,
) -> Evidence {
    Evidence {
        unit: unit.to_owned(),
        ..share(facts, what, column, entity, value, threshold)
    }
}

/// The part of the target's time that a wait held.
pub(super) fn waited(facts: &Facts<'_>, what: &str, column: &str, held: &Held) -> Evidence {
    let target = facts.target.as_ref().map(|target| &target.entity);
    let entity = target.map_or_else(|| machine(facts), Entity::clone);
    let formula = formulas::share_of(facts, held.classes, held.part);
    share(facts, what, column, &entity, held.share, held.least).by(formula)
}

/// How steadily some classes held their part of the time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Held {
    classes: &'static [LedgerClass],
    /// Part of the classes' time that counts.
    part: f64,
    /// Their part of the whole window.
    pub(super) share: f64,
    pub(super) interval: Option<Interval>,
    /// The part that it must hold.
    pub(super) least: f64,
    /// Part of the seconds in which they passed the threshold; 1 when seconds were too few to tell.
    pub(super) seconds: f64,
}

impl From<&Held> for Removed {
    fn from(held: &Held) -> Self {
        Self::about(held.share, held.interval)
    }
}

impl Held {
    /// On in most seconds, or on the whole and not only by a few bad ones: a state goes on at 80 % of
    /// the seconds and off under 50 %; between, the interval of the share decides.
    pub(super) fn is_on(&self) -> bool {
        const ON: f64 = 0.8;
        const OFF: f64 = 0.5;
        self.share >= self.least
            && (self.seconds >= ON
                || (self.seconds >= OFF
                    && self
                        .interval
                        .is_none_or(|interval| interval.low >= self.least / 2.0)))
    }
}

/// How steadily the classes held at least `threshold` of each second's time; `part` of their time
/// counts.
pub(super) fn held(
    facts: &Facts<'_>,
    classes: &'static [LedgerClass],
    part: f64,
    threshold: f64,
) -> Held {
    let of = |slice: &Slice| slice.ledger.sum(classes) * part;
    let bins: Vec<(f64, f64)> = facts
        .slices
        .iter()
        .map(|slice| (of(slice), slice.total_ns))
        .collect();
    let known: Vec<&(f64, f64)> = bins.iter().filter(|(_, whole)| *whole > 0.0).collect();
    let on = known
        .iter()
        .filter(|(part, whole)| part / whole >= threshold);
    let share = facts.share_of(classes) * part;
    Held {
        classes,
        part,
        // Idle threads of a pool can make it more than all of the time.
        share: share.min(1.0),
        // Dear, and of no use for what is too little anyway.
        interval: (share >= threshold)
            .then(|| ratio_interval(&bins))
            .flatten(),
        least: threshold,
        seconds: if known.len() < 3 {
            1.0
        } else {
            on.count() as f64 / known.len() as f64
        },
    }
}

/// What to say of classes that reached their threshold on the whole and not in most seconds.
pub(super) fn only_at_times(facts: &Facts<'_>, held: &Held) -> String {
    format!(
        "it took {} of {} on the whole, but over {} in only {} of the seconds: spikes, not a state",
        percent(held.share),
        facts.whole(),
        percent(held.least),
        percent(held.seconds)
    )
}

/// *Measured* when the lower end of an exact share's interval passes and nothing contradicts.
pub(super) fn confidence(
    interval: Option<Interval>,
    threshold: f64,
    evidence_against: &[String],
) -> Confidence {
    let passes = interval.is_some_and(|interval| interval.low >= threshold);
    if passes && evidence_against.is_empty() {
        Confidence::Measured
    } else {
        Confidence::Consistent
    }
}

/// The columns that say how long the target was in these classes: those of its account where everything of
/// them was counted, else the one that samples were divided by.
pub(super) fn told_by(facts: &Facts<'_>, classes: &[LedgerClass], sampled: &str) -> String {
    let ledger = facts.target.as_ref().map(|target| &target.serving_ledger);
    // What is worked out from others has no column of its own.
    let is_own = |class: &&LedgerClass| **class != LedgerClass::SyncQueue;
    let mut own = classes.iter().filter(is_own);
    let counted = ledger.is_some_and(|it| own.all(|class| it.is_counted(*class)));
    if !counted {
        return sampled.to_owned();
    }
    let columns = THREAD_TIME.columns.iter().map(|column| &*column.name);
    let of_them = |name: &&str| class(name).is_some_and(|class| classes.contains(&class));
    let names: Vec<&str> = columns.filter(of_them).collect();
    format!("{}.{}", THREAD_TIME.name, names.join(" + "))
}

/// As sure as a wait of these classes is: *measured* when those that were counted, and not sampled or
/// estimated, pass by themselves. What stood in line behind them is estimated.
pub(super) fn of_wait(
    facts: &Facts<'_>,
    classes: &[LedgerClass],
    least: f64,
    evidence_against: &[String],
) -> Confidence {
    let ledger = facts.target.as_ref().map(|target| &target.serving_ledger);
    let counted = |class: &&LedgerClass| ledger.is_some_and(|it| it.is_counted(**class));
    let counted: Vec<LedgerClass> = classes.iter().filter(counted).copied().collect();
    let bins = facts.slices.iter();
    let bins: Vec<(f64, f64)> = bins
        .map(|slice| (slice.own_ns(&counted), slice.total_ns))
        .collect();
    confidence(ratio_interval(&bins), least, evidence_against)
}

/// Waits for a disk and for nothing else.
pub(super) const DISK_ALONE: [LedgerClass; 3] = [
    LedgerClass::Sync,
    LedgerClass::ReadWrite,
    LedgerClass::PageFault,
];

/// As sure as the time is for which the kernel kept the target from running for memory.
pub(super) fn of_memory(facts: &Facts<'_>, least: f64) -> Confidence {
    let stalled = |slice: &Slice| slice.ledger.memory_ns;
    confidence(interval(facts, stalled, |slice| slice.total_ns), least, &[])
}
