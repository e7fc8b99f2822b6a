//! Bins of 20 ms on a page: for heat maps, which look for what repeats within a second. `on_cpu` and `blocked` put samples
//! into bins; the other tables have theirs from the programs in the kernel.

mod blocked;
mod on_cpu;

use std::collections::BTreeMap;

use model::{Column, EntityKind, PageForm, RowKind, Table, TableData, Timeline, Timestamp, Unit};
use sensors::bins::{CPU_BIN, REQUEST_BIN};
use sensors::stack::{CPU_SAMPLE, WAIT_SAMPLE};

use super::entities::Places;
use super::rows;
use super::tables::{Written, described};

/// A bin, ns.
const FINEST_NS: i64 = sensors::bins::BIN_NS.cast_signed();
/// Bins of a page, at most: half an hour. A longer recording has bins of twice the length, or more.
const MOST_BINS: f64 = 90_000.0;

/// The sums of bins, by the number of the bin from the origin of the page on.
type Bins<const N: usize> = BTreeMap<i64, [i64; N]>;

const LENGTH: Column = Column::gauge(
    "bin_ns",
    Unit::Nanoseconds,
    "How long the bin is, from the row's time on.",
    "the page",
);

/// The bins that are made from a table; `None` where none are, or it is empty.
pub(super) fn write(
    table: &str,
    timeline: &Timeline,
    origin: Timestamp,
    part: f64,
    places: &mut Places<'_>,
) -> Option<Written> {
    let grid = Grid::new(timeline, origin, part);
    match table {
        it if it == CPU_SAMPLE.name => on_cpu::write(timeline, &grid, places),
        it if it == WAIT_SAMPLE.name => blocked::write(timeline, &grid, places),
        it if it == CPU_BIN.name || it == REQUEST_BIN.name => {
            let data = timeline.table(table).filter(|data| !data.is_empty())?;
            let table = described(&data.table, PageForm::Rows, 0);
            let merged = grid.merged(data);
            let data = merged.as_ref().unwrap_or(data);
            let numbers = rows::write(data, origin, 1.0, places);
            Some(Written { table, numbers })
        }
        _ => None,
    }
}

/// Where bins lie.
struct Grid {
    origin: Timestamp,
    bin_ns: i64,
}

impl Grid {
    fn new(timeline: &Timeline, origin: Timestamp, part: f64) -> Self {
        let mut bin_ns = FINEST_NS;
        while timeline.window.len_ns() as f64 / bin_ns as f64 > (MOST_BINS * part).max(1.0) {
            bin_ns *= 2;
        }
        Self { origin, bin_ns }
    }

    fn number(&self, at: Timestamp) -> i64 {
        at.ns_since(self.origin).div_euclid(self.bin_ns)
    }

    /// The bins as rows.
    fn written<const N: usize>(
        &self,
        table: Table,
        bins: Bins<N>,
        timeline: &Timeline,
        places: &mut Places<'_>,
    ) -> Option<Written> {
        let machine = timeline.entities.machine()?.id;
        let mut data = TableData::new(table);
        for (bin, sums) in bins {
            let at = self.origin + bin * self.bin_ns;
            let row: Vec<i64> = std::iter::once(self.bin_ns).chain(sums).collect();
            data.push(at, machine, &row);
        }
        Some(Written {
            table: described(&data.table, PageForm::Rows, 0),
            numbers: rows::write(&data, self.origin, 1.0, places),
        })
    }

    /// The bins of a recording as longer ones, where a page has no room for all: the means of those that there are. Of
    /// these there must be half; where only bins in which something happened have rows, one is enough.
    fn merged(&self, data: &TableData) -> Option<TableData> {
        let each = self.bin_ns / FINEST_NS;
        if each <= 1 {
            return None;
        }
        let are_all_there = data.table.name == CPU_BIN.name;
        let mut merged = TableData::new(data.table.clone());
        let mut row = 0;
        while row < data.len() {
            let (at, machine) = data.key(row);
            let bin = self.number(at);
            let mut sums: Vec<i64> = vec![0; data.table.columns.len()];
            let mut count = 0;
            while row < data.len() && self.number(data.key(row).0) == bin {
                let pairs = sums.iter_mut().zip(data.row(row));
                pairs.for_each(|(sum, value)| *sum = sum.saturating_add(value));
                count += 1;
                row += 1;
            }
            if are_all_there {
                if 2 * count < each {
                    continue;
                }
                sums.iter_mut()
                    .for_each(|sum| *sum = (*sum as f64 * each as f64 / count as f64) as i64);
            }
            sums[0] = self.bin_ns;
            merged.push(self.origin + bin * self.bin_ns, machine, &sums);
        }
        Some(merged)
    }
}

fn table(name: &'static str, help: &'static str, columns: &'static [Column]) -> Table {
    Table::new(name, EntityKind::Machine, help, columns).rows(RowKind::Events)
}

#[cfg(test)]
mod tests {
    use model::EntityId;

    use super::*;

    fn merged(table: &Table, rows: &[(i64, &[i64])]) -> Vec<(i64, Vec<i64>)> {
        let origin = Timestamp::from_ns(1_000);
        let mut data = TableData::new(table.clone());
        for (bin, row) in rows {
            // The kernel's bins do not begin with the page's.
            data.push(origin + bin * FINEST_NS + 5_000_000, EntityId(0), row);
        }
        let bin_ns = 4 * FINEST_NS;
        let grid = Grid { origin, bin_ns };
        let merged = grid.merged(&data).expect("four are one");
        let row = |row| {
            let at = merged.key(row).0.ns_since(origin);
            (at / bin_ns, merged.row(row).collect())
        };
        (0..merged.len()).map(row).collect()
    }

    #[test]
    fn a_longer_bin_is_what_half_of_it_says_and_nothing_with_less() {
        let each: &[i64] = &[FINEST_NS, 10, 0, 3, 1];
        let rows: Vec<_> = [0, 1, 2, 3, 4, 5, 8]
            .iter()
            .map(|bin| (*bin, each))
            .collect();
        let all = vec![4 * FINEST_NS, 40, 0, 12, 4];
        assert_eq!(merged(&CPU_BIN, &rows), [(0, all.clone()), (1, all)]);
    }

    #[test]
    fn requests_of_longer_bins_are_those_that_there_were() {
        let [some, none]: [&[i64]; 2] = [&[FINEST_NS, 7], &[FINEST_NS, 0]];
        let found = merged(&REQUEST_BIN, &[(0, some), (3, some), (9, none)]);
        let row = |requests| vec![4 * FINEST_NS, requests];
        assert_eq!(found, [(0, row(14)), (2, row(0))]);
    }
}
