//! How much the answers depend on single thresholds: the diagnosis with one of them multiplied.
//!
//! Only in builds with the feature `sensitivity`, which the bench asks for.

use crate::causes;
use crate::scaled;
use crate::thresholds;

/// A threshold that can be multiplied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalable {
    /// For people: `io.sync cost`, or `phases effect`.
    pub name: String,
    key: String,
}

/// Every threshold once: those of causes, and those of no cause that are no whole number.
pub fn all() -> Vec<Scalable> {
    let mut all: Vec<Scalable> = Vec::new();
    for cause in causes::all() {
        let waits = cause.wait.iter().map(|wait| &wait.least);
        for threshold in cause.thresholds.iter().chain(waits) {
            if all.iter().all(|it| it.key != threshold.meaning) {
                all.push(Scalable {
                    name: format!("{} {}", cause.name, threshold.name),
                    key: threshold.meaning.to_owned(),
                });
            }
        }
    }
    all.extend(in_file().into_iter().map(|key| Scalable {
        name: key.replace('.', " "),
        key,
    }));
    all
}

/// What `run` does with that threshold multiplied by `factor`, on this thread.
pub fn with_scaled<T>(threshold: &Scalable, factor: f64, run: impl FnOnce() -> T) -> T {
    scaled::with(&threshold.key, factor, run)
}

/// The places of the file's numbers: `phases.effect`.
fn in_file() -> Vec<String> {
    let mut places = Vec::new();
    for (section, values) in &thresholds::file() {
        let values = values.as_table().into_iter().flatten();
        let numbers = values.filter(|(_, value)| value.is_float());
        places.extend(numbers.map(|(name, _)| format!("{section}.{name}")));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thresholds::{Thresholds, WAKE_UP};

    #[test]
    fn one_threshold_is_multiplied_and_then_as_before() {
        let all = all();
        let named = |name: &str| all.iter().find(|it| it.name == name).expect("it is one");
        let floor = || Thresholds::default().floors.share;
        let before = (WAKE_UP.value(), floor());
        let scaled = with_scaled(named("floors share"), 2.0, || (WAKE_UP.value(), floor()));
        assert_eq!(scaled, (before.0, 2.0 * before.1));
        let wake_up = all
            .iter()
            .find(|it| it.key == WAKE_UP.meaning)
            .expect("it is one");
        assert_eq!(
            with_scaled(wake_up, 0.5, || WAKE_UP.value()),
            0.5 * before.0
        );
        assert_eq!((WAKE_UP.value(), floor()), before);
    }
}
