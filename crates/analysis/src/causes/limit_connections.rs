//! The server takes no more connections.

use model::{Complaint, ComplaintKind, Confidence, Entity, Finding, Reading};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{machine, number, share};
use super::family::Family;
use crate::formula;
use crate::number_format::{integer, percent};
use crate::thresholds::Threshold;

const USED: Threshold = Threshold::share("used", 0.95, "Sessions in use, of those allowed");

pub(super) const CAUSE: Cause = Cause {
    name: "limit.connections",
    help: "The server takes no more connections: clients are turned away.",
    about: "the target",
    kind: Kind::Failure,
    family: Family::Outside,
    told_by: "The workload was told so (`sorry, too many clients already`, `Too many connections`), or the sessions of PostgreSQL, MySQL or MariaDB are as many as it allows (`--postgres`, `--mysql`). What a command that nobody understands writes to standard error is searched too, unless that is a terminal. Where neither the workload was listened to nor the server asked, it cannot be told.",
    thresholds: &[USED],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "raise max_connections, or put a pool in front: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let refused = facts.complaints(ComplaintKind::TooManyConnections);
    let entity = match refused {
        Some(_) => case
            .target()
            .map_or_else(|_| machine(facts), |it| it.entity.clone()),
        None => case.target()?.entity.clone(),
    };
    let target = facts.target.as_ref();
    let name = target.map_or("the server", |target| target.name.as_str());
    if let Some(complaint) = refused {
        return Ok(turned_away(case, name, &entity, complaint));
    }
    let Some(server) = facts.sessions.used else {
        return match facts.listened() {
            true => absent("nobody was turned away"),
            false => cannot_tell(format!(
                "no workload was listened to, and {name} was not asked (--postgres, --mysql)"
            )),
        };
    };
    let used = server.part();
    if used < USED.value() {
        return absent(format!(
            "{} of the connections of {name} were in use",
            percent(used)
        ));
    }
    let sentence = format!(
        "{name} takes hardly any more connections: {} of {} are in use.",
        integer(server.sessions),
        integer(server.allowed)
    );
    let table = &*server.table.name;
    let column = format!("{table}.sessions");
    let evidence = share(
        facts,
        "connections in use",
        &column,
        &entity,
        used,
        USED.value(),
    );
    let of_server = |reading, column| {
        let whose = formula::one(server.server);
        formula::recorded(reading, table, &[column], whose)
    };
    Ok(Finding {
        evidence: vec![evidence.by(formula::part(
            of_server(Reading::Mean, "sessions"),
            of_server(Reading::Last, "sessions_limit"),
        ))],
        ..case.finding(&entity, Confidence::Consistent, sentence)
    })
}

fn turned_away(case: &Case<'_>, name: &str, entity: &Entity, complaint: &Complaint) -> Finding {
    let times = complaint.count as f64;
    let how_often = match complaint.count {
        1 => "once".to_owned(),
        _ => format!("{} times", integer(times)),
    };
    let sentence = format!(
        "{name} takes no more connections: clients were turned away {how_often} (`{}`).",
        complaint.message
    );
    Finding {
        evidence: vec![number(
            case.facts,
            ("clients turned away", "count"),
            "workload.outcome.complaints",
            entity,
            times,
            1.0,
        )],
        would_not_help: vec!["more clients".to_owned()],
        to_confirm: "run with half of the clients: if they are turned away too, this is wrong"
            .to_owned(),
        ..case.finding(entity, Confidence::Measured, sentence)
    }
}
