//! Whether an answer is right: on cause and entity, never on names.

use model::{Entity, EntityKind, Report, Role};

use crate::outcome::{Answer, Outcome};
use crate::scenario::{Expect, Who};

/// How many findings are looked at for the milder score.
const FEW: usize = 3;

/// Where the expected answer stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is the headline.
    First,
    /// It is among the first three.
    AmongThree,
    /// It is not there.
    Not,
}

impl Found {
    /// In one word.
    pub const fn word(self) -> &'static str {
        match self {
            Found::First => "right",
            Found::AmongThree => "in top 3",
            Found::Not => "wrong",
        }
    }
}

/// Looks for the expected answer. With steps, all phases must be right; else the headline, and the
/// other finding that is expected.
pub fn judge(answer: &Answer, expect: Expect, outcome: &Outcome) -> Found {
    let Answer { report, steps, .. } = answer;
    let about = |entity: &Entity, who| is_about(entity, who, report, outcome);
    if !expect.phases.is_empty() {
        let verdicts = steps.verdicts();
        let all = verdicts.len() == expect.phases.len()
            && verdicts
                .iter()
                .zip(expect.phases)
                .all(|(verdict, (cause, who))| {
                    verdict.cause == *cause && about(&verdict.entity, *who)
                });
        return if all { Found::First } else { Found::Not };
    }
    let findings = &report.verdict.findings;
    let also = |also: &str| findings.iter().skip(1).any(|finding| finding.cause == also);
    let place = |(cause, who): (&str, Who)| {
        let mut few = findings.iter().take(FEW);
        few.position(|finding| finding.cause == cause && about(&finding.entity, who))
    };
    let named = std::iter::once((expect.cause, expect.entity)).chain(expect.or.iter().copied());
    let first = named.filter_map(place).min();
    let second = expect.and.map(place);
    // Where two are expected, either of them may be the headline.
    let headline = first.into_iter().chain(second.flatten()).min();
    let all = first.is_some() && second.is_none_or(|second| second.is_some());
    match headline {
        Some(0) if all && expect.also.is_none_or(also) => Found::First,
        Some(_) => Found::AmongThree,
        None => Found::Not,
    }
}

fn is_about(entity: &Entity, who: Who, report: &Report, outcome: &Outcome) -> bool {
    let plays = |role| {
        let subjects = report.subjects.iter();
        let mut of_role = subjects.filter(|subject| subject.role == role);
        of_role.any(|s| s.entity.kind == entity.kind && s.entity.path == entity.path)
    };
    let cast = outcome.cast.get(&who).map(String::as_str);
    let group = entity.kind == EntityKind::Cgroup && cast == Some(entity.path.as_str());
    match who {
        Who::Target => plays(Role::Target),
        Who::Generator => {
            let process = entity.kind == EntityKind::Process;
            plays(Role::Generator) || process && cast.is_some_and(|c| entity.path.starts_with(c))
        }
        Who::LimitedGroup | Who::NeighbourGroup => group,
        // `pid:7@`, since nobody but stallscope knows when a process started.
        Who::Holder => {
            entity.kind == EntityKind::Process && cast.is_some_and(|c| entity.path.starts_with(c))
        }
        Who::Thread => {
            entity.kind == EntityKind::Thread && cast.is_some_and(|c| entity.path.ends_with(c))
        }
        Who::Cpu => entity.kind == EntityKind::Cpu && cast == Some(entity.path.as_str()),
        Who::Disk => entity.kind == EntityKind::Disk && cast == Some(entity.path.as_str()),
        Who::Filesystem => {
            entity.kind == EntityKind::Filesystem && cast == Some(entity.path.as_str())
        }
        Who::Peer => cast.is_some_and(|cast| is_peer(entity, cast)),
        Who::Machine => entity.kind == EntityKind::Machine,
        Who::Anyone => true,
    }
}

/// A peer is named by its process, or, where that is not on this machine, by its address: the lab
/// knows both, and says them one after the other.
fn is_peer(entity: &Entity, cast: &str) -> bool {
    cast.split(' ').any(|name| {
        let at = entity.path.find(name);
        at.is_some_and(|at| !name.starts_with("pid:") || at == 0)
    })
}
