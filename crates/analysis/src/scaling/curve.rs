//! The models: throughput against load, its slopes, and what follows from a curve.
//!
//! Every model is ln X = ln l + h(N): a rate and a shape of at most two numbers. Of Amdahl's law and the USL these are s
//! and k. Of a hard cap they are the logarithm of the load C / l at which its two lines meet, and 1 / p, so that two lines
//! that meet sharply are a shape at the edge and not at infinity.

use model::{ParameterName, ScalingModel};

/// All models, the simplest first.
pub(super) const MODELS: [ScalingModel; 4] = [
    ScalingModel::Linear,
    ScalingModel::Amdahl,
    ScalingModel::Usl,
    ScalingModel::HardCap,
];

/// The two numbers of a shape; a model that has fewer leaves the others at 0.
pub(super) type Shape = [f64; 2];

/// 1 / p of the sharpest knee: within 0.7 % of two lines.
const SHARPEST: f64 = 0.01;

/// 1 / p of the smoothest: there the curve is Amdahl's.
const SMOOTHEST: f64 = 1.0;

/// The lines of a hard cap may meet so far outside of the loads that were measured, as a factor.
const OUTSIDE: f64 = 4.0;

/// A curve: a model with its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Curve {
    pub(super) model: ScalingModel,
    /// ln l.
    pub(super) log_rate: f64,
    pub(super) shape: Shape,
}

/// How many numbers the shape of a model has.
pub(super) fn shape_size(model: ScalingModel) -> usize {
    match model {
        ScalingModel::Linear => 0,
        ScalingModel::Amdahl => 1,
        ScalingModel::Usl | ScalingModel::HardCap => 2,
    }
}

/// Parameters of a model, the rate included.
pub(super) fn parameters(model: ScalingModel) -> usize {
    1 + shape_size(model)
}

/// The least and the largest that each number of a shape may be, by the smallest and the largest load.
pub(super) fn bounds(model: ScalingModel, loads: [f64; 2]) -> [[f64; 2]; 2] {
    match model {
        ScalingModel::HardCap => [
            [(loads[0] / OUTSIDE).ln(), (loads[1] * OUTSIDE).ln()],
            [SHARPEST, SMOOTHEST],
        ],
        _ => [[0.0, 1.0], [0.0, 1.0]],
    }
}

/// Shapes from which a fit may start: it goes on from the nearest.
pub(super) fn starts(model: ScalingModel, loads: [f64; 2]) -> Vec<Shape> {
    const CONTENTIONS: [f64; 7] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
    const SMOOTHNESS: [f64; 4] = [0.03, 0.1, 0.3, 0.8];
    const PLACES: u32 = 12;
    let pairs = |first: Vec<f64>, second: &[f64]| -> Vec<Shape> {
        let each = first.into_iter();
        each.flat_map(|one| second.iter().map(move |other| [one, *other]))
            .collect()
    };
    match model {
        ScalingModel::Linear => vec![[0.0; 2]],
        ScalingModel::Amdahl => CONTENTIONS.iter().map(|it| [*it, 0.0]).collect(),
        // With this coherency the peak lies at the largest load: k N^2 = 1.
        ScalingModel::Usl => {
            let at_peak = loads[1].powi(-2).min(1.0);
            let coherencies = [0.0, 0.1, 1.0, 10.0].map(|it| (it * at_peak).min(1.0));
            pairs(CONTENTIONS.to_vec(), &coherencies)
        }
        ScalingModel::HardCap => {
            let [first, last] = loads.map(f64::ln);
            let place = |it| first + (last - first) * f64::from(it) / f64::from(PLACES);
            pairs((0..=PLACES).map(place).collect(), &SMOOTHNESS)
        }
    }
}

/// h and its slope along each number of the shape.
pub(super) fn relative(model: ScalingModel, shape: Shape, load: f64, ln_load: f64) -> [f64; 3] {
    match model {
        ScalingModel::Linear => [ln_load, 0.0, 0.0],
        ScalingModel::Amdahl | ScalingModel::Usl => {
            let (others, pairs) = (load - 1.0, load * (load - 1.0));
            let cost = 1.0 + shape[0] * others + shape[1] * pairs;
            [ln_load - cost.ln(), -others / cost, -pairs / cost]
        }
        ScalingModel::HardCap => {
            let beyond = (ln_load - shape[0]) / shape[1];
            let (soft, part) = (softplus(beyond), logistic(beyond));
            [ln_load - shape[1] * soft, part, beyond * part - soft]
        }
    }
}

/// ln(1 + e^z) without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// Its slope: 1 / (1 + e^-z).
fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

impl Curve {
    /// Natural logarithm of the throughput at a load.
    pub(super) fn log_throughput(&self, load: f64) -> f64 {
        self.log_rate + relative(self.model, self.shape, load, load.ln())[0]
    }

