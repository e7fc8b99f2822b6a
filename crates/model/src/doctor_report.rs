//! What a machine allows: the answer of `stallscope doctor`, whose field names are its documented JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON of `doctor`.
pub const DOCTOR_SCHEMA: &str = "stallscope.doctor/2";

/// Whether something that Stallscope could use is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It is available.
    Fine,
    /// It is missing, switched off, or not allowed.
    Missing,
    /// What was read does not decide it.
    CannotTell,
}

/// How a lack is fixed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Fix {
    /// What to know about the fix: where to apply it, how long it lasts. Commands may be absent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub how: String,
    /// Commands to type in this order, as they are.
    pub commands: Vec<String>,
}

/// The answer of one check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// The check's stable name: `pressure`, `run_queue`.
    pub check: String,
    /// Whether it is available.
    pub availability: Availability,
    /// One full sentence: what was read, where, and what it says.
    pub sentence: String,
    /// What the lack costs, in terms of verdicts; empty where no verdict of this version needs it, and
    /// where nothing is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub costs: String,
    /// What would fix it; `None` where there is nothing to fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Capability {
    /// Whether the lack affects verdicts.
    pub fn hurts(&self) -> bool {
        self.availability == Availability::Missing && !self.costs.is_empty()
    }

    /// The check's name for people.
    pub fn title(&self) -> String {
        self.check.replace('_', " ")
    }
}

/// What a machine allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// The version of this format: `stallscope.doctor/2`.
    pub schema: String,
    /// One sentence: what works, and what is missing.
    pub summary: String,
    /// The machine in a line: distribution, kernel, CPUs, and the user that asked.
    pub machine: String,
    /// The folder that was examined: `/`, or the one that was named.
    pub root: String,
    /// Every check, the most important first.
    pub capabilities: Vec<Capability>,
}
