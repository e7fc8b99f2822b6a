//! Differences: how counters, gauges and times are made small on disk and whole again.
//!
//! A value is stored as its difference from the previous row of the same entity in the file, a
//! time as its difference from the previous row's. Every base begins at 0, so the first value is
//! absolute by itself. Arithmetic wraps: a difference too large for 64 bits comes back exactly, and
//! a damaged one cannot panic.

use std::collections::HashMap;

use model::{MISSING, Timestamp};

use crate::plausible;

/// What the next differences of a file are taken from, or added to.
#[derive(Clone, Debug)]
pub(crate) struct Bases {
    /// Entities get consecutive places: their numbers may be far apart, and in a damaged file wild.
    places: HashMap<u32, usize>,
    /// Places of entities that were forgotten.
    free: Vec<usize>,
    /// One base per place for a column of differences, none for one that is stored as it is.
    columns: Vec<Option<Vec<i64>>>,
    time: i64,
}

impl Bases {
    /// The bases at the start of a table's file, of which these columns hold differences.
    pub(crate) fn new(differences: &[bool]) -> Self {
        let base = |differs: &bool| differs.then(Vec::new);
        Self {
            places: HashMap::new(),
            free: Vec::new(),
            columns: differences.iter().map(base).collect(),
            time: 0,
        }
    }

    /// The place of each entity; new ones are given one.
    pub(crate) fn places(&mut self, entities: impl Iterator<Item = u32>) -> Vec<usize> {
        let mut place = |entity| {
            let next = self.places.len() + self.free.len();
            let place = self.places.entry(entity);
            *place.or_insert_with(|| self.free.pop().unwrap_or(next))
        };
        let places = entities.map(&mut place).collect();
        for bases in self.columns.iter_mut().flatten() {
            bases.resize(self.places.len() + self.free.len(), 0);
        }
        places
    }

    /// How many places there are.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.places.len() + self.free.len()
    }

    /// Gives the place of an entity to another one; it must not come again.
    pub(crate) fn forget(&mut self, entity: u32) {
        let Some(place) = self.places.remove(&entity) else {
            return;
        };
        for bases in self.columns.iter_mut().flatten() {
            bases[place] = 0;
        }
        self.free.push(place);
    }

    /// The stored form of one column: `None` for what is missing.
    pub(crate) fn encode(
        &mut self,
        column: usize,
        places: &[usize],
        values: impl Iterator<Item = i64>,
    ) -> Vec<Option<i64>> {
        let mut bases = self.columns[column].as_mut();
        let stored = |(value, place): (i64, &usize)| match &mut bases {
            _ if value == MISSING => None,
            Some(bases) => Some(value.wrapping_sub(std::mem::replace(&mut bases[*place], value))),
            None => Some(value),
        };
        values.zip(places).map(stored).collect()
    }

    /// The reverse of `encode`.
    pub(crate) fn decode(
        &mut self,
        column: usize,
        places: &[usize],
        stored: impl Iterator<Item = Option<i64>>,
    ) -> Vec<i64> {
        let Some(bases) = self.columns[column].as_mut() else {
            return stored.map(|value| value.unwrap_or(MISSING)).collect();
        };
        let value = |(stored, place): (Option<i64>, &usize)| {
            let Some(difference) = stored else {
                return MISSING;
            };
            bases[*place] = bases[*place].wrapping_add(difference);
            bases[*place]
        };
        stored.zip(places).map(value).collect()
    }

    /// The stored form of times.
    pub(crate) fn encode_times(&mut self, times: &[Timestamp]) -> Vec<i64> {
        let difference = |time: &Timestamp| {
            let time = time.as_ns();
            time.wrapping_sub(std::mem::replace(&mut self.time, time))
        };
        times.iter().map(difference).collect()
    }

    /// The reverse of `encode_times`; `None`, and nothing changed, when one of them cannot be a time.
    pub(crate) fn decode_times(&mut self, stored: &[i64]) -> Option<Vec<Timestamp>> {
        let mut now = self.time;
        let mut times = Vec::with_capacity(stored.len());
        for difference in stored {
            now = now.wrapping_add(*difference);
            times.push(Some(Timestamp::from_ns(now)).filter(|time| plausible(*time))?);
        }
        self.time = now;
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases() -> Bases {
        Bases::new(&[true, false])
    }

    #[test]
    fn a_counter_is_relative_to_its_own_entity_and_missing_changes_no_base() {
        let mut bases = bases();
        let places = bases.places([7, 9, 7, 7, 9].into_iter());
        let stored = bases.encode(0, &places, [100, 5, MISSING, 130, 6].into_iter());
        assert_eq!(stored, [Some(100), Some(5), None, Some(30), Some(1)]);
        let again = bases.places([7].into_iter());
        assert_eq!(bases.encode(0, &again, [131].into_iter()), [Some(1)]);
    }

    #[test]
    fn the_place_of_a_forgotten_entity_is_anothers_who_begins_anew() {
        let mut bases = bases();
        for entity in 0..1_000 {
            let places = bases.places([entity].into_iter());
            assert_eq!(places, [0]);
            assert_eq!(bases.encode(0, &places, [100].into_iter()), [Some(100)]);
            bases.forget(entity);
            bases.forget(entity);
        }
        assert_eq!(bases.places([7, 8, 7].into_iter()), [0, 1, 0]);
    }

    #[test]
    fn other_columns_are_stored_as_they_are() {
        let mut bases = bases();
        let places = bases.places([7, 7].into_iter());
        assert_eq!(
            bases.encode(1, &places, [10, 4].into_iter()),
            [Some(10), Some(4)]
        );
    }

    #[test]
    fn the_largest_steps_come_back() {
        let values = [i64::MAX, i64::MIN + 1, -1, i64::MAX, 0];
        let mut writing = bases();
        let places = writing.places([3; 5].into_iter());
        let stored = writing.encode(0, &places, values.into_iter());
        let mut reading = bases();
        let places = reading.places([3; 5].into_iter());
        assert_eq!(reading.decode(0, &places, stored.into_iter()), values);
    }

    #[test]
    fn a_time_before_boot_is_refused_and_changes_nothing() {
        let mut bases = bases();
        assert_eq!(
            bases.decode_times(&[5, 1]),
            Some(vec![Timestamp::from_ns(5), Timestamp::from_ns(6)])
        );
        assert_eq!(bases.decode_times(&[1, -8]), None);
        assert_eq!(bases.decode_times(&[i64::MAX]), None);
        assert_eq!(bases.decode_times(&[1]), Some(vec![Timestamp::from_ns(7)]));
    }
}
