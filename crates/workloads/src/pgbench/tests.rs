//! Real runs of pgbench 15, replayed read by read with their arrival times, and the layouts of older
//! versions as their manuals show them. Golden text: what the bins, the ending and the user got.

mod golden;
mod prepare;
mod properties;
mod replayed;
mod troubled;
mod versions;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use expect_test::Expect;
use model::{ExitKind, MISSING, Summary, Timestamp};

use crate::{Adapter, Adjust, Bin, Ending, Listener, Prepared, Stream};

/// When the replayed tool was started, s.
const STARTED: f64 = 100.0;

/// One read of a stream.
struct Read {
    stream: Stream,
    bytes: Vec<u8>,
    arrived: Timestamp,
}

/// A recorded run.
struct Case {
    argv: Vec<OsString>,
    exit: ExitKind,
    reads: Vec<Read>,
    stdout: String,
    stderr: String,
}

/// What came out of a replay.
#[derive(PartialEq, Debug)]
struct Heard {
    bins: Vec<Bin>,
    ending: Ending,
    stdout: String,
    stderr: String,
}

fn argv(words: &str) -> Vec<OsString> {
    words.split(' ').map(OsString::from).collect()
}

fn fixture(case: &str, file: &str) -> String {
    let folder = if case.starts_with("ysql_bench/") {
        "fixtures"
    } else {
        "fixtures/pgbench"
    };
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), folder, case, file]
        .iter()
        .collect();
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Case {
    /// A case that was recorded with its arrival times.
    fn recorded(name: &str) -> Self {
        let meta: serde_json::Value = serde_json::from_str(&fixture(name, "meta.json")).unwrap();
        let words = meta["command"].as_array().unwrap();
        let exit = match meta["signal"].as_i64() {
            Some(signal) => ExitKind::Signal(signal as i32),
            None => ExitKind::Code(meta["exit_code"].as_i64().unwrap() as i32),
        };
        let reads = fixture(name, "arrivals.jsonl")
            .lines()
            .map(|line| {
                let read: serde_json::Value = serde_json::from_str(line).unwrap();
                let stream = if read["stream"] == "stdout" {
                    Stream::Stdout
                } else {
                    Stream::Stderr
                };
                let bytes = read["text"].as_str().unwrap().as_bytes().to_vec();
                let arrived = Timestamp::from_seconds(STARTED + read["t"].as_f64().unwrap());
                Read {
                    stream,
                    bytes,
                    arrived,
                }
            })
            .collect();
        Self {
            argv: words
                .iter()
                .map(|word| word.as_str().unwrap().into())
                .collect(),
            exit,
            reads,
            stdout: fixture(name, "stdout"),
            stderr: fixture(name, "stderr"),
        }
    }

    /// A case of which only the output is known: all of it in one read.
    fn text(command: &str, stderr: String, stdout: String) -> Self {
        let arrived = Timestamp::from_seconds(STARTED + 10.0);
        let read = |stream, text: &String| Read {
            stream,
            bytes: text.clone().into_bytes(),
            arrived,
        };
        Self {
            argv: argv(command),
            exit: ExitKind::Code(0),
            reads: vec![read(Stream::Stderr, &stderr), read(Stream::Stdout, &stdout)],
            stdout,
            stderr,
        }
    }

    fn prepared(&self, adjust: Adjust) -> Prepared {
        crate::prepare(&self.argv, adjust).unwrap()
    }

    fn heard(&self) -> Heard {
        hear(self.prepared(Adjust::Allowed), &self.reads, self.exit)
    }
}

fn hear(prepared: Prepared, reads: &[Read], exit: ExitKind) -> Heard {
    let mut listener = Listener::new(prepared.reader);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut bins = Vec::new();
    for read in reads {
        let forward = if read.stream == Stream::Stdout {
            &mut stdout
        } else {
            &mut stderr
        };
        listener.hear(read.stream, &read.bytes, read.arrived, forward);
        bins.extend(listener.take_bins());
    }
    let (last, ending) = listener.finish(
        exit,
        Timestamp::from_seconds(STARTED + 30.0),
        &mut stdout,
        &mut stderr,
    );
    bins.extend(last);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Heard {
        bins,
        ending,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

impl Heard {
    /// Bins, a line each, and the ending: only what is known.
    fn drawn(&self) -> String {
        let mut drawn: String = self.bins.iter().map(draw_bin).collect();
        if let Some(summary) = &self.ending.summary {
            drawn += &draw_summary(summary);
        }
        for remark in &self.ending.remarks {
            drawn += &format!("remark: {remark}\n");
        }
        for complaint in &self.ending.complaints {
            let kind = serde_json::to_value(complaint.kind).unwrap();
            drawn += &format!(
                "complaint: {kind} {}: {}\n",
                complaint.count, complaint.message
            );
        }
        drawn
    }
}

fn draw_bin(bin: &Bin) -> String {
    let mut drawn = format!(
        "{:.3} {:.1} s:",
        bin.end.seconds_since(Timestamp::from_seconds(STARTED)),
        bin.interval_ns as f64 / 1e9
    );
    let values = [
        ("milli/s", bin.throughput_milli),
        ("ns", bin.latency_mean_ns),
        ("stddev", bin.latency_stddev_ns),
        ("lag", bin.lag_mean_ns),
        ("failed", bin.failed),
        ("skipped", bin.skipped),
        ("retried", bin.retried),
        ("retries", bin.retries),
    ];
    for (name, value) in values {
        if value != MISSING {
            drawn += &format!(" {value} {name}");
        }
    }
    drawn + "\n"
}

/// The fields that are known, a line each.
fn draw_summary(summary: &Summary) -> String {
    let value = serde_json::to_value(summary).unwrap();
    let mut drawn = String::new();
    for (name, value) in value.as_object().unwrap() {
        match value.as_array() {
            Some(scripts) => {
                for script in scripts {
                    drawn += &format!("script: {script}\n");
                }
            }
            None if value.is_null() => {}
            None => drawn += &format!("{name}: {value}\n"),
        }
    }
    drawn
}

/// Replays a case as the user typed it (with -P): he must get every byte.
fn check(name: &str, expected: Expect) {
    let case = Case::recorded(name);
    let heard = case.heard();
    if case.prepared(Adjust::Allowed).notices.is_empty() {
        assert_eq!(
            (&heard.stdout, &heard.stderr),
            (&case.stdout, &case.stderr),
            "{name}"
        );
    }
    expected.assert_eq(&heard.drawn());
}
