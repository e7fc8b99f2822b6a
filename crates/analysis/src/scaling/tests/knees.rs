//! Knees of what was built with one.

use super::{HELD, Measuring, SEEDS, half_width, holds};
use crate::stats::median;
use model::ScalingModel;

/// Instances of which each may use a quarter of a CPU, on two CPUs: eight fill them.
fn capped_instances(instances: f64) -> f64 {
    400.0 * (0.25 * instances).min(2.0)
}

const INSTANCES: Measuring<'static> = Measuring {
    loads: &[1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0],
    repeats: 3,
    noise: 0.02,
};

#[test]
fn the_knee_of_capped_instances_lies_where_they_fill_the_cpus() {
    let (mut held, mut between, mut caps) = (0, 0, 0);
    let mut widths = Vec::new();
    for seed in 1..=SEEDS {
        let report = INSTANCES.sweep(seed, capped_instances).report();
        caps += usize::from(
            report
                .fits
                .first()
                .is_some_and(|it| it.model == ScalingModel::HardCap),
        );
        if let Some(knee) = report.knee {
            held += usize::from(holds(knee.interval, 8.0));
            widths.push(half_width(knee.interval, 8.0));
        }
        between += usize::from(report.knee_between.is_some_and(|it| holds(it, 8.0)));
    }
    let width = median(&widths).expect("knees");
    println!("knee {held} held, half-width {width:.3}; by points {between}; caps {caps}");
    assert!(held >= HELD, "{held} of {SEEDS}");
    assert!(width <= 0.2, "{width:.3}");
    assert!(between >= HELD, "{between} of {SEEDS}");
    assert!(caps >= HELD, "{caps} of {SEEDS}");
}

#[test]
fn the_knee_by_points_alone_lies_between_loads_that_were_measured() {
    let sweep = Measuring {
        loads: &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
        ..INSTANCES
    };
    let between = sweep.sweep(3, capped_instances).report().knee_between;
    let between = between.expect("a knee");
    assert_eq!((between.low, between.high), (4.0, 16.0));
    let line = sweep.sweep(3, |load| 100.0 * load).report();
    assert_eq!((line.knee_between, line.knee), (None, None));
}

#[test]
fn a_curve_that_is_flat_from_the_first_load_on_has_no_knee_within_it() {
    let report = INSTANCES.sweep(1, |_| 400.0).report();
    assert_eq!(report.knee, None, "{}", report.answer);
    assert!(!report.fits.is_empty(), "{}", report.answer);
}
