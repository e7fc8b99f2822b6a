//! What an application reports of itself before spikes: what it counts, logs or runs, and which of its chores that is.

use model::{Trigger, TriggerKind};
use sensors::statement::Rare;

use super::cause::{Case, Judgement};
use super::events;

/// A chore that an application reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chore {
    Checkpoint,
    Vacuum,
    /// A change of the schema, or of who may do what with it.
    Definition,
    GarbageCollection,
    /// Anything else.
    Other,
}

/// Words that tell one in the name of a counter, or in a log's template.
const TOLD_BY: [(Chore, &[&str]); 3] = [
    (Chore::Checkpoint, &["checkpoint"]),
    (Chore::Vacuum, &["vacuum"]),
    (
        Chore::GarbageCollection,
        &[
            "garbage",
            "safepoint",
            // HotSpot's counters of the recording, and lines of its `-Xlog:gc`, by their phases.
            "collector",
            "pause full",
            "pause young",
            "pause remark",
            "pause cleanup",
            "mark live objects",
        ],
    ),
];

/// The finding where a chore comes first before the spikes.
pub(super) fn judge(case: &Case<'_>, chore: Chore) -> Judgement {
    let is_meant = |it: &Trigger| Chore::of(it) == Some(chore);
    events::started_by(case, is_meant, |trigger| match trigger.kind {
        TriggerKind::Log => format!("`{}` is logged", trigger.name),
        TriggerKind::Calls => format!("{} is called far more", trigger.name),
        TriggerKind::Statement => format!("`{}` runs", trigger.name),
        _ => format!("{} grows", trigger.name),
    })
}

impl Chore {
    /// `None` for what no application reports of itself.
    fn of(trigger: &Trigger) -> Option<Self> {
        let name = trigger.name.to_lowercase();
        match trigger.kind {
            TriggerKind::Statement => Some(Self::of_statement(&name)),
            // A server that logs its statements: `log: statement: grant select on <*>`.
            TriggerKind::Log => Some(match name.split_once("statement: ") {
                Some((_, statement)) => Self::of_statement(statement),
                None => Self::of_words(&name),
            }),
            TriggerKind::Counter => Some(Self::of_words(&name)),
            TriggerKind::Calls => Some(Self::Other),
            TriggerKind::Program
            | TriggerKind::Connections
            | TriggerKind::Sends
            | TriggerKind::CpuBurst => None,
        }
    }

    fn of_statement(text: &str) -> Self {
        match Rare::of(text) {
            Some(Rare::Checkpoint) => Self::Checkpoint,
            Some(Rare::Vacuum | Rare::Analyze) => Self::Vacuum,
            Some(Rare::Grant | Rare::Definition | Rare::Truncate | Rare::Reindex) => {
                Self::Definition
            }
            Some(Rare::Lock | Rare::Refresh) | None => Self::Other,
        }
    }

    fn of_words(name: &str) -> Self {
        let is_told = |words: &[&str]| words.iter().any(|it| name.contains(it));
        if let Some((chore, _)) = TOLD_BY.iter().find(|(_, words)| is_told(words)) {
            return *chore;
        }
        let mut words = name.split(|it: char| !it.is_alphanumeric());
        match words.any(|it| it == "gc") {
            true => Self::GarbageCollection,
            false => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_counters_and_lines_of_logs_tell_the_chore() {
        for (name, expected) in [
            (
                "<*> utc <*> log: checkpoint starting: time",
                Chore::Checkpoint,
            ),
            (
                "postgres: pg_stat_bgwriter_checkpoints_timed_total",
                Chore::Checkpoint,
            ),
            (
                "<*> log: automatic vacuum of table <*> index scans: <*>",
                Chore::Vacuum,
            ),
            ("<*> ] <*> pause full <*>", Chore::GarbageCollection),
            ("<*> phase <*> mark live objects", Chore::GarbageCollection),
            ("java: collector1_collections", Chore::GarbageCollection),
            (
                "api: go_gc_duration_seconds_count",
                Chore::GarbageCollection,
            ),
            ("postgres: deadlocks", Chore::Other),
            ("<*> info gcloud upload of <*>", Chore::Other),
        ] {
            assert_eq!(Chore::of_words(name), expected, "{name}");
        }
    }

    #[test]
    fn statements_tell_it_by_their_first_word() {
        for (text, expected) in [
            ("grant, revoke (214 statements)", Chore::Definition),
            ("create, alter, drop, comment", Chore::Definition),
            ("checkpoint", Chore::Checkpoint),
            ("analyze", Chore::Vacuum),
            ("lock table t", Chore::Other),
            ("", Chore::Other),
            ("\u{e9}grant", Chore::Other),
        ] {
            assert_eq!(Chore::of_statement(text), expected, "{text}");
        }
    }
}
