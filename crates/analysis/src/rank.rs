//! From what was judged to what is said: the headline first, the rest by their share.

use model::{Answer, Finding, Judged};

use crate::causes::{Cause, Judgement, NoFinding};
use crate::facts::Facts;
use crate::thresholds::LEAST_EFFECT;

/// What is said.
pub(crate) struct Ranked {
    pub(crate) findings: Vec<Finding>,
    pub(crate) judged: Vec<Judged>,
}

/// Orders findings: `undetermined` and `healthy` lead where they are present, since they say what the
/// others amount to; then what broke, what limits, what adds to a limit; among alike by share (`pool_first` has an
/// exception), then by name so that the order never depends on chance.
pub(crate) fn rank(judgements: Vec<(&'static Cause, Judgement)>, facts: &Facts<'_>) -> Ranked {
    let mut findings: Vec<(&Cause, Finding)> = Vec::new();
    let mut judged = Vec::new();
    for (cause, judgement) in judgements {
        let (answer, sentence) = match judgement {
            Ok(finding) => {
                let sentence = finding.sentence.clone();
                findings.push((cause, finding));
                (Answer::Present, sentence)
            }
            Err(NoFinding::Absent(sentence)) => (Answer::Absent, sentence),
            Err(NoFinding::CannotTell(sentence)) => (Answer::CannotTell, sentence),
        };
        judged.push(Judged {
            cause: cause.name.to_owned(),
            answer,
            sentence,
            concerns: cause.family.concerns(facts),
        });
    }
    findings.sort_by(|(a, of_a), (b, of_b)| {
        let share = |finding: &Finding| finding.share.unwrap_or(0.0);
        a.kind
            .cmp(&b.kind)
            .then(share(of_b).total_cmp(&share(of_a)))
            .then(a.name.cmp(b.name))
    });
    pool_first(&mut findings);
    Ranked {
        findings: findings.into_iter().map(|(_, finding)| finding).collect(),
        judged,
    }
}

/// Puts a full pool before the calls that have its places, where both hold as much: it is what a request meets first.
fn pool_first(findings: &mut [(&Cause, Finding)]) {
    let share = |finding: &Finding| finding.share.unwrap_or(0.0);
    if let [(calls, of_calls), (pool, of_pool), ..] = findings
        && pool.name == "limit.pool"
        && pool.family == calls.family
        && share(of_calls) - share(of_pool) < LEAST_EFFECT
    {
        findings.swap(0, 1);
    }
}
