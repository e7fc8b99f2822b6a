//! The target waits for a peer that it asks itself.

use model::{Amount, Evidence, Finding, Interval, LedgerClass, Remedy, Role, Whose};
use sensors::request::PEER_CALLS;

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{confidence, number, share};
use super::family::Family;
use super::formulas;
use crate::bounds::{self, Removed};
use crate::facts::{Calls, Facts, Peer, Subject};
use crate::formula;
use crate::in_line::WORTH_SHOWING;
use crate::number_format::{calls_in_words, duration, percent};
use crate::request_times::{End, RequestTimes};
use crate::stats::ratio_interval;
use crate::thresholds::{Threshold, WAKE_UP};

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time spent waiting for peers",
);
const PER_REQUEST: Threshold = Threshold::new(
    "per_request",
    0.10,
    "per request",
    "Calls below which it is doubted that requests wait for them",
);

pub(super) const CAUSE: Cause = Cause {
    name: "net.remote",
    help: "The target waits for a peer that it asks itself: a service or database behind it, a name server.",
    about: "the peer that it waits for longest: its process where that is on this machine, else the calls to its address",
    kind: Kind::Limit,
    family: Family::Peer,
    told_by: "The field calls it downstream or dependency latency: `$upstream_response_time` in nginx's log, `Tr` in HAProxy's, client spans in a trace. Programs in the kernel count and time what the target sends over sockets that it connected itself, per peer: TCP, unix sockets, and lookups of names by UDP (port 53). A call lasts from its sending until the last byte of its answer has come, so a connection that a pool keeps open costs nothing; that the answer then lies at the target's socket, since its threads are busy with something else, is no part of it (over TCP). The time of all calls over that of all requests is the share, whatever the target's threads do meanwhile: they wait in `recv`, or an event loop serves others. Where threads wait for their calls while requests are in line, the line is part of it, unless the threads are a full pool: then it is the pool's (`limit.pool`).\n\nThe peer's own trouble is not seen from here: it may lack CPUs, or wait for a disk. The sentence names the process where it runs on this machine. Recorded too (`--target dependency=port:3306`), it is judged as a target of its own over the same window, with those who ask it as its load: its cause follows in the sentence, and the gains are what requests would have of its remedies. Only how far away it is shows: where the least round trip of the connections to it (`tcp_info`) is most of a call, the sentence says so.\n\nSpeaking for it: about as many calls as requests, or a whole number of times as many, and threads that wait for input meanwhile. Speaking against it: the time that the target's own threads surely spent on requests leaves no room for the calls (then the share is cut; calls as short as a wake-up are none that are missed, and those that outlast the requests are not in them), or few calls for many requests, as streams and polls in the background make them. What a peer sends unasked counts as an answer, so a stream looks like long calls; PostgreSQL's processes that replicate are left out. Peers that are the target itself or the load generator are no peers. While a quota holds the target back answers lie at its sockets: that part of its time is no part of the calls. Calls that run at the same time add up: a share is at most all of the response time. Connecting is no part of a call, and names that are asked for without a connected socket (musl) are not seen. Recordings of earlier versions have no calls, and nothing can be told.",
    thresholds: &[COST, PER_REQUEST, WAKE_UP],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let Some(calls) = &facts.calls else {
        return cannot_tell(format!("what {} asked others was not counted", target.name));
    };
    if facts.signal.is_none() {
        return cannot_tell("no response time is known to hold calls to peers against");
    }
    let Some(peer) = calls.peers.first() else {
        return absent(format!("{} asked no peer", target.name));
    };
    let share = own_share(case);
    if share < COST.value() || facts.within_wake_up_ns(share).is_some() {
        return too_little(facts, &target.name, peer, share);
    }
    // What stands in line behind calls is estimated.
    let in_line = in_line(facts, share);
    let own = interval(facts, calls, share - in_line);
    let against = against(facts, target, calls);
    let confidence = confidence(own, COST.value(), &against);
    let share_interval = interval(facts, calls, share);
    let at_peer = at_peer(facts, peer);
    let mut remedies: Vec<Remedy> = at_peer
        .map(|found| at_the_peer(facts, found, share, share_interval))
        .unwrap_or_default();
    remedies.extend(would_help(
        case,
        peer,
        Removed::about(share, share_interval),
    ));
    if in_line >= WORTH_SHOWING {
        let change = format!(
            "more threads of {}: requests are in line for them",
            target.name
        );
        remedies.push(bounds::more_threads(facts, change));
    }
    Ok(Finding {
        share: Some(share),
        share_interval,
        evidence: evidence(facts, peer, share),
        would_help: remedies,
        at_peer: at_peer.cloned().map(Box::new),
        // What would not help a peer on this machine, only a look there can tell.
        would_not_help: match (at_peer, &peer.process) {
            (Some(found), _) => found.would_not_help.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => bounds::useless(facts, &["more clients"]),
        },
        evidence_against: against,
        to_confirm: at_peer.map_or_else(|| to_confirm(peer), |found| found.to_confirm.clone()),
        ..case.finding(
            peer.entity(),
            confidence,
            sentence(facts, target, calls, share),
        )
    })
}

