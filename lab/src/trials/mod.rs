//! Trials: one rough thing each that is done to the program again and again, and what must hold
//! every time. A round is small and has a number, which seeds whatever is random in it: a round that
//! failed can be made again alone.
//!
//! To add a trial: a file here and one line in `all()`.

mod blocked_terminal;
mod churn_groups;
mod churn_processes;
mod churn_threads;
mod claims;
mod damage;
mod full_disk;
mod kill;
mod many;
mod names;
mod own_time;
mod pid_reuse;
mod prove;
mod recorder;
mod removed_group;
mod starve;
mod stopped;
mod thrash;
mod traces;
mod usage;

use std::path::Path;

use anyhow::{Context, Result};

/// One rough thing, done in rounds.
pub(crate) struct Trial {
    /// As it is called on the command line.
    pub(crate) name: &'static str,
    /// What is done and what must hold, one sentence.
    pub(crate) about: &'static str,
    /// Rounds of the long form (`stallscope-lab soak`).
    pub(crate) rounds: u32,
    /// Rounds of the short form (`soak --short`, in `make test`).
    pub(crate) short: u32,
    /// Why it cannot be done here.
    pub(crate) lack: fn() -> Option<String>,
    /// One round; the error is the sentence that did not hold.
    round: fn(&Round<'_>) -> Result<()>,
}

/// What one round is given.
pub(crate) struct Round<'a> {
    /// Its number, from 0: the seed of what is random.
    pub(crate) number: u32,
    /// Whether few rounds are made, which must be over soon.
    pub(crate) short: bool,
    /// The program under test.
    pub(crate) program: &'a Path,
    /// An empty folder of its own; kept when the round fails.
    pub(crate) folder: &'a Path,
}

impl Trial {
    /// Makes one round, and ends what it left running.
    pub(crate) fn make(&self, round: &Round<'_>) -> Result<()> {
        let made = (self.round)(round);
        recorder::end_offspring(round.folder);
        made
    }
}

/// All trials.
pub(crate) fn all() -> &'static [&'static Trial] {
    static ALL: &[&Trial] = &[
        &kill::TRIAL,
        &damage::TRIAL,
        &full_disk::TRIAL,
        &stopped::TRIAL,
        &many::TRIAL,
        &starve::TRIAL,
        &thrash::TRIAL,
        &churn_groups::TRIAL,
        &churn_processes::TRIAL,
        &churn_threads::TRIAL,
        &removed_group::TRIAL,
        &pid_reuse::TRIAL,
        &names::TRIAL,
        &blocked_terminal::TRIAL,
        &prove::KILLED,
        &prove::BOTH_KILLED,
    ];
    ALL
}

/// The trials of those names; all where none is named.
pub(crate) fn chosen(names: &[String]) -> Result<Vec<&'static Trial>> {
    if names.is_empty() {
        return Ok(all().to_vec());
    }
    let known: Vec<&str> = all().iter().map(|trial| trial.name).collect();
    let find = |name: &String| {
        let found = all().iter().copied().find(|trial| trial.name == name);
        found.with_context(|| format!("there is no trial {name}; there are: {}", known.join(", ")))
    };
    names.iter().map(find).collect()
}
