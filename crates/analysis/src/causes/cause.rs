//! What a cause declares of itself, and what it answers.
//!
//! Everything that can be said of a cause before a recording is looked at is a field here; its
//! `judge` holds the rest: what must be true beside, and the sentence.

use model::{Finding, LedgerClass};

use super::family::Family;
use crate::facts::Facts;
use crate::thresholds::Threshold;

/// A cause that can be judged.
pub struct Cause {
    /// Its name: `cpu.saturated`.
    pub name: &'static str,
    /// What it means, one sentence.
    pub help: &'static str,
    /// Whom a finding is about.
    pub about: &'static str,
    /// How it stands to the other causes.
    pub kind: Kind,
    /// Where in the account its time is seen.
    pub family: Family,
    /// How it is told, and from what it is told apart; paragraphs.
    pub told_by: &'static str,
    /// The thresholds that it is judged by.
    pub thresholds: &'static [Threshold],
    /// Causes which explain the same time where they were found: then this one is absent.
    pub upstream: &'static [Upstream],
    /// The wait of the target that it consists of, if it is one.
    pub wait: Option<Wait>,
    /// Changes that would spare the target the share of the finding.
    pub would_help: &'static [&'static str],
    /// What would not help, beside what the target was seen not to wait for; `None` where nothing is said.
    pub would_not_help: Option<&'static [&'static str]>,
    /// How a finding can be refuted; empty where that depends on the recording.
    pub to_confirm: &'static str,
    pub(super) judge: fn(&Case<'_>) -> Judgement,
}

/// How a cause stands to the others: which goes before which, whatever their shares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// What the findings amount to: healthy, undetermined.
    State,
    /// Something broke: it leads whatever it cost.
    Failure,
    /// It holds the target back.
    Limit,
    /// It adds to a limit.
    Part,
    /// The load asks for no more.
    Intent,
}

/// A cause, judged before, that explains the same time.
pub enum Upstream {
    /// All of that time, whatever its share.
    All(&'static str),
    /// That time where its own share is most of it.
    Most(&'static str),
    /// All of that time, unless the facts say that it is something else.
    Unless(&'static str, fn(&Facts<'_>) -> bool),
    /// All of that time, in a sentence of its own.
    Worded(&'static str, fn(&Finding) -> String),
}

/// A wait that must hold a part of the response time.
pub struct Wait {
    /// What the target's threads are in.
    pub classes: &'static [LedgerClass],
    /// Least part of the response time, lag aside.
    pub least: Threshold,
    /// What the target was doing, to follow its name and "was".
    pub doing: &'static str,
}

/// One cause before its judge: the facts of a window, and the answers of the causes before it.
pub(crate) struct Case<'a> {
    pub(super) cause: &'static Cause,
    pub(super) facts: &'a Facts<'a>,
    /// The causes that were judged before, in that order.
    pub(super) before: &'a [(&'static Cause, Judgement)],
    /// What part of the least wait is enough (0 to 1).
    pub(super) enough: f64,
}

/// What a cause answers: a finding, or why there is none.
pub(crate) type Judgement = Result<Finding, NoFinding>;

/// Why a cause has no finding.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NoFinding {
    /// It is not there, and why.
    Absent(String),
    /// What would tell was not seen.
    CannotTell(String),
}

/// The cause is not there.
pub(super) fn absent<T>(why: impl Into<String>) -> Result<T, NoFinding> {
    Err(NoFinding::Absent(why.into()))
}

/// What would tell was not seen.
pub(super) fn cannot_tell<T>(why: impl Into<String>) -> Result<T, NoFinding> {
    Err(NoFinding::CannotTell(why.into()))
}
