//! Tables whose rows are kept as they are: the workload's own intervals, and single operations.

use model::{EntityId, MISSING, TableData, Timestamp};

use super::block::Numbers;
use super::entities::Places;

/// Single operations at most, about.
const MOST_OPERATIONS: usize = 20_000;
/// Numbers of a table at most, about: more than a day of intervals has.
const MOST_NUMBERS: usize = 3_000_000;

type Key = (Timestamp, EntityId, usize);

/// The rows of a table in the order of time; fewer of them where a page has less than the usual room.
pub(super) fn write(
    data: &TableData,
    origin: Timestamp,
    part: f64,
    places: &mut Places<'_>,
) -> Numbers {
    let key = |row| {
        let (time, entity) = data.key(row);
        (time, entity, row)
    };
    let mut keys: Vec<Key> = (0..data.len()).map(key).collect();
    keys.sort();
    let most = if data.table.name == workloads::LATENCY_SAMPLE.name {
        MOST_OPERATIONS
    } else {
        MOST_NUMBERS / (2 + 2 * data.table.columns.len())
    };
    let most = (most as f64 * part.min(1.0)).max(1.0) as usize;
    if keys.len() > most {
        keys = thinned(data, &keys, most);
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

/// Every n-th row, and the one with the highest value between two of them: so an outlier stays, and the rest
/// shows how many there are.
fn thinned(data: &TableData, keys: &[Key], most: usize) -> Vec<Key> {
    let stretch = 2 * keys.len().div_ceil(most);
    let stretches = keys.chunks(stretch);
    let kept = stretches.flat_map(|stretch| {
        let highest = |key: &&Key| data.row(key.2).max();
        let highest = stretch.iter().skip(1).max_by_key(highest);
        stretch.first().into_iter().chain(highest).copied()
    });
    kept.collect()
}
