//! A made recording on disk: the scene and its series through the writer that every recording goes through.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use model::{
    Column, Cost, EntityId, EntityKind, FORMAT_VERSION, Identity, Load, Meta, Plan, Provenance,
    Role, Rows, Table, Target, Timestamp, Unit, Window, WorkloadRun,
};
use recording::Writer;

use super::scene::{EntitySelection, START, Size};
use super::series::{Followed, Motion, THIRDS, Weather};
use crate::mixed::Noise;

const TICKS_PER_S: i64 = 10;
const TICK_NS: i64 = 100_000_000;

/// The workload's own view, with the names that diagnosis knows it by.
static SIGNAL: Table = Table::new(
    "signal",
    EntityKind::Workload,
    "The workload's own throughput, latency and errors.",
    SIGNAL_COLUMNS,
);
static SIGNAL_COLUMNS: &[Column] = &[
    Column::gauge("interval_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("throughput_milli", Unit::MilliPerSecond, "", ""),
    Column::gauge("latency_mean_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("latency_stddev_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("failed", Unit::Count, "", ""),
];

/// Makes the recording; returns its rows.
pub(crate) fn make(folder: &Path, size: &Size) -> Result<u64> {
    let mut cast = EntitySelection::new(size);
    let mut followed = followed(size, &cast)?;
    let mut writer = Writer::create(folder, &about(size, &cast, false))?;
    let mut noise = Noise(7);
    let mut rows = 0;
    for second in 0..size.seconds {
        let weather = &weather(size, second);
        for ticks in second * TICKS_PER_S..(second + 1) * TICKS_PER_S {
            for set in followed.iter_mut().filter(|set| ticks % set.every == 0) {
                let at = START + ticks * TICK_NS + noise.below(80_000);
                set.look(at, weather, &mut noise);
            }
        }
        let made = |second: i64| i64::from(size.moments) * second / size.seconds;
        for number in made(second)..made(second + 1) {
            let born = START + second * TICKS_PER_S * TICK_NS + noise.below(500_000_000);
            moment(&mut cast, number as u32, born, &mut noise, &mut followed);
        }
        if second + 1 == size.seconds {
            followed.iter_mut().for_each(Followed::finish);
        }
        writer.entities(&std::mem::take(&mut cast.events))?;
        for (table, mut flushed) in by_table(&mut followed) {
            rows += flushed.len() as u64;
            writer.append(table, &flushed)?;
            flushed.clear();
        }
    }
    writer.close(&about(size, &cast, true))?;
    Ok(rows)
}

/// What a second is like: in every thirtieth requests stand still, where there are spikes.
fn weather(size: &Size, second: i64) -> Weather {
    const PERIOD_S: i64 = 30;
    let usual = THIRDS[(3 * second / size.seconds) as usize];
    match size.spikes && second % PERIOD_S == PERIOD_S / 2 {
        true => Weather {
            wait: 5.0 * usual.wait,
            throughput: usual.throughput / 4.0,
            latency_ns: 20.0 * usual.latency_ns,
            ..usual
        },
        false => usual,
    }
}

/// The rows of a second, one batch per table.
fn by_table(followed: &mut [Followed]) -> Vec<(&'static Table, Rows)> {
    let mut tables: BTreeMap<&str, (&'static Table, Rows)> = BTreeMap::new();
    for set in followed {
        let width = set.table.columns.len();
        let (_, rows) = tables
            .entry(&set.table.name)
            .or_insert_with(|| (set.table, Rows::with_capacity(width, set.rows.len())));
        for (time, entity, values) in set.rows.iter() {
            rows.push(time, entity, values);
        }
        set.rows.clear();
    }
    tables.into_values().collect()
}

/// Everything that is looked at, at the sampler's periods.
fn followed(size: &Size, cast: &EntitySelection) -> Result<Vec<Followed>> {
    use Motion::{Any, Backend, Cpu, Generator, Server, Signal};
    let near_groups = &cast.groups[..2];
    let rest_groups = &cast.groups[2..];
    let plan: [(&str, Motion, i64, usize, &[EntityId]); 27] = [
        ("thread", Backend, 1, 1, &cast.backend_threads),
        ("thread", Any, 1, 1000, &cast.helper_threads),
        ("thread", Generator, 1, 1, &cast.generator_threads),
        ("thread", Any, 10, 10, &cast.stranger_threads),
        ("cpu", Cpu, 1, 1, &cast.cpus),
        ("process", Server, 10, 1, &cast.near),
        ("process", Any, 10, 10, &cast.strangers),
        ("cgroup_cpu", Any, 2, 1, near_groups),
        ("cgroup_cpu", Any, 10, 8, rest_groups),
        ("cgroup_memory", Any, 2, 1, near_groups),
        ("cgroup_memory", Any, 20, 8, rest_groups),
        ("cgroup_io", Any, 20, 2, &cast.group_disks),
        ("cgroup_limit", Any, 10, 1000, near_groups),
        ("cgroup_limit", Any, 50, 1000, rest_groups),
        ("cgroup_pressure", Any, 20, 8, &cast.groups),
        ("pressure", Any, 20, 1, &cast.machine),
        ("load", Any, 10, 1, &cast.machine),
        ("memory", Any, 2, 1, &cast.machine),
        ("paging", Any, 2, 1, &cast.machine),
        ("disk", Any, 2, 1, &cast.disks),
        ("network", Any, 2, 2, &cast.interfaces),
        ("tcp", Any, 2, 1, &cast.machine),
        ("softnet", Any, 10, 1, &cast.cpus),
        ("filesystem", Any, 10, 1, &cast.filesystems),
        ("clock", Any, 50, 1, &cast.machine),
        ("recorder", Any, 1, 1, &cast.machine),
        ("signal", Signal(size.backends), 10, 1, &cast.workload),
    ];
    let set = |(name, motion, every, busy_of, ids)| {
        let table = sensors::tables()
            .chain([&SIGNAL])
            .find(|table| table.name == name)
            .with_context(|| format!("there is no table {name}"))?;
        Ok(Followed::new(table, motion, every, busy_of, ids))
    };
    plan.into_iter().map(set).collect()
}

/// Lets a process live for a moment: two looks at it, and one each tick at a backend's thread.
fn moment(
    cast: &mut EntitySelection,
    number: u32,
    born: Timestamp,
    noise: &mut Noise,
    followed: &mut [Followed],
) {
    let life = 50_000_000 + noise.below(350_000_000);
    let (process, thread) = cast.moment(number, (born, born + life));
    for (name, id, step) in [
        ("process", Some(process), life),
        ("thread", thread, TICK_NS),
    ] {
        let set = followed.iter_mut().find(|set| set.table.name == name);
        if let Some((set, id)) = set.zip(id) {
            let times = (0..=life / step).map(|look| born + look * step);
            set.glimpse(id, times, &THIRDS[0], noise);
        }
    }
}

fn target(size: &Size, role: Role, name: &str, root: Option<EntityId>) -> Target {
    Target {
        role,
        root,
        name: name.to_owned(),
        unit: "backend".to_owned(),
        version: Some("15".to_owned()),
        found_by: "unix socket".into(),
        connections: size.backends,
        cpus_allowed: Some(size.cpus),
        allowed: (0..size.cpus).collect(),
        found_at: START,
        machine_unit: None,
    }
}

fn about(size: &Size, cast: &EntitySelection, complete: bool) -> Meta {
    let target = |role, name, root| target(size, role, name, root);
    let environment = [("machine.architecture".to_owned(), "x86_64".to_owned())];
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: "made".to_owned(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: "made".to_owned(),
            stallscope: env!("CARGO_PKG_VERSION").to_owned(),
            anchor_realtime_ns: 0,
            anchor_boottime: START,
        },
        plan: Plan {
            command: "run".to_owned(),
            fast_period_ns: TICK_NS,
            ..Plan::default()
        },
        window: Window::new(START, START + size.seconds * TICKS_PER_S * TICK_NS),
        complete,
        cpus: size.cpus,
        environment: environment.into(),
        targets: vec![
            target(Role::Target, "postgres", cast.server),
            target(Role::Generator, "pgbench", cast.generator),
        ],
        no_target: None,
        workload: Some(WorkloadRun {
            name: "pgbench".to_owned(),
            command: vec!["pgbench".to_owned()],
            adapter: Some("pgbench".to_owned()),
            notices: Vec::new(),
            signals: Vec::new(),
            is_heard: true,
            quantiles_option: None,
            load: Load {
                clients: Some(size.backends),
                threads: Some(2),
                rate_unit: "tps".to_owned(),
                ..Load::default()
            },
            latency: Provenance::ToolMean,
            started: START,
            outcome: None,
        }),
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}
