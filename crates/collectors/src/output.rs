//! What collectors write: rows by table, entities, gaps. The sampler hands all of it over once a second.
//!
//! The last values of a series stay with the collector that knows the series (`RowDeduplicator`): to look them
//! up by table and entity would cost a search per row.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::{Index, IndexMut};

use model::{CrossCheck, GapReason, Role, Table};
use sensors::{Scope, Sensor};

use crate::gaps::Gaps;
use crate::handle::{SamplerEvent, Spare};
use crate::interner::Interner;
use crate::registry::Registry;
use crate::table_buffer::TableBuffer;

/// A table of an `Output`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableId(usize);

/// A sensor, and the table that its rows go to.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    pub(crate) sensor: &'static Sensor,
    pub(crate) table: TableId,
}

/// The rows of each table.
#[derive(Default)]
pub(crate) struct Tables(Vec<TableBuffer>);

impl Index<TableId> for Tables {
    type Output = TableBuffer;

    fn index(&self, table: TableId) -> &TableBuffer {
        &self.0[table.0]
    }
}

impl IndexMut<TableId> for Tables {
    fn index_mut(&mut self, table: TableId) -> &mut TableBuffer {
        &mut self.0[table.0]
    }
}

/// Everything that collectors have found since the last hand-over.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) tables: Tables,
    pub(crate) registry: Registry,
    pub(crate) strings: Interner,
    pub(crate) gaps: Gaps,
    /// Addresses that were connected to for the first time, with the role of the process that did.
    pub(crate) contacts: Vec<(Role, SocketAddr)>,
    /// How well thread times agreed with the kernel's counters, once they have ended.
    pub(crate) cross_check: Option<CrossCheck>,
}

impl Output {
    /// Hands on whom somebody connected to. At each tick: who searches for servers waits for it.
    pub(crate) fn report_contacts(&mut self, sink: &mut dyn FnMut(SamplerEvent)) {
        for (role, address) in self.contacts.drain(..) {
            sink(SamplerEvent::Contact(role, address));
        }
    }

    /// The place of a table; collectors ask once, when they are opened.
    pub(crate) fn open(&mut self, table: &'static Table) -> TableId {
        let Tables(all) = &mut self.tables;
        let known = all.iter().position(|it| std::ptr::eq(it.table, table));
        TableId(known.unwrap_or_else(|| {
            all.push(TableBuffer::new(table));
            all.len() - 1
        }))
    }

    fn recorded(&mut self, sensor: &'static Sensor) -> Recorded {
        Recorded {
            sensor,
            table: self.open(sensor.table),
        }
    }

    /// All sensors of a scope, with the places of their tables.
    pub(crate) fn recorded_of(&mut self, scope: Scope) -> Vec<Recorded> {
        let of_scope = sensors::all().iter().filter(|it| it.scope == scope);
        of_scope.map(|sensor| self.recorded(sensor)).collect()
    }

    /// Takes a buffer back that was handed over.
    pub(crate) fn take_back(&mut self, (table, rows): Spare) {
        let Tables(all) = &mut self.tables;
        if let Some(buffer) = all.iter_mut().find(|it| std::ptr::eq(it.table, table)) {
            buffer.spare.get_or_insert(rows);
        }
    }

    /// Hands over what there is, entities and texts before the rows that name them.
    pub(crate) fn hand_over(&mut self, sink: &mut dyn FnMut(SamplerEvent)) {
        if let Some(events) = self.registry.take_events() {
            sink(SamplerEvent::Entities(events));
        }
        if let Some(texts) = self.strings.take_fresh() {
            sink(SamplerEvent::Strings(texts));
        }
        if self.strings.take_refused() > 0 {
            let what = "texts beyond those that there is room for";
            self.gaps.report("strings", what, GapReason::Dropped(1));
        }
        for gap in self.gaps.take_fresh() {
            sink(SamplerEvent::Gap(gap));
        }
        self.report_contacts(sink);
        for buffer in &mut self.tables.0 {
            if let Some(rows) = buffer.take_rows() {
                sink(SamplerEvent::Rows(buffer.table, rows));
            }
        }
    }

    /// Rows were lost on their way, so rows that would be left out as unchanged are written once.
    pub(crate) fn force_full_rows(&mut self) {
        self.tables
            .0
            .iter_mut()
            .for_each(TableBuffer::force_full_rows);
    }

    /// How often each counter ran backwards, by table and column; only those that did.
    pub(crate) fn corrections(&self) -> BTreeMap<String, u64> {
        let of_table = |buffer: &TableBuffer| {
            let columns = buffer.table.columns.iter().zip(&buffer.corrections);
            let held = columns.filter(|(_, count)| **count > 0);
            let name = &buffer.table.name;
            let named = held.map(|(column, count)| (format!("{name}.{}", column.name), *count));
            named.collect::<Vec<_>>()
        };
        self.tables.0.iter().flat_map(of_table).collect()
    }
}
