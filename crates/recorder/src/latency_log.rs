//! The log that a workload wrote for quantiles: read when it has ended, thinned, and removed.

use std::io::{self, BufRead, BufReader};

use collectors::Sampler;
use model::{Identity, Meta, Rows, Sentence, Timestamp, sentence};
use recording::FolderHandle;
use workloads::{LATENCY_SAMPLE, LatencyLog, Logged};

use super::error::{Error, Result};
use super::workload_plan::LOG_FOLDER;

/// Rows kept in the recording: enough for p99.9 of a window of a few seconds, and about 1 MB.
const MOST_KEPT: usize = 200_000;
/// Operations read from the log; what is behind them in a file is left out. Some 60 MB of memory.
const MOST_READ: usize = 4_000_000;
/// A longer line is none of a log.
const LONGEST_LINE: u64 = 1024;
/// The wall clock in the log and the recording's clock are bridged where the recording begins.
const TOLERANCE_NS: i64 = 1_000_000_000;

/// The folder in the recording's in which the workload writes its log, held open.
pub(super) struct LatencyLogs {
    log: LatencyLog,
    folder: FolderHandle,
}

/// What a log held.
pub(super) struct LatencySample {
    /// Rows of `LATENCY_SAMPLE`.
    pub(super) rows: Rows,
    /// A sentence where something was left out.
    pub(super) remark: Option<Sentence>,
}

impl LatencyLogs {
    /// Makes the folder, before the workload starts.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn create(log: LatencyLog, recording: &FolderHandle) -> Result<Self> {
        let folder = recording.create_folder(LOG_FOLDER).map_err(|source| {
            let folder = recording.path_of(LOG_FOLDER);
            Error::LogFolder { folder, source }
        })?;
        Ok(Self { log, folder })
    }

    /// Reads all files and removes them.
    pub(super) fn read(&self, meta: &Meta, ended: Timestamp) -> LatencySample {
        let read = read_folder(&self.folder, &self.log);
        // What cannot be removed stays beside the tables, which is no harm.
        let _ = self.folder.remove_all();
        let unread = |error: io::Error| {
            sentence!(
                "the log for quantiles cannot be read: {}",
                error.to_string()
            )
        };
        let (sample, unread) = match read {
            Ok((sample, full)) => (sample, full),
            Err(error) => (Vec::new(), Some(unread(error))),
        };
        let started = meta.workload.as_ref().map(|workload| workload.started);
        let started = started.unwrap_or(meta.window.start);
        let during = started + -TOLERANCE_NS..ended + TOLERANCE_NS;
        let all = sample.len();
        let mut placed: Vec<(Timestamp, i64)> = sample
            .into_iter()
            .filter_map(|(at, latency)| Some((boottime(&meta.identity, at)?, latency)))
            .filter(|(at, _)| during.contains(at))
            .collect();
        let lost = all - placed.len();
        placed.sort_unstable();
        let rows = rows(&placed);
        let remark = unread.or_else(|| match (rows.is_empty(), lost) {
            (true, 0) => Some("the log for quantiles holds no completed operation".into()),
            (_, 0) => None,
            (_, lost) => Some(sentence!(
                "{} of {} operations in the log for quantiles lie outside the run by the wall clock, which was set meanwhile: they are left out",
                lost,
                all
            )),
        });
        LatencySample { rows, remark }
    }
}

/// Latencies with their time since 1970, and a sentence when there were too many.
type Sample = (Vec<(i64, i64)>, Option<Sentence>);

fn read_folder(folder: &FolderHandle, log: &LatencyLog) -> io::Result<Sample> {
    let mut sample = Vec::new();
    let mut full = None;
    for name in folder.names()? {
        // Each of the tool's threads has a file.
        let room = MOST_READ.saturating_sub(sample.len());
        let (file, _) = folder.read(name)?;
        if !read_file(BufReader::new(file), log, room, &mut sample)? {
            full = Some(sentence!(
                "the log for quantiles is longer than {} operations: the rest is left out",
                MOST_READ
            ));
        }
    }
    Ok((sample, full))
}

