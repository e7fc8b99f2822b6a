//! Files of results that a tool's command line names: read when the tool has ended, by whoever may open files.

mod operations;

use std::path::PathBuf;

pub(crate) use operations::Timed;
pub use operations::{Operation, Operations};

use model::{ScriptSummary, Sentence, Summary, sentence};

use crate::quote::quote;

/// A file of results that a tool writes.
#[derive(Clone, Debug)]
pub struct ResultsFile {
    /// Where the command line says that it lies, seen from the folder that the tool runs in.
    pub path: PathBuf,
    /// Begins to read it, for a run that began at this time, ns since 1970: a file may hold older runs.
    pub read: fn(i64) -> Box<dyn ResultsReader>,
}

/// Understands a file of results, line by line.
pub trait ResultsReader: Send {
    /// Takes a line without its end.
    fn line(&mut self, line: &[u8]);

    /// Adds what the file says to the closing report, and returns when its operations were, and what there is to remark.
    fn finish(self: Box<Self>, summary: &mut Option<Summary>) -> (Operations, Option<Sentence>);
}

/// Names beyond this are not told apart: they are made up anew for each operation then.
const MOST_NAMES: usize = 1000;

/// Operations by name, in the order in which each name was first met.
#[derive(Default)]
pub(crate) struct Kinds {
    kinds: Vec<ScriptSummary>,
    /// How many of each took how long together, ns.
    took: Vec<(i128, i128)>,
    is_full: bool,
}

impl Kinds {
    /// An operation came to an end.
    pub(crate) fn ended(&mut self, name: &str, is_success: bool) {
        if let Some(at) = self.position(name) {
            let kind = &mut self.kinds[at];
            let count = if is_success {
                &mut kind.completed
            } else {
                &mut kind.failed
            };
            *count = count.map(|count| count + 1);
        }
    }

    /// An operation, successful or not, took so long.
    pub(crate) fn took(&mut self, name: &str, ns: i64) {
        if let Some(at) = self.position(name) {
            let (count, sum) = self.took[at];
            self.took[at] = (count + 1, sum + i128::from(ns));
        }
    }

    fn position(&mut self, name: &str) -> Option<usize> {
        let at = self.kinds.iter().position(|it| it.name == name);
        if at.is_none() && self.kinds.len() == MOST_NAMES {
            self.is_full = true;
            return None;
        }
        Some(at.unwrap_or_else(|| {
            self.kinds.push(ScriptSummary {
                name: name.to_owned(),
                completed: Some(0),
                failed: Some(0),
                ..ScriptSummary::default()
            });
            self.took.push((0, 0));
            self.kinds.len() - 1
        }))
    }

    /// Operations that came to an end.
    pub(crate) fn all(&self) -> u64 {
        let counts = self.kinds.iter().map(|it| (it.completed, it.failed));
        counts
            .map(|(done, failed)| done.unwrap_or(0) + failed.unwrap_or(0))
            .sum()
    }

    /// Adds them to a closing report. What is to be remarked: that there is none, that names were left out, and where it
    /// `is_all` of the run, that the report counts other ones.
    pub(crate) fn add_to(self, summary: &mut Option<Summary>, is_all: bool) -> Option<Sentence> {
        let all = self.all();
        if all == 0 {
            return Some("the file of results holds no operation of this run".into());
        }
        let summary = summary.get_or_insert_with(Summary::default);
        let said = summary.completed.zip(summary.failed);
        let said = said.map(|(done, failed)| done.saturating_add(failed));
        let means = self
            .took
            .iter()
            .map(|(count, sum)| i64::try_from(sum / count.max(&1)).ok());
        let kinds = self.kinds.into_iter().zip(means.collect::<Vec<_>>());
        summary.scripts = kinds
            .map(|(kind, latency_mean_ns)| ScriptSummary {
                name: quote(&kind.name),
                latency_mean_ns,
                ..kind
            })
            .collect();
        if self.is_full {
            return Some(sentence!(
                "the file of results has more than {} names: what is beyond them is left out",
                MOST_NAMES
            ));
        }
        let other = said.filter(|said| is_all && *said != all)?;
        Some(sentence!(
            "the file of results holds {} operations, and the closing report counts {}",
            all,
            other
        ))
    }
}
