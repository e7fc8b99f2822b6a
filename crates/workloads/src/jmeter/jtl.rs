//! JMeter's file of results (`-l`, "JTL"), as CSV or XML: one row for each sample, by the name of its sampler.
//!
//! A transaction controller has a row of its own beside those of its samples, and is known by its message, as JMeter's
//! summariser knows it. Its samples count and it does not, but in a file that holds nothing else.

mod csv;
mod xml;

use model::{Sentence, Summary, sentence};

use crate::results::{Kinds, Timed};
use crate::{Operations, ResultsReader};

/// How JMeter says that a row stands for a transaction.
const TRANSACTION: &str = "Number of samples in transaction : ";
/// A row that is longer, over all its lines, is not read.
const LONGEST_ROW: usize = 256 * 1024;

/// Begins to read a file.
pub(super) fn read(begun_unix_ns: i64) -> Box<dyn ResultsReader> {
    Box::new(Jtl {
        begun_unix_ms: begun_unix_ns / 1_000_000,
        form: Form::Unknown,
        samples: Kinds::default(),
        timed: Timed::new(begun_unix_ns),
        transactions: Kinds::default(),
    })
}

/// What is known of a file so far.
struct Jtl {
    begun_unix_ms: i64,
    form: Form,
    samples: Kinds,
    timed: Timed,
    transactions: Kinds,
}

enum Form {
    /// Nothing came yet.
    Unknown,
    Csv(csv::Table),
    Xml(xml::Tree),
    /// It is neither, or lacks what is needed; why.
    Unreadable(&'static str),
}

/// One row.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    /// When the sample began, or ended, ms since 1970.
    at_unix_ms: i64,
    elapsed_ms: i64,
    name: String,
    is_success: bool,
    is_transaction: bool,
}

impl ResultsReader for Jtl {
    fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        if let Form::Unknown = self.form {
            self.form = if text.starts_with("<?xml") || text.starts_with("<testResults") {
                Form::Xml(xml::Tree::default())
            } else {
                match csv::Table::begin(text) {
                    Ok(table) => Form::Csv(table),
                    Err(why) => Form::Unreadable(why),
                }
            };
        }
        let row = match &mut self.form {
            Form::Csv(table) => table.line(text),
            Form::Xml(tree) => tree.line(text),
            Form::Unknown | Form::Unreadable(_) => None,
        };
        // A sample may have been written by a run before, into the same file.
        if let Some(row) = row.filter(|row| row.at_unix_ms >= self.begun_unix_ms) {
            let names = if row.is_transaction {
                &mut self.transactions
            } else {
                &mut self.samples
            };
            names.ended(&row.name, row.is_success);
            let elapsed_ns = row.elapsed_ms * 1_000_000;
            names.took(&row.name, elapsed_ns);
            if !row.is_transaction {
                // The time is that of the sample's start unless a property makes it the end's.
                let ended_ns = row.at_unix_ms * 1_000_000 + elapsed_ns;
                self.timed
                    .ended(&row.name, ended_ns, row.is_success.then_some(elapsed_ns));
            }
        }
    }

    fn finish(self: Box<Self>, summary: &mut Option<Summary>) -> (Operations, Option<Sentence>) {
        if let Form::Unreadable(why) = self.form {
            let remark = sentence!("the file of results is not read: {}", why);
            return (Operations::default(), Some(remark));
        }
        let remark = if self.samples.all() > 0 {
            self.samples.add_to(summary, true)
        } else {
            self.transactions.add_to(summary, false)
        };
        (self.timed.finish(), remark)
    }
}

/// A time in ms that is none before 1970 and fits in ns.
fn whole_ms(text: &str) -> Option<i64> {
    let ms: i64 = text.parse().ok()?;
    (0..1 << 43).contains(&ms).then_some(ms)
}

#[cfg(test)]
mod tests;
