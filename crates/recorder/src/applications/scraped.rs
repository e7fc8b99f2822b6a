//! Series that an application names itself: which entity each of them is, and the rows of those that changed.

use std::collections::HashMap;

use model::{
    Entity, EntityEvent, EntityId, EntityKind, EntityRecord, MISSING, Rows, Table, Timestamp,
};
use sensors::scrape::SCALE;
use sources::{MOST_SERIES, Sample};

/// A counter that is beyond this when it is first read counts from 0 on: in millionths it would find no place
/// at last, and what matters is by how much it grows.
const LARGE: f64 = 1e12;

/// In the order of the columns of table `scraped`.
type Row = [i64; 3];

/// The series of one application.
pub(super) struct Scraped {
    table: &'static Table,
    /// The first of `MOST_SERIES` entity numbers that nobody else gives.
    first: EntityId,
    known: HashMap<String, Series>,
    /// Counters that ran back.
    corrections: u64,
}

/// What is to be written down of a poll.
pub(super) struct Changes {
    pub(super) rows: Rows,
    /// Series that are new.
    pub(super) entities: Vec<EntityEvent>,
    /// Series for which no number is left.
    pub(super) left_out: usize,
    /// Values for which a recording has no place.
    pub(super) too_large: usize,
}

impl Scraped {
    pub(super) fn new(table: &'static Table, first: EntityId) -> Self {
        Self {
            table,
            first,
            known: HashMap::new(),
            corrections: 0,
        }
    }

    /// Takes a poll; `owner` is the process that answers, where it is known.
    pub(super) fn take(
        &mut self,
        time: Timestamp,
        owner: Option<EntityId>,
        samples: &[Sample],
    ) -> Changes {
        let mut changes = Changes {
            rows: Rows::with_capacity(self.table.columns.len(), samples.len()),
            entities: Vec::new(),
            left_out: 0,
            too_large: 0,
        };
        for sample in samples {
            let next = EntityId(self.first.0 + self.known.len() as u32);
            let is_full = self.known.len() >= MOST_SERIES;
            let series = match self.known.get_mut(&sample.series) {
                Some(series) => series,
                None if is_full => {
                    changes.left_out += 1;
                    continue;
                }
                None => {
                    let record = record(next, owner, &sample.series, time);
                    changes.entities.push(EntityEvent { time, record });
                    let series = Series::new(next);
                    self.known.entry(sample.series.clone()).or_insert(series)
                }
            };
            let (row, ran_back) = series.row(sample);
            self.corrections += u64::from(ran_back);
            let is_recorded = row[0] != MISSING || row[1] != MISSING;
            changes.too_large += usize::from(!is_recorded && !sample.value.is_nan());
            series.take(time, row, &mut changes.rows);
        }
        changes
    }

    /// The last reading of each series that did not change since its last row.
    pub(super) fn finish(&mut self) -> Rows {
        let mut rows = Rows::with_capacity(self.table.columns.len(), self.known.len());
        for series in self.known.values_mut() {
            series.finish(&mut rows);
        }
        rows
    }

    /// How often counters ran back, by table and column, where they did.
    pub(super) fn corrections(&self) -> Option<(String, u64)> {
        let counters = format!("{}.{}", self.table.name, self.table.columns[0].name);
        (self.corrections > 0).then_some((counters, self.corrections))
    }
}

fn record(id: EntityId, parent: Option<EntityId>, series: &str, now: Timestamp) -> EntityRecord {
    let name = model::name_of(series.as_bytes());
    EntityRecord {
        parent,
        ..EntityRecord::new(id, Entity::new(EntityKind::Series, name.clone(), name), now)
    }
}

/// One series.
struct Series {
    entity: EntityId,
    counter: Option<Counter>,
    /// What was read last, and when.
    row: Row,
    read: Timestamp,
    is_written: bool,
}

impl Series {
    fn new(entity: EntityId) -> Self {
        Self {
            entity,
            counter: None,
            row: [MISSING; 3],
            read: Timestamp::default(),
            is_written: true,
        }
    }

    /// The row of a sample, and whether a counter ran back.
    fn row(&mut self, sample: &Sample) -> (Row, bool) {
        let kind = sample.kind as i64;
        if !sample.kind.is_counter() {
            return ([MISSING, millionths(sample.value), kind], false);
        }
        if !sample.value.is_finite() {
            return ([MISSING, MISSING, kind], false);
        }
        let counter = self.counter.get_or_insert(Counter::new(sample.value));
        let (value, ran_back) = counter.advance(sample.value);
        ([millionths(value), MISSING, kind], ran_back)
    }

    /// Writes a row where something changed, and before it the last one of the time without change.
    fn take(&mut self, now: Timestamp, row: Row, rows: &mut Rows) {
        let has_changed = row != self.row;
        if has_changed {
            self.finish(rows);
            rows.push(now, self.entity, &row);
        }
        self.row = row;
        self.read = now;
        self.is_written = has_changed;
    }

    fn finish(&mut self, rows: &mut Rows) {
        if !std::mem::replace(&mut self.is_written, true) {
            rows.push(self.read, self.entity, &self.row);
        }
    }
}

/// A counter that never runs back, as `model::Monotone` has them, of numbers that are no integers.
struct Counter {
    read: f64,
    /// What is added to what is read.
    offset: f64,
}