/// Why calls that took so little of the response time are no cause, or why it may be more.
fn too_little(facts: &Facts<'_>, name: &str, peer: &Peer, share: f64) -> Judgement {
    let (cost, whole) = (percent(share), facts.whole());
    if let Some(ns) = facts
        .within_wake_up_ns(share)
        .filter(|_| share >= COST.value())
    {
        return absent(format!(
            "calls of {name} to its peers took {} of each request, about as long as a wake-up takes",
            duration(ns)
        ));
    }
    let all = facts.uncut_calls();
    let is_cut = all > share + facts.thresholds.gates.excess;
    if !is_cut || all < COST.value() || per_request(facts, peer) < PER_REQUEST.value() {
        return absent(format!(
            "calls of {name} to its peers took {cost} of {whole}"
        ));
    }
    let each_ns = peer.mean_ns();
    if each_ns <= WAKE_UP.value() {
        let each = duration(each_ns);
        return absent(format!(
            "calls of {name} to its peers took {each} at a time, about as long as a wake-up takes"
        ));
    }
    if let Some(longest_ns) = outlasted(facts) {
        let (each, longest) = (duration(each_ns), duration(longest_ns));
        return absent(format!(
            "calls of {name} to its peers took {each} at a time, longer than 99 % of the requests did ({longest}): hardly any waits for one"
        ));
    }
    let all = percent(all);
    let left = match share > 0.0 {
        true => format!("leaves room for {cost}"),
        false => "leaves no room for them".to_owned(),
    };
    cannot_tell(format!(
        "calls of {name} to its peers took {all} of {whole}, and what its threads did {left}"
    ))
}

/// How long all but the longest hundredth of the requests took, where too few of the calls are as short as that to be
/// in them, ns.
fn outlasted(facts: &Facts<'_>) -> Option<f64> {
    let requests = End::Target.over(facts.timeline, facts.window)?;
    let calls = RequestTimes::over(facts.timeline, &PEER_CALLS.name, Role::Target, facts.window)?;
    let longest_ns = requests.quantile_ns(0.99)?;
    let enough = PER_REQUEST.value() * requests.requests / calls.requests.max(1.0);
    let shortest_ns = calls.quantile_ns(enough.min(1.0))?;
    (shortest_ns > longest_ns).then_some(longest_ns)
}

/// The part of the response time that is the calls'. Behind a full pool the line is the pool's.
fn own_share(case: &Case<'_>) -> f64 {
    let facts = case.facts;
    let all = facts.share(LedgerClass::Remote);
    let share = match case.found(&["limit.pool"]) {
        Some(_) => (all - facts.line.behind(LedgerClass::Remote)).max(0.0),
        None => all,
    };
    share.min(1.0)
}

/// What of a share stood in line behind calls.
fn in_line(facts: &Facts<'_>, share: f64) -> f64 {
    let all = facts.share(LedgerClass::Remote).min(1.0);
    match share >= all {
        true => facts.line.behind(LedgerClass::Remote),
        false => 0.0,
    }
}

