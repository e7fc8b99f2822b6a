//! Rows of one PSI group, whoever counts its times: stall density at each reading, pressure at each fold.

use kernel::bpf::psi_group::PsiGroup;
use model::Timestamp;

use crate::output::{TableId, Tables};
use crate::table_buffer::RowDeduplicator;

/// Tables of stall density and of pressure.
#[derive(Clone, Copy)]
pub(crate) struct PsiTables {
    pub(crate) density: TableId,
    pub(crate) pressure: TableId,
}

/// A PSI group and its series.
pub(crate) struct PsiSeries {
    pub(crate) group: PsiGroup,
    density: RowDeduplicator,
    pressure: RowDeduplicator,
    tables: PsiTables,
}

/// Turns a row of all states into one of a table's columns.
pub(crate) type Columns<'a> = dyn for<'row> Fn(&'row mut [i64]) -> &'row [i64] + 'a;

impl PsiSeries {
    /// Series of a group whose last row of pressure is in `pressure`; `width` is the number of columns of
    /// density.
    pub(crate) fn new(
        group: PsiGroup,
        pressure: RowDeduplicator,
        width: usize,
        tables: PsiTables,
    ) -> Self {
        Self {
            group,
            density: RowDeduplicator::new(pressure.entity(), width),
            pressure,
            tables,
        }
    }

    /// Whether the group was ever read.
    pub(crate) fn was_seen(&self) -> bool {
        self.density.time() != Timestamp::default()
    }

    /// Writes stall density as of the last reading, at `at`.
    pub(crate) fn write_density(
        &mut self,
        at: Timestamp,
        columns: &Columns<'_>,
        tables: &mut Tables,
    ) {
        let mut row = self.group.density();
        let buffer = &mut tables[self.tables.density];
        self.density.take(at, columns(&mut row), buffer);
    }

    /// Writes pressure as of the last fold, at `at`.
    pub(crate) fn write_pressure(
        &mut self,
        at: Timestamp,
        columns: &Columns<'_>,
        tables: &mut Tables,
    ) {
        let mut row = self.group.pressure();
        let buffer = &mut tables[self.tables.pressure];
        self.pressure.take(at, columns(&mut row), buffer);
    }

    /// Notes that nothing was counted up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        self.density.unchanged(at);
    }

    /// Ends both series with the last reading, at `at`; the interval of pressure ends there too.
    pub(crate) fn finish(&mut self, at: Timestamp, columns: &Columns<'_>, tables: &mut Tables) {
        self.density.finish(&mut tables[self.tables.density]);
        if self.was_seen() && self.group.end(at) {
            self.write_pressure(at, columns, tables);
        }
        self.pressure.finish(&mut tables[self.tables.pressure]);
    }
}
