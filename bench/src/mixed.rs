//! A made recording of a mixed set of series, the same every time: a busy server's threads at 10 Hz,
//! control groups at 1 Hz, the machine's own tables at their periods.

use std::path::Path;

use anyhow::{Context, Result};
use model::{
    Column, ColumnKind, Cost, EntityId, FORMAT_VERSION, Identity, Meta, Plan, Rows, Table,
    Timestamp, Unit, Window,
};
use recording::Writer;

/// Samples of what is read fastest.
pub(crate) const SAMPLES_PER_S: i64 = 10;

/// So many entities of a table, of which one in `busy_of` changes at a sample.
struct Part {
    table: &'static str,
    entities: u32,
    /// Every so many samples.
    every: i64,
    busy_of: u32,
}

/// About 2,000 series in all.
const PARTS: &[Part] = &[
    Part {
        table: "thread",
        entities: 40,
        every: 1,
        busy_of: 4,
    },
    Part {
        table: "process",
        entities: 100,
        every: 10,
        busy_of: 10,
    },
    Part {
        table: "cgroup_cpu",
        entities: 100,
        every: 10,
        busy_of: 8,
    },
    Part {
        table: "cgroup_pressure",
        entities: 60,
        every: 20,
        busy_of: 8,
    },
    Part {
        table: "cpu",
        entities: 2,
        every: 1,
        busy_of: 1,
    },
    Part {
        table: "disk",
        entities: 2,
        every: 2,
        busy_of: 1,
    },
    Part {
        table: "pressure",
        entities: 1,
        every: 20,
        busy_of: 1,
    },
    Part {
        table: "memory",
        entities: 1,
        every: 2,
        busy_of: 1,
    },
    Part {
        table: "load",
        entities: 1,
        every: 10,
        busy_of: 1,
    },
];

/// A fixed sequence that looks random (a 64-bit LCG's upper bits).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % limit.max(1)
    }
}

/// The series that a made recording has, and its values: a value is a series at a sample of its
/// period, whether it changed or not, as other recorders count.
pub(crate) struct Made {
    pub(crate) series: u64,
    pub(crate) values: u64,
    pub(crate) bytes: u64,
}

/// Writes `seconds` of the mixed set into a new recording.
pub(crate) fn write(folder: &Path, seconds: i64) -> Result<Made> {
    let meta = |complete| about(seconds, complete);
    let mut writer = Writer::create(folder, &meta(false))?;
    let mut noise = Noise(7);
    let (mut series, mut values) = (0, 0);
    let mut parts = Vec::new();
    let mut first = 0;
    for part in PARTS {
        let sensor = sensors::all()
            .iter()
            .find(|sensor| sensor.table.name == part.table);
        let table = sensor
            .with_context(|| format!("no sensor fills {}", part.table))?
            .table;
        series += u64::from(part.entities) * table.columns.len() as u64;
        let totals = vec![vec![0; table.columns.len()]; part.entities as usize];
        parts.push((part, table, first, totals));
        first += part.entities;
    }
    let mut seen = Vec::new();
    for second in 0..seconds {
        for (part, table, first, totals) in &mut parts {
            let mut rows = Rows::with_capacity(table.columns.len(), 512);
            for sample in (0..SAMPLES_PER_S).map(|sample| second * SAMPLES_PER_S + sample) {
                if sample % part.every > 0 {
                    continue;
                }
                values += totals.len() as u64 * table.columns.len() as u64;
                let at = Timestamp::from_ns(
                    1_000_000_000_000 + sample * 100_000_000 + noise.below(80_000),
                );
                for (entity, totals) in totals.iter_mut().enumerate() {
                    if !(entity as u32).is_multiple_of(part.busy_of) && sample != 0 {
                        continue;
                    }
                    step(table, totals, &mut noise);
                    seen.clear();
                    seen.extend(table.columns.iter().zip(&*totals).map(|(column, total)| {
                        let grain = grain(&table.name, column);
                        total / grain * grain
                    }));
                    rows.push(at, EntityId(*first + entity as u32), &seen);
                }
            }
            writer.append(table, &rows)?;
        }
        writer.flush()?;
    }
    let bytes = writer.close(&meta(true))?;
    Ok(Made {
        series,
        values,
        bytes,
    })
}

/// A step as the kernel makes them: half of a busy thing's counters move, nanoseconds by a noisy
/// amount, counts by a few; a third of the gauges move a little.
fn step(table: &Table, totals: &mut [i64], noise: &mut Noise) {
    for (index, (column, total)) in table.columns.iter().zip(totals).enumerate() {
        let moves = match column.kind {
            ColumnKind::Counter => index % 2 == 0,
            ColumnKind::Gauge => noise.below(3) == 0,
        };
        if moves {
            *total += match column.unit {
                Unit::Nanoseconds => 1_000_000 + noise.below(5_000_000),
                Unit::Bytes => 4096 * noise.below(100),
                _ => noise.below(8),
            };
        }
    }
}

/// The steps in which the kernel counts time, as recorded ones show: USER_HZ in /proc/stat and
/// /proc/PID/stat, jiffies shown as milliseconds in diskstats, microseconds in pressure and cpu.stat,
/// nanoseconds in schedstat only.
fn grain(table: &str, column: &Column) -> i64 {
    match (table, &*column.name) {
        _ if column.unit != Unit::Nanoseconds => 1,
        ("thread", "run_ns" | "wait_ns") => 1,
        ("thread" | "process" | "cpu", _) => 10_000_000,
        ("disk", _) => 1_000_000,
        _ => 1_000,
    }
}

fn about(seconds: i64, complete: bool) -> Meta {
    let start = Timestamp::from_ns(1_000_000_000_000);
    Meta {
        format_version: FORMAT_VERSION,
        identity: identity(start),
        plan: Plan {
            command: "record".to_owned(),
            fast_period_ns: 100_000_000,
            ..Plan::default()
        },
        window: Window::new(start, start + seconds * 1_000_000_000),
        complete,
        cpus: 2,
        environment: Default::default(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

/// Of no machine.
pub(crate) fn identity(start: Timestamp) -> Identity {
    Identity {
        recording_id: "made".to_owned(),
        machine_id: String::new(),
        boot_id: String::new(),
        node: "made".to_owned(),
        stallscope: env!("CARGO_PKG_VERSION").to_owned(),
        anchor_realtime_ns: 0,
        anchor_boottime: start,
    }
}