/// The 95 % interval of a share that is the time of all calls, so many times as long: over seconds, and with the error
/// of a mean that a sample says.
fn interval(facts: &Facts<'_>, calls: &Calls, share: f64) -> Option<Interval> {
    /// Standard errors on either side of 95 %.
    const Z_95: f64 = 1.96;
    let whole_ns = facts.account.as_ref().map_or(0, |it| it.total_ns) as f64;
    let factor = share * whole_ns / calls.ns().max(1.0);
    let of_slice = |window| factor * calls.ns_in(facts.timeline, window);
    let slices = facts.slices.iter();
    let seconds = slices.map(|slice| (of_slice(slice.window), slice.total_ns));
    let seconds = ratio_interval(&seconds.collect::<Vec<_>>())?;
    let relative = Z_95 * calls.error_ns()? / calls.ns().max(1.0);
    // Both are independent: their squares add up.
    let wide = |end: f64| ((end - share).powi(2) + (relative * share).powi(2)).sqrt();
    Some(Interval {
        low: share - wide(seconds.low.min(share)),
        high: share + wide(seconds.high.max(share)),
    })
}

fn sentence(facts: &Facts<'_>, target: &Subject, calls: &Calls, share: f64) -> String {
    let peer = &calls.peers[0];
    let each = calls_in_words(per_request(facts, peer), peer.mean_ns());
    let whom = match peer.ns / calls.ns() {
        most if most >= 0.95 => peer.name(),
        most => format!(
            "{} peers, {} of that for {}",
            calls.peers.len(),
            percent(most),
            peer.name()
        ),
    };
    let in_line = match in_line(facts, share) {
        line if line >= WORTH_SHOWING => {
            let [line, own] = [line, share - line].map(percent);
            format!(" ({own} in calls, {line} in line behind threads in calls)")
        }
        _ => String::new(),
    };
    let (way, there) = match (peer.long_way_ns(), &peer.process) {
        (Some(rtt_ns), _) => (
            format!(", {} of it the round trip", duration(rtt_ns)),
            ". The way there takes long, not the peer".to_owned(),
        ),
        (None, Some(process)) => (String::new(), there(at_peer(facts, peer), &process.name)),
        (None, None) => (String::new(), String::new()),
    };
    format!(
        "A peer is the bottleneck: {} of {} was {} waiting for {whom}, in {each}{way}{in_line}{there}.",
        percent(share),
        facts.whole(),
        target.name,
    )
}

/// What the peer waits for itself, where that was recorded, and the way to it is not what takes long.
fn at_peer<'a>(facts: &'a Facts<'_>, peer: &Peer) -> Option<&'a Finding> {
    let is_near = peer.long_way_ns().is_none();
    facts.at_peer.as_ref().filter(|_| is_near)
}

/// What would help the peer, as far as requests would gain by it: its part of the calls' part of them.
fn at_the_peer(
    facts: &Facts<'_>,
    found: &Finding,
    share: f64,
    share_interval: Option<Interval>,
) -> Vec<Remedy> {
    /// The first are the best.
    const MOST: usize = 2;
    let whole = |share: f64| Interval {
        low: share,
        high: share,
    };
    let calls = share_interval.unwrap_or(whole(share));
    let own = found.share.unwrap_or(1.0);
    let own = found.share_interval.unwrap_or(whole(own));
    let part = |calls: f64, own: f64| calls * own.clamp(0.0, 1.0);
    let removed = Interval {
        low: part(calls.low, own.low),
        high: part(calls.high, own.high),
    };
    let known = found.would_help.iter().filter(|it| it.gain.is_some());
    known
        .take(MOST)
        .map(|it| bounds::without_wait(facts, removed, it.change.clone()))
        .collect()
}

/// What is known of a peer on this machine: its own cause, where it was recorded too.
fn there(found: Option<&Finding>, name: &str) -> String {
    match found {
        Some(found) => {
            let sentence = found.sentence.trim_end_matches('.');
            format!(". There: {sentence}")
        }
        None => format!(". {name} runs on this machine: look there"),
    }
}

