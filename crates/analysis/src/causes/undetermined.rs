//! No cause was found that explains enough, or two that cannot be told apart; what is known is said.

use model::{Confidence, Entity, Finding, LedgerClass};

use super::evidence::{finding, machine};
use super::healthy::explained;
use super::open::Question;
use super::{Cause, Judgement, Kind, kind};
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "undetermined",
    help: "No cause was found that explains enough, or two that cannot be told apart.",
    about: "the target",
    kind: Kind::State,
    told_by: "Nothing that this version judges explains enough, or two causes hold as much within the noise of the run. What was seen most is named, and what to do next.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let sentence = match found {
        [] => nothing_found(facts, thresholds),
        [..] => match tie(found) {
            Some((first, second)) => format!(
                "Undetermined: {first} and {second} hold as much of {}, within the noise of this run.",
                facts.whole()
            ),
            None => return Judgement::Absent(format!("{} was found", found[0].cause)),
        },
    };
    let entity: Entity = facts
        .target
        .as_ref()
        .map_or_else(|| machine(facts), |target| target.entity.clone());
    Judgement::Present(Box::new(Finding {
        to_confirm: match facts.meta.plan.targets.as_slice() {
            [] if found.is_empty() => {
                "run longer and alone on the machine, and name what serves: --target"
            }
            _ => "run longer and alone on the machine",
        }
        .to_owned(),
        ..finding(CAUSE.name, &entity, Confidence::Suspected, sentence)
    }))
}

/// A cause that nobody could judge has room in what is not accounted for: it comes first.
pub(super) fn left_open(facts: &Facts<'_>, question: &Question) -> Judgement {
    let entity = facts
        .target
        .as_ref()
        .map_or_else(|| machine(facts), |target| target.entity.clone());
    let sentence = format!(
        "Undetermined: {} cannot be told, and could hold up to {} of {}: {}.",
        question.cause,
        percent(question.share),
        Question::whole(facts),
        question.why
    );
    Judgement::Present(Box::new(Finding {
        to_confirm: question.settle(facts),
        ..finding(CAUSE.name, &entity, Confidence::Suspected, sentence)
    }))
}

fn nothing_found(facts: &Facts<'_>, thresholds: &Thresholds) -> String {
    if let Some(why) = &facts.meta.no_target {
        return format!("Undetermined: {why}");
    }
    let Some(target) = &facts.target else {
        return "Undetermined: no target was measured.".to_owned();
    };
    let Some(account) = &facts.account else {
        return format!(
            "Undetermined: the threads of {} did nothing that could be measured in this window.",
            target.name
        );
    };
    if facts.wait_unseen(thresholds) {
        return format!(
            "Undetermined: how long {} waited for a CPU was not recorded.",
            target.name
        );
    }
    // Where enough is explained, what is outside is not what is missing.
    let enough = explained(facts) >= thresholds.healthy.explained;
    let largest = account
        .items
        .iter()
        .filter(|item| item.class != LedgerClass::OnCpu)
        .filter(|item| item.class != LedgerClass::Outside || !enough)
        .max_by(|a, b| a.share.total_cmp(&b.share));
    match largest {
        Some(item) if item.class == LedgerClass::Outside && facts.is_mostly_queued() => format!(
            "Undetermined: {} of {} was {}, and what its threads did meanwhile explains little of it ({} is explained in all): they \
             slept while requests were there, or take them later than they come.",
            percent(item.share),
            facts.whole(),
            item.label,
            percent(explained(facts))
        ),
        Some(item) if item.class == LedgerClass::Outside => format!(
            "Undetermined: {} of {} was outside {}, and the load generator explains little of it ({} is explained in all): think time, \
             the network, or locks that wait in epoll.",
            percent(item.share),
            facts.whole(),
            target.name,
            percent(explained(facts))
        ),
        Some(item) if item.share > 1.0 + thresholds.gates.excess => format!(
            "Undetermined: the threads of {} spent more time {} than requests took, so some of them were idle there, and no cause \
             that this version judges explains the rest.",
            target.name,
            item.class.label()
        ),
        Some(item) => format!(
            "Undetermined: {} of {} was {}, and no cause that this version judges explains it.",
            percent(item.share),
            facts.whole(),
            item.label
        ),
        None => format!(
            "Undetermined: {} was on a CPU whenever it was seen, and no cause explains more.",
            target.name
        ),
    }
}

/// Two leading causes whose intervals overlap and whose shares differ by less than the least effect.
fn tie(found: &[Finding]) -> Option<(&str, &str)> {
    const LEAST_EFFECT: f64 = 0.02;
    let mut shares: Vec<&Finding> = found
        .iter()
        .filter(|finding| finding.share.is_some() && kind(&finding.cause) == Kind::Limit)
        .collect();
    shares.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    let [first, second, ..] = shares.as_slice() else {
        return None;
    };
    let overlap = match (first.share_interval, second.share_interval) {
        (Some(a), Some(b)) => a.low <= b.high && b.low <= a.high,
        _ => true,
    };
    let close = first.share? - second.share? < LEAST_EFFECT;
    (overlap && close).then_some((first.cause.as_str(), second.cause.as_str()))
}