    /// Throughput at a load, 1/s.
    pub(super) fn throughput(&self, load: f64) -> f64 {
        self.log_throughput(load).exp()
    }

    /// By what part throughput grows per part by which load does: d ln X / d ln N.
    fn elasticity(&self, load: f64) -> f64 {
        let [contention, coherency] = self.shape;
        let cost = 1.0 + contention * (load - 1.0) + coherency * load * (load - 1.0);
        match self.model {
            ScalingModel::Linear => 1.0,
            ScalingModel::Amdahl | ScalingModel::Usl => {
                (1.0 - contention - coherency * load * load) / cost
            }
            ScalingModel::HardCap => 1.0 - logistic((load.ln() - self.shape[0]) / self.shape[1]),
        }
    }

    /// The load from which on one more brings less than half of what the first one brought: dX/dN = X(1) / 2. Of two
    /// lines that meet sharply this is where they meet. `None` where there is none between the loads.
    pub(super) fn knee(&self, [least, most]: [f64; 2]) -> Option<f64> {
        let half = 0.5 * self.throughput(1.0);
        // Every curve's slope falls up to its peak, and is below 0 behind it.
        let is_behind = |load: f64| self.throughput(load) / load * self.elasticity(load) < half;
        if is_behind(least) || !is_behind(most) {
            return None;
        }
        let (mut low, mut high) = (least.ln(), most.ln());
        while high - low > 1e-6 {
            let middle = 0.5 * (low + high);
            match is_behind(middle.exp()) {
                true => high = middle,
                false => low = middle,
            }
        }
        Some((0.5 * (low + high)).exp())
    }

    /// The same, with the end of the loads beyond which it lies where it is not between them.
    pub(super) fn knee_or_end(&self, [least, most]: [f64; 2]) -> f64 {
        self.knee([least, most]).unwrap_or_else(|| {
            let half = 0.5 * self.throughput(1.0);
            match self.throughput(least) / least * self.elasticity(least) < half {
                true => least,
                false => most,
            }
        })
    }

    /// The load with the highest throughput, behind which it falls: N* = sqrt((1 - s) / k) of the USL (Gunther 2007).
    pub(super) fn peak(&self) -> Option<f64> {
        let [contention, coherency] = self.shape;
        (self.model == ScalingModel::Usl && coherency > 0.0)
            .then(|| ((1.0 - contention) / coherency).sqrt())
    }

    /// The highest throughput from load `least` on, 1/s: what the curve reaches, or approaches without end. `None` where
    /// it grows without bound.
    pub(super) fn capacity(&self, least: f64) -> Option<f64> {
        if let Some(peak) = self.peak() {
            return Some(self.throughput(peak.max(least)));
        }
        match self.model {
            ScalingModel::HardCap => Some((self.log_rate + self.shape[0]).exp()),
            _ => (self.shape[0] > 0.0).then(|| self.log_rate.exp() / self.shape[0]),
        }
    }

