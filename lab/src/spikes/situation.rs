//! What a situation with spikes is: what makes them, how often, and what the right answer is.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use model::{Trigger, TriggerKind};

use crate::stage::Stage;

/// A server under a load that is far below what it can do, and something that makes it stall now and then.
pub struct Situation {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// When it stalls.
    pub timing: Timing,
    /// How late after an event its spike may begin, s.
    pub follows: f64,
    /// First triggers that are right.
    pub answer: Answer,
    /// Makes it. `Err` inside says why this machine cannot.
    pub set_up: fn(&mut Stage, Variant) -> Result<Result<Made, String>>,
}

/// When events come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Timing {
    /// With a period, s.
    Recurring(f64),
    /// By the server's own clock, with a period, s.
    OwnClock(f64),
    /// At random, this long from each other, s, in the mean.
    Random(f64),
    /// Never.
    Never,
}

/// How events recur.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// Each cycle has one, not quite on time.
    Jitter,
    /// And one in five has none.
    Missed,
    /// They have no period.
    Aperiodic,
}

impl Variant {
    /// The end of a run's name.
    pub const fn word(self) -> &'static str {
        match self {
            Variant::Jitter => "jitter",
            Variant::Missed => "missed",
            Variant::Aperiodic => "aperiodic",
        }
    }
}

impl Situation {
    /// Those in which it is made.
    pub fn variants(&self) -> &'static [Variant] {
        match self.timing {
            Timing::Recurring(_) | Timing::OwnClock(_) => &[Variant::Jitter, Variant::Missed],
            Timing::Random(_) | Timing::Never => &[Variant::Aperiodic],
        }
    }

    /// Period of its events, s; `None` where they have none.
    pub fn period(&self) -> Option<f64> {
        match self.timing {
            Timing::Recurring(period) | Timing::OwnClock(period) => Some(period),
            Timing::Random(_) | Timing::Never => None,
        }
    }
}

/// A situation that is set up.
pub struct Made {
    /// What `--target` is given.
    pub target: String,
    /// What asks the server.
    pub load: Command,
    /// Logs of the situation, for `--log`.
    pub logs: Vec<PathBuf>,
    /// Who makes it stall.
    pub by: By,
}

/// Who makes it stall, at the times of a schedule.
pub enum By {
    /// A process of this name does one of these things.
    Process(&'static str, Vec<String>),
    /// The server, which reads `SCHEDULE` in the stage's folder and writes `NOTED`.
    Server,
    /// PostgreSQL's checkpointer: its log says when. Beside it a process of this name does these things, at these
    /// times, s after that instant.
    Checkpointer(&'static str, Instant, Vec<(f64, String)>),
}

/// The schedule of what makes the spikes, in the stage's folder.
pub const SCHEDULE: &str = "schedule";
/// And when it was done: the truth.
pub const NOTED: &str = "noted";

/// Which first trigger is right.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Any of these.
    pub any_of: &'static [Named],
    /// That none is named is right too: nothing outside of the server starts its spikes.
    pub or_none: bool,
}

/// A trigger, by what a reader would look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// The start of a program whose command line, or whose parent's, has this word.
    Program(&'static str),
    /// A process of this name, whatever it does: connects, sends, works.
    Process(&'static str),
    /// A line of a log with this in its template.
    Line(&'static str),
    /// A counter whose name has this in it.
    Counter(&'static str),
}

impl Named {
    fn is(self, trigger: &Trigger) -> bool {
        let Trigger {
            kind, name, parent, ..
        } = trigger;
        match self {
            Named::Program(word) => {
                let parent = parent.as_deref().unwrap_or_default();
                *kind == TriggerKind::Program && (name.contains(word) || parent.contains(word))
            }
            Named::Process(own) => {
                let kinds = [
                    TriggerKind::Connections,
                    TriggerKind::Sends,
                    TriggerKind::CpuBurst,
                ];
                kinds.contains(kind) && name.split(' ').next() == Some(own)
            }
            Named::Line(words) => *kind == TriggerKind::Log && name.contains(words),
            Named::Counter(words) => *kind == TriggerKind::Counter && name.contains(words),
        }
    }
}

impl Answer {
    /// Any of some triggers.
    pub const fn any_of(any_of: &'static [Named]) -> Self {
        Self {
            any_of,
            or_none: false,
        }
    }

    /// The place of the first right one among triggers, from 0.
    pub fn place(&self, triggers: &[Trigger]) -> Option<usize> {
        let is_right = |it: &Trigger| self.any_of.iter().any(|named| named.is(it));
        match triggers {
            [] if self.or_none => Some(0),
            _ => triggers.iter().position(is_right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Confidence;

    fn trigger(kind: TriggerKind, name: &str, parent: Option<&str>) -> Trigger {
        Trigger {
            kind,
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            node: None,
            entity: None,
            events: 1,
            followed: 1,
            recall: 1.0,
            precision: 1.0,
            lift: 1.0,
            lag_ns: 0.0,
            lag_spread_ns: 0.0,
            resolution_ns: 0.0,
            p_value: 0.0,
            confidence: Confidence::Suspected,
        }
    }

    #[test]
    fn a_script_is_named_by_itself_or_by_what_it_starts() {
        let answer = Answer::any_of(&[Named::Program("rotate-logs")]);
        let other = trigger(TriggerKind::Program, "sh sync-mail", Some("lab-crowd"));
        let child = trigger(TriggerKind::Program, "dd", Some("sh rotate-logs"));
        let burst = trigger(TriggerKind::CpuBurst, "rotate-logs", None);
        assert_eq!(answer.place(&[other.clone(), child]), Some(1));
        assert_eq!(answer.place(&[other, burst]), None);
        assert_eq!(answer.place(&[]), None);
    }

    #[test]
    fn a_process_is_named_by_its_connections_and_none_may_be_right() {
        let own = Answer {
            any_of: &[Named::Process("lab-serve")],
            or_none: true,
        };
        let burst = |name| [trigger(TriggerKind::Connections, name, None)];
        assert_eq!(own.place(&burst("lab-serve -> :17")), Some(0));
        assert_eq!(own.place(&burst("lab-serves -> :17")), None);
        assert_eq!(own.place(&[]), Some(0));
    }
}
