//! Tables that describe themselves: what a column counts, in which unit, read where, how well.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::EntityKind;

/// The unit of a column's integer values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
    /// Hundredths of one: load averages, as the kernel prints them.
    Hundredths,
    /// Millionths of whatever is measured: numbers that others report as floating-point numbers.
    Millionths,
    /// Thousandths of an event per second.
    MilliPerSecond,
    /// A code whose meaning the help gives: a task state, a system call number.
    Code,
    /// The number of a text in the recording's list of strings.
    String,
    /// The number of a call stack: of a row of table `stack`.
    Stack,
}

/// Whether a column adds up over time or stands for an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Grows and never runs backwards; differences are the measure.
    Counter,
    /// An instant's value, or one interval's own.
    Gauge,
}

/// How well a value is known.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// The kernel or the workload accounts it at every change.
    Exact,
    /// Observed at intervals or in part.
    Sampled,
    /// Worked out from something else, or accounted in ticks.
    Estimated,
    /// Not known.
    Unknown,
}

impl Quality {
    /// The word used in recordings and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Quality::Exact => "exact",
            Quality::Sampled => "sampled",
            Quality::Estimated => "estimated",
            Quality::Unknown => "unknown",
        }
    }
}

/// One column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Name with the unit in it: `run_ns`.
    pub name: Cow<'static, str>,
    /// Unit of the stored integers.
    pub unit: Unit,
    /// Counter or gauge.
    pub kind: ColumnKind,
    /// How well it is known.
    pub quality: Quality,
    /// What it means, one sentence.
    pub help: Cow<'static, str>,
    /// Where it is read: file and field.
    pub source: Cow<'static, str>,
    /// The kernel since which it exists; empty where any supported one has it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub since: Cow<'static, str>,
}

impl Column {
    /// A counter of exact quality.
    pub const fn counter(
        name: &'static str,
        unit: Unit,
        help: &'static str,
        source: &'static str,
    ) -> Self {
        Self::declared(name, unit, ColumnKind::Counter, help, source)
    }

    /// A gauge of exact quality.
    pub const fn gauge(
        name: &'static str,
        unit: Unit,
        help: &'static str,
        source: &'static str,
    ) -> Self {
        Self::declared(name, unit, ColumnKind::Gauge, help, source)
    }

    /// The same column with another quality.
    pub const fn quality(mut self, quality: Quality) -> Self {
        self.quality = quality;
        self
    }

    /// The same column, read since a kernel version.
    pub const fn since(mut self, version: &'static str) -> Self {
        // A borrowed Cow has nothing to drop; assigning would need a const destructor.
        let old = std::mem::replace(&mut self.since, Cow::Borrowed(version));
        std::mem::forget(old);
        self
    }

    /// Room for the columns that a constant puts together.
    pub const BLANK: Self = Self::counter("", Unit::Count, "", "");

    /// Puts columns into places from `first` on.
    pub const fn put<const N: usize>(columns: &mut [Self], first: usize, mut own: [Self; N]) {
        let mut place = 0;
        while place < N {
            std::mem::swap(&mut columns[first + place], &mut own[place]);
            place += 1;
        }
        // As in `since`: what was there is blank.
        std::mem::forget(own);
    }

    const fn declared(
        name: &'static str,
        unit: Unit,
        kind: ColumnKind,
        help: &'static str,
        source: &'static str,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            unit,
            kind,
            quality: Quality::Exact,
            help: Cow::Borrowed(help),
            source: Cow::Borrowed(source),
            since: Cow::Borrowed(""),
        }
    }
}

/// What a table's rows are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Readings of the same things again and again: between two rows a counter grows evenly and a gauge holds.
    #[default]
    Readings,
    /// Each row is something that happened, and says nothing of the time around it.
    Events,
    /// Each row describes something that rows of any time refer to.
    Definitions,
}

impl RowKind {
    fn is_readings(&self) -> bool {
        *self == RowKind::Readings
    }
}

/// A table: rows of (time, entity, one integer or nothing per column).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Unique name, also the file's name in a recording.
    pub name: Cow<'static, str>,
    /// What kind of entity its rows are about.
    pub entity: EntityKind,
    /// What it holds, one sentence.
    pub help: Cow<'static, str>,
    /// The columns, in the order of the values of a row.
    pub columns: Cow<'static, [Column]>,
    /// The column of table `coverage` that has the time in which its counters were counted; empty where that is
    /// always.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub covered_by: Cow<'static, str>,
    /// What its rows are.
    #[serde(default, skip_serializing_if = "RowKind::is_readings")]
    pub rows: RowKind,
}

impl Table {
    /// A table declared in the code.
    pub const fn new(
        name: &'static str,
        entity: EntityKind,
        help: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            entity,
            help: Cow::Borrowed(help),
            columns: Cow::Borrowed(columns),
            covered_by: Cow::Borrowed(""),
            rows: RowKind::Readings,
        }
    }

    /// The same table, whose rows are something else than readings.
    pub const fn rows(mut self, rows: RowKind) -> Self {
        self.rows = rows;
        self
    }

    /// The same table, whose counters are counted in on-windows only: those of a column of table `coverage`.
    pub const fn covered_by(mut self, column: &'static str) -> Self {
        // As in `Column::since`.
        let old = std::mem::replace(&mut self.covered_by, Cow::Borrowed(column));
        std::mem::forget(old);
        self
    }

    /// The position of a column.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }
}
