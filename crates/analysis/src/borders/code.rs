//! The target's CPU time by function, on both sides of a border.

use model::Entity;

use super::grown::COLUMN;
use super::measure::{Family, Measure, Unit};
use super::measures::Side;
use crate::stacks::ByFunction;

/// CPU time in one function of the target.
const CODE: &str = "cpu.code";

/// The function whose CPU time for a request differs most, on both sides.
pub(super) fn differing(before: &Side, after: &Side) -> Option<[Measure; 2]> {
    let target = after.target.as_ref()?;
    let (one, other) = (before.code.as_ref()?, after.code.as_ref()?);
    let for_a_request = |side: &Side, code: &ByFunction, function: &str| {
        let spent: f64 = code.get(function).map_or(0.0, |times| times.iter().sum());
        spent / side.pieces.iter().map(|it| it.completed).sum::<f64>()
    };
    let apart = |function: &&String| {
        let of = |side, code| for_a_request(side, code, function);
        (of(after, other) - of(before, one)).abs()
    };
    let known = one.keys().chain(other.keys());
    let known = known.filter(|function| apart(function).is_finite());
    let function = known.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let measure = |(side, code)| executing(function, target, side, code);
    Some([(before, one), (after, other)].map(measure))
}

/// The target's CPU time in a function, for a request.
fn executing(function: &str, target: &Entity, side: &Side, code: &ByFunction) -> Measure {
    let spent = |at: usize| code.get(function).map_or(0.0, |times| times[at]);
    let pieces = side.pieces.iter().enumerate();
    let values = pieces.map(|(at, piece)| match piece.completed > 0.0 {
        true => spent(at) / piece.completed,
        false => f64::NAN,
    });
    Measure {
        what: CODE.to_owned(),
        family: Family::Code,
        column: format!("{COLUMN}{function}"),
        entity: target.clone(),
        unit: Unit::NsPerRequest,
        subject: format!("CPU time of {} in {function}", target.name),
        of: " per request",
        values: values.collect(),
    }
}
