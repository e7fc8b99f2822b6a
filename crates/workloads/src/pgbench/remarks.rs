//! What the end of a run means, in sentences.

use model::{ExitKind, Summary};

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
    pub(super) fn remarks(&self) -> Vec<String> {
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

    fn no_summary(&self) -> String {
        let (tool, said) = (self.tool, self.said());
        match self.exit {
            ExitKind::Signal(signal) => {
                let planned = self.planned().map_or(String::new(), |planned| {
                    format!(" before the end of its {planned}")
                });
                format!(
                    "{tool} was killed by {}{planned} and printed no summary.{said}",
                    signal_name(signal)
                )
            }
            ExitKind::Code(0) => format!("{tool} printed no summary.{said}"),
            ExitKind::Code(code) if self.begun => {
                format!(
                    "{tool} ended its run early with exit code {code} and printed no summary.{said}"
                )
            }
            ExitKind::Code(code) => {
                format!("{tool} did not start its run (exit code {code}).{said}")
            }
        }
    }

    fn early_end(&self, summary: &Summary) -> Option<String> {
        let (tool, complaints) = (self.tool, self.complaints);
        if complaints.aborted_clients > 0 {
            let clients = summary.clients.or(self.options.clients);
            let of = clients.map_or(String::new(), |clients| {
                format!(" of {}", grouped(clients.into()))
            });
            let what = if complaints.run_aborted {
                "its results are incomplete"
            } else {
                "the others went on"
            };
            let aborted = grouped(complaints.aborted_clients);
            return Some(format!(
                "{tool} aborted {aborted}{of} clients; {what}.{}",
                self.said()
            ));
        }
        if complaints.run_aborted {
            return Some(format!(
                "{tool} aborted its run; its results are incomplete.{}",
                self.said()
            ));
        }
        match self.exit {
            ExitKind::Code(0) => None,
            ExitKind::Code(code) => Some(format!(
                "{tool} ended with exit code {code}.{}",
                self.said()
            )),
            ExitKind::Signal(signal) => Some(format!(
                "{tool} was killed by {} after its summary.",
                signal_name(signal)
            )),
        }
    }

    fn skipped(&self, summary: &Summary) -> Option<String> {
        let skipped = summary.skipped.filter(|skipped| *skipped > 0)?;
        let limit = self
            .options
            .latency_limit
            .as_ref()
            .map_or(String::new(), |limit| format!(" of {} ms", quote(limit)));
        Some(format!(
            "{} of the transactions were skipped ({}): they were later than the latency limit{limit} before they could start.",
            share(skipped, attempted(summary)),
            out_of(skipped, attempted(summary)),
        ))
    }

    /// The tool's own words, as a sentence to put behind another.
    fn said(&self) -> String {
        let mut said = String::new();
        if let Some(first) = &self.complaints.first {
            said.push_str(&format!(" It said: `{first}`."));
        }
        if let Some(hint) = &self.complaints.hint {
            said.push_str(&format!(" Its hint: `{hint}`."));
        }
        said
    }

    /// How long the run was meant to be.
    fn planned(&self) -> Option<String> {
        let transactions = || {
            self.options
                .transactions
                .map(|count| format!("{} transactions per client", grouped(count.into())))
        };
        self.options
            .duration_s
            .map(|seconds| format!("{seconds} s"))
            .or_else(transactions)
    }
}

fn failed(summary: &Summary) -> Option<String> {
    let failed = summary.failed.filter(|failed| *failed > 0)?;
    Some(format!(
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

fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if percent < 0.1 {
        "Under 0.1 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

fn out_of(part: u64, whole: u64) -> String {
    format!("{} of {}", grouped(part), grouped(whole))
}

/// `9162` as `9,162`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn signal_name(signal: i32) -> String {
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
    format!("signal {signal}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_words() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(share(1, 100_000), "Under 0.1 %");
        assert_eq!(share(2471, 9162), "27.0 %");
        assert_eq!(share(0, 0), "Under 0.1 %");
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
