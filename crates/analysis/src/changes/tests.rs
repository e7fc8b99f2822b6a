//! On runs that are drawn by chance from fixed seeds: what must be found, and what must not.

use proptest::prelude::*;

use super::*;
use crate::stats::Xorshift;
use crate::stats::change_points::{LEAST_BINS, Shape};
use crate::thresholds::Thresholds;

/// Normal variables as sums of twelve.
struct Random(Xorshift);

impl Random {
    fn new(seed: u64) -> Self {
        let seed = 0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD129_0D3E_7F1B_53A5);
        let mut random = Random(Xorshift::new(seed));
        for _ in 0..8 {
            random.uniform();
        }
        random
    }

    fn uniform(&mut self) -> f64 {
        (self.0.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// AR(1) noise of standard deviation 1.
    fn noise(&mut self, bins: usize, rho: f64) -> Vec<f64> {
        let mut last = self.normal();
        let mut next = || {
            let now = last;
            last = rho * last + (1.0 - rho * rho).sqrt() * self.normal();
            now
        };
        (0..bins).map(|_| next()).collect()
    }
}

/// A closed loop: throughput along `levels` with noise of a coefficient of variation and a memory,
/// latency the other way with noise of its own.
fn run(levels: &[f64], variation: f64, rho: f64, seed: u64) -> Series {
    let mut random = Random::new(seed);
    let mut noisy = || -> Vec<f64> {
        let noise = random.noise(levels.len(), rho);
        let both = levels.iter().zip(noise);
        both.map(|(level, noise)| level.ln() + variation * noise)
            .collect()
    };
    let (throughput, latency) = (noisy(), noisy());
    Series {
        throughput: throughput.iter().map(|log| log.exp()).collect(),
        latency_ns: latency.iter().map(|log| Some(1e10 / log.exp())).collect(),
    }
}

/// Levels, each for so many bins.
fn levels(parts: &[(f64, usize)]) -> Vec<f64> {
    let parts = parts.iter();
    parts
        .flat_map(|(level, bins)| std::iter::repeat_n(*level, *bins))
        .collect()
}

fn found(series: &Series) -> Vec<Segment> {
    segments(series, 1, &Thresholds::default().phases)
}

/// The borders between segments, and whether each stretch is level (`-`) or a trend (`/`).
fn told(series: &Series) -> String {
    let shape = |segment: &Segment| match segment.shape {
        Shape::Level => "-",
        Shape::Trend => "/",
    };
    let parts = found(series);
    let words = parts
        .iter()
        .map(|it| format!("{}{}{}", it.first, shape(it), it.end));
    words.collect::<Vec<_>>().join(" ")
}

/// The same without latency.
fn silent(mut series: Series) -> Series {
    series.latency_ns.fill(None);
    series
}

/// How many of 100 runs have a cut within one bin of each place, and no other.
fn hits(levels: &[f64], variation: f64, rho: f64, places: &[usize]) -> usize {
    let right = |seed: &u64| {
        let segments = found(&run(levels, variation, rho, *seed));
        let level = segments.iter().all(|it| it.shape == Shape::Level);
        let near = |(it, place): (&Segment, &usize)| it.first.abs_diff(*place) <= 1;
        level && segments.len() == places.len() + 1 && segments[1..].iter().zip(places).all(near)
    };
    (0..100).filter(right).count()
}

/// How many of so many runs without a change are cut.
fn false_alarms_of(runs: u64, series: impl Fn(u64) -> Series) -> usize {
    (0..runs)
        .filter(|seed| found(&series(*seed)).len() > 1)
        .count()
}

#[test]
fn one_step_in_a_short_run_is_found() {
    for (bins, step, variation, rho) in [
        (20, 1.25, 0.05, 0.2),
        (19, 0.8, 0.05, 0.2),
        (60, 1.12, 0.04, 0.2),
        (200, 1.07, 0.05, 0.2),
    ] {
        let levels = levels(&[(1000.0, bins / 2), (1000.0 * step, bins - bins / 2)]);
        let run = |seed: &u64| run(&levels, variation, rho, *seed);
        let count = |found: &dyn Fn(&u64) -> bool| (0..100).filter(found).count();
        let both = count(&|seed| found(&run(seed)).len() > 1);
        let alone = count(&|seed| found(&silent(run(seed))).len() > 1);
        println!("{bins} bins, x {step}: {both}, without latency {alone}");
        assert!(both >= 95, "{bins} bins, x {step}: {both} of 100");
        assert!(
            alone >= 90,
            "without latency {bins} bins, x {step}: {alone} of 100"
        );
    }
}

#[test]
fn stairs_and_a_change_with_its_way_back_are_found() {
    let stairs = levels(&[(15e3, 20), (20e3, 20), (30e3, 20)]);
    let there_and_back = levels(&[(20e3, 20), (12e3, 12), (20e3, 20)]);
    let both = [
        hits(&stairs, 0.05, 0.2, &[20, 40]),
        hits(&there_and_back, 0.05, 0.2, &[20, 32]),
    ];
    println!("{both:?}");
    assert!(both.iter().all(|hits| *hits >= 90), "{both:?}");
}

#[test]
fn false_alarms_are_rare_without_a_change() {
    for bins in [20, 40] {
        for (variation, rho) in [
            (0.03, 0.0),
            (0.1, 0.0),
            (0.05, 0.3),
            (0.05, 0.5),
            (0.1, 0.5),
        ] {
            let even = levels(&[(1000.0, bins)]);
            let alarms = false_alarms_of(100, |seed| run(&even, variation, rho, seed));
            println!("{bins} bins, {variation}, rho {rho}: {alarms}");
            assert!(
                alarms <= 3,
                "{bins} bins, {variation}, rho {rho}: {alarms} of 100"
            );
        }
        for depth in [0.0, 0.3] {
            let dips = |seed| {
                let mut series = run(&levels(&[(1000.0, bins)]), 0.05, 0.2, seed);
                for at in (seed as usize % 10..bins).step_by(10) {
                    series.throughput[at] *= depth;
                    series.latency_ns[at] = (depth > 0.0).then_some(5e7);
                }
                series
            };
            let alarms = false_alarms_of(100, dips);
            println!("{bins} bins, dips to {depth}: {alarms}");
            assert!(alarms <= 3, "{bins} bins, dips to {depth}: {alarms} of 100");
        }
    }
}

/// The figures of `CRITICAL`: `cargo test --release -p analysis --lib changes -- --ignored --nocapture`.
#[test]
#[ignore = "minutes in a debug build"]
fn false_alarms() {
    for (bins, runs) in [(6, 4000), (10, 4000), (20, 4000), (60, 2000), (300, 1000)] {
        for rho in [0.0, 0.3, 0.5] {
            let even = levels(&[(1000.0, bins)]);
            let alarms = false_alarms_of(runs, |seed| run(&even, 0.05, rho, seed));
            let silent = false_alarms_of(runs, |seed| silent(run(&even, 0.05, rho, seed)));
            let alarms = alarms.max(silent);
            let share = 100.0 * alarms as f64 / runs as f64;
            println!("{bins} bins, rho {rho}: {share:.2} %");
            assert!(share < 4.0);
        }
    }
}

#[test]
fn a_ramp_is_one_stretch() {
    let count = |levels: &[f64], variation: f64, is: fn(&[Segment]) -> bool| {
        let told = (0..100).filter(|seed| is(&found(&run(levels, variation, 0.2, *seed))));
        told.count()
    };
    let whole: Vec<f64> = (0..40).map(|i| 1000.0 * 1.02f64.powi(i)).collect();
    let most: Vec<f64> = (0..60)
        .map(|i| 1000.0 + 20.0 * f64::from(i.min(45)))
        .collect();
    let one = count(&whole, 0.05, |it| {
        it.len() == 1 && it[0].shape == Shape::Trend
    });
    let then_level = count(&most, 0.04, |it| {
        it[0].shape == Shape::Trend && it[0].end >= 30 && it.len() <= 3
    });
    println!("{one} {then_level}");
    assert!(one >= 90, "{one} of 100");
    assert!(then_level >= 90, "{then_level} of 100");
    assert_eq!(told(&run(&whole, 0.0, 0.0, 1)), "0/40");
}

#[test]
fn outliers_missing_values_and_stalls_are_handled() {
    let even = levels(&[(1000.0, 20)]);
    for (at, length) in [(9, 1), (0, 1), (19, 1), (12, 2)] {
        let mut series = run(&even, 0.03, 0.0, 7);
        series.throughput[at..at + length].fill(0.0);
        series.latency_ns[at..at + length].fill(None);
        assert_eq!(told(&series), "0-20", "{length} from {at}");
    }
    let mut dead = run(&even, 0.03, 0.0, 7);
    dead.throughput[8..14].fill(0.0);
    dead.latency_ns[8..14].fill(None);
    assert_eq!(told(&dead), "0-8 8-14 14-20");
    let mut silent = run(&levels(&[(1000.0, 10), (1300.0, 10)]), 0.03, 0.0, 7);
    silent.latency_ns.fill(None);
    assert_eq!(told(&silent), "0-10 10-20");
    let slower = Series {
        throughput: vec![500.0; 20],
        latency_ns: (0..20)
            .map(|i| Some(if i < 10 { 1e6 } else { 2e6 }))
            .collect(),
    };
    assert_eq!(told(&slower), "0-10 10-20", "of latency alone");
    assert_eq!(told(&Series::default()), "");
    for bins in 1..6 {
        let series = run(&vec![1000.0; bins], 0.5, 0.0, 7);
        assert_eq!(told(&series), format!("0-{bins}"));
    }
    let nothing = Series {
        throughput: vec![0.0; 30],
        latency_ns: vec![None; 30],
    };
    assert_eq!(told(&nothing), "0-30");
}

#[test]
fn differences_too_small_to_matter_are_none() {
    assert_eq!(
        told(&run(
            &levels(&[(1000.0, 100), (1030.0, 100)]),
            0.005,
            0.0,
            1
        )),
        "0-200"
    );
    assert_eq!(
        told(&run(
            &levels(&[(1000.0, 100), (1070.0, 100)]),
            0.005,
            0.0,
            1
        )),
        "0-100 100-200"
    );
}

#[test]
fn many_bins_are_merged() {
    let series = run(&levels(&[(1000.0, 1200), (1300.0, 1001)]), 0.05, 0.2, 1);
    assert_eq!(told(&series), "0-1200 1200-2201");
    let fine = segments(&series, 10, &Thresholds::default().phases);
    assert_eq!((fine.len(), fine[1].first, fine[1].end), (2, 1200, 2201));
}

proptest! {
    #[test]
    fn the_stretches_hold_every_bin_once(
        bins in prop::collection::vec((0.0..1e5f64, prop::option::of(0.0..1e9f64)), 0..80),
        group in 0..4usize,
    ) {
        let series = Series {
            throughput: bins.iter().map(|bin| bin.0).collect(),
            latency_ns: bins.iter().map(|bin| bin.1).collect(),
        };
        let segments = segments(&series, group, &Thresholds::default().phases);
        let mut next = 0;
        for segment in &segments {
            prop_assert_eq!(segment.first, next);
            prop_assert!(segment.len() >= LEAST_BINS || segments.len() == 1);
            next = segment.end;
        }
        prop_assert_eq!(next, bins.len());
    }
}

#[test]
fn fewer_bins_than_are_merged_are_taken_as_they_are() {
    let series = run(&levels(&[(100.0, 4), (200.0, 4)]), 0.001, 0.0, 1);
    let parts = segments(&series, 10, &Thresholds::default().phases);
    assert!(parts.len() > 1);
    for segment in parts {
        assert!(segment.first < segment.end && segment.end <= 8);
    }
}
