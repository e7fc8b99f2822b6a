//! The models that describe the curves, and where curves cross.

use model::{SweepPoint, SweptCrossing, SweptCurve, SweptParameter};

use super::{axis, on_curve};
use crate::scaling::{LoadPoint, LoadRun, Scaling};

/// Of more curves not every pair is compared.
const MOST_CURVES: usize = 8;

/// Fits each curve, and says where they cross.
pub(super) fn fit(
    parameters: &[SweptParameter],
    points: &[SweepPoint],
    curves: &mut [SweptCurve],
) -> Vec<SweptCrossing> {
    let Some(axis) = axis(parameters, points) else {
        return Vec::new();
    };
    let mut scalings = Vec::new();
    for curve in curves.iter_mut() {
        let own = on_curve(parameters, points, axis, &curve.fixed);
        match Scaling::new(&loads(&own)) {
            Ok(scaling) => {
                curve.scaling = Some(scaling.report());
                scalings.push((curve.fixed.clone(), scaling));
            }
            Err(why) => curve.no_scaling = Some(why.to_string()),
        }
    }
    scalings.truncate(MOST_CURVES);
    crossings(&scalings)
}

fn loads(points: &[(f64, &SweepPoint)]) -> Vec<LoadPoint> {
    let run = |throughput: &f64| LoadRun {
        throughput: *throughput,
        standard_error: None,
    };
    let known = points.iter().filter_map(|(load, point)| {
        let figure = point.figure("throughput")?;
        Some(LoadPoint {
            load: *load,
            runs: figure.of_runs.iter().map(run).collect(),
        })
    });
    known.filter(|it| !it.runs.is_empty()).collect()
}

fn crossings(scalings: &[(Vec<String>, Scaling)]) -> Vec<SweptCrossing> {
    let mut crossings = Vec::new();
    for (place, (first, one)) in scalings.iter().enumerate() {
        for (second, other) in &scalings[place + 1..] {
            // Two without a common range or a model cross nowhere that could be named.
            let report = one.crossings(other).ok();
            if let Some(report) = report.filter(|it| !it.crossings.is_empty()) {
                crossings.push(SweptCrossing {
                    first: first.clone(),
                    second: second.clone(),
                    report,
                });
            }
        }
    }
    crossings
}