fn per_request(facts: &Facts<'_>, peer: &Peer) -> f64 {
    let window_ns = facts.window.len_ns() as f64;
    let requests = facts
        .signal
        .map_or(0.0, |it| it.throughput / 1e9 * window_ns);
    peer.count / requests.max(1.0)
}

fn evidence(facts: &Facts<'_>, peer: &Peer, waited: f64) -> Vec<Evidence> {
    let own = Whose::One { id: peer.id };
    let count = formula::growth("peer_calls", &["requests"], own);
    let time = "peer_calls.timed_ns";
    let worked_out = formulas::remote(facts, waited);
    vec![
        Evidence {
            formula: worked_out.map(|it| formula::part(it, Amount::Account)),
            ..share(
                facts,
                "waiting for peers",
                time,
                &peer.calls,
                waited,
                COST.value(),
            )
        },
        number(
            facts,
            ("calls per request", "count"),
            "peer_calls.requests",
            &peer.calls,
            per_request(facts, peer),
            PER_REQUEST.value(),
        )
        .by(formula::part(count.clone(), Amount::Completed)),
        number(
            facts,
            ("time of a call", "ns"),
            time,
            &peer.calls,
            peer.mean_ns(),
            0.0,
        )
        .by(formula::part(peer.formula(), count)),
    ]
}

/// What makes it doubtful that requests wait for the calls.
fn against(facts: &Facts<'_>, target: &Subject, calls: &Calls) -> Vec<String> {
    let peer = &calls.peers[0];
    let mut against = Vec::new();
    let per_request = per_request(facts, peer);
    if per_request < PER_REQUEST.value() {
        against.push(format!(
            "{}: it may be that no request waits for them",
            calls_in_words(per_request, peer.mean_ns())
        ));
    }
    let all = facts.uncut_calls();
    let shown = facts.share(LedgerClass::Remote) - facts.line.behind(LedgerClass::Remote);
    if all.min(1.0) > shown + facts.thresholds.gates.excess {
        let (all, shown) = (percent(all), percent(shown));
        against.push(format!(
            "the calls took {all} of {}, and what the threads of {} did leaves room for {shown}",
            facts.whole(),
            target.name
        ));
    } else if all > 1.0 + facts.thresholds.gates.excess {
        against.push(format!(
            "the calls take {} of {}: some run at the same time, or no request waits for them",
            percent(all),
            facts.whole()
        ));
    }
    if facts.is_partly_idle() {
        against.push(format!(
            "with the calls, the time of {}'s threads adds up to more than requests took",
            target.name
        ));
    }
    against
}

/// What of the calls could be spared.
fn would_help(case: &Case<'_>, peer: &Peer, calls: Removed) -> Vec<Remedy> {
    let facts = case.facts;
    let (part, change) = match peer.long_way_ns() {
        Some(rtt_ns) => {
            let part = (rtt_ns / peer.mean_ns()).min(1.0);
            (part, "the peer nearer, or fewer calls to it")
        }
        None => (1.0, "a peer that answers at once, or fewer calls to it"),
    };
    vec![bounds::without_wait(
        facts,
        calls.part(part),
        change.to_owned(),
    )]
}

fn to_confirm(peer: &Peer) -> String {
    let each = duration(peer.mean_ns());
    let calls = &peer.calls.name;
    let host = calls
        .rsplit_once(':')
        .map_or(calls.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let refutes = |takes: &str| format!("if it takes much less than {takes}, this is wrong");
    if let Some(rtt_ns) = peer.long_way_ns() {
        return format!("ping {host}: {}", refutes(&duration(rtt_ns)));
    }
    if peer.is_name_server() {
        return format!("time a lookup (dig @{host} NAME): {}", refutes(&each));
    }
    match &peer.process {
        Some(process) => {
            let pid = process.path.split('@').next().unwrap_or_default();
            let record = format!("record the peer (stallscope record --target {pid})");
            format!("{record}: if its requests take much less than {each}, this is wrong")
        }
        None => format!("time such a request to {calls}: {}", refutes(&each)),
    }
}
