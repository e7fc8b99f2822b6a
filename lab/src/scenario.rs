//! What a scenario is: a situation whose cause is known because it is made, with the answer that
//! must be found. Making it (`set_up`) ends with the command that loads it; `runs` records that.

use std::ffi::OsString;
use std::fmt;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::stage::Stage;
pub use crate::step::Later;
pub use crate::who::Who;

/// A situation with a known cause.
pub struct Scenario {
    /// Its name on the command line and in result files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Which set it belongs to.
    pub set: Set,
    /// What makes it slow, in a few words. Situations of one mechanism count once, however many
    /// servers show it.
    pub mechanism: &'static str,
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
    /// A situation of a set with one cause, which costs throughput: its name, what makes it slow, and what it does.
    pub fn of_one_cause(
        set: Set,
        [name, mechanism, about]: [&'static str; 3],
        expect: Expect,
        set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
    ) -> Self {
        Self {
            name,
            about,
            set,
            mechanism,
            kind: Kind::Cause,
            expect,
            seconds: SECONDS,
            costs: Costs::Throughput,
            set_up,
        }
    }
}

/// Length of a scenario's load, s: a whole steady phase, short enough to be repeated often.
pub const SECONDS: u32 = 11;

/// Which situations were written together. A set is held out only until the diagnosis is changed
/// for the sake of what it showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Set {
    /// Those that the thresholds were chosen on.
    Tuned,
    /// Other servers with causes of the tuned ones.
    HeldOut,
    /// Servers, runtimes and mechanisms that the diagnosis had not met when they were written.
    #[value(name = "strangers-1")]
    Strangers1,
    /// Other servers, and other shapes of the causes, written while the engine changed for the first
    /// strangers.
    #[value(name = "strangers-2")]
    Strangers2,
    /// Other mechanisms again, written by somebody who had not read the engine.
    #[value(name = "strangers-3")]
    Strangers3,
    /// Causes that come in by another door, written by somebody else who had not read the engine.
    #[value(name = "strangers-4")]
    Strangers4,
    /// Causes that a server's own settings bring in, by a third writer who had not read the engine.
    #[value(name = "strangers-5")]
    Strangers5,
    /// Causes of which the usual figures say little or nothing, by a fourth writer who had not read the engine.
    #[value(name = "strangers-6")]
    Strangers6,
    /// Faults that are met every week, by a fifth writer who had not read the engine.
    #[value(name = "strangers-7")]
    Strangers7,
    /// Ordinary servers that their settings, their users and their own code slow down, by a sixth writer who had not
    /// read the engine.
    #[value(name = "strangers-8")]
    Strangers8,
    /// Settings, code and users again, by a seventh writer who had not read the engine.
    #[value(name = "strangers-9")]
    Strangers9,
    /// Settings, code and users once more, by an eighth writer who had not read the engine.
    #[value(name = "strangers-10")]
    Strangers10,
    /// What was reported in public, by a ninth writer who had not read the engine.
    #[value(name = "strangers-11")]
    Strangers11,
    /// What people have met in the field and have written about, by a writer who had not read the engine.
    #[value(name = "strangers-12")]
    Strangers12,
    /// What runbooks, manuals and checklists say of nearly every system, by a writer who had not read the engine.
    #[value(name = "strangers-13")]
    Strangers13,
    /// What is asked and reported most often in public, by a writer who had not read the engine.
    #[value(name = "strangers-14")]
    Strangers14,
    /// What incidents, runbooks and support pages report most often, by a writer who had not read the engine.
    #[value(name = "strangers-15")]
    Strangers15,
    /// What tuning guides, manuals and the forums of users answer again and again, by a writer who had not read the engine.
    #[value(name = "strangers-16")]
    Strangers16,
    /// What engineers of databases, web services and reliability report most often, by a writer who had not read the engine.
    #[value(name = "strangers-17")]
    Strangers17,
    /// What courses, consultancies and vendors say is met most often, by a writer who had not read the engine.
    #[value(name = "strangers-18")]
    Strangers18,
}

/// What a scenario is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One cause that must be named.
    Cause,
    /// Two causes at once, and both must be named.
    TwoCauses,
    /// A cause for which the diagnosis has no name: to say that it cannot tell is right.
    Unnamed,
    /// Nothing is wrong.
    Healthy,
    /// Something looks wrong and costs nothing.
    Decoy,
}

