//! What was looked at and is not the reason, with its number.

use model::{EntityKind, LedgerClass, Resource, RuledOut, StallKind};

use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::thresholds::{HELD_BY_OTHERS, RETRANSMITTED, THROTTLED_TIME, Thresholds};

/// Everything that is ruled out. What could not be seen is not listed.
pub(crate) fn ruled_out(facts: &Facts<'_>, thresholds: &Thresholds) -> Vec<RuledOut> {
    let all = [
        steal(facts, thresholds),
        throttling(facts),
        disk(facts, thresholds),
        memory(facts, thresholds),
        locks(facts, thresholds),
        network(facts, thresholds),
        others(facts, thresholds),
    ];
    all.into_iter().flatten().collect()
}

fn found(what: &str, value: f64, sentence: String) -> Option<RuledOut> {
    Some(RuledOut {
        what: what.to_owned(),
        value,
        sentence,
    })
}

fn steal(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    let steal = facts.machine?.steal;
    if steal >= thresholds.ruled_out.steal {
        return None;
    }
    found("steal", steal, format!("steal {}", percent(steal)))
}

fn throttling(facts: &Facts<'_>) -> Option<RuledOut> {
    facts.target.as_ref().filter(|_| facts.quota_seen)?;
    let throttled = facts
        .quota
        .as_ref()
        .map_or(0.0, |quota| quota.throttled_time);
    if throttled >= THROTTLED_TIME.value() {
        return None;
    }
    found(
        "throttling",
        throttled,
        format!("throttling {}", percent(throttled)),
    )
}

/// Disk and memory are judged by what they cost the target; pressure that cost it nothing is named.
fn disk(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    facts.account.as_ref()?;
    let share = facts.share_of(&LedgerClass::DISK);
    // Who waits for a peer that waits for a disk waits for the disk.
    let is_of_peer = facts
        .at_peer
        .as_ref()
        .is_some_and(|it| it.cause.starts_with("io."));
    if share >= thresholds.floors.share || blind(facts) || is_of_peer {
        return None;
    }
    found(
        "disk",
        share,
        pressed(
            "disk",
            share,
            facts.machine_pressure(Resource::Io, StallKind::Some),
            thresholds,
        ),
    )
}

fn memory(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    let pressure = facts.machine_pressure(Resource::Memory, StallKind::Some)?;
    if pressure < thresholds.floors.share {
        return found("memory", pressure, format!("memory {}", percent(pressure)));
    }
    // Pressure of the machine may be others': the target's own group tells.
    let own = facts.pressure.iter().find(|own| {
        own.entity.kind == EntityKind::Cgroup
            && own.resource == Resource::Memory
            && own.kind == StallKind::Some
    })?;
    if own.share >= thresholds.floors.share {
        return None;
    }
    let (own, machine) = (own.share, percent(pressure));
    let sentence = format!(
        "memory {} (though the machine's memory pressure was {machine})",
        percent(own)
    );
    found("memory", own, sentence)
}

fn locks(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    facts.account.as_ref()?;
    let share = facts.share_of(&[
        LedgerClass::Futex,
        LedgerClass::InternalLock,
        LedgerClass::DatabaseLock,
    ]);
    // Without requests, futex is in no account, and no lock is acquitted by that.
    let futex = facts
        .target
        .as_ref()?
        .serving_ledger
        .part(LedgerClass::Futex);
    let untold = facts.signal.is_none() && futex >= thresholds.floors.share;
    if share >= thresholds.floors.share || untold || blind(facts) {
        return None;
    }
    found("locks", share, format!("locks {}", percent(share)))
}

/// Only where the target was reached over TCP.
fn network(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    let path = facts.network.path.as_ref()?;
    let lost = path.retransmitted?;
    let response_ns = facts.signal?.latency_ns?;
    if lost >= RETRANSMITTED.value() || path.rtt_ns >= thresholds.floors.share * response_ns {
        return None;
    }
    let trip = duration(path.rtt_ns);
    found(
        "network",
        lost,
        format!("network (round trip {trip}, {} sent again)", percent(lost)),
    )
}

fn others(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<RuledOut> {
    facts.machine?;
    facts.target.as_ref()?;
    let share = facts.cpu.part(facts.cpu.rest_ns);
    if share >= HELD_BY_OTHERS.value()
        || facts.wait_unseen()
        || facts.share(LedgerClass::CpuWait) * share >= thresholds.floors.share
    {
        return None;
    }
    found(
        "other processes",
        share,
        format!("other processes {} of the CPU used", percent(share)),
    )
}

/// Whether so much of the target's blocked time is unexplained that no class of it can be acquitted.
fn blind(facts: &Facts<'_>) -> bool {
    facts
        .target
        .as_ref()
        .is_none_or(|target| target.serving_ledger.part(LedgerClass::Unknown) > 0.10)
}

fn pressed(what: &str, share: f64, pressure: Option<f64>, thresholds: &Thresholds) -> String {
    match pressure.filter(|pressure| *pressure >= thresholds.ruled_out.pressure) {
        Some(pressure) => format!(
            "{what} {} (though the machine's io pressure was {})",
            percent(share),
            percent(pressure)
        ),
        None => format!("{what} {}", percent(share)),
    }
}
