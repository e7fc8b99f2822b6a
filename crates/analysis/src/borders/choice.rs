//! Which measured quantities are reported at a border: those that differ plainly, and concern a part of the time that matters.

use model::{PhaseDifference, Timeline};

use super::code;
use super::measure::{Measure, Unit};
use super::measures::Side;
use super::verb;
use crate::stats::change_points::LEAST_BINS;
use crate::stats::{dominance, mean};

/// Of all pairs of a piece before and a piece behind the border, at least nine in ten go the same way.
const PLAIN: f64 = 0.8;
/// What concerns less of the time is not worth saying.
const LEAST: f64 = 0.1;
/// The least factor between two amounts that are no part of the time.
const LEAST_FACTOR: f64 = 1.5;

/// Means on both sides of a border.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Means {
    pub(super) before: f64,
    pub(super) after: f64,
}

/// The means of two samples where they differ by more than either varies; `None` where not, and of too few values.
pub(super) fn apart(before: &[f64], after: &[f64]) -> Option<Means> {
    let known = |values: &[f64]| -> Option<Vec<f64>> {
        let known: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
        // A phase of which less than half was seen is not known.
        (known.len() >= LEAST_BINS && 2 * known.len() >= values.len()).then_some(known)
    };
    let (before, after) = (known(before)?, known(after)?);
    let delta = dominance(&before, &after)?;
    let means = Means {
        before: mean(&before)?,
        after: mean(&after)?,
    };
    let same_way = (means.after - means.before) * delta > 0.0;
    (same_way && delta.abs() >= PLAIN).then_some(means)
}

/// What is told, largest first: of each family the first that passes.
pub(super) fn differences(
    timeline: &Timeline,
    before: &Side,
    after: &Side,
) -> Vec<PhaseDifference> {
    let mut found: Vec<(f64, PhaseDifference)> = Vec::new();
    let mut families = Vec::new();
    let mut others = Side::others(timeline, before, after);
    others.extend(code::differing(before, after));
    let pairs = before.measures.iter().filter_map(|one| {
        let other = after.measures.iter();
        let mut other = other.filter(|it| it.is_of_same(one));
        Some((one, other.next()?))
    });
    for (one, other) in pairs.chain(others.iter().map(|[one, other]| (one, other))) {
        if families.contains(&one.family) {
            continue;
        }
        let Some(means) = apart(&one.values, &other.values) else {
            continue;
        };
        let part = part(one.unit, means, before, after);
        if part >= LEAST {
            families.push(one.family);
            found.push((part, told(one, means)));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, it)| it).collect()
}

/// The part of the time that a difference concerns, 0 to 1.
fn part(unit: Unit, means: Means, before: &Side, after: &Side) -> f64 {
    let Means {
        before: a,
        after: b,
    } = means;
    let (least, most) = (a.min(b), a.max(b));
    match unit {
        Unit::Share => most - least,
        Unit::Cpus => (most - least) / before.cpus.max(after.cpus),
        Unit::NsPerRequest => {
            let latencies = before.latency_ns.into_iter().chain(after.latency_ns);
            let longest = latencies.fold(0.0, f64::max);
            if longest > 0.0 {
                ((most - least) / longest).min(1.0)
            } else {
                0.0
            }
        }
        // How much of them matters is how long somebody waited for a disk.
        Unit::BytesPerSecond | Unit::BytesPerRequest if most >= LEAST_FACTOR * least => {
            (1.0 - least.max(0.0) / most) * before.disk.max(after.disk).min(1.0)
        }
        Unit::BytesPerSecond | Unit::BytesPerRequest => 0.0,
    }
}

fn told(measure: &Measure, means: Means) -> PhaseDifference {
    let Means { before, after } = means;
    let unit = measure.unit;
    PhaseDifference {
        what: measure.what.clone(),
        column: measure.column.clone(),
        entity: measure.entity.clone(),
        unit: unit.word().to_owned(),
        before: Some(before),
        after: Some(after),
        sentence: format!(
            "{} {} from {} to {}{}.",
            measure.subject,
            verb(before, after),
            unit.text(before),
            unit.text(after),
            measure.of,
        ),
    }
}
