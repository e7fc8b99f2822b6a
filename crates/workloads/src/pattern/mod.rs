//! The signal of any command that prints numbers: `--metric NAME=REGEX`.
//!
//! Each line of either stream that a pattern matches gives a reading. Beside an adapter, the adapter's
//! numbers stand and patterns add what it does not give. The bins are the same as an adapter's, so
//! nobody behind them knows the difference.

mod advice;
mod readings;
mod rule;
#[cfg(test)]
mod tests;

pub use rule::Rule;

use std::ffi::OsString;

use model::{EntityKind, ExitKind, Part, Sentence, Timestamp, sentence};

use crate::instance;
use crate::instances;
use crate::quote::quote;
use crate::{Bin, Ending, Quantity, Reader, Stream};
use readings::Readings;
use rule::Found;

/// The patterns of one run, at most one for each quantity.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Rule>);

/// A reader that patterns take part in.
pub struct Attached {
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// What is said to the user: patterns that are not needed.
    pub notices: Vec<Sentence>,
    /// Whether latency comes from a pattern.
    pub latency: bool,
}

impl Patterns {
    /// Patterns as typed.
    ///
    /// # Errors
    /// Two for the same quantity.
    pub fn new(rules: Vec<Rule>) -> Result<Self, String> {
        for (index, rule) in rules.iter().enumerate() {
            let name = rule.quantity.word();
            if rules[..index].iter().any(|it| it.quantity == rule.quantity) {
                return Err(format!(
                    "--metric {name} is given twice: write one pattern that matches both, as in '(?:first|second): ([0-9.]+)'"
                ));
            }
        }
        Ok(Self(rules))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The patterns as typed, for the record.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(|rule| rule.text.clone()).collect()
    }

    /// Puts the patterns beside an adapter's reader, which gives `given`, or in the place of one: then `argv` says
    /// whether several instances run, each of which is read for itself.
    pub fn attach(
        self,
        argv: &[OsString],
        tool: &str,
        adapter: Option<Box<dyn Reader>>,
        given: &[Quantity],
    ) -> Attached {
        let (idle, rules): (Vec<Rule>, Vec<Rule>) = self
            .0
            .into_iter()
            .partition(|rule| given.contains(&rule.quantity));
        let notices = idle
            .iter()
            .map(|rule| {
                let name = rule.quantity.word();
                let tool = Part::name(EntityKind::Workload, tool);
                sentence!(
                    "--metric {} is not used: {}'s own {} is understood",
                    name,
                    tool,
                    name
                )
            })
            .collect();
        let latency = rules.iter().any(|rule| rule.quantity == Quantity::Latency);
        // The bins are the adapter's, or end with the first of these that there is.
        let ends = if given.is_empty() {
            let there_is = |quantity: &Quantity| rules.iter().any(|it| it.quantity == *quantity);
            Quantity::ALL.into_iter().find(there_is)
        } else {
            None
        };
        let read = |adapter| -> Box<dyn Reader> {
            Box::new(PatternReader {
                tool: tool.to_owned(),
                adapter,
                ends,
                rules: rules.iter().cloned().map(Heard::new).collect(),
                readings: Readings::default(),
            })
        };
        let reader = match (adapter, instance::number(argv)) {
            (None, Some(number)) => instances::joined((0..number).map(|_| read(None))),
            (adapter, _) => read(adapter),
        };
        Attached {
            reader,
            notices,
            latency,
        }
    }
}

struct PatternReader {
    tool: String,
    adapter: Option<Box<dyn Reader>>,
    /// The quantity whose readings end bins; `None` where the adapter makes them.
    ends: Option<Quantity>,
    rules: Vec<Heard>,
    readings: Readings,
}

/// A rule, and what came of it.
struct Heard {
    rule: Rule,
    matches: u64,
    /// What was captured first that is no number.
    no_number: Option<String>,
}

impl Heard {
    fn new(rule: Rule) -> Self {
        Self {
            rule,
            matches: 0,
            no_number: None,
        }
    }