impl Kind {
    /// In a word or two.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Cause => "cause",
            Kind::TwoCauses => "two causes",
            Kind::Unnamed => "undetermined is right",
            Kind::Healthy => "healthy",
            Kind::Decoy => "decoy",
        }
    }
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
    /// First findings that are right as well.
    pub or: &'static [(&'static str, Who)],
    /// A second finding that must be among the first three; either of the two may come first.
    pub and: Option<(&'static str, Who)>,
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
            or: &[],
            and: None,
            also: None,
            phases: &[],
        }
    }

    /// And another at the same time; in any order.
    pub const fn and(self, cause: &'static str, entity: Who) -> Self {
        Self {
            and: Some((cause, entity)),
            ..self
        }
    }

    /// No answer, or one that the diagnosis may have learned to give.
    pub const fn undetermined_or(named: &'static [(&'static str, Who)]) -> Self {
        Self {
            or: named,
            ..Self::one("undetermined", Who::Target)
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
            also: Some("load.rate"),
            ..Self::one("healthy", Who::Target)
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
        for (cause, entity) in self.or {
            write!(f, ", or {cause} of {entity}")?;
        }
        if let Some((cause, entity)) = self.and {
            write!(f, " and {cause} of {entity}")?;
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

/// The load of a scenario, and what `stallscope` is told about it.
pub struct Load {
    /// The command, to be run below `stallscope run --`, or beside `stallscope record`.
    pub command: Vec<OsString>,
    /// By which of its commands `stallscope` records.
    pub recorded: Recorded,
    /// Options of that command, with their values; those that the program under test does not know
    /// are left out.
    pub options: Vec<(&'static str, Option<OsString>)>,
    /// What changes while it runs.
    pub later: Option<Later>,
}

/// By which of its commands `stallscope` records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// `run` starts the load.
    Run,
    /// `record` looks at a server that is named, and is told nothing of the load, which runs already
    /// and goes on after it.
    Record,
}

impl Recorded {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Recorded::Run => "run",
            Recorded::Record => "record",
        }
    }
}

/// For how long a load runs before `record` begins, and again after it ended.
pub const AROUND: Duration = Duration::from_secs(1);

impl Load {
    /// A command without anything special.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            command: words.into_iter().map(Into::into).collect(),
            recorded: Recorded::Run,
            options: Vec::new(),
            later: None,
        }
    }

    /// With an option for `stallscope`.
    pub fn with(mut self, option: &'static str, value: impl Into<OsString>) -> Self {
        self.options.push((option, Some(value.into())));
        self
    }

    /// With an option that takes no value.
    pub fn with_flag(mut self, option: &'static str) -> Self {
        self.options.push((option, None));
        self
    }

    /// Recorded by `record`, with the server's process as its target and nothing else.
    pub fn recorded_beside(mut self, server: u32) -> Self {
        self.recorded = Recorded::Record;
        self.options.clear();
        self.with("--target", format!("pid:{server}"))
    }

    /// The command, to be run beside the program under test.
    pub fn beside(&self, stage: &Stage) -> Result<Command> {
        let (program, words) = self.command.split_first().context("a load is a command")?;
        let mut command = Command::new(program);
        command.args(words);
        stage.serve_command(&mut command);
        Ok(command)
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
    fn two_causes_and_other_right_answers_are_said() {
        let both = Expect::one("a.b", Who::Target).and("c.d", Who::Peer);
        assert_eq!(both.to_string(), "a.b of the target and c.d of the peer");
        let unnamed = Expect::undetermined_or(&[("lock.runtime", Who::Target)]);
        assert_eq!(
            unnamed.to_string(),
            "undetermined of the target, or lock.runtime of the target"
        );
    }

    #[test]
    fn options_keep_their_values() {
        let load = Load::new(["pgbench", "-S"]).with("--target", "pid:7");
        assert_eq!(load.options, [("--target", Some("pid:7".into()))]);
        assert_eq!(load.command.len(), 2);
        let beside = load.with_flag("--no-adjust").recorded_beside(8);
        assert_eq!(beside.options, [("--target", Some("pid:8".into()))]);
        assert_eq!(beside.recorded, Recorded::Record);
    }
}
