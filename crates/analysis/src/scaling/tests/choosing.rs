//! What is told apart, what is not, and what no model describes.

use model::{NoiseSource, ScalingModel};

use super::{HELD, Measuring, SEEDS, USUAL, curve, fit_of};
use crate::scaling::{LoadPoint, LoadRun, NoPrediction, Refusal, Scaling};

fn point(load: f64, throughputs: &[f64]) -> LoadPoint {
    let run = |throughput: &f64| LoadRun {
        throughput: *throughput,
        standard_error: None,
    };
    LoadPoint {
        load,
        runs: throughputs.iter().map(run).collect(),
    }
}

#[test]
fn a_hard_cap_that_the_usl_would_misfit_is_recognised() {
    let (mut caps, mut usl) = (0, 0);
    for seed in 1..=SEEDS {
        let report = USUAL.sweep(seed, |load| 1000.0 * load.min(12.0)).report();
        caps += usize::from(
            report
                .fits
                .first()
                .is_some_and(|it| it.model == ScalingModel::HardCap),
        );
        usl += usize::from(fit_of(&report.fits, ScalingModel::Usl).is_some());
    }
    println!("{caps} caps, {usl} also the USL");
    assert!(caps >= HELD, "{caps}");
    assert!(usl <= SEEDS as usize - HELD, "{usl}");
}

#[test]
fn a_slight_bend_is_not_told_from_others_and_all_are_kept() {
    // Of 5 % noise the bend of the last load alone remains.
    let sweep = Measuring {
        loads: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        noise: 0.05,
        ..USUAL
    };
    let mut several = 0;
    for seed in 1..=SEEDS {
        let report = sweep
            .sweep(seed, |load| 1000.0 * load / (1.0 + 0.02 * (load - 1.0)))
            .report();
        several += usize::from(report.fits.len() > 1);
        let weights: f64 = report.fits.iter().map(|it| it.weight).sum();
        assert!(
            report.fits.is_empty() || (weights - 1.0).abs() < 1e-9,
            "{weights}"
        );
        assert!(report.fits.iter().all(|it| it.aicc_above_best <= 2.0));
        assert_eq!(report.fits.len() + report.rejected.len(), 4);
    }
    println!("{several} of {SEEDS} not told apart");
    assert!(several >= 20, "{several}");
}

#[test]
fn what_no_model_describes_is_said_with_the_points_that_stray() {
    let dip = |load: f64| {
        1000.0 * load / (1.0 + 0.02 * (load - 1.0)) * if load == 8.0 { 0.5 } else { 1.0 }
    };
    let two_regimes = |load: f64| {
        if load < 10.0 {
            1000.0 * load
        } else {
            300.0 * load
        }
    };
    let steps = |load: f64| {
        if load < 3.0 {
            100.0
        } else if load < 20.0 {
            1000.0
        } else {
            5000.0
        }
    };
    let (mut none, mut names_dip) = ([0; 3], 0);
    for seed in 1..=SEEDS {
        let dip = USUAL.sweep(seed, dip);
        let report = dip.report();
        names_dip += usize::from(
            report
                .straying
                .iter()
                .any(|it| it.load == 8.0 && it.off < -0.05),
        );
        let reports = [
            report,
            USUAL.sweep(seed, two_regimes).report(),
            USUAL.sweep(seed, steps).report(),
        ];
        for (count, report) in none.iter_mut().zip(reports) {
            *count += usize::from(report.fits.is_empty());
            assert_eq!(report.fits.is_empty(), !report.straying.is_empty());
        }
        if let Err(error) = dip.predict(16.0) {
            assert_eq!(error, NoPrediction::NoFit(16.0));
        }
    }
    println!("none fits: {none:?}, dip named {names_dip}");
    assert!(none.iter().all(|it| *it >= HELD), "{none:?}");
    assert!(names_dip >= HELD, "{names_dip}");
    let report = USUAL.sweep(1, dip).report();
    assert!(
        report
            .answer
            .starts_with("No model describes how throughput grows with load: "),
        "{}",
        report.answer
    );
}

#[test]
fn a_true_model_is_seldom_called_none() {
    for truth in [
        curve(ScalingModel::Linear, 50.0, [0.0; 2]),
        curve(ScalingModel::HardCap, 50.0, [6_f64.ln(), 0.1]),
    ] {
        let reports =
            (1..=SEEDS).map(|seed| USUAL.sweep(seed, |load| truth.throughput(load)).report());
        let none = reports.filter(|it| it.fits.is_empty()).count();
        assert!(none <= 3, "{:?}: {none}", truth.model);
    }
}