    fn remark(&self) -> Option<Sentence> {
        let metric = self.rule.text.clone();
        match &self.no_number {
            Some(captured) => Some(sentence!(
                "--metric '{}' captured `{}`, which is no number",
                metric,
                captured.clone()
            )),
            None => (self.matches == 0).then(|| sentence!("no line matched --metric '{}'", metric)),
        }
    }
}

impl PatternReader {
    fn read(&mut self, line: &[u8], arrived: Timestamp, bins: &mut Vec<Bin>) {
        let mut ends = false;
        for heard in &mut self.rules {
            match heard.rule.find(line) {
                Found::Nothing => {}
                Found::NoNumber(text) => {
                    heard.matches += 1;
                    heard
                        .no_number
                        .get_or_insert_with(|| quote(&String::from_utf8_lossy(text)));
                }
                Found::Value(value) => {
                    heard.matches += 1;
                    self.readings.take(&heard.rule, value);
                    ends |= self.ends == Some(heard.rule.quantity);
                }
            }
        }
        if ends {
            bins.extend(self.readings.end(arrived));
        }
    }

    /// Shows a line to the patterns and then to the adapter, by `show`.
    fn hear(
        &mut self,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
        show: impl FnOnce(&mut dyn Reader, &mut Vec<Bin>) -> bool,
    ) -> bool {
        self.read(line, arrived, bins);
        let Some(adapter) = &mut self.adapter else {
            return true;
        };
        let first = bins.len();
        let shown = show(adapter.as_mut(), bins);
        if self.ends.is_none() {
            let of_all = bins[first..].iter_mut().filter(|bin| bin.label.is_none());
            of_all.for_each(|bin| self.readings.fill(bin));
        }
        shown
    }

    fn remarks(&self) -> Vec<Sentence> {
        let mut remarks: Vec<Sentence> = self.rules.iter().filter_map(Heard::remark).collect();
        let Some(ends) = self.ends else {
            return remarks;
        };
        let (name, tool) = (ends.word(), &self.tool);
        let matched = self
            .rules
            .iter()
            .any(|heard| heard.rule.quantity == ends && heard.matches > 0);
        if self.readings.bursts > self.readings.bins {
            let tool = Part::name(EntityKind::Workload, tool);
            remarks.push(sentence!(
                "most readings of {} came many at a time, and each burst counts as one: {} buffers its output where it is no terminal (often mended by: stdbuf -oL {})",
                name,
                tool.clone(),
                tool
            ));
        } else if matched && self.readings.bins == 0 {
            remarks.push(sentence!(
                "only one line said {}: a signal needs at least two, as it is measured between them",
                name
            ));
        }
        remarks
    }
}

impl Reader for PatternReader {
    fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        self.hear(line, arrived, bins, |adapter, bins| {
            adapter.line(stream, line, arrived, bins)
        })
    }

    fn last_line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        self.hear(line, arrived, bins, |adapter, bins| {
            adapter.last_line(stream, line, arrived, bins)
        })
    }

    // Patterns are for whole lines.
    fn drawn(&mut self, stream: Stream, text: &[u8], arrived: Timestamp, bins: &mut Vec<Bin>) {
        let first = bins.len();
        if let Some(adapter) = &mut self.adapter {
            adapter.drawn(stream, text, arrived, bins);
        }
        if self.ends.is_none() {
            let of_all = bins[first..].iter_mut().filter(|bin| bin.label.is_none());
            of_all.for_each(|bin| self.readings.fill(bin));
        }
    }

    fn may_hide(&self, stream: Stream, start: &[u8]) -> bool {
        let adapter = self.adapter.as_ref();
        adapter.is_some_and(|adapter| adapter.may_hide(stream, start))
    }

    fn finish(self: Box<Self>, exit: ExitKind, ended: Timestamp) -> Ending {
        let remarks = self.remarks();
        let mut ending = self
            .adapter
            .map_or_else(Ending::default, |adapter| adapter.finish(exit, ended));
        ending.remarks.extend(remarks);
        ending
    }
}
