//! Load generators: their command lines, what they print, their logs of single operations, and their files of results.
//!
//! The first part of an input is a command, a word a line; words that begin with `--metric=` choose
//! patterns (compiling new ones is slow, and is what `options` does). Each further part is what one read of its output returned, after a byte that says of
//! which stream, and how long after the one before.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use model::{ExitKind, Timestamp};
use workloads::{Adjust, Bin, Listener, LogOffer, Patterns, Prepared, ResultsFile, Rule, Stream};

use super::{PART, parts};
use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "workload",
    feed,
    seeds: from_fixtures,
    affordable: 1_500,
};

fn feed(bytes: &[u8]) {
    let mut parts = parts(bytes);
    let command = parts.next().unwrap_or_default();
    let reads: Vec<&[u8]> = parts.collect();
    let mut rules: Vec<Rule> = Vec::new();
    let mut argv: Vec<OsString> = Vec::new();
    for word in command.split(|byte| *byte == b'\n') {
        match word.strip_prefix(b"--metric=") {
            Some(choices) => rules.extend(choices.iter().map(|choice| chosen(*choice))),
            None => argv.push(OsString::from_vec(word.to_vec())),
        }
    }
    let stored = workloads::redact(&argv);
    assert_eq!(stored.len(), argv.len(), "a word gives a word");
    for adjust in [Adjust::Allowed, Adjust::Forbidden] {
        let prepared = workloads::prepare(&argv, adjust);
        let Ok(patterns) = Patterns::new(rules.clone()) else {
            return;
        };
        hear(prepared, patterns, adjust, &reads);
    }
}

fn chosen(choice: u8) -> Rule {
    const PATTERNS: [&str; 8] = [
        "throughput=([0-9.]+) tps",
        "throughput:total=actually processed: ([0-9]+)",
        "latency=lat ([0-9.,]+) ms",
        "latency:us=(.*)",
        "latency:s=([^ ]+) s",
        "lag=lag ([0-9.]+)",
        "failed=([0-9]+) failed",
        "failed:total=(?s)(..)$",
    ];
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let parsed = PATTERNS.iter().map(|text| text.parse());
        parsed
            .collect::<Result<_, String>>()
            .expect("the patterns are right")
    });
    RULES[usize::from(choice) % RULES.len()].clone()
}

fn hear(prepared: Option<Prepared>, patterns: Patterns, adjust: Adjust, reads: &[&[u8]]) {
    let hides = prepared.is_some() && adjust == Adjust::Allowed;
    let (reader, given) = match prepared {
        Some(prepared) => {
            read_log(prepared.log, reads);
            read_results(prepared.results, reads);
            (Some(prepared.reader), prepared.gives)
        }
        None => (None, &[][..]),
    };
    let reader = patterns.attach(&[], "tool", reader, given).reader;
    let mut listener = Listener::new(reader);
    let mut now = Timestamp::from_ns(1 << 40);
    let (mut out, mut err, mut came) = (Vec::new(), Vec::new(), [0, 0]);
    let mut bins: Vec<Bin> = Vec::new();
    for read in reads {
        let Some((how, text)) = read.split_first() else {
            continue;
        };
        now = now + i64::from(how >> 1) * 50_000_000;
        let (stream, forward) = match how & 1 {
            0 => (Stream::Stdout, &mut out),
            _ => (Stream::Stderr, &mut err),
        };
        came[usize::from(how & 1)] += text.len();
        listener.hear(stream, text, now, forward);
        bins.extend(listener.take_bins());
    }
    let exit = ExitKind::Signal(i32::MAX);
    let (last, ending) = listener.finish(exit, now, &mut out, &mut err);
    bins.extend(last);
    for bin in &bins {
        assert!(bin.interval_ns > 0 && bin.end <= now, "{bin:?}");
        assert!(bin.completed().is_finite());
    }
    let quoted = ending.complaints.iter().map(|it| it.message.clone());
    let remarks = ending.remarks.iter().map(ToString::to_string);
    for text in quoted.chain(remarks) {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    // Only what we asked the tool to print is kept from the user.
    assert!(out.len() == came[0] || (hides && out.len() < came[0]));
    assert!(err.len() == came[1] || (hides && err.len() < came[1]));
}

fn read_log(log: LogOffer, reads: &[&[u8]]) {
    let LogOffer::Possible(log) = log else {
        return;
    };
    for line in reads
        .iter()
        .flat_map(|read| read.split(|byte| *byte == b'\n'))
    {
        log.line(line);
    }
}

fn read_results(file: Option<ResultsFile>, reads: &[&[u8]]) {
    let Some(file) = file else {
        return;
    };
    let mut reader = (file.read)(0);
    for line in reads
        .iter()
        .flat_map(|read| read.split(|byte| *byte == b'\n'))
    {
        reader.line(line);
    }
    let mut summary = None;
    let (operations, remark) = reader.finish(&mut summary);
    for bin in operations
        .by_label
        .iter()
        .map(|it| &it.1)
        .chain(&operations.of_all)
    {
        assert!(
            bin.interval_ns > 0 && bin.completed().is_finite(),
            "{bin:?}"
        );
    }
    assert!(operations.labels.len() <= workloads::MOST_LABELS + 1);
    if let Some(remark) = remark {
        assert!(!remark.to_string().contains(char::is_control), "{remark}");
    }
    for kind in summary.iter().flat_map(|it| &it.scripts) {
        assert!(!kind.name.contains(char::is_control), "{kind:?}");
    }
}

/// The words of a load of a tool.
fn load_of(tool: &str) -> String {
    match tool {
        "jmeter" => "jmeter\n-n\n-t\na.jmx\n-l\nresults.jtl".to_owned(),
        "sysbench" => "sysbench\ncpu\n--threads=4\nrun".to_owned(),
        "k6" => "k6\nrun\na.js\n-o\njson=a.json".to_owned(),
        "vegeta" => "vegeta\nattack\nreport\n-every=1s".to_owned(),
        "locust" => "locust\n--headless\n-u\n4".to_owned(),
        "ycsb" => "ycsb\nrun\nbasic\n-s".to_owned(),
        _ => format!("{tool}\n-c\n4\n-R\n100\n-T\n9"),
    }
}

/// The captured runs, each stream as reads of a few lines.
fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let folder = repository.join("crates/workloads/fixtures");
    let mut found = Vec::new();
    for file in seeds::files(&folder)? {
        if file.name.ends_with(".json") || file.name.ends_with(".jsonl") {
            continue;
        }
        let mut names = workloads::all().iter().map(|adapter| adapter.name());
        let own = names.find(|name| file.name.starts_with(&format!("{name}/")));
        let tool = own.unwrap_or("pgbench");
        let stream = 2 * 10 + u8::from(file.name.ends_with("stderr"));
        for (kind, command) in [
            ("known", load_of(tool)),
            ("any", "./load\n--metric=025".to_owned()),
        ] {
            let mut bytes = command.into_bytes();
            let lines: Vec<&[u8]> = file.bytes.split_inclusive(|it| *it == b'\n').collect();
            for read in lines.chunks(4).take(20) {
                bytes.extend([PART, stream]);
                bytes.extend(read.concat());
            }
            found.push(Seed::new(format!("{kind}-{}", file.name), bytes));
        }
    }
    Ok(found)
}
