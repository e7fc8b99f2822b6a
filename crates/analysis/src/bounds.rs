//! What a change would bring at most, if the rest of a request stays as it is, and lower bounds of what
//! is free.
//!
//! Utilisation law D = U c / X: at the same CPU time per operation, throughput grows at most with the
//! CPUs. Little's law N = X (R + Z): a closed loop gains at most what its waits cost. A bound is the
//! smaller of the two (Lazowska et al. 1984, Quantitative System Performance, chapters 3 and 5).

use model::{Headroom, LedgerClass, Remedy};

use crate::facts::Facts;
use crate::neighbours::Culprit;
use crate::number_format::{bound, duration, next_cpu, percent};

/// One CPU more.
pub(crate) fn one_more_cpu(facts: &Facts<'_>) -> Option<Remedy> {
    let cpus = f64::from(facts.effective_cpus);
    let busy = facts.effective_busy?;
    let law = (cpus + 1.0) / (cpus * busy.clamp(0.01, 1.0));
    Some(remedy(
        facts,
        next_cpu(facts.effective_cpus),
        law.min(without_cpu_wait(facts)),
        String::new(),
    ))
}

/// Below this part of the CPU time nobody is worth moving.
const WORTH_SAYING: f64 = 0.03;

/// The generator elsewhere, where it takes enough of the CPU to matter.
pub(crate) fn generator_elsewhere(facts: &Facts<'_>) -> Option<Remedy> {
    let generator = facts.generator.as_ref()?;
    let part = facts.cpu.part(facts.cpu.generator_ns);
    let change = format!("{} on another machine", generator.name);
    (part >= WORTH_SAYING).then(|| elsewhere(facts, part, change, "it takes"))
}

/// Everything else that the machine does elsewhere, where it takes enough of the CPU to matter.
pub(crate) fn others_elsewhere(facts: &Facts<'_>) -> Option<Remedy> {
    let part = facts.cpu.part(facts.cpu.rest_ns);
    let change = "the machine to itself".to_owned();
    (part >= WORTH_SAYING).then(|| elsewhere(facts, part, change, "others take"))
}

/// A neighbour's work elsewhere.
pub(crate) fn without_neighbour(facts: &Facts<'_>, culprit: &Culprit, change: String) -> Remedy {
    elsewhere(facts, facts.cpu.part(culprit.cpu_ns), change, "it takes")
}

/// What takes a part of the CPU time gone from this machine.
fn elsewhere(facts: &Facts<'_>, part: f64, change: String, who_takes: &str) -> Remedy {
    let because = format!("{who_takes} {} of the CPU", percent(part));
    let factor = (1.0 / (1.0 - part).max(0.01)).min(without_cpu_wait(facts));
    remedy(facts, change, factor, because)
}

/// Without a quota: neither held back nor crowded into what it left, within the CPUs of the machine.
pub(crate) fn without_quota(facts: &Facts<'_>, change: String) -> Remedy {
    let because = "on the CPUs that this machine has".to_owned();
    remedy(facts, change, factor_without_quota(facts), because)
}

/// How much faster the target would be at most without its quota.
pub(crate) fn factor_without_quota(facts: &Facts<'_>) -> f64 {
    let held_back = facts.share(LedgerClass::Throttled) + facts.share(LedgerClass::CpuWait);
    let left = (1.0 - held_back - facts.generator_wait()).max(0.01);
    let room = cpu_room(facts);
    (1.0 / left).min(room)
}

/// A generator that is no limit, within the CPUs.
pub(crate) fn faster_generator(facts: &Facts<'_>, change: String) -> Remedy {
    let outside = facts.outside().unwrap_or(0.0).min(0.99);
    // What a generator needs for a request hardly changes: however little is used, it will use more.
    let room = facts
        .machine
        .map_or(f64::INFINITY, |machine| 1.0 / machine.busy.clamp(0.01, 1.0));
    remedy(
        facts,
        change,
        (1.0 / (1.0 - outside)).min(room),
        String::new(),
    )
}

/// The target without a part of its waits, within the CPUs.
pub(crate) fn without_wait(facts: &Facts<'_>, share: f64, change: String) -> Remedy {
    remedy(facts, change, factor_without(facts, share), String::new())
}

fn factor_without(facts: &Facts<'_>, share: f64) -> f64 {
    if facts.signal.is_none() || facts.asked_rate().is_some() {
        return f64::INFINITY;
    }
    let room = cpu_room(facts);
    (1.0 / (1.0 - share).max(0.01)).min(room)
}

