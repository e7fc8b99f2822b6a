//! No cause was found that explains enough, or two that cannot be told apart; what is known is said.

use model::{AccountItem, Confidence, Finding, LedgerClass, Table};
use sensors::pgbouncer::PGBOUNCER;
use sensors::redis::REDIS;
use sensors::{mysql, postgres};

use super::cause::{Case, Cause, Judgement, Kind, absent};
use super::evidence::machine;
use super::family::Family;
use super::healthy::{self, EXPLAINED};
use super::imported;
use super::open::Question;
use crate::facts::Facts;
use crate::goals;
use crate::number_format::percent;
use crate::serving::Answering;
use crate::subject::Subject;
use crate::thresholds::LEAST_EFFECT;

pub(super) const CAUSE: Cause = Cause {
    name: "undetermined",
    help: "No cause was found that explains enough, or two that cannot be told apart.",
    about: "the target",
    kind: Kind::State,
    family: Family::Summary,
    told_by: "Nothing that this version judges explains enough, or two causes hold as much within the noise of the run. Calls to a peer and the target's own work are apart however near they are, and so is the way to the clients from calls and disks: both are named. What was seen most is named, and what to do next.",
    thresholds: &[],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "run longer and alone on the machine",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if case.found(&["healthy"]).is_some() {
        return absent("healthy was found");
    }
    // A cause that nobody could judge has room in what is not accounted for: it comes first.
    if let Some(question) = healthy::open_question(case) {
        return Ok(Finding {
            to_confirm: question.settle(facts),
            ..suspected(case, left_open(facts, &question))
        });
    }
    let Some((first, _)) = case.findings().next() else {
        let finding = suspected(case, nothing_found(facts));
        return Ok(Finding {
            to_confirm: advice(facts, finding.to_confirm),
            ..finding
        });
    };
    match tie(case) {
        Some((first, second)) => {
            let whole = facts.whole();
            let sentence = format!(
                "Undetermined: {first} and {second} hold as much of {whole}, within the noise of this run."
            );
            Ok(suspected(case, sentence))
        }
        None => absent(format!("{} was found", first.name)),
    }
}

/// What to do where nothing was found: a server that can say itself what its clients wait for is asked first.
fn advice(facts: &Facts<'_>, usual: String) -> String {
    if imported::is_imported(facts) {
        return imported::RECORD_IT.to_owned();
    }
    let target = facts.target.as_ref();
    if let Some((name, option)) =
        target.and_then(|it| Some((&it.name, not_asked(facts, &it.name)?)))
    {
        return format!(
            "ask {name} what its clients wait for: {option} (rights for it: docs/sources.md)"
        );
    }
    match facts.meta.plan.targets.as_slice() {
        [] => format!("{usual}, and name what serves: --target"),
        _ => usual,
    }
}

