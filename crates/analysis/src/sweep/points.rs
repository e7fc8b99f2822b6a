//! The figures and the limit at each point.

use model::{Interval, LimitRange, PhaseVerdict, PointFigure, SweepPoint};

use super::Configuration;
use crate::compare::Measured;
use crate::compare::figures::{Figure, of_each};
use crate::stats::{mean, t_95};

/// The mean throughput of a point's instances.
pub const THROUGHPUT_OF_EACH: &str = "throughput.each";

/// A point for each configuration that has a run.
pub(super) fn points(mut configurations: Vec<Configuration>) -> Vec<SweepPoint> {
    configurations.retain(|it| !it.runs.is_empty());
    let runs: Vec<&[Measured]> = configurations.iter().map(|it| it.runs.as_slice()).collect();
    let figures: Vec<(Figure, Option<Scatter>)> = of_each(&runs)
        .into_iter()
        .map(|it| (Scatter::of(&it.values), it))
        .map(|(scatter, it)| (it, scatter))
        .collect();
    let configurations = configurations.into_iter().enumerate();
    configurations
        .map(|(place, it)| {
            let (limit, agreeing) = limit(&it.runs);
            let own = figures.iter();
            let runs = it.runs.len();
            let own = own.filter_map(|(figure, scatter)| at(figure, *scatter, place, runs));
            SweepPoint {
                values: it.values,
                limit,
                agreeing,
                figures: own.collect(),
                setting: it.runs.first().map(|it| it.setting.clone()),
                runs: it.runs.into_iter().map(|it| it.run).collect(),
            }
        })
        .collect()
}

fn at(figure: &Figure, scatter: Option<Scatter>, place: usize, runs: usize) -> Option<PointFigure> {
    let values = figure.values.get(place)?;
    let value = mean(values)?;
    Some(PointFigure {
        key: figure.key.clone(),
        label: figure.label.clone(),
        family: figure.family,
        unit: figure.unit,
        value,
        interval: scatter.and_then(|it| it.interval(value, values.len())),
        of_runs: match values.len() == runs {
            true => values.clone(),
            false => Vec::new(),
        },
    })
}

/// Adds the throughput of each of a point's instances.
pub(super) fn add_throughput_of_each(point: &mut SweepPoint, instances: f64) {
    let Some(all) = point.figure("throughput") else {
        return;
    };
    let each = PointFigure {
        key: THROUGHPUT_OF_EACH.to_owned(),
        label: "throughput of each instance".to_owned(),
        family: all.family,
        unit: all.unit,
        value: all.value / instances,
        interval: all.interval.map(|it| Interval {
            low: it.low / instances,
            high: it.high / instances,
        }),
        of_runs: all.of_runs.iter().map(|it| it / instances).collect(),
    };
    point.figures.push(each);
}

/// How far runs of the same configuration are apart, as a part of their mean: of all points together, since three runs of
/// one say little.
#[derive(Clone, Copy)]
struct Scatter {
    deviation: f64,
    degrees: f64,
}

impl Scatter {
    /// `None` where no point has two runs.
    fn of(values: &[Vec<f64>]) -> Option<Self> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for own in values {
            let Some(centre) = mean(own).filter(|it| *it > 0.0) else {
                continue;
            };
            let apart = own.iter().map(|it| (it / centre - 1.0).powi(2));
            squares += apart.sum::<f64>();
            degrees += (own.len() - 1) as f64;
        }
        (degrees > 0.0).then(|| Self {
            deviation: (squares / degrees).sqrt(),
            degrees,
        })
    }

    /// Student's interval of a mean of so many runs.
    fn interval(self, value: f64, runs: usize) -> Option<Interval> {
        let half = t_95(self.degrees)? * self.deviation * value / (runs as f64).sqrt();
        Some(Interval {
            low: (value - half).max(0.0),
            high: value + half,
        })
    }
}

/// What most runs say, with how many do; of as many for two causes, what the first run says.
fn limit(runs: &[Measured]) -> (Option<PhaseVerdict>, u32) {
    let verdicts: Vec<&PhaseVerdict> = runs
        .iter()
        .filter_map(|it| it.run.verdict.as_ref())
        .collect();
    let alike = |own: &PhaseVerdict| {
        let same = verdicts.iter().filter(|it| is_same(it, own));
        u32::try_from(same.count()).unwrap_or(u32::MAX)
    };
    let mut most: Option<(&PhaseVerdict, u32)> = None;
    for own in &verdicts {
        let count = alike(own);
        if most.is_none_or(|(_, before)| count > before) {
            most = Some((own, count));
        }
    }
    most.map_or((None, 0), |(it, count)| (Some(it.clone()), count))
}

/// Whether two verdicts name the same cause of the same entity. Processes of another run have other numbers, so it is told
/// by its name, and which of several instances it is says nothing.
fn is_same(one: &PhaseVerdict, other: &PhaseVerdict) -> bool {
    let entity = |it: &PhaseVerdict| (it.entity.kind, instance_of(&it.entity.name).to_owned());
    one.cause == other.cause && entity(one) == entity(other)
}

/// `instance` of `instance-3`.
fn instance_of(name: &str) -> &str {
    let number = name.strip_prefix("instance-");
    match number.is_some_and(|it| it.parse::<u32>().is_ok()) {
        true => "instance",
        false => name,
    }
}

/// Neighbouring points with the same limit together, from the lowest value on.
pub(super) fn limits(points: &[(f64, &SweepPoint)]) -> Vec<LimitRange> {
    let mut ranges: Vec<LimitRange> = Vec::new();
    let mut is_open = false;
    for (value, point) in points {
        let Some(limit) = &point.limit else {
            is_open = false;
            continue;
        };
        match ranges.last_mut() {
            Some(last) if is_open && last.limit.cause == limit.cause => {
                last.to = *value;
                last.limit = limit.clone();
            }
            _ => ranges.push(LimitRange {
                from: *value,
                to: *value,
                limit: limit.clone(),
            }),
        }
        is_open = true;
    }
    ranges
}