    /// Every parameter by its name.
    pub(super) fn values(&self) -> Vec<(ParameterName, f64)> {
        let rate = (ParameterName::Rate, self.log_rate.exp());
        let [first, second] = self.shape;
        let contention = (ParameterName::Contention, first);
        match self.model {
            ScalingModel::Linear => vec![rate],
            ScalingModel::Amdahl => vec![rate, contention],
            ScalingModel::Usl => vec![rate, contention, (ParameterName::Coherency, second)],
            ScalingModel::HardCap => vec![
                rate,
                (ParameterName::Capacity, (self.log_rate + first).exp()),
                (ParameterName::Sharpness, 1.0 / second),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn curve(model: ScalingModel, shape: Shape) -> Curve {
        Curve {
            model,
            log_rate: 100_f64.ln(),
            shape,
        }
    }

    #[test]
    fn curves_are_their_formulas() {
        let amdahl = curve(ScalingModel::Amdahl, [0.1, 0.0]);
        assert!((amdahl.throughput(11.0) - 1100.0 / 2.0).abs() < 1e-9);
        let usl = curve(ScalingModel::Usl, [0.1, 0.01]);
        assert!((usl.throughput(11.0) - 1100.0 / 3.1).abs() < 1e-9);
        let cap = curve(ScalingModel::HardCap, [8_f64.ln(), 0.5]);
        // p = 2: (100^-2 / 8^2 + 800^-2)^(-1/2).
        assert!((cap.throughput(8.0) - 800.0 / 2_f64.sqrt()).abs() < 1e-9);
        assert!((curve(ScalingModel::Linear, [0.0; 2]).throughput(7.0) - 700.0).abs() < 1e-9);
    }

    #[test]
    fn a_hard_cap_of_the_smoothest_knee_is_amdahls_law() {
        let cap = curve(ScalingModel::HardCap, [9_f64.ln(), SMOOTHEST]);
        // X = l N / (1 + N / 9): with s = 1 / 10.
        let amdahl = Curve {
            log_rate: (100.0 * 0.9_f64).ln(),
            ..curve(ScalingModel::Amdahl, [0.1, 0.0])
        };
        for load in [1.0, 3.0, 20.0, 500.0] {
            assert!((cap.throughput(load) / amdahl.throughput(load) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_knee_of_two_lines_is_where_they_meet_and_a_line_has_none() {
        let loads = [1.0, 32.0];
        let cap = curve(ScalingModel::HardCap, [8_f64.ln(), SHARPEST]);
        assert!(cap.knee(loads).is_some_and(|it| (it - 8.0).abs() < 0.01));
        assert_eq!(curve(ScalingModel::Linear, [0.0; 2]).knee(loads), None);
        assert_eq!(
            curve(ScalingModel::Linear, [0.0; 2]).knee_or_end(loads),
            32.0
        );
        // (1 + s (N - 1))^2 = 2 (1 - s).
        let amdahl = curve(ScalingModel::Amdahl, [0.1, 0.0]);
        let expected = 1.0 + (1.8_f64.sqrt() - 1.0) / 0.1;
        assert!(
            amdahl
                .knee(loads)
                .is_some_and(|it| (it - expected).abs() < 1e-5)
        );
        // Where the second brings less than half of the first already, the knee lies before all loads.
        let flat = curve(ScalingModel::Amdahl, [1.0, 0.0]);
        assert_eq!((flat.knee(loads), flat.knee_or_end(loads)), (None, 1.0));
    }

    #[test]
    fn capacity_and_peak_are_those_of_the_formulas() {
        let usl = curve(ScalingModel::Usl, [0.04, 0.0006]);
        let peak = usl.peak().expect("coherency");
        assert!((peak - 40.0).abs() < 1e-9);
        assert_eq!(usl.capacity(1.0), Some(usl.throughput(peak)));
        assert_eq!(curve(ScalingModel::Usl, [0.0, 0.0]).capacity(1.0), None);
        let amdahl = curve(ScalingModel::Amdahl, [0.1, 0.0]).capacity(1.0);
        assert!(amdahl.is_some_and(|it| (it - 1000.0).abs() < 1e-9));
        let cap = curve(ScalingModel::HardCap, [8_f64.ln(), 0.2]).capacity(1.0);
        assert!(cap.is_some_and(|it| (it - 800.0).abs() < 1e-9));
    }

    proptest! {
        #[test]
        fn slopes_are_those_of_differences(
            which in 0..4usize,
            (first, second) in (0.0..1.0f64, 0.0..1.0f64),
            load in 1.0..200.0f64,
        ) {
            let model = MODELS[which];
            let [one, other] = bounds(model, [1.0, 200.0]);
            let inside = |[low, high]: [f64; 2], part: f64| low + (high - low) * (0.01 + 0.98 * part);
            let shape = [inside(one, first), inside(other, second)];
            let at = |shape| relative(model, shape, load, load.ln())[0];
            let slopes = relative(model, shape, load, load.ln());
            for number in 0..shape_size(model) {
                let step = 1e-6;
                let (mut low, mut high) = (shape, shape);
                low[number] -= step;
                high[number] += step;
                let expected = (at(high) - at(low)) / (2.0 * step);
                prop_assert!((slopes[1 + number] - expected).abs() <= 1e-3 * (1.0 + expected.abs()));
            }
            let curve = curve(model, shape);
            let step = 1e-5;
            let expected = (curve.log_throughput(load * (1.0 + step)) - curve.log_throughput(load)) / step;
            prop_assert!((curve.elasticity(load) - expected).abs() < 0.01);
        }

        #[test]
        fn what_follows_from_a_curve_is_finite(
            which in 0..4usize,
            (first, second) in (0.0..=1.0f64, 0.0..=1.0f64),
            loads in (1e-3..1e4f64, 1.0..1e5f64),
        ) {
            let model = MODELS[which];
            let loads = [loads.0, loads.0 * (1.0 + loads.1)];
            let [one, other] = bounds(model, loads);
            let inside = |[low, high]: [f64; 2], part: f64| low + (high - low) * part;
            let curve = curve(model, [inside(one, first), inside(other, second)]);
            prop_assert!(curve.throughput(loads[1]).is_finite());
            let knee = curve.knee_or_end(loads);
            prop_assert!((loads[0]..=loads[1]).contains(&knee));
            prop_assert!(curve.capacity(loads[0]).is_none_or(|it| it.is_finite() && it > 0.0));
            prop_assert!(curve.values().iter().all(|it| it.1.is_finite()));
        }
    }
}
