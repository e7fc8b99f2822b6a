//! One quantity of a phase, and how it is told.

use model::Entity;

use crate::number_format::{duration, percent, rate, storage};

/// What sees the same thing: of one family one measure is told, the first that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Quota,
    Cpu,
    Busy,
    Steal,
    Disk,
    Sync,
    Memory,
    Lock,
    Code,
    Others,
}

/// What the values of a measure count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Share,
    Cpus,
    BytesPerSecond,
    BytesPerRequest,
    NsPerRequest,
}

impl Unit {
    pub(super) fn word(self) -> &'static str {
        match self {
            Unit::Share => "share",
            Unit::Cpus => "cpus",
            Unit::BytesPerSecond => "bytes_per_second",
            Unit::BytesPerRequest => "bytes_per_request",
            Unit::NsPerRequest => "ns_per_request",
        }
    }

    /// A value as it stands in a sentence.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Unit::Share => percent(value),
            Unit::Cpus if value < 0.001 => "0".to_owned(),
            Unit::Cpus => rate(value),
            Unit::BytesPerSecond if value < 1.0 => "0".to_owned(),
            Unit::BytesPerSecond => format!("{}/s", storage(value)),
            Unit::BytesPerRequest if value < 1.0 => "0".to_owned(),
            Unit::BytesPerRequest => storage(value),
            Unit::NsPerRequest => duration(value),
        }
    }
}

/// One quantity over the pieces of a phase.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measure {
    pub(super) what: String,
    pub(super) family: Family,
    pub(super) column: String,
    pub(super) entity: Entity,
    pub(super) unit: Unit,
    /// What a sentence about it begins with.
    pub(super) subject: String,
    /// What it ends with.
    pub(super) of: &'static str,
    /// A value for each piece; NaN where it is not known.
    pub(super) values: Vec<f64>,
}

impl Measure {
    /// Whether two are of the same thing.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        self.column == other.column && self.unit == other.unit && self.entity == other.entity
    }
}
