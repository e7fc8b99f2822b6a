//! How long the bins of a table must be for its numbers to fit.

use model::{Column, ColumnKind, EntityId, EntityKind, Series, Table, Timeline};

/// Bins of a straight line between two readings that pack into the room of a number.
const STRAIGHT: f64 = 100.0;

/// What a table would put down at the finest.
#[derive(Default)]
pub(super) struct SizeEstimate {
    /// Of the series that change at all.
    series: Vec<Request>,
}

struct Request {
    /// Bins of its life.
    bins: f64,
    readings: f64,
    /// Numbers per bin where that holds several readings.
    several: f64,
}

impl SizeEstimate {
    /// Adds the recorded series of an entity; `edges` is how many there are.
    pub(super) fn add(
        &mut self,
        timeline: &Timeline,
        table: &Table,
        entity: EntityId,
        edges: usize,
    ) {
        let mut life = None;
        for column in table.columns.iter() {
            let series = timeline.series(&table.name, entity, &column.name);
            let Some(series) = series.filter(|series| changes(series, column)) else {
                continue;
            };
            // All columns of an entity are read together.
            let (bins, readings) = *life.get_or_insert_with(|| life_of(timeline, &series, edges));
            self.series.push(Request {
                bins,
                readings,
                several: 3.0,
            });
        }
    }

    /// Adds where the time of a thread went.
    pub(super) fn add_time(&mut self, timeline: &Timeline, thread: EntityId, edges: usize) {
        /// Classes that a thread spends time in, as a rule.
        const CLASSES: usize = 4;
        if let Some(run) = timeline.series("thread", thread, "run_ns") {
            let (bins, readings) = life_of(timeline, &run, edges);
            let wish = || Request {
                bins,
                readings,
                several: 1.0,
            };
            self.series.extend((0..CLASSES).map(|_| wish()));
        }
    }

    /// Adds series that have a number of their own in each bin.
    pub(super) fn add_each_bin(&mut self, series: usize, edges: usize) {
        let wish = || Request {
            bins: edges as f64,
            readings: f64::INFINITY,
            several: 1.0,
        };
        self.series.extend((0..series).map(|_| wish()));
    }

    /// Numbers in bins of a stride, about.
    fn numbers(&self, stride: f64) -> f64 {
        let series = self.series.iter().map(|wish| {
            let bins = wish.bins / stride;
            if wish.readings > bins {
                bins * wish.several
            } else {
                wish.readings + bins / STRAIGHT
            }
        });
        series.sum()
    }

    /// The finest stride in which there are no more than `most` numbers.
    pub(super) fn stride(&self, most: f64, edges: usize) -> usize {
        let mut stride = 1;
        while self.numbers(stride as f64) > most && stride < edges {
            stride += stride.div_ceil(8);
        }
        stride
    }
}

/// Bins of a series' life, and its readings.
fn life_of(timeline: &Timeline, series: &Series<'_>, edges: usize) -> (f64, f64) {
    let whole = timeline.window.len_ns().max(1) as f64;
    let lived = series.known().map_or(0, |known| known.len_ns()) as f64 / whole;
    (lived * edges as f64, series.values().count() as f64)
}

fn changes(series: &Series<'_>, column: &Column) -> bool {
    let mut values = series.values().map(|(_, value)| value);
    let Some(first) = values.next() else {
        return false;
    };
    match column.kind {
        ColumnKind::Counter => values.next_back().is_some_and(|last| last != first),
        ColumnKind::Gauge => values.any(|value| value != first),
    }
}

/// Numbers that a table may have: those of the near entities, and those of the others.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) near: f64,
    pub(super) far: f64,
}

/// The room of a table. Of most kinds few entities are near: they keep the finest bins.
pub(super) fn of(kind: EntityKind) -> Room {
    let (near, far) = match kind {
        EntityKind::Process | EntityKind::Thread | EntityKind::Connection => (80_000.0, 30_000.0),
        _ => (330_000.0, 60_000.0),
    };
    Room { near, far }
}

/// The room of the time of threads: no other table says as much.
pub(super) const OF_TIME: Room = Room {
    near: 230_000.0,
    far: 50_000.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_straight_lines_are_not_written_without_end() {
        const EDGES: usize = 4_000;
        const MOST: f64 = 330_000.0;
        let wish = || Request {
            bins: EDGES as f64,
            readings: 2.0,
            several: 3.0,
        };
        let estimate = |series: usize| SizeEstimate {
            series: (0..series).map(|_| wish()).collect(),
        };
        assert_eq!(estimate(1_000).stride(MOST, EDGES), 1);
        for series in [100_000, 160_000] {
            let written = series * EDGES / estimate(series).stride(MOST, EDGES);
            assert!(written as f64 <= STRAIGHT * MOST, "{written}");
        }
    }
}
