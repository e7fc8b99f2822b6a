//! Where values stand in a drawing: from left to right by the parameter, by its logarithm where it grows by factors.

/// In units of the drawing.
pub(super) const WIDTH: f64 = 1100.0;
pub(super) const LEFT: f64 = 96.0;
pub(super) const RIGHT: f64 = 24.0;

/// Values that span more than this factor are shown by their logarithms.
const FACTOR: f64 = 6.0;

/// The parameter's axis.
pub(super) struct Axis {
    from: f64,
    to: f64,
    is_log: bool,
    values: Vec<f64>,
}

impl Axis {
    /// Over these values, in any order; `None` where there are not two different ones.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (from, to) = (*values.first()?, *values.last()?);
        (to > from).then_some(Self {
            from,
            to,
            is_log: from > 0.0 && to / from > FACTOR,
            values,
        })
    }

    /// Where a value stands.
    pub(super) fn x(&self, value: f64) -> f64 {
        let part = match self.is_log {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        LEFT + 24.0 + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT - 48.0)
    }

    /// The border between a value and the next one in the list, halfway as it is drawn; the drawing's edge beside the ends.
    pub(super) fn border_after(&self, value: f64) -> f64 {
        let next = self.values.iter().find(|it| **it > value);
        next.map_or(WIDTH - RIGHT, |next| (self.x(value) + self.x(*next)) / 2.0)
    }

    /// The same before a value.
    pub(super) fn border_before(&self, value: f64) -> f64 {
        let before = self.values.iter().rev().find(|it| **it < value);
        before.map_or(LEFT, |before| (self.x(value) + self.x(*before)) / 2.0)
    }

    /// The values below the drawing, without those that would touch.
    pub(super) fn ticks(&self, y: f64) -> String {
        const APART: f64 = 34.0;
        let mut ticks = String::new();
        let mut last = f64::NEG_INFINITY;
        for value in &self.values {
            let x = self.x(*value);
            if x - last >= APART {
                ticks.push_str(&format!(
                    "<text class=\"time\" x=\"{x:.1}\" y=\"{y:.1}\">{value}</text>\n"
                ));
                last = x;
            }
        }
        ticks
    }
}

/// The highest tick from 0 that holds a value, and the one half as high: of 1, 2, 4, 5, 6 or 8 times a power of ten.
pub(super) fn rounded_up(most: f64) -> f64 {
    if !(most > 0.0 && most.is_finite()) {
        return 1.0;
    }
    let unit = 10f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let mut steps = steps.into_iter().map(|it| it * unit);
    steps.find(|it| *it >= most).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_equal_steps_and_borders_lie_between() {
        let axis = Axis::over([64.0, 1.0, 8.0].into_iter()).expect("three values");
        let [a, b, c] = [1.0, 8.0, 64.0].map(|it| axis.x(it));
        assert!((b - a - (c - b)).abs() < 1e-9);
        assert!((axis.border_after(1.0) - (a + b) / 2.0).abs() < 1e-9);
        assert_eq!(axis.border_before(1.0), LEFT);
        assert_eq!(axis.border_after(64.0), WIDTH - RIGHT);
        assert!(Axis::over([2.0, 2.0].into_iter()).is_none());
        let plain = Axis::over([1.0, 2.0, 4.0].into_iter()).expect("three values");
        assert_eq!([13_032.0, 0.7, 8.0].map(rounded_up), [20_000.0, 0.8, 8.0]);
        assert!(plain.x(4.0) - plain.x(2.0) > plain.x(2.0) - plain.x(1.0));
    }
}