#[test]
fn a_curve_that_misses_no_point_by_a_twentieth_describes_them_however_little_they_scatter() {
    // Two percent up and down in turns: no formula's, and no noise.
    let wavy = |load: f64| {
        1000.0
            * load
            * if (load.log2() as u32).is_multiple_of(2) {
                1.02
            } else {
                0.98
            }
    };
    let sweep = Measuring {
        noise: 0.0005,
        ..USUAL
    };
    let report = sweep.sweep(1, wavy).report();
    let line = report.fits.first().expect("a fit");
    assert_eq!(line.model, ScalingModel::Linear);
    assert!(line.p_value.is_some_and(|it| it < 1e-6), "{line:?}");
    // The interval is that of the misfit and not that of the noise.
    let rate = line.parameters[0].estimate;
    assert!(
        rate.interval.high - rate.interval.low > 0.02 * rate.value,
        "{rate:?}"
    );
}

#[test]
fn without_repeats_the_distance_from_the_curve_is_the_noise() {
    let sweep = Measuring {
        repeats: 1,
        ..USUAL
    };
    let report = sweep
        .sweep(4, |load| 1000.0 * load / (1.0 + 0.08 * (load - 1.0)))
        .report();
    assert_eq!(report.noise_from, NoiseSource::Misfit);
    let fit = report.fits.first().expect("a fit");
    assert_eq!((fit.model, fit.p_value), (ScalingModel::Amdahl, None));
    assert!((0.01..0.08).contains(&report.noise), "{}", report.noise);
    let wild = sweep.sweep(4, |load| {
        if (load.log2() as u32).is_multiple_of(2) {
            100.0
        } else {
            900.0
        }
    });
    assert!(wild.report().fits.is_empty());
}

#[test]
fn with_standard_errors_the_misfit_is_judged_by_them() {
    let measured = |error: f64| {
        let loads = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let points = loads.map(|load: f64| LoadPoint {
            load,
            runs: vec![LoadRun {
                throughput: 100.0 * load * if load == 4.0 { 0.85 } else { 1.0 },
                standard_error: Some(100.0 * load * error),
            }],
        });
        Scaling::new(&points).expect("points").report()
    };
    assert_eq!(measured(0.1).noise_from, NoiseSource::StandardErrors);
    assert!(!measured(0.1).fits.is_empty());
    assert!(measured(0.01).fits.is_empty());
}

#[test]
fn few_points_are_refused_or_leave_the_richer_models_untried() {
    assert_eq!(Scaling::new(&[]).err(), Some(Refusal::FewLoads(0)));
    let two = [point(1.0, &[1.0, 1.1]), point(2.0, &[2.0, 2.1])];
    assert_eq!(Scaling::new(&two).err(), Some(Refusal::FewLoads(2)));
    let bare = [point(1.0, &[1.0]), point(2.0, &[2.0]), point(3.0, &[3.0])];
    assert_eq!(Scaling::new(&bare).err(), Some(Refusal::FewRuns));
    let three = [
        point(1.0, &[10.0, 10.1]),
        point(2.0, &[20.0, 19.8]),
        point(4.0, &[40.0, 40.2]),
    ];
    let report = Scaling::new(&three).expect("a line").report();
    assert_eq!(report.fits[0].model, ScalingModel::Linear);
    let untried = report.rejected.iter().filter(|it| {
        it.reason
            .contains("4 loads are needed, and 3 were measured")
    });
    assert_eq!(untried.count(), 2, "{:?}", report.rejected);
}

#[test]
fn a_prediction_goes_to_twice_the_largest_load_and_no_further() {
    let scaling = USUAL.sweep(1, |load| 1000.0 * load);
    assert!(scaling.predict(128.0).is_ok() && scaling.predict(0.5).is_ok());
    for load in [128.1, 1e12, 0.49, 0.0, -1.0, f64::NAN] {
        let error = scaling.predict(load).expect_err("too far");
        assert!(
            matches!(error, NoPrediction::Beyond { .. }),
            "{load}: {error}"
        );
        assert!(
            error.to_string().contains("from 0.500 to 128 are"),
            "{error}"
        );
    }
}

#[test]
fn the_answer_says_what_was_found_in_sentences() {
    let answer = |throughput: fn(f64) -> f64| {
        let sweep = Measuring {
            noise: 0.01,
            ..USUAL
        };
        sweep.sweep(2, throughput).report().answer
    };
    let line = answer(|load| 1000.0 * load);
    assert!(
        line.starts_with("Throughput grows in proportion to load up to 64: 1,00"),
        "{line}"
    );
    let amdahl = answer(|load| 1000.0 * load / (1.0 + 0.08 * (load - 1.0)));
    assert!(
        amdahl.starts_with("Throughput follows Amdahl's law: "),
        "{amdahl}"
    );
    let usl = answer(|load| 1000.0 * load / (1.0 + (load - 1.0) * (0.05 + 0.001 * load)));
    assert!(usl.contains("It is highest at 3"), "{usl}");
    let cap = answer(|load| 1000.0 * load.min(12.0));
    assert!(
        cap.starts_with("Throughput grows with load up to a hard cap of 12,"),
        "{cap}"
    );
    assert!(cap.contains("The knee lies at 1"), "{cap}");
}
