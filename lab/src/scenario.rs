//! What a scenario is: a situation whose cause is known because it is made, with the answer that
//! must be found. Making it (`set_up`) ends with the command that loads it; `runs` records that.

use std::ffi::OsString;
use std::fmt;

use anyhow::Result;

use crate::stage::Stage;
pub use crate::step::Later;
pub use crate::who::Who;

/// A situation with a known cause.
pub struct Scenario {
    /// Its name on the command line and in result files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What it is there for.
    pub kind: Kind,
    /// What must be found.
    pub expect: Expect,
    /// Length of its load, s.
    pub seconds: u32,
    /// What the cause costs, so that `validate` can tell whether it is a situation at all.
    pub costs: Costs,
    /// Makes the situation, or the same load without its cause.
    pub set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
}

impl Scenario {
    /// Whether nothing is wrong in it.
    pub fn is_innocent(&self) -> bool {
        matches!(self.kind, Kind::Healthy | Kind::Decoy)
    }
}

/// Length of a scenario's load, s: a whole steady phase, short enough to be repeated often.
pub const SECONDS: u32 = 11;

/// What a scenario is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One cause that must be named.
    Cause,
    /// Nothing is wrong.
    Healthy,
    /// Something looks wrong and costs nothing.
    Decoy,
    /// A workload that nothing was tuned on: made only when asked for.
    HeldOut,
}

/// Whether the cause is there: the same load without it shows what it costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// As `run` makes it.
    Made,
    /// Taken away.
    Removed,
}

/// By what the cause hurts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Costs {
    /// Fewer operations per second.
    Throughput,
    /// Longer operations: for loads that ask for the same amount with and without the cause.
    Latency,
    /// Nothing noticeable: a decoy.
    Little,
    /// Not to be validated, and why.
    NotAsked(&'static str),
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
    /// For a run with steps: the cause of each phase, in order. Then these are what must be found.
    pub phases: &'static [(&'static str, Who)],
}

impl Expect {
    /// One cause, of one entity.
    pub const fn one(cause: &'static str, entity: Who) -> Self {
        Self {
            cause,
            entity,
            also: None,
            phases: &[],
        }
    }

    /// All is well, and each client waited for its own answer.
    pub const fn few_clients() -> Self {
        Self {
            also: Some("load.concurrency"),
            ..Self::healthy()
        }
    }

    /// All is well, and the load was limited by what it asked for.
    pub const fn healthy() -> Self {
        Self {
            cause: "healthy",
            entity: Who::Target,
            also: Some("load.rate"),
            phases: &[],
        }
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.phases.is_empty() {
            write!(f, "{} of {}", self.cause, self.entity)?;
        }
        for (number, (cause, entity)) in self.phases.iter().enumerate() {
            let then = if number == 0 { "" } else { ", then " };
            write!(f, "{then}{cause} of {entity}")?;
        }
        self.also.map_or(Ok(()), |also| write!(f, ", with {also}"))
    }
}

/// What setting up came to.
pub enum SetUp {
    /// What loads the situation.
    Ready(Load),
    /// This machine cannot be brought into it, and why.
    NotHere(String),
}

/// The load of a scenario, and what `stallscope run` is told about it.
pub struct Load {
    /// The command, to be run below `stallscope run --`.
    pub command: Vec<OsString>,
    /// Options of `stallscope run`, with their values; those that the program under test does not
    /// know are left out.
    pub options: Vec<(&'static str, OsString)>,
    /// What changes while it runs.
    pub later: Option<Later>,
}

impl Load {
    /// A command without anything special.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            command: words.into_iter().map(Into::into).collect(),
            options: Vec::new(),
            later: None,
        }
    }

    /// With an option for `stallscope run`.
    pub fn with(mut self, option: &'static str, value: impl Into<OsString>) -> Self {
        self.options.push((option, value.into()));
        self
    }

    /// What `set_up` returns.
    pub fn ready(self) -> Result<SetUp> {
        Ok(SetUp::Ready(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_a_sentence() {
        assert_eq!(
            Expect::healthy().to_string(),
            "healthy of the target, with load.rate"
        );
        let steps = Expect {
            phases: &[
                ("cpu.saturated", Who::Target),
                ("cpu.quota", Who::LimitedGroup),
            ],
            ..Expect::one("cpu.quota", Who::LimitedGroup)
        };
        assert_eq!(
            steps.to_string(),
            "cpu.saturated of the target, then cpu.quota of the limited group"
        );
    }

    #[test]
    fn options_keep_their_values() {
        let load = Load::new(["pgbench", "-S"]).with("--target", "pid:7");
        assert_eq!(load.options, [("--target", OsString::from("pid:7"))]);
        assert_eq!(load.command.len(), 2);
    }
}
