//! Reads all logs, on a thread of its own: looking at lines takes longer than the sampler has.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

use model::Timestamp;
use sensors::TICK;
use sensors::log::{Change, LogMiner};

use super::Named;
use super::journal::Journal;
use super::reading::Reading;
use super::source::LogSource;
use super::tail::Tail;

/// Bytes that are read at a time.
const BUFFER: usize = 64 << 10;

/// What has come in one log from one reading to the next.
pub(super) struct Batch {
    /// Its number.
    pub(super) log: usize,
    /// The reading before.
    pub(super) before: Timestamp,
    /// This reading.
    pub(super) at: Timestamp,
    pub(super) changes: Vec<Change>,
    pub(super) rotations: u64,
    /// What is not read, and why.
    pub(super) trouble: Option<String>,
    /// Lines that were counted only, and bytes that were not read, in all; each is told when it has doubled.
    pub(super) unmined_lines: Option<u64>,
    pub(super) skipped_bytes: Option<u64>,
}

/// A log, by how it is followed.
enum Followed {
    File(Tail),
    Journal(Journal),
    /// Its program could not be started.
    Nothing,
}

impl Followed {
    fn read(&mut self, reading: &mut Reading<'_>) -> Option<String> {
        match self {
            Self::File(tail) => tail.read(reading),
            Self::Journal(journal) => journal.read(reading),
            Self::Nothing => None,
        }
    }

    fn rotations(&self) -> u64 {
        match self {
            Self::File(tail) => tail.rotations,
            Self::Journal(_) | Self::Nothing => 0,
        }
    }
}

/// One log.
struct Log {
    followed: Followed,
    miner: LogMiner,
    /// What could not be handed over.
    trouble: Option<String>,
    /// The reading whose changes were handed over last.
    before: Timestamp,
    unmined_lines: Doubling,
    skipped_bytes: Doubling,
}

/// A count that is told when it has doubled.
#[derive(Default)]
struct Doubling(u64);

impl Doubling {
    fn told(&mut self, now: u64) -> Option<u64> {
        (now > 2 * self.0).then(|| {
            self.0 = now;
            now
        })
    }
}

pub(super) struct Worker {
    logs: Vec<Log>,
    buffer: Vec<u8>,
}

impl Worker {
    /// Begins to follow, from `now` on.
    pub(super) fn new(named: &[Named], now: Timestamp) -> Self {
        let logs = named.iter().map(|log| {
            let (followed, trouble) = match &log.source {
                LogSource::File(path) => (Followed::File(Tail::new(path, log.is_awaited)), None),
                LogSource::Journal(unit) => match Journal::start(unit.as_deref()) {
                    Ok(journal) => (Followed::Journal(journal), None),
                    Err(error) => {
                        let why = format!("journalctl cannot be started: {error}");
                        (Followed::Nothing, Some(why))
                    }
                },
            };
            Log {
                followed,
                miner: LogMiner::default(),
                trouble,
                before: now,
                unmined_lines: Doubling::default(),
                skipped_bytes: Doubling::default(),
            }
        });
        Self {
            logs: logs.collect(),
            buffer: vec![0; BUFFER],
        }
    }

    /// Until `stopped` is closed; then once more.
    pub(super) fn run(mut self, stopped: &Receiver<()>, batches: &SyncSender<Batch>) {
        let mut next = Instant::now() + TICK;
        loop {
            let left = next.saturating_duration_since(Instant::now());
            let is_over = stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout);
            for number in 0..self.logs.len() {
                self.read(number, batches);
            }
            if is_over {
                return;
            }
            next = (next + TICK).max(Instant::now());
        }
    }

    fn read(&mut self, number: usize, batches: &SyncSender<Batch>) {
        let log = &mut self.logs[number];
        let mut reading = Reading::new(&mut log.miner, &mut self.buffer);
        let trouble = log.followed.read(&mut reading);
        log.trouble = log.trouble.take().or(trouble);
        let at = kernel::clock::boottime();
        let changes = log.miner.changes();
        if changes.is_empty() && log.trouble.is_none() {
            log.before = at;
            return;
        }
        let batch = Batch {
            log: number,
            before: log.before,
            at,
            changes,
            rotations: log.followed.rotations(),
            trouble: log.trouble.take(),
            unmined_lines: log.unmined_lines.told(log.miner.unmined_lines()),
            skipped_bytes: log.skipped_bytes.told(log.miner.skipped_bytes()),
        };
        log.before = at;
        // A sampler that does not come is waited for: what is written meanwhile stays in the file. Refused where it has
        // ended, and then nothing is missed.
        let _ = batches.send(batch);
    }
}