/// Adds up to `room` operations; false when there were more.
fn read_file(
    mut file: impl BufRead,
    log: &LatencyLog,
    room: usize,
    sample: &mut Vec<(i64, i64)>,
) -> io::Result<bool> {
    let end = sample.len().saturating_add(room);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = io::Read::take(&mut file, LONGEST_LINE);
        // A last line without an end was cut off by the tool's own end.
        if limited.read_until(b'\n', &mut line)? == 0 || !line.ends_with(b"\n") {
            return Ok(true);
        }
        line.pop();
        if let Logged::Completed {
            at_unix_ns,
            latency_ns,
        } = log.line(&line)
        {
            if sample.len() == end {
                return Ok(false);
            }
            sample.push((at_unix_ns, latency_ns));
        }
    }
}

/// A wall-clock time on the recording's clock.
pub(super) fn boottime(identity: &Identity, unix_ns: i64) -> Option<Timestamp> {
    let since = unix_ns.checked_sub(identity.anchor_realtime_ns)?;
    let at = identity.anchor_boottime.as_ns().checked_add(since)?;
    Some(Timestamp::from_ns(at))
}

/// Rows in the order of time; of too many, every so-manieth, which leaves the sample a random one.
fn rows(placed: &[(Timestamp, i64)]) -> Rows {
    let step = placed.len().div_ceil(MOST_KEPT).max(1);
    let mut rows = Rows::with_capacity(LATENCY_SAMPLE.columns.len(), placed.len() / step + 1);
    for (at, latency) in placed.iter().step_by(step) {
        rows.push(*at, Sampler::WORKLOAD, &[*latency]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pgbench_log() -> LatencyLog {
        let argv = ["pgbench".into()];
        let prepared =
            workloads::prepare(&argv, workloads::Adjust::Allowed).expect("it is pgbench");
        match prepared.log {
            workloads::LogOffer::Possible(log) => log,
            workloads::LogOffer::Refused(why) => panic!("{why}"),
        }
    }

    fn read(text: &[u8], room: usize) -> (bool, Vec<(i64, i64)>) {
        let mut sample = Vec::new();
        let whole = read_file(text, &pgbench_log(), room, &mut sample).expect("memory can be read");
        (whole, sample)
    }

    #[test]
    fn whole_lines_of_completed_operations_are_read() {
        let text = b"0 1 250 0 100 5\n0 2 failed 0 100 6\nx\n1 1 300 0 101 0 9 0\n0 3 77 0 10";
        let sample = vec![(100_000_005_000, 250_000), (101_000_000_000, 300_000)];
        assert_eq!(read(text, 9), (true, sample.clone()));
        assert_eq!(read(text, 1), (false, sample[..1].to_vec()));
        assert_eq!(read(&[b'1'; 5000], 9), (true, Vec::new()));
        assert_eq!(read(b"", 9), (true, Vec::new()));
    }

    #[test]
    fn a_link_among_the_logs_is_not_read() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let recording = FolderHandle::open(home.path()).expect("it is there");
        let logs = LatencyLogs::create(pgbench_log(), &recording).expect("made");
        std::fs::write(home.path().join("else"), "0 1 250 0 100 5\n").expect("written");
        std::os::unix::fs::symlink("../else", logs.folder.path_of("log.1")).expect("made");
        let read = read_folder(&logs.folder, &logs.log).map_err(|error| error.to_string());
        assert!(read.is_err_and(|why| why.contains("it is a symbolic link")));
    }

    #[test]
    fn too_many_are_thinned_over_the_whole_time() {
        let placed: Vec<_> = (0..500_000).map(|n| (Timestamp::from_ns(n), n)).collect();
        let rows = rows(&placed);
        assert_eq!(rows.len(), 166_667);
        let last = rows
            .iter()
            .last()
            .map(|(at, _, values)| (at.as_ns(), values[0]));
        assert_eq!(last, Some((499_998, 499_998)));
    }
}
