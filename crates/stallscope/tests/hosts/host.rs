//! A fixture host recorded for some seconds, and what came of it.

use std::path::{Path, PathBuf};

use expect_test::Expect;
use model::{EntityRecord, Gap, GapReason, Report, Timestamp};

use crate::alike::alike;
use crate::place::{JSON, Place};
use crate::player;
use crate::process::{Ended, Running};

/// Long enough for pressure, which is read every 2 s.
const LENGTH: &str = "3s";

/// What came of a recording.
pub struct Outcome {
    ended: Ended,
    recording: recording::Recording,
    pub report: Report,
}

/// The folder of a fixture host.
pub fn folder(host: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/hosts")
        .join(host)
}

/// Recordings in which the sampler was delayed by this machine's other work are made again.
const TRIES: usize = 3;

/// Records the host about a target, and explains it.
pub fn record(host: &str, target: &str) -> Option<Outcome> {
    let mut outcome = record_once(host, target)?;
    for _ in 1..TRIES {
        let caveats = &outcome.report.verdict.caveats;
        if caveats.iter().all(|caveat| caveat.gate != "gate.gaps") {
            break;
        }
        outcome = record_once(host, target)?;
    }
    Some(outcome)
}

fn record_once(host: &str, target: &str) -> Option<Outcome> {
    let mounted = player::play(&folder(host))?;
    let place = Place::new();
    let root = mounted.path().to_str().expect("a plain path");
    let arguments = [
        "record",
        "-q",
        "--root",
        root,
        "--target",
        target,
        "--for",
        LENGTH,
        "--json",
        JSON,
        "-o",
        "host.stall",
    ];
    let recorded = Running::start(place.stallscope(&arguments)).end();
    drop(mounted);
    recorded.status(0);
    let ended = place.run(&["explain", "host.stall"]);
    ended.status(0);
    Some(Outcome {
        recording: place.opened(),
        report: place.report(),
        ended,
    })
}

/// The words of a text, without what reading cost: that says something of this machine, not of the host.
fn without_cost(text: &str) -> String {
    const BEGIN: &str = "recording itself took";
    const END: &str = "of a CPU";
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((before, rest)) = words.split_once(BEGIN) else {
        return words;
    };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    match before.strip_suffix("; ") {
        Some(before) => format!("{before}{after}"),
        None => format!("{before}{}", after.trim_start_matches("; ")),
    }
}

impl Outcome {
    /// The verdict as a person reads it, and the gaps of the JSON.
    #[track_caller]
    pub fn says(&self, golden: &Expect) -> &Self {
        let text = self.ended.out_text();
        // That the sampler was late says something of this machine, not of the host.
        let gaps = self.report.gaps.iter();
        let gaps = gaps.filter(|gap| gap.reason != GapReason::Overrun);
        let mut gaps: Vec<String> = gaps.map(line).collect();
        gaps.sort();
        let said = format!("{text}{}", gaps.concat());
        if !alike(&without_cost(golden.data()), &without_cost(&said)) {
            golden.assert_eq(&said);
        }
        let commands = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(commands), "{text:?}");
        self
    }

    /// The entity at a path.
    #[track_caller]
    pub fn entity(&self, path: &str) -> &EntityRecord {
        let all = self.recording.timeline.entities.iter();
        let mut found = all.filter(|record| record.entity.path == path);
        found.next().unwrap_or_else(|| panic!("no entity {path}"))
    }

    /// What was recorded in a column of whatever goes by that path: the machine and the root group share one.
    #[track_caller]
    fn values(&self, table: &str, path: &str, column: &str) -> Vec<(Timestamp, i64)> {
        self.entity(path);
        let timeline = &self.recording.timeline;
        let all = timeline.entities.iter();
        let found = all.filter(|record| record.entity.path == path);
        let series = found.filter_map(|record| timeline.series(table, record.id, column));
        series.flat_map(|series| series.values()).collect()
    }

    /// By how much a counter grew per second, over all that was recorded of it.
    #[track_caller]
    pub fn rate(&self, table: &str, path: &str, column: &str) -> f64 {
        let values = self.values(table, path, column);
        let [(from, first), .., (to, last)] = values[..] else {
            panic!("{table} {column} of {path}: {values:?}");
        };
        (last - first) as f64 / to.seconds_since(from)
    }

    /// What a column last held; `None` where it never held anything.
    #[track_caller]
    pub fn last(&self, table: &str, path: &str, column: &str) -> Option<i64> {
        let values = self.values(table, path, column);
        values.last().map(|(_, value)| *value)
    }

    /// That a counter grew as the fixture's does, within what reading at other instants makes of it.
    #[track_caller]
    pub fn grows(&self, table: &str, path: &str, column: &str, per_second: f64) -> &Self {
        let rate = self.rate(table, path, column);
        let off = (rate - per_second).abs();
        assert!(
            off <= per_second * 0.03,
            "{table} {column} of {path}: {rate}, not {per_second}"
        );
        self
    }

    /// That a gauge holds what the fixture says.
    #[track_caller]
    pub fn holds(&self, table: &str, path: &str, column: &str, value: i64) -> &Self {
        assert_eq!(
            self.last(table, path, column),
            Some(value),
            "{table} {column} of {path}"
        );
        self
    }

    /// That something which the host does not tell was nowhere taken for 0.
    #[track_caller]
    pub fn lacks(&self, table: &str, path: &str, column: &str) -> &Self {
        assert_eq!(
            self.last(table, path, column),
            None,
            "{table} {column} of {path}"
        );
        self
    }

    /// The CPUs of the machine, and those that the first target may use.
    pub fn cpus(&self) -> (u32, Option<u32>) {
        let meta = &self.recording.meta;
        (meta.cpus, meta.targets[0].cpus_allowed)
    }

    /// The names of all entities, as recorded.
    pub fn paths(&self) -> Vec<&str> {
        let all = self.recording.timeline.entities.iter();
        all.map(|record| record.entity.path.as_str()).collect()
    }
}

fn line(gap: &Gap) -> String {
    let words = ["gap:", &gap.table, &gap.what.to_string()].join(" ");
    format!("{}: {}\n", words.trim_end(), gap.reason)
}
