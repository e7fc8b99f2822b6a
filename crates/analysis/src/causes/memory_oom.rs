//! The kernel killed somebody for want of memory.

use model::{Confidence, Entity, Finding};

use super::evidence::{finding, machine, number};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::number_format::count;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.oom",
    help: "The kernel killed somebody for want of memory.",
    about: "the control group that was full, else the machine",
    kind: Kind::Failure,
    told_by: "Kills are counted per group (`oom_kill` of `memory.events`, or of `memory.oom_control` of v1) and for the machine (/proc/vmstat). Any kill during the recording counts, also outside the window that is judged: what follows it is not what was before. The kernel counts a kill in the group of who was killed: where the groups that hold the target were seen and count none, it was somebody else's, which is a doubt about the run and no cause.",
    judge,
};

fn judge(facts: &Facts<'_>, _thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let memory = &facts.memory;
    if let Some(killed) = elsewhere(facts) {
        return Judgement::Absent(format!(
            "the kernel killed {killed} for want of memory, and none of the target's control group"
        ));
    }
    let killing = memory
        .groups
        .iter()
        .filter_map(|group| Some((group, group.kills.filter(|kills| *kills > 0.0)?)))
        // The deepest group: those above count its kills too.
        .max_by_key(|(group, _)| group.group.path.len());
    if let Some((group, kills)) = killing {
        return present(facts, &group.group, kills, "cgroup_memory.oom_kills");
    }
    match memory.kills {
        Some(kills) if kills > 0.0 => present(facts, &machine(facts), kills, "paging.oom_kills"),
        Some(_) => Judgement::Absent("nobody was killed for want of memory".to_owned()),
        None => Judgement::CannotTell("kills were not recorded".to_owned()),
    }
}

/// Who was killed, in words, where it was nobody of the target's.
pub(super) fn elsewhere(facts: &Facts<'_>) -> Option<String> {
    let kills = facts.memory.kills.filter(|kills| *kills > 0.0)?;
    facts.memory.own_kills.filter(|own| *own <= 0.0)?;
    Some(killed(kills))
}

fn killed(kills: f64) -> String {
    count(kills.clamp(1.0, f64::from(u32::MAX)) as u32, "process")
}

fn present(facts: &Facts<'_>, entity: &Entity, kills: f64, column: &str) -> Judgement {
    let whose = if entity.kind == model::EntityKind::Cgroup {
        format!("in {}", entity.path)
    } else {
        "on this machine".to_owned()
    };
    let killed = killed(kills);
    let sentence =
        format!("Out of memory: the kernel killed {killed} {whose} during this recording.");
    Judgement::Present(Box::new(Finding {
        evidence: vec![model::Evidence {
            window: facts.whole_scope(),
            ..number(facts, ("kills", "count"), column, entity, kills, 1.0)
        }],
        would_not_help: Vec::new(),
        to_confirm:
            "look for `Out of memory` or `oom-kill` in the kernel's log: dmesg | grep -i oom"
                .to_owned(),
        ..finding(CAUSE.name, entity, Confidence::Measured, sentence)
    }))
}