/// The option by which a server of this name is asked, where it was not.
fn not_asked(facts: &Facts<'_>, name: &str) -> Option<&'static str> {
    let servers: [(&[&str], &str, &Table); 4] = [
        (&["postgres"], "--postgres", &postgres::SESSION),
        (&["mariadbd", "mysqld"], "--mysql", &mysql::SESSION),
        (&["pgbouncer"], "--pgbouncer", &PGBOUNCER),
        (&["redis-server", "valkey-server"], "--redis", &REDIS),
    ];
    let (_, option, table) = servers
        .into_iter()
        .find(|(names, ..)| names.contains(&name))?;
    let meta = facts.meta;
    let is_told = facts.timeline.table(&table.name).is_some();
    // Who was asked and did not answer left a gap that says why.
    let asked = is_told || meta.gaps.iter().any(|gap| gap.table == table.name);
    (!asked).then_some(option)
}

fn suspected(case: &Case<'_>, sentence: String) -> Finding {
    let facts = case.facts;
    let target = facts.target.as_ref();
    let entity = target.map_or_else(|| machine(facts), |target| target.entity.clone());
    case.finding(&entity, Confidence::Suspected, sentence)
}

fn left_open(facts: &Facts<'_>, question: &Question) -> String {
    format!(
        "Undetermined: {} cannot be told, and could hold up to {} of {}: {}.",
        question.cause,
        percent(question.share),
        Question::whole(facts),
        question.why
    )
}

fn nothing_found(facts: &Facts<'_>) -> String {
    if let Some(why) = &facts.meta.no_target {
        let seen = imported::is_imported(facts).then(|| imported::seen(facts));
        return match seen.flatten() {
            Some(seen) => format!("Undetermined: {seen}; {why}"),
            None => format!("Undetermined: {why}"),
        };
    }
    let Some(target) = &facts.target else {
        return "Undetermined: no target was measured.".to_owned();
    };
    let name = &target.name;
    let Some(account) = &facts.account else {
        return format!(
            "Undetermined: the threads of {name} did nothing that could be measured in this window."
        );
    };
    if facts.wait_unseen() {
        return format!("Undetermined: how long {name} waited for a CPU was not recorded.");
    }
    if let Some(missed) = goals::unmet(&facts.goals) {
        let on_cpu = percent(facts.share(LedgerClass::OnCpu));
        return format!(
            "Undetermined: {missed}. {name} waited for nothing that explains it; {on_cpu} of {} it was on a CPU.",
            facts.whole()
        );
    }
    // Where enough is explained, what is outside is not what is missing.
    let enough = facts.explained() >= EXPLAINED.value();
    let items = account.items.iter();
    let largest = items
        .filter(|item| item.class != LedgerClass::OnCpu)
        .filter(|item| item.class != LedgerClass::Outside || !enough)
        .max_by(|a, b| a.share.total_cmp(&b.share));
    if let Some(late) = late_generator(facts, largest) {
        return late;
    }
    largest.map_or_else(
        || {
            format!(
                "Undetermined: {name} was on a CPU whenever it was seen, and no cause explains more."
            )
        },
        |item| unexplained(facts, target, item),
    )
}

/// What the load generator waited for a CPU, where nothing took as much of the response time.
fn late_generator(facts: &Facts<'_>, largest: Option<&AccountItem>) -> Option<String> {
    let (generator, late) = (facts.generator.as_ref()?, facts.generator_wait());
    let is_most = largest.is_none_or(|item| item.share < late);
    (is_most && late >= LEAST_EFFECT).then(|| {
        format!(
            "Undetermined: {} of {} was {} waiting for a CPU, and no cause that this version judges explains it.",
            percent(late),
            facts.whole(),
            generator.name
        )
    })
}

/// What was seen most, and that nothing explains it.
fn unexplained(facts: &Facts<'_>, target: &Subject, item: &AccountItem) -> String {
    let (name, whole) = (&target.name, facts.whole());
    let share = percent(item.share);
    let explained = percent(facts.explained());
    let outside = item.class == LedgerClass::Outside;
    if outside && facts.is_mostly_queued() {
        format!(
            "Undetermined: {share} of {whole} was {}, and what its threads did meanwhile explains little of it ({explained} is explained in all): they \
             slept while requests were there, or take them later than they come.",
            item.label
        )
    } else if outside {
        format!(
            "Undetermined: {share} of {whole} was outside {name}, and the load generator explains little of it ({explained} is explained in all): think time, \
             the network, or locks that wait in epoll."
        )
    } else if item.class == LedgerClass::Futex && facts.scene.answering == Answering::Others {
        format!(
            "Undetermined: {share} of {whole} was {}, and that may be rest: the thread that reads a request is not the one that \
             answers it, so a lock cannot be told from waiting for work.",
            item.label
        )
    } else if item.share > 1.0 + facts.thresholds.gates.excess {
        format!(
            "Undetermined: the threads of {name} spent more time {} than requests took, so some of them were idle there, and no cause \
             that this version judges explains the rest.",
            item.class.label()
        )
    } else {
        format!(
            "Undetermined: {share} of {whole} was {}, and no cause that this version judges explains it.",
            item.label
        )
    }
}

/// Whether two causes hold different time for sure: that of calls is over when their answers have come, and what the target
/// does itself then is none of it; nor is the way to its clients, on which a request is in neither. Both stand, however near
/// they are.
fn are_apart(one: Family, other: Family) -> bool {
    use Family::{Cpu, Outside, Peer, Storage};
    let of_two =
        |a: Family, b: Family| matches!((a, b), (Peer, Cpu | Storage) | (Outside, Peer | Storage));
    of_two(one, other) || of_two(other, one)
}

/// Two leading causes whose intervals overlap and whose shares differ by less than the least effect.
fn tie<'a>(case: &Case<'a>) -> Option<(&'a str, &'a str)> {
    let limits = case
        .findings()
        .filter(|(cause, _)| cause.kind == Kind::Limit);
    let mut shares: Vec<(Family, &Finding)> = limits
        .map(|(cause, finding)| (cause.family, finding))
        .filter(|(_, finding)| finding.share.is_some())
        .collect();
    shares.sort_by(|(_, a), (_, b)| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    let [(family, first), (other, second), ..] = shares.as_slice() else {
        return None;
    };
    let is_pool = |finding: &Finding| finding.cause == "limit.pool";
    // What is in line for a pool waits for the calls of those who have it: both are true, and `rank` says the pool first.
    let of_one_peer = family == other && (is_pool(first) || is_pool(second));
    if of_one_peer || are_apart(*family, *other) {
        return None;
    }
    let overlap = match (first.share_interval, second.share_interval) {
        (Some(a), Some(b)) => a.low <= b.high && b.low <= a.high,
        _ => true,
    };
    let close = first.share? - second.share? < LEAST_EFFECT;
    (overlap && close).then_some((first.cause.as_str(), second.cause.as_str()))
}
