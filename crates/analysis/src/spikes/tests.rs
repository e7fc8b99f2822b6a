//! Spikes of made-up runs.

use model::Timestamp;

use super::detect::{dead_time, spike, spikes};
use super::*;

/// Intervals of 0.1 s: throughput and latency of each.
fn bins(values: impl Iterator<Item = (f64, f64)>) -> (Vec<Bin>, Window) {
    let at = |step: usize| Timestamp::from_ns(step as i64 * 100_000_000);
    let bins: Vec<Bin> = values
        .enumerate()
        .map(|(step, (rate, latency_ms))| Bin {
            latency_ns: (latency_ms > 0.0).then_some(latency_ms * 1e6),
            ..Bin::new(Window::new(at(step), at(step + 1)), rate)
        })
        .collect();
    let window = Window::new(at(0), at(bins.len()));
    (bins, window)
}

/// Some noise that repeats.
fn wave(step: usize) -> f64 {
    ((step * 7_919) % 101) as f64 / 101.0 - 0.5
}

#[test]
fn a_stall_every_ten_seconds_is_found_with_what_it_lost() {
    let (bins, window) = bins((0..600).map(|step| match step % 100 {
        40..50 => (0.0, 0.0),
        50..52 => (2_000.0, 600.0),
        _ => (1_000.0 + 100.0 * wave(step), 4.0 + wave(step)),
    }));
    let found = spikes(&bins, window);
    assert_eq!(found.len(), 6, "{found:?}");
    let each: Vec<Spike> = found
        .iter()
        .map(|it| spike(&bins[it.clone()], 1_000.0))
        .collect();
    for (number, spike) in each.iter().enumerate() {
        let after = spike.window.start.ns_since(window.start) / 100_000_000;
        assert_eq!(after, 40 + 100 * number as i64);
        assert_eq!(spike.window.len_ns(), 1_200_000_000);
        assert_eq!(spike.peak_latency_ns, Some(600e6));
        // A thousand were not served, and two hundred of them came late.
        assert!((spike.lost - 800.0).abs() < 1.0, "{}", spike.lost);
    }
    assert!((dead_time(&each, 100_000_000) - 1.5).abs() < 1e-9);
}

#[test]
fn an_interval_of_noise_just_before_a_spike_makes_no_earlier_onset() {
    let (bins, window) = bins((0..600).map(|step| match step % 100 {
        // Twice as slow, for a tenth of a second, and three tenths later the stall.
        36 | 56 => (1_000.0, 9.0),
        40..50 => (0.0, 0.0),
        50..52 => (2_000.0, 600.0),
        _ => (1_000.0 + 10.0 * wave(step), 4.0 + wave(step) / 10.0),
    }));
    let found = spikes(&bins, window);
    let expected: Vec<_> = (0..6).map(|it| 100 * it + 40..100 * it + 52).collect();
    assert_eq!(found, expected);
}

#[test]
fn noise_and_a_slow_change_are_no_spikes() {
    let (bins, window) = bins((0..3_000).map(|step| {
        let slope = 1.0 + step as f64 / 3_000.0;
        (
            1_000.0 / slope + 150.0 * wave(step),
            slope * (4.0 + 2.0 * wave(step)),
        )
    }));
    assert_eq!(spikes(&bins, window), []);
}

#[test]
fn one_interval_that_is_twice_as_slow_is_no_spike_and_one_ten_times_as_slow_is() {
    for (latency, expected) in [(9.0, 0), (40.0, 1)] {
        let (bins, window) = bins((0..400).map(|step| match step {
            200 => (1_000.0, latency),
            _ => (1_000.0, 4.0 + wave(step) / 10.0),
        }));
        assert_eq!(spikes(&bins, window).len(), expected, "{latency}");
    }
}

#[test]
fn any_part_of_a_run_can_be_asked_for() {
    let (bins, window) = bins((0..100).map(|step| (1_000.0, 4.0 + wave(step))));
    let at = |ms: i64| window.start + ms * 1_000_000;
    for from in (-150..10_200).step_by(70) {
        for length in [0, 20, 100, 250, 9_000] {
            assert_eq!(spikes(&bins, Window::new(at(from), at(from + length))), []);
        }
    }
    assert_eq!(spikes(&[], window), []);
}
