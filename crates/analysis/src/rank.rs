//! From what was judged to what is said: the headline first, the rest by their share.

use model::{Answer, Finding, Judged};

use crate::causes::{Judgement, kind};

/// What is said.
pub(crate) struct Ranked {
    pub(crate) findings: Vec<Finding>,
    pub(crate) judged: Vec<Judged>,
}

/// Orders findings: `undetermined` and `healthy` lead where they are present, since they say what the
/// others amount to; then what broke, what limits, what adds to a limit; among alike by share, then by
/// name so that the order never depends on chance.
pub(crate) fn rank(
    judgements: Vec<(&'static str, Judgement)>,
    concerns: impl Fn(&str) -> bool,
) -> Ranked {
    let mut findings = Vec::new();
    let mut judged = Vec::new();
    for (cause, judgement) in judgements {
        let (answer, sentence) = match judgement {
            Judgement::Present(finding) => {
                let sentence = finding.sentence.clone();
                findings.push(*finding);
                (Answer::Present, sentence)
            }
            Judgement::Absent(sentence) => (Answer::Absent, sentence),
            Judgement::CannotTell(sentence) => (Answer::CannotTell, sentence),
        };
        judged.push(Judged {
            cause: cause.to_owned(),
            answer,
            sentence,
            concerns: concerns(cause),
        });
    }
    findings.sort_by(|a, b| {
        let share = |finding: &Finding| finding.share.unwrap_or(0.0);
        kind(&a.cause)
            .cmp(&kind(&b.cause))
            .then(share(b).total_cmp(&share(a)))
            .then(a.cause.cmp(&b.cause))
    });
    Ranked { findings, judged }
}
