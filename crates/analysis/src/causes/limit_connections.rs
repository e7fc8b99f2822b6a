//! The server takes no more connections.

use model::{Complaint, ComplaintKind, Confidence, Entity, Finding, Reading};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{machine, number, share};
use super::family::Family;
use crate::account::MAY_BE_REST;
use crate::bounds;
use crate::facts::{Facts, OpenFiles, ToldBy, TurnedAway, Used};
use crate::formula;
use crate::number_format::{integer, percent};
use crate::thresholds::Threshold;

const USED: Threshold = Threshold::share(
    "used",
    0.95,
    "Sessions in use, or files open, of those allowed",
);

const NONE_LEFT: Threshold = Threshold::share(
    "none_left",
    0.98,
    "Files open, of those allowed, with which hardly ever one was left",
);
const TURNED_AWAY: Threshold = Threshold::share(
    "turned_away",
    0.05,
    "Connections of the load that the server turned away",
);
const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time that a connection waits before it is accepted, at most, where no more files may be open",
);

pub(super) const CAUSE: Cause = Cause {
    name: "limit.connections",
    help: "The server takes no more connections: clients are turned away.",
    about: "the target",
    kind: Kind::Failure,
    family: Family::Outside,
    told_by: "The workload was told so (`sorry, too many clients already`, `Too many connections`), or the sessions of PostgreSQL, MySQL or MariaDB are as many as it allows (`--postgres`, `--mysql`). What a command that nobody understands writes to standard error is searched too, unless that is a terminal. A connection is an open file too: where a process that serves has as many files open as it may (`ulimit -n`, table `open_files`), it takes no more of them until it closes one (EMFILE in accept(2)). Servers keep files open that they could close, so from `used` on that counts only where requests are in line at its sockets while its threads do nothing that is known to be work, which is the most that it can have cost; from `none_left` on it counts by itself, since whatever is opened next fails. A server that has reached a limit of its own (`worker_connections`, `maxclients`) accepts a connection and closes it without an answer: where the load runs here, it sees these reset, or, where the server is the first to speak (MySQL, MariaDB), ended before it has asked for anything (table `flow`). Of PostgreSQL's protocol, on a unix socket, a client that is turned away has sent one message, and any other at least two. Where neither the workload was listened to nor the server asked, nor open files and connections were counted, it cannot be told.",
    thresholds: &[USED, NONE_LEFT, TURNED_AWAY, COST],
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
    let files = facts.sessions.files.as_ref();
    if let Some(files) = files.filter(|it| costs(facts, it)) {
        return Ok(no_more_files(case, &entity, files));
    }
    let turned = facts.sessions.turned_away;
    if let Some(turned) = turned.filter(|it| it.part() >= TURNED_AWAY.value()) {
        return Ok(closed_unanswered(case, name, &entity, turned));
    }
    let used = facts.sessions.used.as_ref();
    if let Some(server) = used.filter(|it| it.part() >= USED.value()) {
        return Ok(full(case, name, &entity, server));
    }
    match (used, files) {
        (Some(server), _) => absent(format!(
            "{} of the connections of {name} were in use",
            percent(server.part())
        )),
        (None, _) if facts.listened() => absent("nobody was turned away"),
        (None, Some(files)) => absent(open_of_allowed(files)),
        (None, None) => cannot_tell(format!(
            "no workload was listened to, and {name} was not asked (--postgres, --mysql)"
        )),
    }
}

/// Why open files are no limit.
fn open_of_allowed(files: &OpenFiles) -> String {
    let (open, name) = (percent(files.part()), &files.process.name);
    match files.part() < USED.value() {
        true => format!("{name} had {open} of the files open that it may"),
        false => format!(
            "{name} had {open} of the files open that it may, but hardly a request was in line while its threads were idle"
        ),
    }
}

