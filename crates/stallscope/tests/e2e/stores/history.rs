//! A made-up hour of six nodes as node_exporter would have told it, for real stores to hold: every number in it is known.
//!
//! The story is a published one: 3 x 2, 6 x 2, 6 x 4 and 3 x 4 CPUs under the same clients; then a rolling restart with cold
//! caches, and nodes that leave one after the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the hour begins: a day of 2024, ns of whose minutes are whole.
pub const START_S: i64 = 1_710_000_000;
pub const MINUTES: i64 = 60;

/// What is different from the plain hour.
#[derive(Clone, Copy, Default)]
pub struct Variant {
    /// Scrapes lie so far apart, s.
    pub scrape_s: i64,
    /// Nobody scrapes in these minutes.
    pub gap: Option<(i64, i64)>,
    /// At this minute the second node is another machine, with more memory, and its counters begin anew.
    pub replaced: Option<i64>,
    /// At this minute the first node boots.
    pub booted: Option<i64>,
    /// The clock of the second node is ahead by so much, s, and the third one's agent, which writes its samples to the store,
    /// has a clock that is so far behind.
    pub apart_s: f64,
}

impl Variant {
    /// The plain hour.
    pub fn every(scrape_s: i64) -> Self {
        Self {
            scrape_s,
            ..Self::default()
        }
    }
}

/// What all nodes do in a minute of the hour.
#[derive(Clone, Copy)]
pub struct Does {
    pub nodes: usize,
    pub cpus: usize,
    pub cpu_some: f64,
    pub io_some: f64,
    pub memory_some: f64,
    pub busy: f64,
    pub read: f64,
    pub throughput: f64,
}

/// By the minute.
pub fn does(minute: f64) -> Does {
    let of =
        |nodes, cpus, [cpu_some, io_some, memory_some, busy]: [f64; 4], read, throughput| Does {
            nodes,
            cpus,
            cpu_some,
            io_some,
            memory_some,
            busy,
            read,
            throughput,
        };
    match minute {
        it if it < 12.0 => of(3, 2, [0.45, 0.71, 0.30, 0.93], 180e6, 3_661.0),
        it if it < 24.0 => of(6, 2, [0.81, 0.06, 0.01, 0.96], 1e6, 4_535.0),
        it if it < 36.0 => of(6, 4, [0.25, 0.03, 0.0, 0.62], 0.5e6, 12_906.0),
        it if it < 48.0 => of(3, 4, [0.29, 0.04, 0.0, 0.85], 0.5e6, 13_119.0),
        it => of(6 - left(it), 4, [0.08, 0.02, 0.0, 0.35], 0.5e6, 5_000.0),
    }
}

/// Nodes that left by then: one every two minutes from the 54th on.
fn left(minute: f64) -> usize {
    match minute < 54.0 {
        true => 0,
        false => ((minute - 54.0) / 2.0) as usize + 1,
    }
}

/// When a node's server is started anew, with a cold cache for a minute.
const RESTARTS: [(usize, f64); 3] = [(0, 49.0), (1, 50.5), (2, 52.0)];

struct Sample {
    labels: String,
    at: f64,
    value: f64,
}

/// Samples by metric.
#[derive(Default)]
struct Made {
    series: BTreeMap<(String, bool), Vec<Sample>>,
    counters: BTreeMap<(usize, String), f64>,
    random: u64,
}

impl Made {
    fn put(&mut self, metric: &str, labels: &str, is_counter: bool, at: f64, value: f64) {
        let key = (metric.to_owned(), is_counter);
        let labels = labels.to_owned();
        let all = self.series.entry(key).or_default();
        all.push(Sample { labels, at, value });
    }

    /// A factor between 0.95 and 1.05, the same in every run.
    fn about(&mut self) -> f64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        0.95 + 0.1 * ((self.random >> 33) as f64 / f64::from(1u32 << 31))
    }

    fn count(&mut self, node: usize, metric: &str, labels: &str, at: f64, by: f64) {
        let sum = self
            .counters
            .entry((node, format!("{metric}{labels}")))
            .or_insert(10_000.0);
        *sum += by;
        let value = *sum;
        self.put(metric, labels, true, at, value);
    }
}

/// The hour as OpenMetrics, with times.
pub fn made(variant: Variant) -> String {
    let mut made = Made::default();
    let step = variant.scrape_s;
    let mut transactions = 0.0;
    for scrape in 0..MINUTES * 60 / step {
        let minute = (scrape * step) as f64 / 60.0;
        let now = does(minute);
        transactions += now.throughput * step as f64;
        if variant
            .gap
            .is_some_and(|(from, to)| (from as f64..to as f64).contains(&minute))
        {
            continue;
        }
        let at = (START_S + scrape * step) as f64;
        made.put(
            "bench_transactions",
            "instance=\"driver:9999\",job=\"bench\"",
            true,
            at,
            transactions,
        );
        for node in 0..now.nodes {
            let late = if node == 2 { variant.apart_s } else { 0.0 };
            scraped(
                &mut made,
                variant,
                node,
                minute,
                at + node as f64 * 0.7 - late,
            );
        }
    }
    text(made)
}

