//! Open questions: a cause that nobody could judge, and that has room in the time that is not accounted for.
//!
//! While there is one, nothing is healthy.

use super::cause::{Case, Cause, Judgement, Kind, NoFinding};
use super::family::Family;
use crate::facts::Facts;
use crate::thresholds::Threshold;

pub(super) const OPEN: Threshold = Threshold::new(
    "open",
    0.05,
    "share of the response time, without one of the serving threads' time",
    "A cause that cannot be told leaves the verdict open where it could hold more than this",
);

/// A cause that cannot be told, and what it could hold.
pub(super) struct Question {
    pub(super) cause: &'static str,
    family: Family,
    /// Why it cannot be told.
    pub(super) why: String,
    /// Part of the response time (without one: of the serving threads' time) that it could hold at most.
    pub(super) share: f64,
}

impl Question {
    /// What the share is of, in words.
    pub(super) fn whole(facts: &Facts<'_>) -> String {
        match (&facts.target, facts.signal) {
            (Some(target), None) => format!("the time of {}'s serving threads", target.name),
            _ => facts.whole(),
        }
    }

    /// What would answer it.
    pub(super) fn settle(&self, facts: &Facts<'_>) -> String {
        self.family.settle(facts)
    }
}

/// The open question with the most room, if any has enough of it.
pub(super) fn question(case: &Case<'_>) -> Option<Question> {
    if case.facts.is_idle() {
        return None;
    }
    let judged = case.before.iter();
    let open = judged.filter_map(|(cause, judgement)| asked(case.facts, cause, judgement));
    // Of those with as much room the first that is judged.
    open.reduce(|most, next| {
        if next.share > most.share + 1e-9 {
            next
        } else {
            most
        }
    })
}

fn asked(facts: &Facts<'_>, cause: &'static Cause, judgement: &Judgement) -> Option<Question> {
    // What breaks or adds to a limit holds no part of the response time of its own.
    if cause.kind != Kind::Limit {
        return None;
    }
    let Err(NoFinding::CannotTell(why)) = judgement else {
        return None;
    };
    let share = cause.family.room(facts).min(1.0);
    // What is outside of its threads may be no more than wake-ups; other time that is not known may hold anything.
    let counts = match cause.family {
        Family::Outside => facts.beyond_wake_up(share),
        _ => share,
    };
    (counts > OPEN.value()).then(|| Question {
        cause: cause.name,
        family: cause.family,
        why: why.clone(),
        share,
    })
}
