//! What holds for any points.

use model::{Interval, ScalingEstimate, ScalingReport};
use proptest::prelude::*;

use crate::scaling::{LoadPoint, LoadRun, Scaling};

/// Throughputs of any kind at loads of any kind.
fn any_points() -> impl Strategy<Value = Vec<LoadPoint>> {
    let number = prop_oneof![
        8 => 0.1..1e4f64,
        1 => 1e-3..1e9f64,
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 1.0]),
    ];
    let error = prop::option::weighted(0.2, prop_oneof![9 => 0.0..10.0f64, 1 => Just(f64::NAN)]);
    let run = (number.clone(), error).prop_map(|(throughput, standard_error)| LoadRun {
        throughput,
        standard_error,
    });
    let load = prop_oneof![6 => (1..40u32).prop_map(f64::from), 1 => number];
    let runs = prop::collection::vec(run, 0..4);
    let point = (load, runs).prop_map(|(load, runs)| LoadPoint { load, runs });
    prop::collection::vec(point, 0..9)
}

/// Throughputs that grow somehow.
fn sweeps() -> impl Strategy<Value = Vec<LoadPoint>> {
    let noise = prop::collection::vec(0.9..1.1f64, 21);
    let shape = (0.0..0.3f64, 0.0..0.01f64, 2.0..80.0f64);
    (noise, shape, 10.0..1e4f64).prop_map(|(noise, (contention, coherency, cap), rate)| {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let cost = |load: f64| 1.0 + (load - 1.0) * (contention + coherency * load);
        let run = |load: f64, noise: &f64| LoadRun {
            throughput: rate * f64::min(load / cost(load), cap) * noise,
            standard_error: None,
        };
        let points = loads
            .iter()
            .zip(noise.chunks(3))
            .map(|(load, noise)| LoadPoint {
                load: *load,
                runs: noise.iter().map(|it| run(*load, it)).collect(),
            });
        points.collect()
    })
}

/// Every number of a report.
fn numbers(report: &ScalingReport) -> Vec<f64> {
    fn collect(value: &serde_json::Value, numbers: &mut Vec<f64>) {
        match value {
            // What is not finite is written as null, and what is `None` is left out.
            serde_json::Value::Null => numbers.push(f64::NAN),
            serde_json::Value::Number(number) => numbers.extend(number.as_f64()),
            serde_json::Value::Array(all) => all.iter().for_each(|it| collect(it, numbers)),
            serde_json::Value::Object(all) => all.values().for_each(|it| collect(it, numbers)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&serde_json::to_value(report).expect("JSON"), &mut found);
    found
}

fn estimates(report: &ScalingReport) -> Vec<ScalingEstimate> {
    let mut found: Vec<ScalingEstimate> = report.knee.into_iter().collect();
    for fit in &report.fits {
        found.extend(fit.parameters.iter().map(|it| it.estimate));
        found.extend(fit.curve.iter().map(|it| it.throughput));
        found.extend([fit.knee, fit.peak, fit.capacity].into_iter().flatten());
    }
    found
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-4 * one.abs().max(other.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_every_number_is_finite(points in any_points()) {
        match Scaling::new(&points) {
            Err(refusal) => prop_assert!(!refusal.to_string().is_empty()),
            Ok(scaling) => {
                let report = scaling.report();
                let numbers = numbers(&report);
                prop_assert!(numbers.iter().all(|it| it.is_finite()), "{report:?}");
                prop_assert!(!report.answer.contains("NaN") && !report.answer.contains("inf"), "{}", report.answer);
                prop_assert_eq!(report.fits.len() + report.rejected.len(), 4);
                prop_assert_eq!(report.fits.is_empty(), !report.straying.is_empty());
            }
        }
    }

    #[test]
    fn an_interval_holds_its_estimate_and_curves_are_above_0(points in sweeps()) {
        let scaling = Scaling::new(&points).expect("a sweep");
        let report = scaling.report();
        for ScalingEstimate { value, interval: Interval { low, high } } in estimates(&report) {
            prop_assert!(low <= value && value <= high, "{report:?}");
            prop_assert!(low >= 0.0);
        }
        let predicted = scaling.predict(report.predictable.high);
        prop_assert_eq!(predicted.is_ok(), !report.fits.is_empty());
    }

    #[test]
    fn in_other_units_the_curve_is_the_same(points in sweeps(), factor in 1e-3..1e3f64) {
        let scaled: Vec<LoadPoint> = points.iter().map(|point| LoadPoint {
            load: point.load,
            runs: point.runs.iter().map(|run| LoadRun { throughput: run.throughput * factor, ..*run }).collect(),
        }).collect();
        let one = Scaling::new(&points).expect("a sweep");
        let other = Scaling::new(&scaled).expect("a sweep");
        let (report, scaled) = (one.report(), other.report());
        let models = |it: &ScalingReport| it.fits.iter().map(|it| it.model).collect::<Vec<_>>();
        prop_assert_eq!(models(&report), models(&scaled));
        if let (Some(one), Some(other)) = (report.knee, scaled.knee) {
            prop_assert!(is_near(one.value, other.value));
        }
        if let (Ok(one), Ok(other)) = (one.predict(100.0), other.predict(100.0)) {
            prop_assert!(is_near(one.value * factor, other.value), "{one:?} {other:?}");
            prop_assert!((one.interval.low * factor / other.interval.low - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn the_order_of_points_and_of_runs_changes_nothing(points in sweeps()) {
        let mut turned = points.clone();
        turned.reverse();
        let one = Scaling::new(&points).expect("a sweep").report();
        let other = Scaling::new(&turned).expect("a sweep").report();
        prop_assert_eq!(&one, &other);
        let text = serde_json::to_string(&one).expect("JSON");
        let back: ScalingReport = serde_json::from_str(&text).expect("the same");
        prop_assert_eq!(back.fits.len(), one.fits.len());
    }
}
