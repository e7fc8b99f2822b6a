//! Trials: one rough thing each that is done to the program again and again, and what must hold
//! every time. A round is small and has a number, which seeds whatever is random in it: a round that
//! failed can be made again alone.
//!
//! To add a trial: a file here and one line in `all()`.

use std::path::Path;

use anyhow::{Context, Result, bail};

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
    pub(crate) round: fn(&Round<'_>) -> Result<()>,
}

/// What one round is given.
#[expect(dead_code, reason = "the first trials come next")]
pub(crate) struct Round<'a> {
    /// Its number, from 0: the seed of what is random.
    pub(crate) number: u32,
    /// How many rounds this form of the trial has, for trials that spread over a range.
    pub(crate) of: u32,
    /// The program under test.
    pub(crate) program: &'a Path,
    /// An empty folder of its own; kept when the round fails.
    pub(crate) folder: &'a Path,
}

/// All trials.
pub(crate) fn all() -> &'static [Trial] {
    &[]
}

/// The trials of those names; all where none is named.
pub(crate) fn chosen(names: &[String]) -> Result<Vec<&'static Trial>> {
    if names.is_empty() {
        return Ok(all().iter().collect());
    }
    let known: Vec<&str> = all().iter().map(|trial| trial.name).collect();
    let find = |name: &String| {
        let found = all().iter().find(|trial| trial.name == name);
        found.with_context(|| format!("there is no trial {name}; there are: {}", known.join(", ")))
    };
    let chosen = names.iter().map(find).collect::<Result<Vec<_>>>()?;
    if chosen.is_empty() {
        bail!("there is no trial");
    }
    Ok(chosen)
}
