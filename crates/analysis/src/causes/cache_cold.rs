//! The target still reads what it will soon have in memory.

use model::{Confidence, Finding, LedgerClass};

use super::case::too_little_to_matter;
use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{Held, held, number, waited};
use super::family::Family;
use crate::facts::Facts;
use crate::io::{own_reads, read_trend};
use crate::number_format::{percent, rate};
use crate::subject::Subject;
use crate::thresholds::Threshold;

const FALLS: Threshold = Threshold::new(
    "falls",
    2.0,
    "factor",
    "How much less is read in the last third of the window than in the first",
);
const TREND: Threshold = Threshold::new(
    "trend",
    -0.5,
    "-1 to 1",
    "Kendall's tau of reads per second over time: how steadily they fall",
);
const COST: Threshold =
    Threshold::share("cost", 0.10, "Part of the response time that reading took");

pub(super) const CAUSE: Cause = Cause {
    name: "cache.cold",
    help: "The target still reads what it will soon have in memory: reads fall steadily, and nothing else changes.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Bytes read from disk fall from second to second and are much fewer in the last third of the window than in the first, while the target waits for reads that are not refaults. Disks report everybody's reads, so a neighbour that holds the disk goes before it, and where the target's own reads may be seen (root) they must fall as well. It passes by itself; measure after it, or with a warm-up.",
    thresholds: &[FALLS, TREND, COST],
    upstream: &[
        Upstream::All("memory.limit"),
        Upstream::All("memory.refault"),
        Upstream::All("memory.swap"),
        Upstream::All("io.neighbour"),
    ],
    wait: Some(READING),
    would_help: &["time, or a warm-up before the measurement"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "run again at once, caches warm: if it is as slow, this is wrong",
    judge,
};

const READING: Wait = Wait {
    classes: &[LedgerClass::ReadWrite, LedgerClass::PageFault],
    least: COST,
    doing: "reading the disk",
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (first, last) = falling_reads(facts)?;
    let (target, held) = case.waited().or_else(|why| at_first(case).ok_or(why))?;
    let sentence = format!(
        "Caches are cold: reads fell from {} to {} MB/s within this window, and {} of {} was {} reading the disk.",
        rate(first / 1e6),
        rate(last / 1e6),
        percent(held.share),
        facts.whole(),
        target.name
    );
    Ok(Finding {
        evidence: vec![
            number(
                facts,
                ("fall of disk reads", "factor"),
                "disk.read_bytes",
                &target.entity,
                first / last.max(1.0),
                FALLS.value(),
            ),
            waited(facts, "reading the disk", "thread.state", &held),
        ],
        ..case.finding_of_wait(&held, &target.entity, Confidence::Consistent, sentence)
    })
}

/// It goes away while it is watched, so it need not hold in most seconds.
fn at_first<'a>(case: &Case<'a>) -> Option<(&'a Subject, Held)> {
    let (facts, target) = (case.facts, case.seen().ok()?);
    too_little_to_matter(facts, target, &READING, 1.0).ok()?;
    let held = held(facts, READING.classes, 1.0, COST.value());
    (facts.share_of(READING.classes) >= COST.value()).then_some((target, held))
}

/// Bytes per second that disks read in the first and the last third of the window, where they fall.
fn falling_reads(facts: &Facts<'_>) -> Result<(f64, f64), NoFinding> {
    let Some((first, last, trend)) = read_trend(facts.timeline, facts.window) else {
        return cannot_tell(
            "the window is too short to see reads fall, or disks were not recorded",
        );
    };
    if trend > TREND.value() || first < last * FALLS.value() || first <= 0.0 {
        return absent(format!(
            "disk reads did not fall steadily: {} MB/s in the first third, {} in the last",
            rate(first / 1e6),
            rate(last / 1e6)
        ));
    }
    match own_reads(facts.scene) {
        Some((own_first, own_last)) if own_first < own_last * FALLS.value() => absent(format!(
            "the target itself read {} MB/s in the first third of the window and {} in the last: others read less and less",
            rate(own_first / 1e6),
            rate(own_last / 1e6)
        )),
        _ => Ok((first, last)),
    }
}
