//! The throughput of a configuration that was not measured.
//!
//! Every model that the data allow is tried: each configuration is held back once, and predicted from the others. The model
//! that misses them by least is used, and what it missed them by is in the interval. A model that misses by too much
//! predicts nothing.

mod data;
mod models;

use model::{Interval, SizingEstimate, SizingModel, Sweep};

use self::data::kind_of;
pub(super) use self::data::{Datum, Place};
use self::models::{Fitted, Kind};
use super::axes::{Axes, named};
use crate::number_format::percent;
use crate::stats::{mean, t_95};

/// A model that misses what is held back by more than this predicts nothing.
const MOST_MISSED: f64 = 0.25;
/// An interval that is wider than this to either side, as a logarithm, says nothing.
const WIDEST: f64 = 0.5;
/// Fewer than these are no trial of a model.
const LEAST_HELD_BACK: usize = 4;
/// Of more than these every n-th is held back.
const MOST_HELD_BACK: usize = 60;
/// How far beyond what was measured a throughput is predicted, as a factor.
const REACH: f64 = 2.0;

/// A predicted throughput.
pub(super) struct Prediction {
    pub(super) throughput: SizingEstimate,
    pub(super) model: SizingModel,
}

/// Why there is none.
pub(super) enum NoPrediction {
    /// A value that is no number, or another word than was measured.
    OtherKind,
    /// Too few configurations to try a model on.
    Few(usize),
    /// Too far from what was measured.
    Beyond,
    /// No model predicts those that are held back: the least that one misses them by; `None` where none can be tried.
    Misses(Option<f64>),
    /// The interval would be this to either side, as a part.
    Wide(f64),
}

/// A model that was tried on a set of configurations.
struct Trial {
    kind: Kind,
    fitted: Fitted,
    held_back: Vec<HeldBack>,
    data: Vec<Datum>,
}

/// A configuration that was predicted from the others.
#[derive(Clone, Copy)]
struct HeldBack {
    /// The logarithm of what it gave by what was predicted.
    off: f64,
    /// How far the nearest of the others is.
    far: f64,
    /// Whether it lies between others, in each number.
    is_between: bool,
}

/// What is predicted from a sweep; models that were tried once are kept.
pub(super) struct Predictions<'a> {
    sweep: &'a Sweep,
    axes: &'a Axes,
    /// The names of the parameters that are numbers.
    numbers: Vec<String>,
    tried: Vec<(Kind, Vec<Datum>, Option<Trial>)>,
}

impl<'a> Predictions<'a> {
    pub(super) fn of(sweep: &'a Sweep, axes: &'a Axes) -> Self {
        let numbers = axes.numeric().into_iter();
        Self {
            sweep,
            axes,
            numbers: numbers
                .map(|it| sweep.parameters[it].name.clone())
                .collect(),
            tried: Vec::new(),
        }
    }

    /// Predicts the throughput of `values`.
    ///
    /// # Errors
    /// Why it is not predicted.
    pub(super) fn predict(&mut self, values: &[String]) -> Result<Prediction, NoPrediction> {
        let (sweep, axes) = (self.sweep, self.axes);
        let place = Place::of(axes, values).ok_or(NoPrediction::OtherKind)?;
        let kind = kind_of(sweep, axes, values);
        let alike = sweep.points.iter();
        let alike = alike.filter(|it| kind_of(sweep, axes, &it.values) == kind);
        let data: Vec<Datum> = alike.filter_map(|it| Datum::of(axes, it)).collect();
        if data.is_empty() {
            return Err(NoPrediction::OtherKind);
        }
        if data.len() < LEAST_HELD_BACK {
            return Err(NoPrediction::Few(data.len()));
        }
        if !is_within(&data, &place) {
            return Err(NoPrediction::Beyond);
        }
        let wanted = wanted(&data, &place);
        for (kind, data) in &wanted {
            self.try_once(*kind, data);
        }
        let trials = self.tried.iter().filter_map(|(kind, data, trial)| {
            let is_wanted = wanted.iter().any(|it| it.0 == *kind && it.1 == *data);
            trial
                .as_ref()
                .filter(|it| is_wanted && it.fitted.predict(&place).is_some())
        });
        let missed = |it: &Trial| root(it.alike(&place).iter());
        let best = trials.min_by(|one, other| missed(one).total_cmp(&missed(other)));
        let best = best.ok_or(NoPrediction::Misses(None))?;
        if best.missed_by() > MOST_MISSED {
            return Err(NoPrediction::Misses(Some(best.missed_by())));
        }
        best.at(&place, &self.numbers)
    }

