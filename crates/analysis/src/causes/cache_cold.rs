//! The target still reads what it will soon have in memory.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, number, share};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::io::{own_reads, read_trend};
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cache.cold",
    help: "The target still reads what it will soon have in memory: reads fall steadily, and nothing else changes.",
    about: "the target",
    kind: Kind::Limit,
    told_by: "Bytes read from disk fall from second to second and are much fewer in the last third of the window than in the first, while the target waits for reads that are not refaults. Disks report everybody's reads, so a neighbour that holds the disk goes before it, and where the target's own reads may be seen (root) they must fall as well. It passes by itself; measure after it, or with a warm-up.",
    judge,
};

const WAITS: [LedgerClass; 2] = [LedgerClass::ReadWrite, LedgerClass::PageFault];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(
        found,
        &[
            "memory.limit",
            "memory.refault",
            "memory.swap",
            "io.neighbour",
        ],
    ) {
        return judgement;
    }
    let limits = &thresholds.cache_cold;
    let Some((first, last, trend)) = read_trend(facts.timeline, facts.window) else {
        return Judgement::CannotTell(
            "the window is too short to see reads fall, or disks were not recorded".to_owned(),
        );
    };
    if trend > limits.trend || first < last * limits.falls || first <= 0.0 {
        return Judgement::Absent(format!(
            "disk reads did not fall steadily: {} MB/s in the first third, {} in the last",
            rate(first / 1e6),
            rate(last / 1e6)
        ));
    }
    if let Some((first, last)) = own_reads(facts.timeline, facts.window)
        && first < last * limits.falls
    {
        return Judgement::Absent(format!(
            "the target itself read {} MB/s in the first third of the window and {} in the last: others read less and less",
            rate(first / 1e6),
            rate(last / 1e6)
        ));
    }
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "reading the disk",
    };
    let judgement = waits(facts, &waiting).or_else(|judgement| {
        // It goes away while it is watched, so it need not hold in most seconds.
        let share = facts.share_of(&WAITS);
        match super::seen(facts) {
            Ok(target)
                if share >= limits.cost
                    && super::too_little_to_matter(facts, target, &waiting).is_none() =>
            {
                Ok((
                    target,
                    super::evidence::held(facts, &WAITS, 1.0, limits.cost),
                ))
            }
            _ => Err(judgement),
        }
    });
    settled(judgement.map(|(target, held)| {
        let sentence = format!(
            "Caches are cold: reads fell from {} to {} MB/s within this window, and {} of {} was {} reading the disk.",
            rate(first / 1e6),
            rate(last / 1e6),
            percent(held.share),
            facts.whole(),
            target.name
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![
                number(facts, ("fall of disk reads", "factor"), "disk.read_bytes", &target.entity, first / last.max(1.0), limits.falls),
                share(facts, "reading the disk", "thread.state", &target.entity, held.share, held.least),
            ],
            would_help: vec![bounds::without_wait(facts, held.share, "time, or a warm-up before the measurement".to_owned())],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: "run again at once, caches warm: if it is as slow, this is wrong".to_owned(),
            ..finding(CAUSE.name, &target.entity, Confidence::Consistent, sentence)
        }))
    }))
}
