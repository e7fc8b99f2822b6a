//! A series that no model describes: its points, joined by straight lines on logarithms.

use super::draws::known_as_well_as;
use super::measured::Measured;
use crate::stats::Xorshift;

/// As many as a curve has.
const DRAWS: usize = 800;

const SEED: u64 = 0x10AD_ED11_4E50_F00D;

/// Points, in the order of their loads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Joined(Vec<(f64, f64)>);

impl Joined {
    pub(super) fn new(measured: &Measured) -> Self {
        Self::at(measured, |level| level)
    }

    /// The same with the noise that the points have, drawn as often as curves are.
    pub(super) fn draws(measured: &Measured) -> Vec<Self> {
        let mut random = Xorshift::new(SEED);
        let draw = |_| {
            let known = known_as_well_as(measured.degrees, &mut random);
            let mut errors = measured.points.iter().map(|it| it.weight().powf(-0.5));
            Self::at(measured, |level| {
                level + known * errors.next().unwrap_or(0.0) * random.normal()
            })
        };
        (0..DRAWS).map(draw).collect()
    }

    fn at(measured: &Measured, mut level: impl FnMut(f64) -> f64) -> Self {
        let points = measured.points.iter();
        Self(points.map(|it| (it.ln_load, level(it.level))).collect())
    }

    /// The logarithm of the throughput at a load within those that were measured; no number beyond them.
    pub(super) fn log_throughput(&self, load: f64) -> f64 {
        between(&self.0, load.ln()).unwrap_or(f64::NAN)
    }
}

/// The value at a place on the straight line between the points around it, which come in rising order; `None` beyond them.
pub(crate) fn between(points: &[(f64, f64)], at: f64) -> Option<f64> {
    let after = points.partition_point(|it| it.0 <= at);
    let before = points.get(after.checked_sub(1)?)?;
    match points.get(after) {
        Some(next) => {
            let part = (at - before.0) / (next.0 - before.0);
            Some(before.1 + part * (next.1 - before.1))
        }
        None => (at <= before.0).then_some(before.1),
    }
}
