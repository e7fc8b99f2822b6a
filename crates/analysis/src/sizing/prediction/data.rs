//! A configuration as the models see it: numbers, and the throughput of its runs.

use model::{Sweep, SweepPoint};

use crate::scaling::{LoadPoint, LoadRun};
use crate::sizing::axes::{Axes, parsed};
use crate::sizing::demands::{cpu_of_request_s, throughput};

/// Where a throughput is wanted, or was measured.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::sizing) struct Place {
    /// The values of the parameters that are numbers, in their order; above 0.
    pub(super) numbers: Vec<f64>,
    /// Clients or rate.
    pub(super) load: f64,
    /// How large it is.
    pub(super) units: f64,
}

/// A configuration that was measured.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::sizing) struct Datum {
    pub(super) place: Place,
    /// Natural logarithm of its mean throughput.
    pub(super) level: f64,
    /// Throughput of each run, with its standard error where runs are not known one by one.
    pub(super) runs: Vec<LoadRun>,
    /// CPU time of a request for each unit, s, where it is known.
    pub(super) demand_s: Option<f64>,
}

impl Place {
    /// `None` where a value is no number.
    pub(in crate::sizing) fn of(axes: &Axes, values: &[String]) -> Option<Self> {
        let numbers = axes.numeric().into_iter().map(|it| parsed(values.get(it)?));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
        numbers.iter().all(|it| *it > 0.0).then(|| Self {
            numbers,
            // What does not vary is part of the rate.
            load: axes.load_of(values).unwrap_or(1.0),
            units: axes.units(values).unwrap_or(1.0),
        })
    }

    /// How far apart two places are: the largest ratio of their numbers, as a logarithm.
    pub(super) fn far(&self, other: &Self) -> f64 {
        let pairs = self.numbers.iter().zip(&other.numbers);
        pairs
            .map(|(one, other)| (one / other).ln().abs())
            .fold(0.0, f64::max)
    }
}

impl Datum {
    pub(in crate::sizing) fn of(axes: &Axes, point: &SweepPoint) -> Option<Self> {
        let place = Place::of(axes, &point.values)?;
        let mean = throughput(point)?;
        let of_runs = &point.figure("throughput")?.of_runs;
        let runs: Vec<LoadRun> = match of_runs.iter().all(|it| *it > 0.0) && !of_runs.is_empty() {
            true => of_runs.iter().map(|it| run(*it, None)).collect(),
            false => {
                // The interval is of Student's distribution; with few degrees it is wider than twice the error.
                let error = mean.interval.map(|it| (it.high - mean.value) / 2.0);
                vec![run(mean.value, error)]
            }
        };
        let cpus = point.setting.as_ref().map(|it| it.cpus);
        Some(Self {
            level: mean.value.ln(),
            runs,
            // Of one machine of several, what its part of a request takes.
            demand_s: cpu_of_request_s(point)
                .zip(cpus)
                .map(|(time, cpus)| time * place.units / cpus),
            place,
        })
    }

    pub(super) fn as_load(&self, axis: usize) -> LoadPoint {
        LoadPoint {
            load: self.place.numbers[axis],
            runs: self.runs.clone(),
        }
    }
}

fn run(throughput: f64, standard_error: Option<f64>) -> LoadRun {
    LoadRun {
        throughput,
        standard_error,
    }
}

/// The values of parameters that are no numbers.
pub(super) fn kind_of(sweep: &Sweep, axes: &Axes, values: &[String]) -> Vec<String> {
    let numeric = axes.numeric();
    let others = (0..sweep.parameters.len()).filter(|it| !numeric.contains(it));
    others.filter_map(|it| values.get(it).cloned()).collect()
}
