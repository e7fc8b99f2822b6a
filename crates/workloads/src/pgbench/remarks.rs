//! What the end of a run means, in sentences.

use model::{ExitKind, Part, Sentence, Summary, sentence};

use super::complaints::Complaints;
use super::options::Options;
use crate::quote::quote;

/// All that is known when a run is over.
pub(super) struct RunEnd<'a> {
    pub(super) tool: &'static str,
    pub(super) exit: ExitKind,
    pub(super) summary: Option<&'a Summary>,
    pub(super) complaints: &'a Complaints,
    pub(super) options: &'a Options,
    /// Whether a progress line was seen: the run had begun.
    pub(super) begun: bool,
}

impl RunEnd<'_> {
    /// The sentences, the gravest first.
    pub(super) fn remarks(&self) -> Vec<Sentence> {
        let mut remarks = Vec::new();
        match self.summary {
            None => remarks.push(self.no_summary()),
            Some(summary) => {
                remarks.extend(self.early_end(summary));
                remarks.extend(failed(summary));
                remarks.extend(self.skipped(summary));
            }
        }
        remarks
    }

    fn no_summary(&self) -> Sentence {
        let (tool, said) = (self.tool, self.said());
        match self.exit {
            ExitKind::Signal(signal) => {
                let planned = self.planned().map_or(Sentence::default(), |planned| {
                    sentence!(" before the end of its {}", planned)
                });
                sentence!(
                    "{} was killed by {}{} and printed no summary.{}",
                    tool,
                    signal_name(signal),
                    planned,
                    said
                )
            }
            ExitKind::Code(0) => sentence!("{} printed no summary.{}", tool, said),
            ExitKind::Code(code) if self.begun => sentence!(
                "{} ended its run early with exit code {} and printed no summary.{}",
                tool,
                code,
                said
            ),
            ExitKind::Code(code) => {
                sentence!(
                    "{} did not start its run (exit code {}).{}",
                    tool,
                    code,
                    said
                )
            }
        }
    }

    fn early_end(&self, summary: &Summary) -> Option<Sentence> {
        let (tool, complaints) = (self.tool, self.complaints);
        if complaints.aborted_clients > 0 {
            let clients = summary.clients.or(self.options.clients);
            let of = clients.map_or(Sentence::default(), |clients| {
                sentence!(" of {}", grouped(clients.into()))
            });
            let what = if complaints.run_aborted {
                "its results are incomplete"
            } else {
                "the others went on"
            };
            return Some(sentence!(
                "{} aborted {}{} clients; {}.{}",
                tool,
                grouped(complaints.aborted_clients),
                of,
                what,
                self.said()
            ));
        }
        if complaints.run_aborted {
            return Some(sentence!(
                "{} aborted its run; its results are incomplete.{}",
                tool,
                self.said()
            ));
        }
        match self.exit {
            ExitKind::Code(0) => None,
            ExitKind::Code(code) => Some(sentence!(
                "{} ended with exit code {}.{}",
                tool,
                code,
                self.said()
            )),
            ExitKind::Signal(signal) => Some(sentence!(
                "{} was killed by {} after its summary.",
                tool,
                signal_name(signal)
            )),
        }
    }

    fn skipped(&self, summary: &Summary) -> Option<Sentence> {
        let skipped = summary.skipped.filter(|skipped| *skipped > 0)?;
        let limit = self.options.latency_limit.as_ref();
        let limit = limit.map_or(Sentence::default(), |limit| {
            sentence!(" of {} ms", quote(limit))
        });
        Some(sentence!(
            "{} of the transactions were skipped ({}): they were later than the latency limit{} before they could start.",
            share(skipped, attempted(summary)),
            out_of(skipped, attempted(summary)),
            limit
        ))
    }

    /// The tool's own words, as a sentence to put behind another.
    fn said(&self) -> Sentence {
        let Complaints { first, hint, .. } = self.complaints;
        let said = first
            .clone()
            .map(|first| sentence!(" It said: `{}`.", first));
        let hint = hint.clone().map(|hint| sentence!(" Its hint: `{}`.", hint));
        said.unwrap_or_default().and(hint.unwrap_or_default())
    }

    /// How long the run was meant to be.
    fn planned(&self) -> Option<Sentence> {
        let transactions = || {
            let count = self.options.transactions?;
            Some(sentence!(
                "{} transactions per client",
                grouped(count.into())
            ))
        };
        let seconds = self.options.duration_s;
        seconds
            .map(|seconds| sentence!("{} s", seconds))
            .or_else(transactions)
    }
}

fn failed(summary: &Summary) -> Option<Sentence> {
    let failed = summary.failed.filter(|failed| *failed > 0)?;
    Some(sentence!(
        "{} of the transactions failed ({}).",
        share(failed, attempted(summary)),
        out_of(failed, attempted(summary)),
    ))
}

/// What pgbench's own percentages are of: completed, failed and skipped.
fn attempted(summary: &Summary) -> u64 {
    [summary.completed, summary.failed, summary.skipped]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add)
}

fn share(part: u64, whole: u64) -> Part {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    Part::Own(if percent < 0.1 {
        "Under 0.1 %".into()
    } else {
        format!("{percent:.1} %").into()
    })
}

fn out_of(part: u64, whole: u64) -> Sentence {
    sentence!("{} of {}", grouped(part), grouped(whole))
}

/// `9162` as `9,162`.
fn grouped(number: u64) -> Part {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Part::Own(grouped.into())
}

fn signal_name(signal: i32) -> Sentence {
    let name = match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    };
    sentence!("signal {}{}", signal, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_words() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(|it| grouped(it).text().to_owned()),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(share(1, 100_000).text(), "Under 0.1 %");
        assert_eq!(share(2471, 9162).text(), "27.0 %");
        assert_eq!(share(0, 0).text(), "Under 0.1 %");
        assert_eq!(signal_name(15), "signal 15 (SIGTERM)");
    }

    #[test]
    fn ends_without_a_summary() {
        let mut end = RunEnd {
            tool: "pgbench",
            exit: ExitKind::Code(1),
            summary: None,
            complaints: &Complaints::of("pgbench"),
            options: &Options {
                transactions: Some(2000),
                ..Options::default()
            },
            begun: true,
        };
        assert_eq!(
            end.remarks(),
            ["pgbench ended its run early with exit code 1 and printed no summary."]
        );
        end.exit = ExitKind::Code(0);
        assert_eq!(end.remarks(), ["pgbench printed no summary."]);
        end.exit = ExitKind::Signal(9);
        assert_eq!(
            end.remarks(),
            [
                "pgbench was killed by signal 9 (SIGKILL) before the end of its 2,000 transactions per client and printed no summary."
            ]
        );
    }
}