/// How much more work the CPUs have room for, at the CPU time that a request takes now. Where they
/// are hardly used that says nothing: CPU time per request falls under load, here from 284 us at a
/// low rate to 95 us when saturated.
fn cpu_room(facts: &Facts<'_>) -> f64 {
    const USED: f64 = 0.5;
    let busy = facts.machine.map(|machine| machine.busy);
    busy.filter(|busy| *busy >= USED)
        .map_or(f64::INFINITY, |busy| 1.0 / busy.min(1.0))
}

/// What would not help, each checked against what the target was seen to wait for.
pub(crate) fn useless(facts: &Facts<'_>, also: &[&str]) -> Vec<String> {
    const NEGLIGIBLE: f64 = 0.05;
    let mut all: Vec<String> = also.iter().map(|&word| word.to_owned()).collect();
    let disk = facts.share_of(&LedgerClass::DISK);
    let waits_for_cpu = facts.share_of(&[LedgerClass::CpuWait, LedgerClass::Throttled]);
    // A generator that waits for a CPU asks for less than it would.
    let generator = facts.generator.as_ref();
    let generator_waits = generator.is_some_and(|generator| generator.active.1 >= NEGLIGIBLE);
    if waits_for_cpu + facts.share(LedgerClass::OnCpu) < NEGLIGIBLE {
        all.push("more or faster CPUs".to_owned());
    } else if waits_for_cpu < NEGLIGIBLE
        && !generator_waits
        && !also.iter().any(|word| word.contains("more CPUs"))
    {
        all.push("more CPUs".to_owned());
    }
    if disk < NEGLIGIBLE {
        all.push("faster disk".to_owned());
    }
    let memory = facts.machine_pressure(model::Resource::Memory, model::StallKind::Some);
    if memory.is_some_and(|pressure| pressure < NEGLIGIBLE) && disk < NEGLIGIBLE {
        all.push("more memory".to_owned());
    }
    all
}

/// What a load that met no limit proves to be free.
pub(crate) fn headroom(facts: &Facts<'_>) -> Option<Headroom> {
    let signal = facts.signal?;
    let own = facts.cpu.target_ns + facts.cpu.generator_ns;
    let machine_ns = f64::from(facts.effective_cpus) * facts.window.len_ns() as f64;
    let free = machine_ns - facts.cpu.rest_ns - facts.cpu.recorder_ns;
    if own <= 0.0 || free <= own {
        return None;
    }
    let throughput = signal.throughput * free / own;
    let each = duration(own / signal.completed.max(1.0));
    let sentence = format!(
        "these CPUs have room for at least {} {} at {each} of CPU per request; CPU per request usually falls under load, so the \
         limit of the CPUs lies higher",
        bound(throughput),
        facts.rate_unit()
    );
    Some(Headroom {
        throughput,
        sentence,
    })
}

/// How much faster a closed loop would be if neither target nor generator ever waited for a CPU.
fn without_cpu_wait(facts: &Facts<'_>) -> f64 {
    if facts.signal.is_none() || facts.asked_rate().is_some() {
        return f64::INFINITY;
    }
    1.0 / (1.0 - facts.share(LedgerClass::CpuWait) - facts.generator_wait()).max(0.01)
}

fn remedy(facts: &Facts<'_>, change: String, factor: f64, because: String) -> Remedy {
    let factor = factor.max(1.0);
    let known = factor.is_finite();
    Remedy {
        change,
        throughput: facts
            .signal
            .filter(|_| known)
            .map(|signal| signal.throughput * factor),
        gain: known.then_some(factor - 1.0),
        because,
    }
}

/// The work of one thread spread over the CPUs that are free.
pub(crate) fn more_threads(facts: &Facts<'_>, change: String) -> Remedy {
    let room = facts
        .effective_busy
        .map_or(f64::INFINITY, |busy| 1.0 / busy.clamp(0.01, 1.0));
    remedy(facts, change, room, String::new())
}

/// More clients of a closed loop, up to what the CPUs allow.
pub(crate) fn more_clients(facts: &Facts<'_>, change: String) -> Remedy {
    let room = cpu_room(facts);
    let because = if room.is_finite() {
        "at the CPU that a request takes now".to_owned()
    } else {
        String::new()
    };
    remedy(facts, change, room, because)
}
