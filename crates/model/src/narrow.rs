//! A column of integers in memory, in as few bytes each as the widest of them needs.
//!
//! Most columns are codes, counts and ticks, and an hour of a busy server has millions of rows: kept
//! whole they would take more than twice the memory. What is missing stays missing: the least number of
//! each width stands for it.

use crate::MISSING;

#[derive(Clone, Debug)]
pub(crate) enum Narrow {
    One(Vec<i8>),
    Two(Vec<i16>),
    Four(Vec<i32>),
    Eight(Vec<i64>),
}

/// An integer of one width.
trait Width: Copy + Into<i64> {
    const MISSING: Self;
    /// What is left of a value that fits.
    fn cut(value: i64) -> Self;
}

macro_rules! width {
    ($integer:ty) => {
        impl Width for $integer {
            const MISSING: Self = <$integer>::MIN;
            fn cut(value: i64) -> Self {
                value as $integer
            }
        }
    };
}

width!(i8);
width!(i16);
width!(i32);
width!(i64);

impl Default for Narrow {
    fn default() -> Self {
        Narrow::One(Vec::new())
    }
}

impl Narrow {
    pub(crate) fn get(&self, index: usize) -> i64 {
        match self {
            Narrow::One(values) => whole(values[index]),
            Narrow::Two(values) => whole(values[index]),
            Narrow::Four(values) => whole(values[index]),
            Narrow::Eight(values) => values[index],
        }
    }

    pub(crate) fn extend(&mut self, values: &[i64]) {
        while !self.holds(values) {
            self.widen();
        }
        match self {
            Narrow::One(own) => own.extend(values.iter().map(|value| narrow::<i8>(*value))),
            Narrow::Two(own) => own.extend(values.iter().map(|value| narrow::<i16>(*value))),
            Narrow::Four(own) => own.extend(values.iter().map(|value| narrow::<i32>(*value))),
            Narrow::Eight(own) => own.extend_from_slice(values),
        }
    }

    /// Whether all the values fit, `MISSING` among them. The least number of a width does not: it is taken.
    fn holds(&self, values: &[i64]) -> bool {
        let most = match self {
            Narrow::One(_) => i64::from(i8::MAX),
            Narrow::Two(_) => i64::from(i16::MAX),
            Narrow::Four(_) => i64::from(i32::MAX),
            Narrow::Eight(_) => return true,
        };
        let fits = |value: &i64| *value == MISSING || (-most..=most).contains(value);
        values.iter().all(fits)
    }

    fn widen(&mut self) {
        *self = match self {
            Narrow::One(values) => Narrow::Two(wider(values)),
            Narrow::Two(values) => Narrow::Four(wider(values)),
            Narrow::Four(values) => Narrow::Eight(wider(values)),
            Narrow::Eight(values) => Narrow::Eight(std::mem::take(values)),
        };
    }
}

fn whole<T: Width + PartialEq>(value: T) -> i64 {
    if value == T::MISSING {
        MISSING
    } else {
        value.into()
    }
}

fn narrow<T: Width>(value: i64) -> T {
    if value == MISSING {
        T::MISSING
    } else {
        T::cut(value)
    }
}

fn wider<T: Width + PartialEq, W: Width>(values: &[T]) -> Vec<W> {
    values.iter().map(|value| narrow(whole(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(edge: i64) -> impl Strategy<Value = i64> {
        (-3i64..=3).prop_map(move |by| edge.saturating_add(by))
    }

    fn any_value() -> impl Strategy<Value = i64> {
        let edges = [
            i64::from(i8::MIN),
            i64::from(i8::MAX),
            i64::from(i16::MIN),
            i64::from(i16::MAX),
            i64::from(i32::MIN),
            i64::from(i32::MAX),
            i64::MIN,
            i64::MAX,
        ];
        let near = proptest::sample::select(edges.to_vec()).prop_flat_map(near);
        prop_oneof![Just(MISSING), -5i64..5, near, any::<i64>()]
    }

    proptest! {
        #[test]
        fn every_value_comes_back_whatever_came_before_and_after(
            batches in proptest::collection::vec(proptest::collection::vec(any_value(), 0..5), 0..8)
        ) {
            let mut narrow = Narrow::default();
            batches.iter().for_each(|batch| narrow.extend(batch));
            let all: Vec<i64> = batches.into_iter().flatten().collect();
            let back: Vec<i64> = (0..all.len()).map(|index| narrow.get(index)).collect();
            prop_assert_eq!(back, all);
        }
    }

    #[test]
    fn small_numbers_take_a_byte_and_missing_widens_nothing() {
        let mut narrow = Narrow::default();
        narrow.extend(&[1, MISSING, -127]);
        assert!(matches!(narrow, Narrow::One(_)));
        narrow.extend(&[-128]);
        assert!(matches!(narrow, Narrow::Two(_)), "-128 stands for missing");
        assert_eq!(
            [0, 1, 2, 3].map(|index| narrow.get(index)),
            [1, MISSING, -127, -128]
        );
    }
}