/// What a node is scraped of at once.
fn scraped(made: &mut Made, variant: Variant, node: usize, minute: f64, at: f64) {
    let present = does(minute).cpus;
    let step = variant.scrape_s as f64;
    let labels = format!("instance=\"n{}:9100\",job=\"node\"", node + 1);
    let is_at = |it: Option<i64>| {
        it.is_some_and(|it| (it as f64..it as f64 + step / 60.0).contains(&minute))
    };
    if (node == 1 && is_at(variant.replaced)) || (node == 0 && is_at(variant.booted)) {
        for (_, value) in made.counters.iter_mut().filter(|it| it.0.0 == node) {
            *value = 0.0;
        }
    }
    // A counter that is scraped now grew as it was before.
    let minute = minute - step / 60.0;
    let mut now = Does {
        cpus: present,
        ..does(minute)
    };
    // The third node is hot for twelve minutes.
    if node == 2 && (24.0..36.0).contains(&minute) {
        (now.busy, now.cpu_some) = (0.95, 0.6);
    }
    let cold = RESTARTS
        .iter()
        .find(|it| it.0 == node && (it.1..it.1 + 1.0).contains(&minute));
    let cache = match cold {
        None => 4e9,
        Some((_, from)) => {
            (now.read, now.io_some) = (60e6, 0.5);
            4e8 + (minute - from) * 3e9
        }
    };
    let is_other = node == 1 && variant.replaced.is_some_and(|it| minute >= it as f64);
    let is_booted = node == 0 && variant.booted.is_some_and(|it| minute >= it as f64);
    let boot = match (is_other, is_booted) {
        (true, _) => START_S + variant.replaced.unwrap_or(0) * 60 - 30,
        (_, true) => START_S + variant.booted.unwrap_or(0) * 60 - 30,
        _ => START_S - 1_000_000,
    };
    let memory = if is_other { 16e9 } else { 8e9 };
    let ahead = if node == 1 { variant.apart_s } else { 0.0 };
    for (metric, value) in [
        ("node_time_seconds", at + ahead + 0.004),
        ("node_boot_time_seconds", boot as f64),
        ("node_load1", 2.0),
        ("node_memory_MemTotal_bytes", memory),
        ("node_memory_MemAvailable_bytes", 6e9),
        ("node_memory_Cached_bytes", cache),
    ] {
        made.put(metric, &labels, false, at, value);
    }
    pressure(made, now, node, &labels, at, step);
    cpus(made, now, node, &labels, at, step);
    let disk = format!("{labels},device=\"vda\"");
    let (read, busy) = (
        now.read * made.about() * step,
        (now.read / 200e6 + 0.02).min(1.0) * step,
    );
    made.count(node, "node_disk_read_bytes", &disk, at, read);
    made.count(node, "node_disk_written_bytes", &disk, at, 2e6 * step);
    made.count(node, "node_disk_io_time_seconds", &disk, at, busy);
}

fn pressure(made: &mut Made, now: Does, node: usize, labels: &str, at: f64, step: f64) {
    for (metric, share) in [
        ("node_pressure_cpu_waiting_seconds", now.cpu_some),
        ("node_pressure_io_waiting_seconds", now.io_some),
        ("node_pressure_io_stalled_seconds", now.io_some * 0.7),
        ("node_pressure_memory_waiting_seconds", now.memory_some),
        (
            "node_pressure_memory_stalled_seconds",
            now.memory_some * 0.5,
        ),
    ] {
        let by = share * made.about() * step;
        made.count(node, metric, labels, at, by);
    }
}

fn cpus(made: &mut Made, now: Does, node: usize, labels: &str, at: f64, step: f64) {
    for cpu in 0..now.cpus {
        for (mode, share) in [
            ("user", now.busy * 0.7),
            ("system", now.busy * 0.3),
            ("idle", 1.0 - now.busy),
            ("iowait", 0.0),
            ("steal", 0.0),
        ] {
            let labels = format!("{labels},cpu=\"{cpu}\",mode=\"{mode}\"");
            // Once, steal of a CPU runs backwards by 3 s.
            let is_odd = mode == "steal" && cpu == 0 && node == 0 && at == (START_S + 1_500) as f64;
            let by = if is_odd { -3.0 } else { share * step };
            made.count(node, "node_cpu_seconds", &labels, at, by);
        }
    }
}

fn text(made: Made) -> String {
    let mut text = String::new();
    for ((metric, is_counter), mut samples) in made.series {
        let (kind, suffix) = if is_counter {
            ("counter", "_total")
        } else {
            ("gauge", "")
        };
        writeln!(text, "# TYPE {metric} {kind}").expect("a string takes all");
        samples.sort_by(|a, b| a.labels.cmp(&b.labels).then(a.at.total_cmp(&b.at)));
        for Sample { labels, at, value } in samples {
            writeln!(text, "{metric}{suffix}{{{labels}}} {value:.6} {at:.3}")
                .expect("a string takes all");
        }
    }
    text.push_str("# EOF\n");
    text
}

/// The same as a store keeps it that has the names of metrics in a label, and other words for labels.
pub fn renamed(text: &str) -> String {
    let line = |line: &str| {
        let (metric, rest) = line.split_once('{')?;
        let rest = rest.replacen("instance=", "exported_instance=", 1);
        Some(format!(
            "kept{{saved_name=\"{metric}\",node_prefix=\"yb-1\",{rest}\n"
        ))
    };
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    let lines: String = lines.filter_map(line).collect();
    format!("# TYPE kept unknown\n{lines}# EOF\n")
}

/// The same with times in ms, as VictoriaMetrics takes it in.
pub fn in_milliseconds(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((series, at)) if !line.starts_with('#') => {
            let at: f64 = at.parse().expect("a time");
            format!("{series} {:.0}\n", at * 1e3)
        }
        _ => String::new(),
    };
    text.lines().map(line).collect()
}
