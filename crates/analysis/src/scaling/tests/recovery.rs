//! Each model is found again from points of it, with intervals that hold the truth as often as they say.

use std::collections::BTreeMap;

use model::{ScalingModel, ScalingReport};

use super::{HELD, SEEDS, Tally, USUAL, curve, fit_of};
use crate::scaling::curve::Curve;

/// Loads at which the curve is compared: measured, between, and beyond.
const PREDICTED: [f64; 4] = [1.0, 6.0, 64.0, 128.0];

/// Median half-width that intervals may have.
const WIDEST: f64 = 0.2;

/// What a hundred sweeps of one curve gave.
struct Recovered {
    /// By what was estimated.
    tallies: BTreeMap<String, Tally>,
    /// Sweeps whose likeliest model is the true one.
    likeliest: usize,
    /// Sweeps with a cap, or the USL, as the only model that describes them.
    only: BTreeMap<ScalingModel, usize>,
}

fn recover(truth: Curve) -> Recovered {
    let mut recovered = Recovered {
        tallies: BTreeMap::new(),
        likeliest: 0,
        only: BTreeMap::new(),
    };
    for seed in 1..=SEEDS {
        let scaling = USUAL.sweep(seed, |load| truth.throughput(load));
        let report = scaling.report();
        recovered.likeliest += usize::from(
            report
                .fits
                .first()
                .is_some_and(|it| it.model == truth.model),
        );
        if let [only] = &report.fits[..] {
            *recovered.only.entry(only.model).or_default() += 1;
        }
        tally(&mut recovered.tallies, &report, truth);
        for load in PREDICTED {
            let predicted = scaling.predict(load).ok().map(|it| it.interval);
            let tally = recovered.tallies.entry(format!("at {load}")).or_default();
            tally.add(predicted, truth.throughput(load));
        }
    }
    recovered
}

/// Where the true model is not among the fits, nothing of it holds the truth.
fn tally(tallies: &mut BTreeMap<String, Tally>, report: &ScalingReport, truth: Curve) {
    let fit = fit_of(&report.fits, truth.model);
    let mut add = |name: String, interval, value| {
        tallies.entry(name).or_default().add(interval, value);
    };
    for (name, value) in truth.values() {
        let found = fit.map(|it| it.parameters.iter().find(|it| it.name == name));
        let interval = found.flatten().map(|it| it.estimate.interval);
        add(format!("{name:?}"), interval, value);
    }
    if let Some(knee) = truth.knee([1.0, 128.0]) {
        add("knee".to_owned(), report.knee.map(|it| it.interval), knee);
        add("knee between".to_owned(), report.knee_between, knee);
    }
    if let Some(peak) = truth.peak() {
        let interval = fit.and_then(|it| it.peak).map(|it| it.interval);
        add("peak".to_owned(), interval, peak);
    }
    if let Some(capacity) = truth.capacity(1.0) {
        let interval = fit.and_then(|it| it.capacity).map(|it| it.interval);
        add("capacity".to_owned(), interval, capacity);
    }
}

/// Every interval holds the truth as often as it must, and the middle one of all parameters is narrow enough.
fn check(truth: Curve) -> Recovered {
    let recovered = recover(truth);
    println!("{:?}: likeliest in {}", truth.model, recovered.likeliest);
    for (name, tally) in &recovered.tallies {
        println!(
            "  {name}: {} held, half-width {:.3}",
            tally.held,
            tally.width()
        );
    }
    for (name, tally) in &recovered.tallies {
        assert!(tally.held >= HELD, "{name}: {} of {SEEDS}", tally.held);
        // Without a model the points tell no more than between which loads.
        if name != "knee between" {
            assert!(tally.width() <= WIDEST, "{name}: {:.3}", tally.width());
        }
    }
    recovered
}

#[test]
fn a_straight_line_is_recovered() {
    let recovered = check(curve(ScalingModel::Linear, 1000.0, [0.0; 2]));
    assert!(recovered.likeliest >= HELD, "{}", recovered.likeliest);
}

#[test]
fn amdahls_law_is_recovered() {
    let recovered = check(curve(ScalingModel::Amdahl, 1000.0, [0.08, 0.0]));
    assert!(recovered.likeliest >= HELD, "{}", recovered.likeliest);
}

#[test]
fn the_usl_is_recovered_and_is_not_called_a_cap() {
    let recovered = check(curve(ScalingModel::Usl, 1000.0, [0.05, 0.001]));
    assert!(recovered.likeliest >= HELD, "{}", recovered.likeliest);
    let caps = recovered.only.get(&ScalingModel::HardCap);
    assert_eq!(caps.copied().unwrap_or_default(), 0);
}

#[test]
fn a_hard_cap_is_recovered_and_is_not_called_the_usl() {
    let recovered = check(curve(
        ScalingModel::HardCap,
        1000.0,
        [10_f64.ln(), 1.0 / 3.0],
    ));
    assert!(recovered.likeliest >= HELD, "{}", recovered.likeliest);
    let usls = recovered.only.get(&ScalingModel::Usl);
    assert_eq!(usls.copied().unwrap_or_default(), 0);
}