    fn try_once(&mut self, kind: Kind, data: &[Datum]) {
        let is_it = |it: &(Kind, Vec<Datum>, Option<Trial>)| it.0 == kind && it.1 == data;
        if !self.tried.iter().any(is_it) {
            let trial = Trial::new(kind, data.to_vec());
            self.tried.push((kind, data.to_vec(), trial));
        }
    }
}

/// All models that may say something of the place, each with the configurations that it is of.
fn wanted(data: &[Datum], place: &Place) -> Vec<(Kind, Vec<Datum>)> {
    let numbers = place.numbers.len();
    let mut wanted: Vec<(Kind, Vec<Datum>)> = Vec::new();
    for axis in 0..numbers {
        let is_beside = |it: &&Datum| {
            let pairs = it.place.numbers.iter().zip(&place.numbers).enumerate();
            pairs
                .filter(|(at, _)| *at != axis)
                .all(|(_, (own, other))| own == other)
        };
        let beside: Vec<Datum> = data.iter().filter(is_beside).cloned().collect();
        wanted.push((Kind::Curve(axis), beside.clone()));
        wanted.push((Kind::Joined(axis), beside));
    }
    if numbers > 1 {
        let kinds = [Kind::Powers, Kind::Law, Kind::MeasuredLaw];
        wanted.extend(kinds.map(|it| (it, data.to_vec())));
    }
    wanted
}

/// Whether a place is not too far from what was measured, in each number and in size.
fn is_within(data: &[Datum], place: &Place) -> bool {
    let within = |own: f64, of: &dyn Fn(&Place) -> f64| {
        let all = data.iter().map(|it| of(&it.place));
        let least = all.clone().fold(f64::INFINITY, f64::min);
        let most = all.fold(0.0, f64::max);
        own >= least / REACH && own <= most * REACH
    };
    let mut numbers = place.numbers.iter().enumerate();
    let each = |(at, own): (usize, &f64)| within(*own, &|it| it.numbers[at]);
    numbers.all(each) && within(place.units, &|it| it.units)
}

impl Trial {
    /// `None` where too few configurations can be held back.
    fn new(kind: Kind, data: Vec<Datum>) -> Option<Self> {
        let fitted = kind.fit(&data)?;
        let step = data.len().div_ceil(MOST_HELD_BACK).max(1);
        let tried = (0..data.len()).step_by(step);
        let held_back = tried.filter_map(|at| held_back(kind, &data, at));
        let held_back: Vec<HeldBack> = held_back.collect();
        (held_back.len() >= LEAST_HELD_BACK).then_some(Self {
            kind,
            fitted,
            held_back,
            data,
        })
    }

    /// Root of the mean square of logarithms.
    fn missed_by(&self) -> f64 {
        root(self.held_back.iter())
    }

