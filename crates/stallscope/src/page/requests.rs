//! Request times over time: of all connections of a part together, so that a heat map needs few numbers.
//!
//! The recorded tables have a histogram per connection; the page keeps their counts, and of the
//! histograms the sum.

use model::{ColumnKind, EntityId, EntityKind, PageForm, Role, Table, Timeline, Timestamp, Window};
use sensors::request::first_bucket;

use super::bins;
use super::edges::strided;
use super::entities::{Others, Places};
use super::request_tables::{SumTable, sum_of};
use super::size_estimate::{self, SizeEstimate};
use super::tables::{PageWriter, SeriesKey, Written, described, scale};

/// A histogram over time, and whose it is.
struct Together {
    connections: usize,
    known: Window,
    first_bin: usize,
    /// For each bin from there on the growth of each column that grew.
    growth: Vec<Vec<i64>>,
}

impl PageWriter<'_> {
    /// The sum over the connections of a part; `None` of other tables, and where the part has none.
    pub(super) fn request_times(&self, table: &Table, places: &mut Places<'_>) -> Option<Written> {
        let SumTable { name, help, role } = sum_of(&table.name)?;
        let connections = connections(self.timeline, table, role);
        let met = met(self.timeline, table, &connections);
        let mut estimate = SizeEstimate::default();
        estimate.add_each_bin(met.len(), self.edges.len());
        let most = size_estimate::of(EntityKind::Machine).near * self.part;
        let stride = estimate.stride(most, self.edges.len());
        let edges = strided(self.edges, stride);
        let names: Vec<&str> = met.iter().map(|it| &*table.columns[*it].name).collect();
        let together = together(self.timeline, &connections, table, &names, &edges)?;
        let place = places.others(Others {
            kind: EntityKind::Connection,
            name: format!(
                "{} connections",
                analysis::integer(together.connections as f64)
            ),
            role,
            serving: role == Role::Target,
            seen: together.known,
        });
        let mut numbers = super::Numbers::default();
        for (column, declared) in met.iter().map(|it| &table.columns[*it]).enumerate() {
            let growth = together.growth.iter().map(|bin| bin[column]);
            let binned = bins::grown(together.known, together.first_bin, growth, scale(declared));
            let key = SeriesKey {
                place,
                column,
                stride,
            };
            self.write(&binned, key, &mut numbers);
        }
        let columns = met.iter().map(|it| table.columns[*it].clone());
        let sum = Table {
            name: name.into(),
            help: help.into(),
            columns: columns.collect(),
            ..table.clone()
        };
        let stride = u32::try_from(stride).unwrap_or(u32::MAX);
        let table = described(&sum, PageForm::Bins { stride }, 0);
        Some(Written { table, numbers })
    }
}

/// The connections of a part.
fn connections(timeline: &Timeline, table: &Table, role: Role) -> Vec<EntityId> {
    let all = timeline.table(&table.name).into_iter();
    let plays = |it: &EntityId| timeline.entities.get(*it).is_some_and(|it| it.role == role);
    all.flat_map(|it| it.entities()).filter(plays).collect()
}

/// The columns that are no buckets, and the buckets from the one before the first that was ever met, which
/// says where that begins, to the last.
fn met(timeline: &Timeline, table: &Table, connections: &[EntityId]) -> Vec<usize> {
    let grew = |column: &usize| {
        let name = &table.columns[*column].name;
        let series = connections
            .iter()
            .filter_map(|it| timeline.series(&table.name, *it, name));
        let mut ends = series.filter_map(|series| {
            let mut values = series.values().map(|(_, value)| value);
            Some((values.next()?, values.next_back()?))
        });
        ends.any(|(first, last)| first != last)
    };
    let buckets = first_bucket(table)..table.columns.len();
    let lowest = buckets.clone().find(grew).unwrap_or(buckets.end);
    let highest = buckets.clone().rfind(grew).map_or(lowest, |it| it + 1);
    let before = lowest.saturating_sub(1).max(buckets.start);
    // Gauges have no growth.
    let counts = (0..buckets.start).filter(|it| table.columns[*it].kind == ColumnKind::Counter);
    counts.chain(before..highest).collect()
}

/// What columns of connections grew by in each bin, added up; `None` where none was known.
fn together(
    timeline: &Timeline,
    connections: &[EntityId],
    table: &Table,
    names: &[&str],
    edges: &[Timestamp],
) -> Option<Together> {
    let counters = connections
        .iter()
        .filter_map(|it| timeline.counters(&table.name, *it, names));
    let mut all: Vec<_> = counters.collect();
    let known = all.iter().map(|it| it.known());
    let known =
        known.reduce(|all, next| Window::new(all.start.min(next.start), all.end.max(next.end)))?;
    let mut grown = vec![vec![0.0; names.len()]; edges.len().saturating_sub(1)];
    let (mut before, mut after) = (vec![0.0; names.len()], vec![0.0; names.len()]);
    for counters in &mut all {
        let own = counters.known();
        let first = edges.partition_point(|edge| *edge <= own.start);
        let mut was_read = counters.at(own.start, &mut before);
        for bin in first.saturating_sub(1)..grown.len() {
            if edges[bin] >= own.end {
                break;
            }
            let is_read = counters.at(edges[bin + 1].min(own.end), &mut after);
            if was_read && is_read {
                let growth = after
                    .iter()
                    .zip(&before)
                    .map(|(after, before)| after - before);
                grown[bin]
                    .iter_mut()
                    .zip(growth)
                    .for_each(|(sum, own)| *sum += own);
            }
            was_read = is_read;
            std::mem::swap(&mut before, &mut after);
        }
    }
    let first_bin = edges
        .partition_point(|edge| *edge <= known.start)
        .saturating_sub(1);
    let until = edges.partition_point(|edge| *edge < known.end);
    let bins = grown.get(first_bin..until.clamp(first_bin, grown.len()))?;
    // Requests are whole: of the sum from the start, so that none is lost.
    let (mut sums, mut told) = (vec![0.0; names.len()], vec![0i64; names.len()]);
    let whole = bins.iter().map(|bin| {
        let columns = bin.iter().zip(&mut sums).zip(&mut told);
        let whole = columns.map(|((grown, sum), told)| {
            *sum += grown;
            let now = sum.round() as i64;
            now.saturating_sub(std::mem::replace(told, now))
        });
        whole.collect()
    });
    Some(Together {
        connections: connections.len(),
        known,
        first_bin,
        growth: whole.collect(),
    })
}
