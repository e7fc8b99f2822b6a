//! The target still reads what it will soon have in memory.

use model::{Confidence, Finding, LedgerClass};

use super::case::too_little_to_matter;
use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{Held, held, number, waited};
use super::family::Family;
use crate::facts::Facts;
use crate::io::{self, Course, Per};
use crate::number_format::{percent, rate, storage};
use crate::subject::Subject;
use crate::thresholds::{FALLING, Threshold};

const FALLS: Threshold = Threshold::new(
    "falls",
    2.0,
    "factor",
    "How much less is read in the last third of the window than in the first, per second or per request",
);
const COST: Threshold =
    Threshold::share("cost", 0.10, "Part of the response time that reading took");

pub(super) const CAUSE: Cause = Cause {
    name: "cache.cold",
    help: "The target still reads what it will soon have in memory: reads fall steadily, by the second or for each request.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Bytes read from disk fall steadily, by the second or for each request, and are much fewer in the last third of the window than in the first, while the target waits for reads that are not refaults. By the request they fall where the disk, or a limit on it, gives all it can until the data is in memory: then throughput rises, and reads stay as many. Such a limit is named instead (io.throttled) unless reads fade by the factor `fades` of its page. Disks report everybody's reads, so a neighbour that holds the disk goes before it, and where the target's own reads may be seen (root) they must fall as well. It passes by itself; measure after it, or with a warm-up.",
    thresholds: &[FALLS, FALLING, COST],
    upstream: &[
        Upstream::All("io.throttled"),
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
    let fall = falling_reads(facts)?;
    let (target, held) = case.waited().or_else(|why| at_first(case).ok_or(why))?;
    let sentence = format!(
        "Caches are cold: {} within this window, and {} of {} was {} reading the disk.",
        fall.in_words(),
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
                fall.course.first / fall.course.last.max(1.0),
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

/// Reads that fall.
struct Fall {
    per: Per,
    course: Course,
}

impl Fall {
    fn in_words(&self) -> String {
        let Course { first, last, .. } = self.course;
        match self.per {
            Per::Second => format!(
                "reads fell from {} to {} MB/s",
                rate(first / 1e6),
                rate(last / 1e6)
            ),
            Per::Request => format!(
                "reads for each request fell from {} to {}",
                storage(first),
                storage(last)
            ),
        }
    }
}

/// The reads of all disks, where they fall by the second or for each request, and the target's own with them.
fn falling_reads(facts: &Facts<'_>) -> Result<Fall, NoFinding> {
    let scene = facts.scene;
    let Some(by_second) = io::reads(scene) else {
        return cannot_tell(
            "the window is too short to see reads fall, or disks were not recorded",
        );
    };
    let falls = |it: &Course| it.falls(FALLS.value(), FALLING.value());
    let by_request = || io::reads_per_request(scene).filter(falls);
    let (per, course) = match falls(&by_second) {
        true => (Per::Second, Some(by_second)),
        false => (Per::Request, by_request()),
    };
    let Some(course) = course else {
        return absent(format!(
            "disk reads did not fall steadily: {} MB/s in the first third, {} in the last",
            rate(by_second.first / 1e6),
            rate(by_second.last / 1e6)
        ));
    };
    let (unit, of) = match per {
        Per::Second => ("MB/s", 1e6),
        Per::Request => ("kB for each request", 1e3),
    };
    match io::own_reads(scene, per) {
        Some((own_first, own_last)) if own_first < own_last * FALLS.value() => absent(format!(
            "the target itself read {} {unit} in the first third of the window and {} in the last: others read less and less",
            rate(own_first / of),
            rate(own_last / of)
        )),
        _ => Ok(Fall { per, course }),
    }
}
