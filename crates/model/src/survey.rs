//! What a machine allows: the answer of `stallscope doctor`, whose field names are its documented JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of a survey's JSON.
pub const SURVEY_SCHEMA: &str = "stallscope.doctor/1";

/// Whether something that Stallscope could use is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It is there, and may be used.
    Fine,
    /// It is not there, switched off, or not allowed.
    Lacking,
    /// What was read does not tell.
    CannotTell,
}

/// How a lack is mended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Mend {
    /// What to know of it: where it is done, how long it holds. May be all there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub how: String,
    /// What to type, in this order, as it stands.
    pub commands: Vec<String>,
}

/// What was said of one thing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// Which: `pressure`, `run_queue`. Stable.
    pub check: String,
    /// Whether it is there.
    pub availability: Availability,
    /// One full sentence: what was read, where, and what it says.
    pub sentence: String,
    /// What its lack costs, in Stallscope's words; empty where no verdict of this version needs it, and
    /// where nothing lacks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub costs: String,
    /// What would mend it; `None` where nothing is to be mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mend: Option<Mend>,
}

impl Capability {
    /// Whether verdicts are poorer for it.
    pub fn hurts(&self) -> bool {
        self.availability == Availability::Lacking && !self.costs.is_empty()
    }

    /// The check as people call it.
    pub fn title(&self) -> String {
        self.check.replace('_', " ")
    }
}

/// What a machine allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Survey {
    /// The version of this format: `stallscope.doctor/1`.
    pub schema: String,
    /// One sentence: what works, and what lacks.
    pub summary: String,
    /// The machine in a line: distribution, kernel, CPUs, and as whom it was asked.
    pub machine: String,
    /// Where its files stood: `/`, or the folder that was named.
    pub root: String,
    /// Every check, the weightiest first.
    pub capabilities: Vec<Capability>,
}
