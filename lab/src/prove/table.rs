//! What was proved over all situations, as a table that can be kept.

use model::{CapacityTrial, Proof};

use super::judge::{Outcome, Verdict, judge};
use super::situations::Situation;

/// What must be reached: of ten whose limit is a capacity, eight; of those without, all.
const PROVED_OF_TEN: usize = 8;

/// A situation, and what became of it, as far as it was made.
pub struct Row<'a> {
    /// Which.
    pub situation: &'a Situation,
    /// `None` where it was not made.
    pub outcome: Option<Outcome>,
}

impl Row<'_> {
    fn proof(&self) -> Option<&Proof> {
        self.outcome.as_ref()?.proof.as_ref()
    }

    fn verdict(&self) -> Option<Verdict> {
        Some(judge(self.situation.limit, self.proof()?))
    }
}

/// The table in Markdown.
pub fn lines(rows: &[Row<'_>]) -> Vec<String> {
    let mut lines = vec![
        "| situation | limit | | elasticities (95 %) | cause before, and what became of it | s | others' CPU |"
            .to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(line));
    lines
}

fn line(row: &Row<'_>) -> String {
    let name = row.situation.name;
    let limit = row.situation.limit.map_or("none", |it| it.word());
    let outcome = match &row.outcome {
        None => return format!("| {name} | {limit} | not made | | | | |"),
        Some(outcome) => outcome,
    };
    let Some(proof) = &outcome.proof else {
        let reason = outcome.not_here.as_deref().unwrap_or_default();
        return format!("| {name} | {limit} | not possible here: {reason} | | | | |");
    };
    let trials: Vec<String> = proof.capacities.iter().map(trial).collect();
    let outside = outcome
        .outside
        .map_or(String::new(), |it| format!("{:.0} %", it * 100.0));
    format!(
        "| {name} | {limit} | {} | {} | {}, {} | {:.0} | {outside} |",
        judge(row.situation.limit, proof).word(),
        trials.join("; "),
        proof.cause,
        proof.outcome.word(),
        outcome.seconds,
    )
}

fn trial(trial: &CapacityTrial) -> String {
    let (capacity, outcome) = (trial.capacity.word(), trial.outcome.word());
    match trial.elasticity {
        None => format!("{capacity} {outcome}"),
        Some(it) => format!(
            "{capacity} {outcome} {:.2} ({:.2} to {:.2})",
            it.value, it.interval.low, it.interval.high
        ),
    }
}

/// What it comes to, and whether all of it is as it must be.
pub fn summary(rows: &[Row<'_>]) -> (Vec<String>, bool) {
    let of = |limited: bool| {
        rows.iter()
            .filter(move |it| it.situation.limit.is_some() == limited)
    };
    let right = |limited| {
        let right = of(limited).filter(|it| it.verdict() == Some(Verdict::Right));
        right.count()
    };
    let count = |limited| of(limited).count();
    let wrong = rows
        .iter()
        .filter(|it| it.verdict() == Some(Verdict::Wrong));
    let wrong: Vec<&str> = wrong.map(|it| it.situation.name).collect();
    let changed: Vec<&str> = rows
        .iter()
        .filter(|it| {
            it.outcome
                .as_ref()
                .is_some_and(|it| !it.left_changed.is_empty())
        })
        .map(|it| it.situation.name)
        .collect();
    let names = |names: &[&str]| match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    let lines = vec![
        format!(
            "What limits was proved, and nothing else: {} of {}. Nothing was proved where no capacity limits: {} of {}.",
            right(true),
            count(true),
            right(false),
            count(false)
        ),
        format!(
            "Something else was proved, or what limits was ruled out: {}.",
            names(&wrong)
        ),
        format!("Limits that were not put back: {}.", names(&changed)),
    ];
    let is_met = wrong.is_empty()
        && changed.is_empty()
        && right(true) * 10 >= count(true) * PROVED_OF_TEN
        && right(false) == count(false);
    (lines, is_met)
}

#[cfg(test)]
mod tests {
    use super::super::judge::tests::proof;
    use super::super::situations;
    use super::*;
    use model::{Capacity, ProofOutcome};

    fn outcome(cpu: ProofOutcome) -> Outcome {
        Outcome {
            not_here: None,
            proof: Some(proof(&[(Capacity::Cpu, cpu)])),
            seconds: 61.4,
            left_changed: Vec::new(),
            outside: Some(0.02),
        }
    }

    fn situation(name: &str) -> Situation {
        situations::chosen(&[name.to_owned()])
            .expect("known")
            .remove(0)
    }

    #[test]
    fn an_experiment_is_a_line() {
        let situation = situation("cpu-quota");
        let made = Row {
            situation: &situation,
            outcome: Some(outcome(ProofOutcome::Proved)),
        };
        assert_eq!(
            line(&made),
            "| cpu-quota | cpu | right | cpu proved 0.97 (0.88 to 1.06) | cpu.quota, proved | 61 | 2 % |"
        );
        let not_made = Row {
            situation: &situation,
            outcome: None,
        };
        assert_eq!(line(&not_made), "| cpu-quota | cpu | not made | | | | |");
    }

    #[test]
    fn what_is_wrong_or_left_changed_is_not_made_up_for() {
        let (limited, decoy) = (situation("cpu-quota"), situation("hot-mutex"));
        let is_met = |first: Outcome, second: Outcome| {
            let row = |situation, outcome| Row {
                situation,
                outcome: Some(outcome),
            };
            summary(&[row(&limited, first), row(&decoy, second)]).1
        };
        let (proved, ruled_out) = (ProofOutcome::Proved, ProofOutcome::RuledOut);
        assert!(is_met(outcome(proved), outcome(ruled_out)));
        assert!(!is_met(outcome(proved), outcome(proved)));
        assert!(!is_met(outcome(ruled_out), outcome(ruled_out)));
        let changed = Outcome {
            left_changed: vec!["cpu.cfs_quota_us".to_owned()],
            ..outcome(proved)
        };
        assert!(!is_met(changed, outcome(ruled_out)));
    }
}
