//! The server takes no more connections.

use model::{Confidence, Finding};

use super::evidence::{finding, number, share};
use super::{Cause, Judgement, Kind, no_target};
use crate::facts::Facts;
use crate::number_format::{integer, percent};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "limit.connections",
    help: "The server takes no more connections: clients are turned away.",
    about: "the target",
    kind: Kind::Failure,
    told_by: "The workload was told so (`sorry, too many clients already`, `Too many connections`), or PostgreSQL's sessions are as many as it allows (`--postgres`). Where neither the workload was listened to nor the server asked, it cannot be told.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let refused = facts.complaints(model::ComplaintKind::TooManyConnections);
    let entity = match (&facts.target, &refused) {
        (Some(target), _) => target.entity.clone(),
        (None, Some(_)) => super::evidence::machine(facts),
        (None, None) => return no_target(facts),
    };
    let name = facts
        .target
        .as_ref()
        .map_or("the server", |target| target.name.as_str());
    let least = thresholds.limit_connections.used;
    let used = facts.sessions.used;
    let full = used.map(|(sessions, allowed)| sessions / allowed);
    if let Some(complaint) = refused {
        let times = complaint.count as f64;
        let sentence = format!(
            "{name} takes no more connections: clients were turned away {} (`{}`).",
            if complaint.count == 1 {
                "once".to_owned()
            } else {
                format!("{} times", integer(times))
            },
            complaint.message
        );
        return Judgement::Present(Box::new(Finding {
            evidence: vec![number(
                facts,
                ("clients turned away", "count"),
                "workload.outcome.complaints",
                &entity,
                times,
                1.0,
            )],
            would_not_help: vec!["more clients".to_owned()],
            to_confirm: "run with half of the clients: if they are turned away too, this is wrong"
                .to_owned(),
            ..finding(CAUSE.name, &entity, Confidence::Measured, sentence)
        }));
    }
    match (full, used) {
        (Some(full), Some((sessions, allowed))) if full >= least => {
            let sentence = format!(
                "{name} takes hardly any more connections: {} of {} are in use.",
                integer(sessions),
                integer(allowed)
            );
            Judgement::Present(Box::new(Finding {
                evidence: vec![share(facts, "connections in use", "database.sessions", &entity, full, least)],
                to_confirm: "raise max_connections, or put a pool in front: if throughput stays the same, this is wrong".to_owned(),
                ..finding(CAUSE.name, &entity, Confidence::Consistent, sentence)
            }))
        }
        (Some(full), _) => Judgement::Absent(format!(
            "{} of the connections of {name} were in use",
            percent(full)
        )),
        (None, _) if facts.listened() => Judgement::Absent("nobody was turned away".to_owned()),
        (None, _) => Judgement::CannotTell(format!(
            "no workload was listened to, and {name} was not asked (--postgres)"
        )),
    }
}
