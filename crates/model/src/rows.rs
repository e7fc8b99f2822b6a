//! Rows on their way from a sensor to disk: flat buffers that are filled, written and used again.

use crate::{EntityId, Timestamp};

/// A value that was not read. Never zero, never averaged.
pub const MISSING: i64 = i64::MIN;

/// Rows of one table: a time, an entity and `width` integers each, kept flat.
///
/// A buffer that went through `clear` keeps its memory, so a sampler that has seen its busiest
/// second allocates no more.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rows {
    width: usize,
    times: Vec<Timestamp>,
    entities: Vec<EntityId>,
    values: Vec<i64>,
}

impl Rows {
    /// An empty buffer with room for `rows` rows of `width` values.
    pub fn with_capacity(width: usize, rows: usize) -> Self {
        Self {
            width,
            times: Vec::with_capacity(rows),
            entities: Vec::with_capacity(rows),
            values: Vec::with_capacity(rows * width),
        }
    }

    /// Adds a row. `values` has one entry per column; `MISSING` stands for what was not read.
    ///
    /// # Panics
    /// When `values` has another length than the table has columns: a mistake of the program.
    pub fn push(&mut self, time: Timestamp, entity: EntityId, values: &[i64]) {
        assert_eq!(values.len(), self.width, "a row has one value per column");
        self.times.push(time);
        self.entities.push(entity);
        self.values.extend_from_slice(values);
    }

    /// Columns per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether no row is held.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.times.clear();
        self.entities.clear();
        self.values.clear();
    }

    /// Each row as (time, entity, values).
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, EntityId, &[i64])> {
        self.times
            .iter()
            .zip(&self.entities)
            .enumerate()
            .map(move |(i, (time, entity))| {
                (
                    *time,
                    *entity,
                    &self.values[i * self.width..(i + 1) * self.width],
                )
            })
    }

    /// The times of the rows.
    pub fn times(&self) -> &[Timestamp] {
        &self.times
    }

    /// The entities of the rows.
    pub fn entities(&self) -> &[EntityId] {
        &self.entities
    }

    /// One column's values.
    pub fn column(&self, index: usize) -> impl Iterator<Item = i64> + '_ {
        self.values
            .iter()
            .skip(index)
            .step_by(self.width.max(1))
            .copied()
    }
}