    /// Student's interval by what was missed, wider where the place is farther from what was measured than those that were
    /// held back are from each other; at least what the model itself says.
    fn at(&self, place: &Place, numbers: &[String]) -> Result<Prediction, NoPrediction> {
        let [level, low, high] = self
            .fitted
            .predict(place)
            .ok_or(NoPrediction::Misses(None))?;
        let alike = self.alike(place);
        let far = |data: &[Datum]| {
            let all = data.iter().map(|it| it.place.far(place));
            all.fold(f64::INFINITY, f64::min)
        };
        let usual = mean(&alike.iter().map(|it| it.far).collect::<Vec<_>>()).unwrap_or(0.0);
        let farther = match usual > 0.0 {
            true => (far(&self.data) / usual).max(1.0),
            false => 1.0,
        };
        let sure = t_95(alike.len() as f64).unwrap_or(f64::INFINITY);
        let half = sure * farther * root(alike.iter());
        let (low, high) = (low.min(level - half), high.max(level + half));
        let widest = (level - low).max(high - level);
        if widest > WIDEST {
            return Err(NoPrediction::Wide(widest.exp_m1()));
        }
        let interval = Interval {
            low: low.exp(),
            high: high.exp(),
        };
        Ok(Prediction {
            throughput: SizingEstimate {
                value: level.exp(),
                interval: Some(interval),
            },
            model: SizingModel {
                name: self.kind.name(numbers),
                held_back: u32::try_from(self.held_back.len()).unwrap_or(u32::MAX),
                missed_by: self.missed_by(),
            },
        })
    }

    /// Those that were held back as the place is: between others or not, where these are enough.
    fn alike(&self, place: &Place) -> Vec<HeldBack> {
        let is_between = is_between(self.data.iter(), place);
        let all = self.held_back.iter().copied();
        let alike: Vec<HeldBack> = all.filter(|it| it.is_between == is_between).collect();
        match alike.len() >= LEAST_HELD_BACK {
            true => alike,
            false => self.held_back.clone(),
        }
    }
}

fn root<'a>(all: impl Iterator<Item = &'a HeldBack>) -> f64 {
    let squares: Vec<f64> = all.map(|it| it.off.powi(2)).collect();
    mean(&squares).map_or(f64::INFINITY, f64::sqrt)
}

fn held_back(kind: Kind, data: &[Datum], at: usize) -> Option<HeldBack> {
    let own = &data[at];
    let others: Vec<Datum> = data
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != at)
        .map(|(_, it)| it.clone())
        .collect();
    let [level, ..] = kind.fit(&others)?.predict(&own.place)?;
    let far = others.iter().map(|it| it.place.far(&own.place));
    Some(HeldBack {
        off: own.level - level,
        far: far.fold(f64::INFINITY, f64::min),
        is_between: is_between(others.iter(), &own.place),
    })
}

fn is_between<'a>(others: impl Iterator<Item = &'a Datum> + Clone, place: &Place) -> bool {
    let numbers = place.numbers.iter().enumerate();
    numbers.into_iter().all(|(at, own)| {
        let all = others.clone().map(|it| it.place.numbers[at]);
        all.clone().any(|it| it <= *own) && all.clone().any(|it| it >= *own)
    })
}

impl NoPrediction {
    /// Why, as a sentence about these values.
    pub(super) fn sentence(&self, sweep: &Sweep, values: &[String]) -> String {
        let name = named(sweep, values);
        match self {
            Self::OtherKind => format!(
                "{name} is not predicted: it has a value that is no number, or one that was not measured with others."
            ),
            Self::Few(known) => format!(
                "{name} is not predicted: {known} configurations were measured, and a model can be tried on {LEAST_HELD_BACK} or more."
            ),
            Self::Beyond => format!(
                "{name} is not predicted: it is less than half, or more than twice, of what was measured."
            ),
            Self::Misses(Some(by)) => format!(
                "{name} is not predicted: of the configurations that were measured, each held back once, the best model misses {} on average.",
                percent(*by)
            ),
            Self::Misses(None) => format!(
                "{name} is not predicted: no model describes the configurations that were measured when one of them is held back."
            ),
            Self::Wide(by) => format!(
                "{name} is not predicted: its interval would be {} to one side, by what the best model misses of those that were measured, each held back once.",
                percent(*by)
            ),
        }
    }
}
