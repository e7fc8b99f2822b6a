//! How throughput grows with load: curves through the points of a sweep, how sure they are, and where they bend.
//!
//! Four models are fitted to the logarithms of throughput by weighted least squares and compared by AICc. Those that
//! cannot be told apart are all kept, and what no model describes has no fit. Every interval comes from fits to draws with
//! the noise that the points have. No throughput is predicted beyond twice the loads that were measured. Nothing here
//! knows how the points were measured. Why it is done so: `docs/decisions/scaling-curves.md`.

mod answer;
mod choice;
mod crossing;
mod curve;
mod demands;
mod draws;
mod joined;
mod knee_between;
mod measured;
mod solver;
#[cfg(test)]
mod tests;

use model::{
    CrossingReport, CurvePoint, Interval, NoiseSource, ScalingEstimate, ScalingFit,
    ScalingParameter, ScalingPoint, ScalingReport,
};

use crate::number_format::{percent, rate};
use crate::stats::median;
use choice::{Candidate, Choice};
use crossing::{Path, Series};
use curve::Curve;
use joined::Joined;
pub(crate) use joined::between;
use measured::Measured;

pub use demands::{BusyPoint, BusyRun, DemandRefusal, per_request, service_demand};
pub use measured::{LoadPoint, LoadRun};

/// How far beyond the loads that were measured a throughput may be predicted, as a factor.
const REACH: f64 = 2.0;

/// A capacity is named where the curve comes so near to it within that reach.
const REACHED: f64 = 0.9;

/// Why points show no curve at all.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Two points or fewer.
    #[error("{0} loads were measured, and a curve needs at least 3: measure at more loads")]
    FewLoads(usize),
    /// As many runs as a line has parameters.
    #[error("there are too few runs for any curve: measure each load again, or more loads")]
    FewRuns,
    /// A load that is 0, below, or no number.
    #[error("{0} is no load: it must be a number above 0")]
    NoLoad(f64),
    /// A load without a run.
    #[error("no run was measured at load {0}: leave the load out, or measure it")]
    NoRun(f64),
    /// A throughput that is 0, below, or no number.
    #[error(
        "the throughput at load {load} is {throughput}/s, which no curve has: find out why that run did nothing, or leave it out"
    )]
    NoThroughput {
        /// Where it was measured.
        load: f64,
        /// What was measured, 1/s.
        throughput: f64,
    },
    /// A standard error below 0, or no number.
    #[error("a standard error at load {0} is no number of at least 0: leave it out, or correct it")]
    NoStandardError(f64),
    /// Runs of one load that have nothing in common.
    #[error("runs of the same load differ by {} from each other, so they show no curve: make longer runs on a quieter machine", percent(*.0))]
    TooNoisy(f64),
}

/// Why a throughput is not predicted.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum NoPrediction {
    /// No model describes the points.
    #[error("no model describes the points that were measured, so nothing follows from them for load {}", rate(*.0))]
    NoFit(f64),
    /// Too far outside of what was measured.
    #[error("a throughput at load {} is not predicted: only loads from {} to {} are, half of the smallest to twice the largest that was measured; measure nearer to it", rate(*.load), rate(.within.low), rate(.within.high))]
    Beyond {
        /// What was asked for.
        load: f64,
        /// What may be asked for.
        within: Interval,
    },
}

/// Why two series are not compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoCrossing {
    /// One of them has no curve, and one run of each load, so that its noise is not known.
    #[error(
        "no model describes one of the two series, and its noise is not known from single runs, so no crossing can be told: measure each load again"
    )]
    NoFit,
    /// No load lies within both.
    #[error("the two series have no range of loads in common: measure both at the same loads")]
    NoCommonLoad,
}

/// Points with the curves that describe them.
#[derive(Clone, PartialEq, Debug)]
pub struct Scaling {
    measured: Measured,
    choice: Choice,
    /// Curves that the data allow, of each candidate.
    draws: Vec<Vec<Curve>>,
    /// The same of all together, by their weights.
    mixed: Vec<Curve>,
}

