//! What an experiment said, held against what is known.

use model::{Capacity, CapacityTrial, Proof, ProofOutcome};
use serde::{Deserialize, Serialize};

/// How right an experiment was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// What limits was proved, and nothing else; or nothing was, where nothing does that was lowered.
    Right,
    /// What limits was not proved, and nothing else was.
    Missed,
    /// Something else was proved, or what limits was ruled out.
    Wrong,
}

impl Verdict {
    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Missed => "missed",
            Self::Wrong => "wrong",
        }
    }
}

/// What became of one experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Why this machine cannot make the situation; the rest is then empty.
    pub not_here: Option<String>,
    /// What `prove` said.
    pub proof: Option<Proof>,
    /// How long it took, s.
    pub seconds: f64,
    /// Limits of the target's groups that are not what they were.
    pub left_changed: Vec<String>,
    /// Part of the CPUs that others took, 0 to 1.
    pub outside: Option<f64>,
}

impl Outcome {
    /// Of a situation that cannot be made.
    pub const fn not_here(reason: String) -> Self {
        Self {
            not_here: Some(reason),
            proof: None,
            seconds: 0.0,
            left_changed: Vec::new(),
            outside: None,
        }
    }
}

/// Whether that is right.
pub fn judge(limit: Option<Capacity>, proof: &Proof) -> Verdict {
    let with = |outcome| {
        let all = proof.capacities.iter();
        all.filter(move |it: &&CapacityTrial| it.outcome == outcome)
            .map(|it| it.capacity)
    };
    let another = with(ProofOutcome::Proved).any(|it| Some(it) != limit);
    let denied = with(ProofOutcome::RuledOut).any(|it| Some(it) == limit);
    let named = with(ProofOutcome::Proved).any(|it| Some(it) == limit);
    match (another || denied, named || limit.is_none()) {
        (true, _) => Verdict::Wrong,
        (false, true) => Verdict::Right,
        (false, false) => Verdict::Missed,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use model::{Interval, PROOF_SCHEMA, ProofEstimate, Timestamp, Window};

    /// A proof of some capacities.
    pub fn proof(found: &[(Capacity, ProofOutcome)]) -> Proof {
        let trial = |(capacity, outcome): &(Capacity, ProofOutcome)| CapacityTrial {
            capacity: *capacity,
            of: String::new(),
            used: None,
            available: None,
            lowered_to: None,
            pairs: Vec::new(),
            change: Some(-0.25),
            elasticity: Some(ProofEstimate {
                value: 0.97,
                interval: Interval {
                    low: 0.88,
                    high: 1.06,
                },
            }),
            outcome: *outcome,
            sentence: String::new(),
        };
        Proof {
            schema: PROOF_SCHEMA.to_owned(),
            target: "a".to_owned(),
            recording: "a.stall".to_owned(),
            at_most: 2.0,
            as_it_is: Window {
                start: Timestamp::from_ns(0),
                end: Timestamp::from_ns(0),
            },
            cause: "cpu.quota".to_owned(),
            cause_of: "/a".to_owned(),
            cause_capacity: Some(Capacity::Cpu),
            outcome: ProofOutcome::Proved,
            answers: Vec::new(),
            capacities: found.iter().map(trial).collect(),
            without: None,
            caveats: Vec::new(),
        }
    }

    #[test]
    fn only_what_limits_may_be_proved() {
        use ProofOutcome::{Inconclusive, NotTried, Proved, RuledOut};
        let of = |limit, cpu, disk| {
            judge(
                limit,
                &proof(&[(Capacity::Cpu, cpu), (Capacity::Disk, disk)]),
            )
        };
        let cpu = Some(Capacity::Cpu);
        assert_eq!(of(cpu, Proved, RuledOut), Verdict::Right);
        assert_eq!(of(cpu, Proved, NotTried), Verdict::Right);
        assert_eq!(of(cpu, Inconclusive, RuledOut), Verdict::Missed);
        assert_eq!(of(cpu, RuledOut, RuledOut), Verdict::Wrong);
        assert_eq!(of(cpu, Proved, Proved), Verdict::Wrong);
        assert_eq!(of(None, RuledOut, Inconclusive), Verdict::Right);
        assert_eq!(of(None, RuledOut, Proved), Verdict::Wrong);
    }
}