fn full(case: &Case<'_>, name: &str, entity: &Entity, server: &Used) -> Finding {
    let used = server.part();
    let sentence = format!(
        "{name} takes hardly any more connections: {} of {} are in use.",
        integer(server.sessions),
        integer(server.allowed)
    );
    let table = &*server.table.name;
    let column = format!("{table}.sessions");
    let evidence = share(
        case.facts,
        "connections in use",
        &column,
        entity,
        used,
        USED.value(),
    );
    let of_server = |reading, column| {
        let whose = formula::one(server.server);
        formula::recorded(reading, table, &[column], whose)
    };
    Finding {
        evidence: vec![evidence.by(formula::part(
            of_server(Reading::Mean, "sessions"),
            of_server(Reading::Last, "sessions_limit"),
        ))],
        ..case.finding(entity, Confidence::Consistent, sentence)
    }
}

fn no_more_files(case: &Case<'_>, entity: &Entity, files: &OpenFiles) -> Finding {
    let facts = case.facts;
    let in_line = in_line(facts);
    let waited = match in_line >= COST.value() {
        true => format!(
            ", and {} of {} was in line at its sockets",
            percent(in_line),
            facts.whole()
        ),
        false => String::new(),
    };
    let sentence = format!(
        "{} can take hardly any more connections: it has {} of at most {} files open{waited}.",
        files.process.name,
        integer(files.open.min(files.allowed)),
        integer(files.allowed)
    );
    let open = share(
        facts,
        "files open",
        "open_files.open",
        entity,
        files.part(),
        USED.value(),
    );
    Finding {
        share: Some(in_line).filter(|it| *it >= COST.value()),
        evidence: vec![open.by(files.formula())],
        would_help: vec![bounds::not_known(
            "a higher limit of open files (LimitNOFILE=, ulimit -n)".to_owned(),
            "how long connections waited to be accepted is not recorded",
        )],
        to_confirm: format!(
            "let it open more ({}): if throughput stays the same, this is wrong",
            files.command_for_more()
        ),
        ..case.finding(entity, Confidence::Consistent, sentence)
    }
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

fn closed_unanswered(case: &Case<'_>, name: &str, entity: &Entity, turned: TurnedAway) -> Finding {
    let (least, what, column) = match turned.by {
        ToldBy::Reset => ("", "without an answer", "flow.reset"),
        ToldBy::Greeting => ("", "before they had asked for anything", "flow.turned_away"),
        ToldBy::Startup => (
            "at least ",
            "before they had asked for anything",
            "flow.sends",
        ),
    };
    let sentence = format!(
        "{name} takes no more connections at times: it closed {least}{} of the load's {} connections {what}.",
        percent(turned.part()),
        integer(turned.opened)
    );
    let evidence = share(
        case.facts,
        "connections turned away",
        column,
        entity,
        turned.part(),
        TURNED_AWAY.value(),
    );
    Finding {
        evidence: vec![evidence.by(turned.formula())],
        would_help: vec![bounds::not_known(
            format!("a higher limit of connections in {name}"),
            "what those do that were turned away is not recorded",
        )],
        would_not_help: vec!["more clients".to_owned()],
        to_confirm: format!(
            "look for it in {name}'s own log, and raise its limit of connections: if as many are closed, this is wrong"
        ),
        ..case.finding(entity, Confidence::Consistent, sentence)
    }
}

/// Whether open files cost anything: hardly ever one was left, or connections may have waited for one.
fn costs(facts: &Facts<'_>, files: &OpenFiles) -> bool {
    match files.part() {
        part if part < USED.value() || facts.signal.is_none() => false,
        part => part >= NONE_LEFT.value() || in_line(facts) >= COST.value(),
    }
}

/// Part of the response time in line at the target's sockets, behind threads that were idle as far as is known.
fn in_line(facts: &Facts<'_>) -> f64 {
    let behind = MAY_BE_REST.map(|it| facts.line.behind(it));
    facts.line.left() + behind.iter().sum::<f64>()
}