impl Scaling {
    /// Fits all models. The same points always give the same answer.
    ///
    /// # Errors
    ///
    /// Points that show no curve at all. Points that no model describes are no error: their report has no fit.
    pub fn new(points: &[LoadPoint]) -> Result<Self, Refusal> {
        let measured = Measured::new(points)?;
        let choice = Choice::new(&measured)?;
        let candidates = choice.candidates.iter();
        let draws: Vec<Vec<Curve>> = candidates
            .map(|it| draws::draws(&it.fitted, &measured))
            .collect();
        Ok(Self {
            mixed: draws::mixed(&choice.candidates, &draws),
            measured,
            choice,
            draws,
        })
    }

    /// Everything that is known, ready to be shown.
    pub fn report(&self) -> ScalingReport {
        let fits = self.choice.candidates.iter().zip(&self.draws);
        let mut report = ScalingReport {
            answer: String::new(),
            points: self.points(),
            noise: self.noise(),
            noise_from: self.measured.noise_from,
            fits: fits.map(|(fit, drawn)| self.fit(fit, drawn)).collect(),
            rejected: self.choice.rejected.clone(),
            straying: self.choice.straying.clone(),
            knee: self.likeliest().and_then(|it| self.knee(it, &self.mixed)),
            knee_between: self.knee_between(),
            predictable: self.predictable(),
        };
        report.answer = answer::answer(&report);
        report
    }

    /// The throughput at a load, 1/s, by the likeliest model; the interval holds what the models say that cannot be told
    /// from it. It is that of the curve: a single run scatters about it.
    ///
    /// # Errors
    ///
    /// Loads further outside of those that were measured than by a factor of two, and points that no model describes.
    pub fn predict(&self, load: f64) -> Result<ScalingEstimate, NoPrediction> {
        let within = self.predictable();
        let curve = self.likeliest().ok_or(NoPrediction::NoFit(load))?;
        if !(load >= within.low && load <= within.high) {
            return Err(NoPrediction::Beyond { load, within });
        }
        Ok(estimate(curve, &self.mixed, |it| it.throughput(load)))
    }

    /// Where this series and another cross, within the loads that both were measured at.
    ///
    /// # Errors
    ///
    /// A series of single runs that no model describes, and two that have no loads in common.
    pub fn crossings(&self, other: &Self) -> Result<CrossingReport, NoCrossing> {
        let first = self.series().ok_or(NoCrossing::NoFit)?;
        let second = other.series().ok_or(NoCrossing::NoFit)?;
        let compared = Interval {
            low: self.measured.least_load().max(other.measured.least_load()),
            high: self.measured.most_load().min(other.measured.most_load()),
        };
        if compared.low >= compared.high {
            return Err(NoCrossing::NoCommonLoad);
        }
        let points = [&self.measured.points, &other.measured.points];
        let mut loads: Vec<f64> = points.into_iter().flatten().map(|it| it.load).collect();
        loads.sort_by(f64::total_cmp);
        Ok(crossing::crossings(&first, &second, &loads, compared))
    }

    /// The likeliest curve, or the points where no model describes them and their noise is known.
    fn series(&self) -> Option<Series> {
        if let Some(curve) = self.likeliest() {
            return Some(Series {
                path: Path::Curve(*curve),
                drawn: self.mixed.iter().copied().map(Path::Curve).collect(),
            });
        }
        let is_known = self.measured.noise_from != NoiseSource::Misfit;
        is_known.then(|| Series {
            path: Path::Joined(Joined::new(&self.measured)),
            drawn: Joined::draws(&self.measured)
                .into_iter()
                .map(Path::Joined)
                .collect(),
        })
    }

    fn likeliest(&self) -> Option<&Curve> {
        self.choice.candidates.first().map(|it| &it.fitted.curve)
    }

    fn predictable(&self) -> Interval {
        Interval {
            low: self.measured.least_load() / REACH,
            high: self.measured.most_load() * REACH,
        }
    }

    /// Loads between which knees and peaks are named.
    fn named(&self) -> [f64; 2] {
        [self.measured.least_load(), self.predictable().high]
    }

