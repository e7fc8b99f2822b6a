//! Sweeps whose truth is known: drawn from a curve with noise.

mod choosing;
mod crossings;
mod demands;
mod knees;
mod properties;
mod recovery;

use model::{Interval, ScalingFit, ScalingModel};

use super::curve::Curve;
use super::{LoadPoint, LoadRun, Scaling};
use crate::stats::{Xorshift, median};

/// The loads of most sweeps.
const DOUBLINGS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

const SEEDS: u64 = 100;

/// So many of a hundred intervals of 95 % must hold the truth.
const HELD: usize = 90;

/// What is measured of a known throughput.
#[derive(Clone, Copy)]
struct Measuring<'a> {
    loads: &'a [f64],
    repeats: usize,
    /// Standard deviation of a run, as a part of its throughput.
    noise: f64,
}

const USUAL: Measuring<'static> = Measuring {
    loads: &DOUBLINGS,
    repeats: 3,
    noise: 0.03,
};

impl Measuring<'_> {
    /// Runs of a server with this throughput.
    fn runs(self, seed: u64, throughput: impl Fn(f64) -> f64) -> Vec<LoadPoint> {
        // Neighbouring seeds begin alike without this.
        let mut random = Xorshift::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5555);
        (0..9).for_each(|_| {
            random.draw();
        });
        let mut run = |load: f64| LoadRun {
            throughput: throughput(load) * (1.0 + self.noise * random.normal()).max(0.01),
            standard_error: None,
        };
        let point = |load: &f64| LoadPoint {
            load: *load,
            runs: (0..self.repeats).map(|_| run(*load)).collect(),
        };
        self.loads.iter().map(point).collect()
    }

    fn sweep(self, seed: u64, throughput: impl Fn(f64) -> f64) -> Scaling {
        Scaling::new(&self.runs(seed, throughput)).expect("a sweep")
    }
}

fn curve(model: ScalingModel, rate: f64, shape: [f64; 2]) -> Curve {
    Curve {
        model,
        log_rate: rate.ln(),
        shape,
    }
}

fn holds(interval: Interval, value: f64) -> bool {
    interval.low <= value && value <= interval.high
}

/// Half of an interval's width, as a part of the true value.
fn half_width(interval: Interval, value: f64) -> f64 {
    0.5 * (interval.high - interval.low) / value
}

fn fit_of(fits: &[ScalingFit], model: ScalingModel) -> Option<&ScalingFit> {
    fits.iter().find(|it| it.model == model)
}

/// How often the truth lay within the interval, and how wide that was.
#[derive(Default)]
struct Tally {
    held: usize,
    half_widths: Vec<f64>,
}

impl Tally {
    fn add(&mut self, interval: Option<Interval>, truth: f64) {
        if let Some(interval) = interval {
            self.held += usize::from(holds(interval, truth));
            self.half_widths.push(half_width(interval, truth));
        }
    }

    fn width(&self) -> f64 {
        median(&self.half_widths).unwrap_or(f64::INFINITY)
    }
}
