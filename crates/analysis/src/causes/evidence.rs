//! Making findings: evidence with its threshold, intervals, confidence.

use model::{Confidence, Entity, EntityKind, Evidence, Finding, Interval};

use crate::bootstrap::ratio_interval;
use crate::facts::Facts;
use crate::slices::Slice;

/// A share that must reach a threshold.
pub(super) fn share(
    facts: &Facts<'_>,
    what: &str,
    column: &str,
    entity: &Entity,
    value: f64,
    threshold: f64,
) -> Evidence {
    Evidence {
        what: what.to_owned(),
        column: column.to_owned(),
        entity: entity.clone(),
        window: facts.window,
        value,
        unit: "share".to_owned(),
        threshold: Some(threshold),
        passed: value >= threshold,
    }
}

/// The machine, as the entity of evidence.
pub(super) fn machine(facts: &Facts<'_>) -> Entity {
    let machine = facts
        .timeline
        .entities
        .machine()
        .map(|record| record.entity.clone());
    machine.unwrap_or_else(|| Entity::new(EntityKind::Machine, &facts.meta.identity.node, "/"))
}

/// The 95 % interval of a share over the seconds of the window.
pub(super) fn interval(
    facts: &Facts<'_>,
    part: fn(&Slice) -> f64,
    whole: fn(&Slice) -> f64,
) -> Option<Interval> {
    let bins: Vec<(f64, f64)> = facts
        .slices
        .iter()
        .map(|slice| (part(slice), whole(slice)))
        .collect();
    ratio_interval(&bins)
}

/// *Measured* when the lower end of an exact share's interval passes and nothing contradicts.
pub(super) fn confidence(
    interval: Option<Interval>,
    threshold: f64,
    contradictions: &[String],
) -> Confidence {
    let passes = interval.is_some_and(|interval| interval.low >= threshold);
    if passes && contradictions.is_empty() {
        Confidence::Measured
    } else {
        Confidence::Consistent
    }
}

/// A finding about `entity` with what most findings lack left empty.
pub(super) fn finding(
    cause: &str,
    entity: &Entity,
    confidence: Confidence,
    sentence: String,
) -> Finding {
    Finding {
        cause: cause.to_owned(),
        entity: entity.clone(),
        confidence,
        share: None,
        share_interval: None,
        sentence,
        evidence: Vec::new(),
        would_help: Vec::new(),
        would_not_help: Vec::new(),
        contradictions: Vec::new(),
        prove_wrong: String::new(),
    }
}
