//! Platforms that overtake each other, and platforms that do not.

use model::SeriesOfTwo;

use super::{DOUBLINGS, HELD, Measuring, SEEDS, half_width, holds};
use crate::scaling::{NoCrossing, Scaling};
use crate::stats::median;

const CLIENTS: Measuring<'static> = Measuring {
    loads: &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0],
    repeats: 3,
    noise: 0.03,
};

/// Each instance may use half of a CPU, of two.
fn platform_a(instances: f64) -> f64 {
    1000.0 * (0.5 * instances).min(2.0)
}

/// No instance is held back, and there is one CPU.
fn platform_b(instances: f64) -> f64 {
    1000.0 * instances.min(1.0)
}

#[test]
fn a_platform_with_more_cpus_overtakes_where_its_caps_allow_it() {
    let (mut held, mut widths) = (0, Vec::new());
    for seed in 1..=SEEDS {
        let a = CLIENTS.sweep(seed, platform_a);
        let b = CLIENTS.sweep(seed + 1000, platform_b);
        let Ok(report) = a.crossings(&b) else {
            continue;
        };
        if let [crossing] = &report.crossings[..] {
            held += usize::from(holds(crossing.load.interval, 2.0));
            widths.push(half_width(crossing.load.interval, 2.0));
            assert_eq!(crossing.ahead_after, SeriesOfTwo::First);
            assert_eq!(report.ahead_at_first, Some(SeriesOfTwo::Second));
            assert_eq!(report.ahead_at_last, Some(SeriesOfTwo::First));
        }
    }
    let width = median(&widths).expect("crossings");
    println!("crossing {held} held, half-width {width:.3}");
    assert!(held >= HELD, "{held} of {SEEDS}");
    assert!(width <= 0.2, "{width:.3}");
}

#[test]
fn the_other_way_round_the_crossing_is_the_same() {
    let (a, b) = (CLIENTS.sweep(1, platform_a), CLIENTS.sweep(2, platform_b));
    let (one, other) = (
        a.crossings(&b).expect("fits"),
        b.crossings(&a).expect("fits"),
    );
    let loads = |it: &model::CrossingReport| {
        it.crossings
            .iter()
            .map(|it| it.load.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(one.crossings.len(), 1);
    assert!((loads(&one)[0] - loads(&other)[0]).abs() < 1e-5);
    assert_eq!(one.ahead_at_first, Some(SeriesOfTwo::Second));
    assert_eq!(other.ahead_at_first, Some(SeriesOfTwo::First));
}

#[test]
fn smooth_curves_cross_where_they_do() {
    let amdahl = |rate: f64, contention: f64| {
        move |load: f64| rate * load / (1.0 + contention * (load - 1.0))
    };
    // 1000 (1 + 0.02 x) = 700 (1 + 0.1 x), so x = 300 / 50.
    let truth = 7.0;
    let sweep = Measuring {
        loads: &DOUBLINGS,
        ..CLIENTS
    };
    let (mut held, mut widths) = (0, Vec::new());
    for seed in 1..=SEEDS {
        let one = sweep.sweep(seed, amdahl(1000.0, 0.1));
        let other = sweep.sweep(seed + 1000, amdahl(700.0, 0.02));
        let Ok(report) = one.crossings(&other) else {
            continue;
        };
        if let [crossing] = &report.crossings[..] {
            held += usize::from(holds(crossing.load.interval, truth));
            widths.push(half_width(crossing.load.interval, truth));
        }
    }
    println!(
        "crossing {held} held, half-width {:.3}",
        median(&widths).expect("crossings")
    );
    assert!(held >= HELD, "{held} of {SEEDS}");
}

#[test]
fn who_is_ahead_throughout_has_no_crossing_also_where_lines_would_meet_beyond() {
    let mut compared = 0;
    for seed in 1..=20 {
        let one = CLIENTS.sweep(seed, |load| 1000.0 * load / (1.0 + 0.05 * (load - 1.0)));
        // Equal at 17 only, and 8 was measured.
        let other = CLIENTS.sweep(seed + 50, |load| 5.0 / 9.0 * 1000.0 * load);
        let Ok(report) = one.crossings(&other) else {
            continue;
        };
        compared += 1;
        assert!(report.crossings.is_empty(), "{report:?}");
        assert_eq!(report.ahead_at_first, Some(SeriesOfTwo::First));
        assert_eq!(report.compared.high, 8.0);
    }
    assert!(compared >= 18, "{compared}");
}

#[test]
fn equal_servers_seldom_cross() {
    let mut crossed = 0;
    for seed in 1..=SEEDS {
        let sweep = |seed| CLIENTS.sweep(seed, platform_a);
        let Ok(report) = sweep(seed).crossings(&sweep(seed + 1000)) else {
            continue;
        };
        crossed += usize::from(!report.crossings.is_empty());
    }
    println!("{crossed} of {SEEDS} equal servers crossed");
    assert!(crossed <= 10, "{crossed}");
}

#[test]
fn series_without_a_common_range_or_a_fit_are_not_compared() {
    let sweep = |loads: &[f64]| Measuring { loads, ..CLIENTS }.sweep(1, |load| 100.0 * load);
    let few = sweep(&[1.0, 2.0, 3.0, 4.0]);
    let many = sweep(&[4.0, 8.0, 12.0, 16.0]);
    assert_eq!(few.crossings(&many), Err(NoCrossing::NoCommonLoad));
    let once = |throughput: fn(f64) -> f64| -> Scaling {
        let once = Measuring {
            repeats: 1,
            noise: 0.001,
            ..CLIENTS
        };
        once.sweep(1, throughput)
    };
    let dip = once(|load| if load == 3.0 { 40.0 } else { 100.0 * load });
    assert_eq!(few.crossings(&dip), Err(NoCrossing::NoFit));
    assert_eq!(dip.crossings(&few), Err(NoCrossing::NoFit));
}

#[test]
fn series_that_no_model_describes_cross_between_loads_that_were_measured() {
    const FEW: Measuring<'static> = Measuring {
        loads: &[1.0, 2.0, 3.0, 4.0],
        ..CLIENTS
    };
    // A platform that loses far more than contention and coherency can explain.
    let falling = |instances: f64| 40_000.0 * [1.0, 0.84, 0.51, 0.34][instances as usize - 1];
    let rising = |instances: f64| 13_300.0 * instances;
    let (mut joined, mut held) = (0, 0);
    for seed in 1..=SEEDS {
        let a = FEW.sweep(seed, rising);
        let b = FEW.sweep(seed + 1000, falling);
        let report = a.crossings(&b).expect("noise is known from three runs");
        joined += usize::from(report.is_joined);
        // 26.6 against 33.6 at 2, 39.9 against 20.4 at 3.
        if let [crossing] = &report.crossings[..] {
            assert_eq!(crossing.ahead_after, SeriesOfTwo::First);
            let interval = crossing.load.interval;
            held += usize::from(holds(interval, 2.26) && interval.high <= 3.0);
        }
    }
    assert!(joined >= HELD, "{joined} of {SEEDS}");
    assert!(held >= HELD, "{held} of {SEEDS}");
}
