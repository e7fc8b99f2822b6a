//! Captured runs, replayed as they came.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use model::{ExitKind, Summary, Timestamp};

use super::Numbers;
use crate::{Adjust, Bin, Ending, Listener, Prepared, Stream, prepare};

/// When a replayed tool was started, s.
pub(super) const STARTED: f64 = 100.0;

/// A run: its command and what it wrote.
pub(super) struct Case {
    pub(super) argv: Vec<OsString>,
    pub(super) exit: ExitKind,
    /// What to read it with, where that is not its command's own adapter.
    pub(super) prepared: Option<Prepared>,
    reads: Vec<(Stream, Vec<u8>, f64)>,
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) bins: Vec<Bin>,
    pub(super) ending: Ending,
}

pub(super) fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// The numbers of a report, as far as captures show them: the rate to four digits, the time to ms.
pub(super) fn numbers(summary: &Summary) -> Numbers {
    let it = summary;
    (
        it.throughput.map(|rate| (rate * 1e4).round() / 1e4),
        it.completed,
        it.failed,
        it.latency_mean_ns,
        it.duration_s.map(|took| (took * 1e3).round() / 1e3),
    )
}

fn fixture(case: &str, file: &str) -> Option<String> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "fixtures", case, file]
        .iter()
        .collect();
    fs::read_to_string(path).ok()
}

impl Case {
    /// A captured one, with the times at which its output came where they were kept.
    pub(super) fn read(name: &str) -> Self {
        let meta = fixture(name, "meta.json").unwrap_or_else(|| panic!("{name} is no capture"));
        let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
        let exit = match meta["signal"].as_i64() {
            Some(signal) => ExitKind::Signal(signal as i32),
            None => ExitKind::Code(meta["exit_code"].as_i64().unwrap_or(0) as i32),
        };
        let argv = meta["command"].as_array().unwrap().iter();
        let streams = [(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")];
        let whole = || {
            let read = |(stream, file)| {
                (
                    stream,
                    fixture(name, file).unwrap_or_default().into_bytes(),
                    0.0,
                )
            };
            streams.map(read).into()
        };
        let arrivals = fixture(name, "arrivals.jsonl");
        Self {
            argv: argv.map(|word| word.as_str().unwrap().into()).collect(),
            exit,
            prepared: None,
            reads: arrivals.map_or_else(whole, |text| text.lines().map(arrival).collect()),
        }
    }

    /// One that wrote a text to standard output and succeeded.
    pub(super) fn text(command: &str, stdout: &str) -> Self {
        Self {
            argv: words(command),
            exit: ExitKind::Code(0),
            prepared: None,
            reads: vec![(Stream::Stdout, stdout.as_bytes().to_vec(), 0.0)],
        }
    }

    /// The same command, which wrote other bytes to one stream.
    pub(super) fn with(&self, is_error: bool, bytes: Vec<u8>) -> Self {
        let stream = if is_error {
            Stream::Stderr
        } else {
            Stream::Stdout
        };
        Self {
            argv: self.argv.clone(),
            exit: self.exit,
            prepared: None,
            reads: vec![(stream, bytes, 0.0)],
        }
    }

    /// The command on a line; none of its words has a space that matters.
    pub(super) fn command(&self) -> String {
        let words = self
            .argv
            .iter()
            .map(|word| word.to_string_lossy().replace(' ', "_"));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The name of its adapter.
    pub(super) fn tool(&self) -> &'static str {
        prepare(&self.argv, Adjust::Forbidden)
            .expect("an adapter knows it")
            .adapter
    }

    pub(super) fn stdout(&self) -> String {
        self.stream(Stream::Stdout)
    }

    /// The stream that the report is on, whether that is standard error, and what is there.
    pub(super) fn report(&self) -> (bool, String) {
        let out = self.stdout();
        if out.trim().is_empty() {
            (true, self.stderr())
        } else {
            (false, out)
        }
    }

    pub(super) fn stderr(&self) -> String {
        self.stream(Stream::Stderr)
    }

    fn stream(&self, of: Stream) -> String {
        let reads = self.reads.iter().filter(|(stream, _, _)| *stream == of);
        let bytes: Vec<u8> = reads.flat_map(|(_, bytes, _)| bytes.clone()).collect();
        String::from_utf8(bytes).expect("a capture is text")
    }

    pub(super) fn heard(&self) -> Heard {
        let prepared = prepare(&self.argv, Adjust::Forbidden).expect("an adapter knows it");
        assert_eq!(prepared.argv, self.argv, "nothing may be added");
        self.heard_by(prepared)
    }

    /// As `heard`, with the adapter that was set.
    pub(super) fn into_heard(mut self) -> Heard {
        let prepared = self.prepared.take().expect("it was set");
        self.heard_by(prepared)
    }

    fn heard_by(&self, prepared: Prepared) -> Heard {
        let mut listener = Listener::new(prepared.reader);
        let mut forwarded = [Vec::new(), Vec::new()];
        let mut bins = Vec::new();
        for (stream, bytes, at) in &self.reads {
            let at = Timestamp::from_seconds(STARTED + at);
            listener.hear(*stream, bytes, at, &mut forwarded[*stream as usize]);
            bins.extend(listener.take_bins());
        }
        let ended = Timestamp::from_seconds(STARTED + 60.0);
        let [out, err] = &mut forwarded;
        let (last, ending) = listener.finish(self.exit, ended, out, err);
        bins.extend(last);
        for (of, forwarded) in [Stream::Stdout, Stream::Stderr].into_iter().zip(&forwarded) {
            let reads = self.reads.iter().filter(|(stream, _, _)| *stream == of);
            let all: Vec<u8> = reads.flat_map(|(_, bytes, _)| bytes.clone()).collect();
            assert_eq!(forwarded, &all, "the user gets all");
        }
        Heard { bins, ending }
    }
}

fn arrival(line: &str) -> (Stream, Vec<u8>, f64) {
    let read: serde_json::Value = serde_json::from_str(line).unwrap();
    let stream = match read["stream"].as_str().unwrap() {
        "stdout" => Stream::Stdout,
        _ => Stream::Stderr,
    };
    let text = read["text"].as_str().unwrap().as_bytes().to_vec();
    (stream, text, read["t"].as_f64().unwrap())
}
