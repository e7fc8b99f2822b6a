//! What the parameters of a sweep are: the load, what makes a configuration larger, and what is no number.

use model::{Sweep, SweepPoint};

/// Parameters that are a load where the recordings do not say so.
const LOADS: [&str; 9] = [
    "clients",
    "client",
    "connections",
    "concurrency",
    "users",
    "vus",
    "rate",
    "rps",
    "qps",
];

/// What each parameter is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axes {
    /// By place; `None` where it is no number at every point.
    numbers: Vec<bool>,
    /// The place of the load.
    pub(super) load: Option<usize>,
}

impl Axes {
    pub(super) fn of(sweep: &Sweep) -> Self {
        let numbers = (0..sweep.parameters.len()).map(|place| is_number(&sweep.points, place));
        let numbers: Vec<bool> = numbers.collect();
        let places = (0..numbers.len()).filter(|place| numbers[*place]);
        let is_asked = |place: &usize| {
            let mut points = sweep.points.iter();
            points.all(|it| asked(it).is_some_and(|asked| number(it, *place) == Some(asked)))
        };
        let is_named = |place: &usize| {
            let name = sweep.parameters[*place].name.to_ascii_lowercase();
            LOADS.contains(&name.as_str())
        };
        // A number that happens to be that of the clients is not the load where a better one is.
        let both = |place: &usize| is_asked(place) && is_named(place);
        let load = places.clone().find(both);
        Self {
            load: load
                .or_else(|| places.clone().find(is_asked))
                .or_else(|| places.clone().find(is_named)),
            numbers,
        }
    }

    /// The places of what makes a configuration larger: numbers that are no load.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let all = 0..self.numbers.len();
        all.filter(|it| self.numbers[*it] && self.load != Some(*it))
            .collect()
    }

    /// The places of all numbers.
    pub(super) fn numeric(&self) -> Vec<usize> {
        (0..self.numbers.len())
            .filter(|it| self.numbers[*it])
            .collect()
    }

    /// How large values make a configuration: the product of its sizes; `None` where it has none.
    pub(super) fn units(&self, values: &[String]) -> Option<f64> {
        let sizes = self.sizes();
        if sizes.is_empty() {
            return None;
        }
        let numbers = sizes.iter().map(|it| parsed(values.get(*it)?));
        numbers.product()
    }

    /// The values without the load: points that have these in common are one configuration at several loads.
    pub(super) fn without_load(&self, values: &[String]) -> Vec<String> {
        let each = values.iter().enumerate();
        let kept = each.filter(|(place, _)| self.load != Some(*place));
        kept.map(|(_, it)| it.clone()).collect()
    }

    /// The load of these values.
    pub(super) fn load_of(&self, values: &[String]) -> Option<f64> {
        parsed(values.get(self.load?)?)
    }
}

fn is_number(points: &[SweepPoint], place: usize) -> bool {
    !points.is_empty()
        && points
            .iter()
            .all(|it| number(it, place).is_some_and(|it| it > 0.0))
}

fn number(point: &SweepPoint, place: usize) -> Option<f64> {
    parsed(point.values.get(place)?)
}

/// A value that is a number.
pub(super) fn parsed(value: &str) -> Option<f64> {
    let number: f64 = value.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// Clients or rate that were asked for.
fn asked(point: &SweepPoint) -> Option<f64> {
    let setting = point.setting.as_ref()?;
    setting.clients.map(f64::from).or(setting.rate)
}

/// `nodes=3, cpus=4`
pub(super) fn named(sweep: &Sweep, values: &[String]) -> String {
    let parameters = sweep.parameters.iter().zip(values);
    let each = parameters.map(|(parameter, value)| format!("{}={value}", parameter.name));
    each.collect::<Vec<_>>().join(", ")
}
