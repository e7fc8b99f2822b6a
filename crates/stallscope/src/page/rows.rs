//! Tables whose rows are kept as they are: the workload's own intervals, and single operations.

use model::{EntityId, MISSING, TableData, Timestamp};

use super::block::Numbers;
use super::entities::Places;

/// Rows of one table at most; of more, every n-th.
const MOST: usize = 20_000;

/// The rows of a table in the order of time.
pub(super) fn write(data: &TableData, origin: Timestamp, places: &mut Places<'_>) -> Numbers {
    let mut keys: Vec<(Timestamp, EntityId, usize)> = (0..data.len())
        .map(|row| {
            let (time, entity) = data.key(row);
            (time, entity, row)
        })
        .collect();
    keys.sort();
    let every = keys.len() / MOST + 1;
    let mut rows = Vec::with_capacity(keys.len() / every + 1);
    for (time, entity, row) in keys.into_iter().step_by(every) {
        if let Some(place) = places.of(entity) {
            rows.push((time, place, row));
        }
    }
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