impl Counter {
    fn new(value: f64) -> Self {
        Self {
            read: value,
            offset: if value > LARGE { -value } else { 0.0 },
        }
    }

    /// What it has counted, and whether its source ran back. A source that fell below half of what it was began
    /// anew; one that fell a little is held.
    fn advance(&mut self, value: f64) -> (f64, bool) {
        let ran_back = value < self.read;
        if ran_back && value < self.read / 2.0 {
            self.offset += self.read;
            self.read = value;
        }
        self.read = self.read.max(value);
        (self.read + self.offset, ran_back)
    }
}

/// A number as it is recorded; missing where it is none, or where there is no place for it.
fn millionths(value: f64) -> i64 {
    let scaled = (value * SCALE).round();
    match scaled.abs() < i64::MAX as f64 {
        true => scaled as i64,
        false => MISSING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensors::scrape::{SCRAPED, SeriesType};

    fn sample(series: &str, kind: SeriesType, value: f64) -> Sample {
        Sample {
            series: series.to_owned(),
            kind,
            value,
        }
    }

    fn at(s: i64) -> Timestamp {
        Timestamp::from_ns(s * 1_000_000_000)
    }

    /// `time: values` of each row, missing ones as `-`.
    fn drawn(rows: &Rows) -> Vec<String> {
        let value = |value: &i64| match *value {
            MISSING => "-".to_owned(),
            value => value.to_string(),
        };
        let row = |(time, entity, values): (Timestamp, EntityId, &[i64])| {
            let values: Vec<String> = values.iter().map(value).collect();
            let seconds = time.as_ns() / 1_000_000_000;
            format!("{seconds} {}: {}", entity.0, values.join(" "))
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn a_row_stands_at_each_end_of_a_time_without_change() {
        let mut scraped = Scraped::new(&SCRAPED, EntityId(2));
        let mut rows = Vec::new();
        for (second, value) in [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.75), (5, 0.75)] {
            let samples = [sample("g", SeriesType::Gauge, value)];
            rows.extend(drawn(&scraped.take(at(second), None, &samples).rows));
        }
        rows.extend(drawn(&scraped.finish()));
        let expected = [
            "1 2: - 500000 2",
            "3 2: - 500000 2",
            "4 2: - 750000 2",
            "5 2: - 750000 2",
        ];
        assert_eq!(rows, expected);
        assert!(scraped.finish().is_empty());
    }

    #[test]
    fn counters_that_began_anew_go_on_and_large_ones_begin_at_0() {
        let mut scraped = Scraped::new(&SCRAPED, EntityId(2));
        let mut rows = Vec::new();
        let values = [
            (10.25, 2e15),
            (12.5, 2e15 + 8.0),
            (12.0, 2e15 + 8.0),
            (1.0, 4.0),
            (1.5, 5.0),
        ];
        for (second, (small, large)) in (1..).zip(values) {
            let samples = [
                sample("small", SeriesType::Counter, small),
                sample("large", SeriesType::Summary, large),
            ];
            rows.extend(drawn(&scraped.take(at(second), None, &samples).rows));
        }
        let expected = [
            "1 2: 10250000 - 1",
            "1 3: 0 - 4",
            "2 2: 12500000 - 1",
            "2 3: 8000000 - 4",
            "3 2: 12500000 - 1",
            "4 2: 13500000 - 1",
            "3 3: 8000000 - 4",
            "4 3: 12000000 - 4",
            "5 2: 14000000 - 1",
            "5 3: 13000000 - 4",
        ];
        assert_eq!(rows, expected);
        let corrected = Some(("scraped.counter_millionths".to_owned(), 3));
        assert_eq!(scraped.corrections(), corrected);
    }

    #[test]
    fn what_has_no_place_is_missing_and_counted_and_no_number_is_only_missing() {
        let mut scraped = Scraped::new(&SCRAPED, EntityId(2));
        let samples = [
            sample("no_number", SeriesType::Gauge, f64::NAN),
            sample("infinite", SeriesType::Counter, f64::INFINITY),
            sample("large", SeriesType::Gauge, -1e13),
        ];
        let changes = scraped.take(at(1), None, &samples);
        assert_eq!(changes.too_large, 2);
        let expected = ["1 2: - - 2", "1 3: - - 1", "1 4: - - 2"];
        assert_eq!(drawn(&changes.rows), expected);
    }

    #[test]
    fn a_series_keeps_its_number_and_those_beyond_the_limit_have_none() {
        let mut scraped = Scraped::new(&SCRAPED, EntityId(2));
        let named = |numbers: std::ops::Range<usize>| -> Vec<Sample> {
            let one = |number| sample(&format!("m{number}\u{7}"), SeriesType::Gauge, 1.0);
            numbers.map(one).collect()
        };
        let first = scraped.take(at(1), Some(EntityId(9)), &named(0..3));
        let record = &first.entities[2].record;
        assert_eq!((record.id, record.parent), (EntityId(4), Some(EntityId(9))));
        assert_eq!(record.entity.name, "m2\\x07");
        let second = scraped.take(at(2), None, &named(1..MOST_SERIES + 2));
        assert_eq!(second.entities.len(), MOST_SERIES - 3);
        assert_eq!(second.left_out, 2);
        let last = second.entities.last().map(|it| it.record.id);
        assert_eq!(last, Some(EntityId(1 + MOST_SERIES as u32)));
    }
}
