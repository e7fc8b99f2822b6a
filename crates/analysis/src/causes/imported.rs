//! What another tool's measurements say of a machine: of some causes that they are there (`limits.rs`), else where to look.
//!
//! Such a recording has no target. Who waited is not in it; that somebody did, and what was busy meanwhile, is.

pub(super) mod limits;
mod waits;

use model::{EntityKind, EntityRecord, Resource, StallKind};

use crate::facts::Facts;
use crate::number_format::percent;

/// What to do where a file says too little.
pub(super) const RECORD_IT: &str =
    "record the same load with stallscope record, which says who waits";
/// Less than this is not worth a word.
const LEAST: f64 = 0.01;

/// Whether the recording was made of another tool's measurements.
pub(super) fn is_imported(facts: &Facts<'_>) -> bool {
    facts.meta.plan.command == "import"
}

/// What was seen of the machine; `None` where nothing was.
pub(super) fn seen(facts: &Facts<'_>) -> Option<String> {
    let seen = [waited(facts), busy(facts), disk(facts), process(facts)];
    let seen: Vec<String> = seen.into_iter().flatten().collect();
    (!seen.is_empty()).then(|| seen.join("; "))
}

fn waited(facts: &Facts<'_>) -> Option<String> {
    let pressure = facts.pressure.iter();
    let of_machine = pressure.filter(|it| {
        it.entity.kind == EntityKind::Machine && it.kind == StallKind::Some && it.share >= LEAST
    });
    let most = of_machine.max_by(|a, b| a.share.total_cmp(&b.share))?;
    let what = match most.resource {
        Resource::Cpu => "a CPU",
        Resource::Memory => "memory",
        Resource::Io => "I/O",
        Resource::Irq => "interrupts",
    };
    Some(format!(
        "somebody waited for {what} {} of the time",
        percent(most.share)
    ))
}

fn busy(facts: &Facts<'_>) -> Option<String> {
    let machine = facts.machine?;
    let busy = percent(machine.busy);
    Some(match machine.iowait >= LEAST {
        true => format!(
            "the CPUs were busy {busy} of the time, and idle beside I/O {}",
            percent(machine.iowait)
        ),
        false => format!("the CPUs were busy {busy} of the time"),
    })
}

fn disk(facts: &Facts<'_>) -> Option<String> {
    let (disk, part) = most(facts, EntityKind::Disk, "disk", &["busy_ns"])?;
    Some(format!("{} was busy {}", disk.entity.name, percent(part)))
}

fn process(facts: &Facts<'_>) -> Option<String> {
    let columns = ["user_ns", "system_ns"];
    let (process, part) = most(facts, EntityKind::Process, "process", &columns)?;
    let name = &process.entity.name;
    Some(format!(
        "{name} used most CPU time, {} of one CPU",
        percent(part)
    ))
}

/// Who of a kind has most of these counters, and how much of the window that is.
fn most<'a>(
    facts: &Facts<'a>,
    kind: EntityKind,
    table: &str,
    columns: &[&str],
) -> Option<(&'a EntityRecord, f64)> {
    let timeline = facts.timeline;
    let part = |record: &'a EntityRecord| {
        let rate = |column: &&str| {
            timeline
                .series(table, record.id, column)?
                .growth(facts.window)
        };
        let grown: f64 = columns.iter().filter_map(rate).sum();
        (record, grown / facts.window.len_ns().max(1) as f64)
    };
    let all = timeline.entities.of_kind(kind).map(part);
    all.max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|it| it.1 >= LEAST)
}
