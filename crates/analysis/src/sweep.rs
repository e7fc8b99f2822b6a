//! Runs over a parameter: the figures and the limit at each point, and what that says in words.
//!
//! Each run is measured as for a comparison, over its steady phase; nothing here knows how the runs were made.

mod fitted;
mod points;
mod sentences;

use std::collections::BTreeMap;

use model::{Goal, SWEEP_SCHEMA, Sweep, SweepPoint, SweptCurve, SweptGoal, SweptParameter};

pub use points::THROUGHPUT_OF_EACH;

use crate::compare::Measured;

/// The parameter whose value is how many instances of the command run at once.
pub const INSTANCES: &str = "instances";

/// The runs of one configuration.
pub struct Configuration {
    /// The value of each parameter.
    pub values: Vec<String>,
    /// Its runs that count.
    pub runs: Vec<Measured>,
}

/// What was asked for.
pub struct Asked {
    /// The command with its parameters in braces, secrets replaced.
    pub command: String,
    /// What was varied.
    pub parameters: Vec<SweptParameter>,
    /// The goal that was searched for.
    pub goal: Option<Goal>,
}

/// Puts the runs of a sweep together; configurations without a run are left out.
pub fn sweep(asked: Asked, configurations: Vec<Configuration>) -> Sweep {
    let goal = asked.goal.map(|goal| kept(goal, &configurations));
    put_together(asked, goal, points::points(configurations))
}

fn put_together(asked: Asked, goal: Option<SweptGoal>, mut points: Vec<SweepPoint>) -> Sweep {
    if let Some(place) = asked.parameters.iter().position(|it| it.name == INSTANCES) {
        for point in &mut points {
            let instances = number(point, place).filter(|it| *it >= 1.0);
            instances
                .into_iter()
                .for_each(|it| points::add_throughput_of_each(point, it));
        }
    }
    let mut curves = curves(&asked.parameters, &points);
    let crossings = fitted::fit(&asked.parameters, &points, &mut curves);
    let mut sweep = Sweep {
        schema: SWEEP_SCHEMA.to_owned(),
        command: asked.command,
        parameters: asked.parameters,
        answers: Vec::new(),
        points,
        curves,
        crossings,
        goal,
        voided: Vec::new(),
        caveats: Vec::new(),
        seed: 0,
        spent_s: 0.0,
    };
    sweep.answers = sentences::answers(&sweep);
    sweep.caveats = sentences::caveats(&sweep);
    sweep
}

/// The parameter that curves are over: the first whose values are all numbers, and more than one of them.
pub fn axis(parameters: &[SweptParameter], points: &[SweepPoint]) -> Option<usize> {
    (0..parameters.len()).find(|place| {
        let numbers = points.iter().map(|it| number(it, *place));
        let Some(mut numbers) = numbers.collect::<Option<Vec<f64>>>() else {
            return false;
        };
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers.len() > 1
    })
}

/// The value of a parameter at a point, where it is a number.
fn number(point: &SweepPoint, place: usize) -> Option<f64> {
    let number: f64 = point.values.get(place)?.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// A curve for each combination of the parameters beside the axis, in the order of their first points.
fn curves(parameters: &[SweptParameter], points: &[SweepPoint]) -> Vec<SweptCurve> {
    let Some(axis) = axis(parameters, points) else {
        return Vec::new();
    };
    let mut curves: Vec<SweptCurve> = Vec::new();
    for point in points {
        let fixed = fixed(parameters, point, axis);
        if curves.iter().all(|it| it.fixed != fixed) {
            let own = on_curve(parameters, points, axis, &fixed);
            curves.push(SweptCurve {
                parameter: parameters[axis].name.clone(),
                limits: points::limits(&own),
                scaling: None,
                no_scaling: None,
                fixed,
            });
        }
    }
    curves
}

/// The values of all parameters but that on the axis, where they have several: `scale=10`.
fn fixed(parameters: &[SweptParameter], point: &SweepPoint, axis: usize) -> Vec<String> {
    let named = parameters.iter().zip(&point.values).enumerate();
    let others =
        named.filter(|(place, (parameter, _))| *place != axis && parameter.values.len() > 1);
    others
        .map(|(_, (parameter, value))| format!("{}={value}", parameter.name))
        .collect()
}

/// The points of a curve, from the lowest value on.
pub fn on_curve<'a>(
    parameters: &[SweptParameter],
    points: &'a [SweepPoint],
    axis: usize,
    of: &[String],
) -> Vec<(f64, &'a SweepPoint)> {
    let own = points
        .iter()
        .filter(|it| fixed(parameters, it, axis) == of)
        .filter_map(|it| Some((number(it, axis)?, it)));
    let mut own: Vec<(f64, &SweepPoint)> = own.collect();
    own.sort_by(|one, other| one.0.total_cmp(&other.0));
    own
}

/// The highest value of the only parameter below which nothing misses the goal. A configuration misses it when most of its
/// runs do.
fn kept(goal: Goal, configurations: &[Configuration]) -> SweptGoal {
    let mut by_value: Vec<(f64, &str, bool)> = configurations
        .iter()
        .filter_map(|it| {
            let value = it.values.first()?;
            Some((value.parse().ok()?, value.as_str(), meets(&it.runs)?))
        })
        .collect();
    by_value.sort_by(|one, other| one.0.total_cmp(&other.0));
    let first_missed = by_value.iter().position(|(_, _, met)| !met);
    let kept = match first_missed {
        Some(0) => None,
        Some(place) => by_value.get(place - 1),
        None => by_value.last(),
    };
    SweptGoal {
        goal,
        kept: kept.map(|it| it.1.to_owned()),
        missed: first_missed.map(|place| by_value[place].1.to_owned()),
    }
}

/// Whether most runs met their goals; `None` where that is not known of most.
pub fn meets(runs: &[Measured]) -> Option<bool> {
    let mut counted: BTreeMap<bool, usize> = BTreeMap::new();
    for met in runs.iter().filter_map(Measured::meets_goals) {
        *counted.entry(met).or_default() += 1;
    }
    let of = |met| counted.get(&met).copied().unwrap_or(0);
    match (of(true), of(false)) {
        (0, 0) => None,
        (met, missed) => Some(met > missed),
    }
}

#[cfg(test)]
mod tests;