    fn points(&self) -> Vec<ScalingPoint> {
        let has_noise = self.measured.noise_from != NoiseSource::Misfit;
        let points = self.measured.points.iter().map(|it| ScalingPoint {
            load: it.load,
            throughput: it.level.exp(),
            runs: it.runs as u64,
            relative_error: has_noise.then(|| it.weight().powf(-0.5)),
        });
        points.collect()
    }

    fn noise(&self) -> f64 {
        let variances: Vec<f64> = self.measured.points.iter().map(|it| it.variance).collect();
        let scale = match self.measured.noise_from {
            NoiseSource::Misfit => self.choice.nearest.scale(&self.measured).0,
            _ => 1.0,
        };
        (median(&variances).unwrap_or_default() * scale).sqrt()
    }

    fn fit(&self, candidate: &Candidate, drawn: &[Curve]) -> ScalingFit {
        let curve = &candidate.fitted.curve;
        let points = self.measured.points.iter().map(|point| CurvePoint {
            load: point.load,
            throughput: estimate(curve, drawn, |it| it.throughput(point.load)),
        });
        ScalingFit {
            model: curve.model,
            parameters: parameters(curve, drawn),
            aicc_above_best: candidate.above_best,
            weight: candidate.weight,
            misfit: candidate.fitted.misfit(),
            p_value: candidate.fitted.p_value,
            curve: points.collect(),
            knee: self.knee(curve, drawn),
            peak: self.peak(curve, drawn),
            capacity: self.capacity(curve, drawn),
        }
    }

    fn knee(&self, curve: &Curve, drawn: &[Curve]) -> Option<ScalingEstimate> {
        let named = self.named();
        curve.knee(named)?;
        Some(estimate(curve, drawn, |it| it.knee_or_end(named)))
    }

    fn peak(&self, curve: &Curve, drawn: &[Curve]) -> Option<ScalingEstimate> {
        let [least, most] = self.named();
        curve.peak().filter(|it| (least..=most).contains(it))?;
        let peak = |it: &Curve| it.peak().unwrap_or(most).clamp(least, most);
        Some(estimate(curve, drawn, peak))
    }

    fn capacity(&self, curve: &Curve, drawn: &[Curve]) -> Option<ScalingEstimate> {
        let [least, most] = self.named();
        let highest = curve.throughput(most);
        let is_peak = curve.peak().is_some_and(|it| it <= most);
        curve
            .capacity(least)
            .filter(|it| is_peak || highest >= REACHED * it)?;
        // Of a curve that has not come near to its capacity there, the end means *or beyond*, as that of a knee.
        let capacity = |it: &Curve| {
            let shown = it.throughput(most) / REACHED;
            match it.capacity(least) {
                Some(peak) if it.peak().is_some_and(|load| load <= most) => peak,
                capacity => capacity.map_or(shown, |it| it.min(shown)),
            }
        };
        let estimate = estimate(curve, drawn, capacity);
        estimate.interval.high.is_finite().then_some(estimate)
    }

    fn knee_between(&self) -> Option<Interval> {
        let points = &self.measured.points;
        let (scale, degrees) = match self.measured.noise_from {
            // Noise that is only known from a curve is not known without one.
            NoiseSource::Misfit => self.choice.candidates.first()?.fitted.scale(&self.measured),
            _ => (1.0, self.measured.degrees),
        };
        knee_between::knee_between(points, scale, degrees)
    }
}

fn parameters(curve: &Curve, drawn: &[Curve]) -> Vec<ScalingParameter> {
    let value = |at: usize| move |it: &Curve| it.values()[at].1;
    let named = curve.values().into_iter().enumerate();
    let parameter = named.map(|(at, (name, _))| ScalingParameter {
        name,
        estimate: estimate(curve, drawn, value(at)),
    });
    parameter.collect()
}

/// What a curve says, with the interval of the same from draws.
fn estimate(curve: &Curve, drawn: &[Curve], of: impl Fn(&Curve) -> f64) -> ScalingEstimate {
    let value = of(curve);
    ScalingEstimate {
        value,
        interval: draws::interval(value, drawn.iter().map(of).collect()),
    }
}
