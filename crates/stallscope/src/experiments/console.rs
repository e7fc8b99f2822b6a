//! What a person sees while a recording is made: the live line, sentences, and the workload's own text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Sentence, Target};
use recorder::{Observer, Progress, Taken};
use workloads::Stream;

use crate::outputs::{self, Live, Screen, too_many_files};

use super::live_verdict::LiveVerdict;

/// Shows a recording on standard output and standard error.
pub(super) struct Console {
    screen: Screen,
    /// Locked by the recorder's thread alone.
    live: Mutex<Live>,
    /// The answer so far, where the line is redrawn.
    verdict: Mutex<Option<LiveVerdict>>,
}

impl Console {
    /// Without the live line if `quiet`; `rate_unit` is the word for the workload's rate.
    pub(super) fn new(screen: Screen, quiet: bool, rate_unit: &str) -> Self {
        Self {
            live: Mutex::new(Live::new(screen.clone(), quiet, rate_unit)),
            screen,
            verdict: Mutex::new(None),
        }
    }

    fn verdict(&self) -> MutexGuard<'_, Option<LiveVerdict>> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, sentence: &str) {
        self.screen.say(&format!("stallscope: {sentence}"));
    }
}

impl Observer for Console {
    fn progress(&self, progress: Progress<'_>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Begun(folder) => {
                if live.is_redrawn() {
                    *self.verdict() = Some(LiveVerdict::of(folder.clone()));
                }
            }
            Progress::Elapsed(time) => {
                let verdict = self.verdict();
                live.verdict(verdict.as_ref().and_then(LiveVerdict::text));
                live.show(time.as_secs());
            }
            Progress::Bin(bin) => live.bin(bin),
            Progress::CpuPressure(share) => live.pressure(share),
            Progress::Notice(sentence) => self.notice(sentence),
            Progress::Introduced { notices, server } => {
                if let Some(line) = introduction(notices, server) {
                    self.screen.say(&line);
                }
            }
            Progress::Unwritten(error) => self.notice(&unwritten(error)),
            Progress::WrittenAgain => self.notice("the recording is written again"),
        }
    }

    fn output(&self, to: Stream, bytes: &[u8]) -> Taken {
        self.screen.pass(to, bytes)
    }
}

/// What was changed in the command, and who the target is, in one line; nothing where there is neither.
fn introduction(notices: &[Sentence], server: Option<&Target>) -> Option<String> {
    let mut words: Vec<String> = notices.iter().map(|notice| format!("{notice}.")).collect();
    words.extend(server.map(|server| {
        let found_by = server.found_by.to_string();
        let over = if found_by.starts_with("unix socket") {
            "a unix socket"
        } else {
            &found_by
        };
        // Of a server that is not known, one process may have all connections.
        let unit = match server.unit.as_str() {
            "process" => "connection",
            known => known,
        };
        let serving = analysis::count(server.connections, unit);
        format!("Target: {}, {serving} on {over}", server.name)
    }));
    let line = words.join(" ");
    (!words.is_empty()).then(|| line.trim_end_matches('.').to_owned())
}

/// What is said when the recording cannot be written any more.
fn unwritten(error: recording::Error) -> String {
    let error = anyhow::Error::from(error);
    let allows = match too_many_files(&error) {
        Some(_) => "more files may be open",
        None => "the disk allows it",
    };
    let said = outputs::sentence(&error);
    format!("{said}. The workload goes on, and so does recording as soon as {allows}")
}
