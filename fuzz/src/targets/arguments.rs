//! The command line: every subcommand with its options, the words as the kernel hands them over.
//!
//! An input is the words behind the program's name, each but the last ended by a zero byte, which no word
//! can hold.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::Result;
use recording::{Reader, Recording};

use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "arguments",
    feed,
    seeds,
    affordable: 1_500,
};

/// A made-up recording of which windows are asked.
const FIXTURE: &str = "crates/recording/fixtures/format-3.stall";

/// Command lines as people type them, each subcommand with its options.
const LINES: [&[&str]; 27] = [
    &["run", "--", "pgbench", "-c", "10", "-T", "30", "bench"],
    &["run", "-q", "--no-adjust", "-o", "a.stall", "--", "./load"],
    &[
        "run",
        "--fail-if",
        "latency > 5ms",
        "--fail-if=failed > 0",
        "--",
        "l",
    ],
    &[
        "run",
        "--fail-if",
        "throughput<1000.5",
        "--fail-if",
        "lag > 0.1s",
        "--",
        "l",
    ],
    &["run", "--metric", "throughput=([0-9.]+) req/s", "--", "l"],
    &[
        "run",
        "--metric=latency:us=(.*)us",
        "--metric",
        "failed:total=x ([0-9]+)",
        "--",
        "l",
    ],
    &[
        "run",
        "--quantiles",
        "--json",
        "-",
        "--target",
        "port:5432",
        "--",
        "pgbench",
    ],
    &["run", "--postgres", "--", "pgbench"],
    &[
        "record", "--for", "1.5m", "--target", "pid:4711", "--root", "/host",
    ],
    &[
        "record",
        "--for=500ms",
        "--target=dependency=name:^redis-s.*r$",
    ],
    &[
        "record",
        "--target",
        "cgroup:/system.slice/a:b.service",
        "--target",
        "unit:pg@15",
    ],
    &[
        "record",
        "--postgres",
        "host=h user=u password=p",
        "--json",
        "r.json",
    ],
    &["explain", "a.stall", "--from", "1s", "--to", "3s"],
    &["explain", "--from=0", "--json=-"],
    &["explain", "--to", "0.0001h"],
    &["explain", "--last", "10m"],
    &[
        "record",
        "--trigger",
        "latency.p99>100ms for 300ms",
        "--trigger=spike",
        "--at-most",
        "1/5m",
    ],
    &[
        "record",
        "--trigger",
        "pressure.cpu.some>60% for 4s",
        "--trigger",
        "throughput<500.5",
        "--before",
        "5s",
    ],
    &["report", "--from", "2026-11-28T14:05:00Z", "--to", "14:06"],
    &[
        "record",
        "--segment",
        "10s",
        "--keep",
        "48h",
        "--max-size",
        "2G",
    ],
    &[
        "export",
        "--format",
        "csv",
        "--table",
        "thread",
        "--table=signal",
        "-o",
        "t",
    ],
    &[
        "export",
        "a.stall",
        "--format=bundle",
        "--names",
        "none",
        "--preview",
    ],
    &["export", "--format", "parquet"],
    &["doctor", "--json", "--root", "/host"],
    &["run", "--help"],
    &["--version"],
    &["help", "export"],
];

fn feed(bytes: &[u8]) {
    static RECORDING: OnceLock<Recording> = OnceLock::new();
    let open = || Reader::open(&crate::repository().join(FIXTURE)).expect("it is whole");
    let words = bytes.split(|byte| *byte == 0);
    let words: Vec<OsString> = words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    stallscope::fuzz_targets::command_line(&words, RECORDING.get_or_init(open));
}

fn seeds(_: &Path) -> Result<Vec<Seed>> {
    let named = LINES.into_iter().enumerate();
    Ok(named
        .map(|(at, words)| Seed::new(format!("line-{at}"), words.join("\0")))
        .collect())
}
