//! The kernel killed somebody for want of memory.

use model::{Confidence, Entity, Evidence, Finding, Whose};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{machine, number};
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::count;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.oom",
    help: "The kernel killed somebody for want of memory.",
    about: "the control group that was full, else the machine",
    kind: Kind::Failure,
    family: Family::Storage,
    told_by: "Kills are counted per group (`oom_kill` of `memory.events`, or of `memory.oom_control` of v1) and for the machine (/proc/vmstat). Any kill during the recording counts, also outside the window that is judged: what follows it is not what was before. The kernel counts a kill in the group of who was killed: where the groups that hold the target were seen and count none, it was somebody else's, which is a doubt about the run and no cause.",
    thresholds: &[],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "look for `Out of memory` or `oom-kill` in the kernel's log: dmesg | grep -i oom",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let memory = &facts.memory;
    if let Some(killed) = elsewhere(facts) {
        return absent(format!(
            "the kernel killed {killed} for want of memory, and none of the target's control group"
        ));
    }
    let groups = memory.groups.iter();
    let killing = groups
        .filter_map(|group| Some((group, group.kills.filter(|kills| *kills > 0.0)?)))
        // The deepest group: those above count its kills too.
        .max_by_key(|(group, _)| group.group.path.len());
    if let Some((group, kills)) = killing {
        let whose = formula::one(group.id);
        return Ok(present(case, &group.group, whose, kills));
    }
    match memory.kills {
        Some(kills) if kills > 0.0 => Ok(present(case, &machine(facts), Whose::All, kills)),
        Some(_) => absent("nobody was killed for want of memory"),
        None => cannot_tell("kills were not recorded"),
    }
}

/// Who was killed, in words, where it was nobody of the target's.
pub(crate) fn elsewhere(facts: &Facts<'_>) -> Option<String> {
    let kills = facts.memory.kills.filter(|kills| *kills > 0.0)?;
    facts.memory.own_kills.filter(|own| *own <= 0.0)?;
    Some(killed(kills))
}

fn killed(kills: f64) -> String {
    count(kills.clamp(1.0, f64::from(u32::MAX)) as u32, "process")
}

fn present(case: &Case<'_>, entity: &Entity, whose: Whose, kills: f64) -> Finding {
    let facts = case.facts;
    let (place, table) = match whose {
        Whose::All => ("on this machine".to_owned(), "paging"),
        _ => (format!("in {}", entity.path), "cgroup_memory"),
    };
    let formula = formula::alone(formula::growth(table, &["oom_kills"], whose));
    let column = format!("{table}.oom_kills");
    let killed = killed(kills);
    let sentence =
        format!("Out of memory: the kernel killed {killed} {place} during this recording.");
    Finding {
        evidence: vec![Evidence {
            window: facts.whole_scope(),
            ..number(facts, ("kills", "count"), &column, entity, kills, 1.0).by(formula)
        }],
        ..case.finding(entity, Confidence::Measured, sentence)
    }
}
