//! Segments are lost on the way and must be sent again.

use model::{Confidence, Finding};

use super::evidence::{finding, machine, share};
use super::{Cause, Judgement, Kind, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "net.loss",
    help: "Segments are lost on the way between generator and target, and must be sent again.",
    about: "the connection that suffers, else the machine",
    kind: Kind::Limit,
    told_by: "Retransmitted segments of the target's own connections (sock_diag), or of the machine (/proc/net/snmp), while a good part of the response time is outside the target.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let limits = &thresholds.net_loss;
    let own = facts.network.path.as_ref();
    let lost = own
        .and_then(|path| path.retransmitted)
        .or(facts.network.retransmitted);
    if own.is_none()
        && let Some(judgement) = not_over_tcp(facts, &target.name)
    {
        return judgement;
    }
    let Some(lost) = lost else {
        return Judgement::CannotTell("what was sent again was not recorded".to_owned());
    };
    if lost < limits.retransmitted {
        return Judgement::Absent(format!("{} of the segments were sent again", percent(lost)));
    }
    let outside = facts.outside().unwrap_or(0.0);
    if outside < limits.outside {
        return Judgement::Absent(format!(
            "{} of the segments were sent again, but only {} of {} was outside {}",
            percent(lost),
            percent(outside),
            facts.whole(),
            target.name
        ));
    }
    let entity = own.map_or_else(|| machine(facts), |path| path.entity.clone());
    let sentence = format!(
        "The network loses data: {} of the segments were sent again, and {} of {} was outside {}.",
        percent(lost),
        percent(outside),
        facts.whole(),
        target.name
    );
    Judgement::Present(Box::new(Finding {
        share: Some(outside),
        evidence: vec![
            share(facts, "segments sent again", "connection.retransmitted_segments", &entity, lost, limits.retransmitted),
            share(facts, "outside the target", "signal.latency_mean_ns", &target.entity, outside, limits.outside),
        ],
        would_help: vec![bounds::without_wait(facts, outside, "a way that loses nothing".to_owned())],
        would_not_help: bounds::useless(facts, &["a faster server"]),
        to_confirm: "run the generator on the server's own machine: if throughput stays the same, this is wrong".to_owned(),
        ..finding(CAUSE.name, &entity, Confidence::Consistent, sentence)
    }))
}

/// The answer where the whole machine sent fewer TCP segments than requests were answered.
pub(super) fn not_over_tcp(facts: &Facts<'_>, target: &str) -> Option<Judgement> {
    let (sent, signal) = facts.network.sent.zip(facts.signal)?;
    (sent < signal.throughput).then(|| {
        Judgement::Absent(format!(
            "the machine sent {} segments per second, fewer than {target} answered requests: they did not go over TCP",
            rate(sent)
        ))
    })
}
