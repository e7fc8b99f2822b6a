//! Open questions: a cause that nobody could judge, and that has room in the time that is not accounted for.
//!
//! While there is one, nothing is healthy.

use model::LedgerClass;

use super::healthy::is_idle;
use super::{Judgement, Kind, kind};
use crate::facts::Facts;
use crate::thresholds::Thresholds;

/// A cause that cannot be told, and what it could hold.
pub(super) struct Question {
    pub(super) cause: &'static str,
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
        let no_times = facts.signal.is_none();
        let name = facts.target.as_ref().map_or("the target", |it| &it.name);
        match family(self.cause) {
            _ if no_times && !has_request_times(facts) => {
                "record as root on Linux 6.10 or later (request times are then seen in the kernel), or give the load's \
                 own latency: --metric 'latency=([0-9.]+) ms'"
                    .to_owned()
            }
            "lock" => format!(
                "see who holds what {name} waits for: perf record -e sched:sched_switch -g -p $(pgrep -d, -x {name}) -- sleep 10"
            ),
            "net" | "load" => {
                "measure the latency where the load is generated, and run it once on the server's own machine".to_owned()
            }
            _ => "record as root, or as the user who owns the target".to_owned(),
        }
    }
}

fn family(cause: &str) -> &str {
    cause.split('.').next().unwrap_or(cause)
}

fn has_request_times(facts: &Facts<'_>) -> bool {
    facts.timeline.table("requests").is_some()
}

/// The open question with the most room, if any has enough of it.
pub(super) fn question(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    judged: &[(&'static str, Judgement)],
) -> Option<Question> {
    if is_idle(facts) {
        return None;
    }
    let open = judged.iter().filter_map(|(cause, judgement)| {
        // What breaks or adds to a limit holds no part of the response time of its own.
        let Judgement::CannotTell(why) = judgement else {
            return None;
        };
        if kind(cause) != Kind::Limit {
            return None;
        }
        let share = room_of(facts, cause).min(1.0);
        (share > thresholds.healthy.open).then(|| Question {
            cause,
            why: why.clone(),
            share,
        })
    });
    // Of those with as much room the first that is judged.
    open.reduce(|most, next| {
        if next.share > most.share + 1e-9 {
            next
        } else {
            most
        }
    })
}

/// How much of the time that is not accounted for a cause could hold, by where its kind of wait is seen.
fn room_of(facts: &Facts<'_>, cause: &str) -> f64 {
    let Some(target) = &facts.target else {
        return 0.0;
    };
    let ledger = &target.serving_ledger;
    if facts.signal.is_none() {
        return match family(cause) {
            "lock" => ledger.part(LedgerClass::Futex) + ledger.part(LedgerClass::Unknown),
            "io" | "memory" | "cache" => ledger.part(LedgerClass::Unknown),
            _ => 0.0,
        };
    }
    let whole_ns = facts.account.as_ref().map_or(0, |it| it.total_ns) as f64;
    let unexplained = facts.unexplained();
    let unseen = match whole_ns > 0.0 {
        true => (ledger.get(LedgerClass::Unknown) / whole_ns).min(unexplained),
        false => 0.0,
    };
    match family(cause) {
        "net" | "load" => unexplained,
        "lock" if facts.is_partly_idle_of_futex() => {
            unexplained.max(facts.share(LedgerClass::Futex))
        }
        "lock" | "io" | "memory" | "cache" => unseen,
        _ => 0.0,
    }
}
