//! pgbench, PostgreSQL's own load generator, versions 9.6 to 17, and `ysql_bench`, YugabyteDB's fork
//! of it.
//!
//! Seen run: pgbench 15. The other versions are read as their sources and manuals print; of
//! `ysql_bench` published closing reports were seen and no progress line. `docs/workloads.md` says
//! which form is which version's.
//!
//! Its live signal is the progress line of `-P`, which is added when the user did not ask for one
//! (and is then kept from him); its log files are block buffered and say nothing while it runs.
//! Without `-P`, `-R` or `-L` pgbench times no transaction, and the latency that it prints is clients
//! / tps: the same number again, and no evidence. `-l` does not change that.

mod complaints;
mod init;
mod log;
mod options;
mod progress;
mod remarks;
mod summary;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::Path;

use model::{ExitKind, Load, Provenance, Timestamp, sentence};

use crate::clock::Clock;
use crate::{Adapter, Adjust, Bin, Ending, LogOffer, Prepared, Quantity, Reader, Stream};
pub(crate) use init::{PGBENCH_INIT, YSQL_BENCH_INIT};

use complaints::Complaints;
use options::Options;
use progress::{LONGEST, PROGRESS, Progress};
use remarks::RunEnd;
use summary::Report;

/// PostgreSQL's.
pub(crate) static PGBENCH: Pgbench = Pgbench { name: "pgbench" };

/// YugabyteDB's: pgbench 11 with a patch that retries transactions, later pgbench 15; it has
/// `--batch-size` besides.
pub(crate) static YSQL_BENCH: Pgbench = Pgbench { name: "ysql_bench" };

/// The adapter, under the name that the tool goes by.
pub(crate) struct Pgbench {
    name: &'static str,
}

impl Adapter for Pgbench {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&self, argv: &[OsString], adjust: Adjust) -> Option<Prepared> {
        let (program, words) = argv.split_first()?;
        if Path::new(program).file_name()? != self.name {
            return None;
        }
        let mut options = Options::parse(words);
        if !options.is_load {
            return None;
        }
        let mut argv = argv.to_vec();
        let mut notices = Vec::new();
        // pgbench refuses --progress-timestamp without -P: adding -P would run what it refuses.
        let adds_progress = adjust == Adjust::Allowed
            && options.progress_s.is_none()
            && !options.progress_timestamp;
        if adds_progress {
            // Right behind the program's name no option's value and no `--` can come before it.
            argv.splice(1..1, ["-P".into(), "1".into()]);
            options.progress_s = Some(1);
            notices.push(sentence!(
                "{}: added -P 1 (--no-adjust leaves it alone)",
                self.name
            ));
        }
        Some(Prepared {
            adapter: self.name,
            argv,
            notices,
            load: load(&options),
            latency: latency(&options),
            gives: gives(&options),
            log: log::offer(self.name, &options),
            is_served: true,
            results: None,
            serving_unit: "backend",
            reader: Box::new(PgbenchReader::new(self.name, options, adds_progress)),
        })
    }

    fn listen(&self, argv: &[OsString]) -> Prepared {
        let options = Options {
            clients: None,
            threads: None,
            ..Options::default()
        };
        Prepared {
            adapter: self.name,
            argv: argv.to_vec(),
            notices: Vec::new(),
            load: load(&options),
            // Latency in a progress line is timed; the report says of its own whether it is.
            latency: Provenance::ToolMean,
            gives: &[Quantity::Throughput, Quantity::Latency],
            log: LogOffer::Refused(sentence!(
                "{}: its own command line is not known, so no option is added for quantiles",
                self.name
            )),
            is_served: true,
            results: None,
            serving_unit: "backend",
            reader: Box::new(PgbenchReader::new(self.name, options, false)),
        }
    }
}

fn load(options: &Options) -> Load {
    let threads = match (options.threads, options.clients) {
        // As pgbench does: a thread without a client is not started.
        (Some(threads), Some(clients)) => Some(threads.min(clients)),
        (threads, _) => threads,
    };
    Load {
        clients: options.clients,
        threads,
        rate: options.rate,
        rate_unit: "tps".to_owned(),
        clients_option: Some("-c".to_owned()),
        rate_option: Some("-R".to_owned()),
    }
}

fn latency(options: &Options) -> Provenance {
    let timed =
        options.progress_s.is_some() || options.rate.is_some() || options.latency_limit.is_some();
    if timed {
        Provenance::ToolMean
    } else {
        Provenance::Derived
    }
}

fn gives(options: &Options) -> &'static [Quantity] {
    match (options.progress_s, options.rate) {
        (None, _) => &[],
        // Failures are said since version 15 only: a pattern may add them, and what is said stands.
        (Some(_), Some(_)) => &[Quantity::Throughput, Quantity::Latency, Quantity::Lag],
        (Some(_), None) => &[Quantity::Throughput, Quantity::Latency],
    }
}

/// Understands one run.
struct PgbenchReader {
    tool: &'static str,
    options: Options,
    hides_progress: bool,
    clock: Clock,
    report: Report,
    complaints: Complaints,
}

impl PgbenchReader {
    fn new(tool: &'static str, options: Options, hides_progress: bool) -> Self {
        let clock = if options.progress_timestamp {
            Clock::unix(i64::from(options.progress_s.unwrap_or(1)) * 1_000_000_000)
        } else {
            Clock::elapsed()
        };
        Self {
            tool,
            options,
            hides_progress,
            clock,
            report: Report::of(tool),
            complaints: Complaints::of(tool),
        }
    }
}

impl Reader for PgbenchReader {
    fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        match stream {
            Stream::Stdout => self.report.line(line),
            Stream::Stderr => match Progress::parse(line) {
                Some(progress) => {
                    bins.extend(progress.bin(&mut self.clock, arrived));
                    // A line that another message got into is shown, for that message's sake.
                    return !(self.hides_progress && progress.whole);
                }
                None => self.complaints.line(line),
            },
        }
        true
    }

    fn may_hide(&self, stream: Stream, start: &[u8]) -> bool {
        // One byte more than a progress line has, for a CR that is not part of it.
        self.hides_progress
            && stream == Stream::Stderr
            && start.len() <= LONGEST + 1
            && (start.starts_with(PROGRESS) || PROGRESS.starts_with(start))
    }

    fn finish(self: Box<Self>, exit: ExitKind, _: Timestamp) -> Ending {
        let summary = self.report.finish(self.complaints.run_aborted);
        let end = RunEnd {
            tool: self.tool,
            exit,
            summary: summary.as_ref(),
            complaints: &self.complaints,
            options: &self.options,
            begun: self.clock.started(),
        };
        let remarks = end.remarks();
        Ending {
            summary,
            remarks,
            ..Ending::default()
        }
    }
}
