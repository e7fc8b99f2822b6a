//! Tables whose rows are kept as they are: the workload's own intervals, and single operations.

use model::{EntityId, MISSING, TableData, Timestamp};

use super::block::Numbers;
use super::entities::Places;

/// Single operations at most, about. Of more, every n-th is kept, and the slowest between two of them: so
/// an outlier stays, and the rest shows how many there are.
const MOST_OPERATIONS: usize = 20_000;

type Key = (Timestamp, EntityId, usize);

/// The rows of a table in the order of time.
pub(super) fn write(data: &TableData, origin: Timestamp, places: &mut Places<'_>) -> Numbers {
    let key = |row| {
        let (time, entity) = data.key(row);
        (time, entity, row)
    };
    let mut keys: Vec<Key> = (0..data.len()).map(key).collect();
    keys.sort();
    if data.table.name == workloads::LATENCY_SAMPLE.name {
        keys = thinned(data, keys);
    }
    let placed = keys.into_iter().filter_map(|(time, entity, row)| {
        let place = places.of(entity)?;
        Some((time, place, row))
    });
    let rows: Vec<(Timestamp, u32, usize)> = placed.collect();
    let mut numbers = Numbers::default();
    numbers.count(rows.len());
    let mut before = origin;
    for (time, place, row) in rows {
        numbers.push(time.ns_since(before));
        before = time;
        numbers.push(i64::from(place));
        for value in data.row(row) {
            if value == MISSING {
                numbers.push(0);
            } else {
                numbers.push(1);
                numbers.push(value);
            }
        }
    }
    numbers
}

fn thinned(data: &TableData, keys: Vec<Key>) -> Vec<Key> {
    if keys.len() <= MOST_OPERATIONS {
        return keys;
    }
    let stretch = 2 * keys.len().div_ceil(MOST_OPERATIONS);
    let stretches = keys.chunks(stretch);
    let kept = stretches.flat_map(|stretch| {
        let slowest = |key: &&Key| data.row(key.2).max();
        let slowest = stretch.iter().skip(1).max_by_key(slowest);
        stretch.first().into_iter().chain(slowest).copied()
    });
    kept.collect()
}
