//! What a scenario is: a situation whose cause is known because it is made, with the answer that
//! must be found. Making it (`set_up`) ends with the command that loads it; `runs` records that.

use std::ffi::OsString;
use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::groups::Group;
use crate::postgres::Postgres;

/// Length of a scenario's load, s: a whole steady phase, short enough to be repeated often.
pub const SECONDS: &str = "20";

/// A situation with a known cause.
pub struct Scenario {
    /// Its name on the command line and in result files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What must be found.
    pub expect: Expect,
    /// Makes the situation.
    pub set_up: fn(&mut Stage) -> Result<SetUp>,
}

/// The answer that must be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expect {
    /// The first finding's cause: `cpu.saturated`.
    pub cause: &'static str,
    /// Whom the first finding is about.
    pub entity: Who,
    /// A cause that must be among the other findings.
    pub also: Option<&'static str>,
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.cause, self.entity)?;
        self.also.map_or(Ok(()), |also| write!(f, ", with {also}"))
    }
}

/// Whom a finding is about, by part and never by name: names are the verdict's own choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// A subject with the role of the target.
    Target,
    /// A subject with the role of the generator.
    Generator,
    /// The control group that the scenario limited.
    LimitedGroup,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Who::Target => "the target",
            Who::Generator => "the generator",
            Who::LimitedGroup => "the limited group",
        })
    }
}

/// What setting up came to.
pub enum SetUp {
    /// The command that loads the situation, to be run below `stallscope run --`.
    Ready(Vec<OsString>),
    /// This machine cannot be brought into it, and why.
    NotHere(String),
}

/// What a scenario is made on. Dropped, everything is as before: the server ends first, then its
/// groups are empty and are removed.
pub struct Stage {
    /// A server of its own, filled, idle.
    pub server: Postgres,
    /// The groups that were made, held until the end.
    pub groups: Vec<Group>,
    /// Path of the group that was limited, as reports name it.
    pub limited_group: Option<String>,
}

impl Stage {
    /// A fresh server without limits.
    pub fn new() -> Result<Self> {
        Ok(Self {
            server: Postgres::start()?,
            groups: Vec::new(),
            limited_group: None,
        })
    }

    /// Writes a script for the generator into the stage's folder.
    pub fn script(&self, text: &str) -> Result<OsString> {
        let path = self.server.folder().join("load.sql");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.into_os_string())
    }
}

/// A command from words.
pub fn command(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}
