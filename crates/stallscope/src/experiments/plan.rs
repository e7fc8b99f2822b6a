//! What will be recorded, decided before anything happens.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use kernel::Environment;
use model::{Cost, FORMAT_VERSION, Identity, Meta, Plan, ReadEvery, Role, Window};

use crate::arguments::RecordingOptions;
use crate::outputs::JsonFile;

/// Where the kernel shows its files.
pub(super) const ROOT: &str = "/";
/// Where it shows its processes.
pub(super) const PROC: &str = "/proc";
/// The period of the target's threads that is asked for.
const FAST_PERIOD_NS: i64 = 100_000_000;

/// A target that was named, with its processes.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) pids: Vec<u32>,
}

/// Resolves the named targets, before anything is started.
pub(super) fn named_targets(
    options: &RecordingOptions,
    environment: &Environment,
) -> Result<Vec<Named>> {
    let mounts = environment.hierarchies.mounts();
    let proc = environment.root.join("proc");
    let exclude = kernel::own_pid(&environment.root).into_iter().collect();
    options
        .target
        .iter()
        .map(|target| {
            let pids = targets::resolve(&proc, &mounts, &target.spec, &exclude)?;
            Ok(Named {
                role: target.role,
                text: target.text.clone(),
                pids,
            })
        })
        .collect()
}

/// The folder of the recording: the user's, or the next free name here.
pub(super) fn folder(options: &RecordingOptions, stem: &str) -> PathBuf {
    options.output.clone().unwrap_or_else(|| {
        let named = recording::next_name(Path::new("."), stem);
        named.strip_prefix(".").map(Path::to_owned).unwrap_or(named)
    })
}

/// Where the report goes as JSON, opened now: it fails before the run, not after.
pub(super) fn json(options: &RecordingOptions) -> Result<Option<JsonFile>> {
    options.json.as_deref().map(JsonFile::open).transpose()
}

/// This program's own command line, secrets replaced; at its end stand the words of a workload.
fn typed() -> Vec<String> {
    let mut own: Vec<OsString> = std::env::args_os().collect();
    if let Some(program) = own.first_mut() {
        *program = "stallscope".into();
    }
    workloads::redact(&own)
}

/// How often each table is read.
fn periods() -> BTreeMap<String, ReadEvery> {
    let ns = |period: Duration| i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
    let periods = sensors::periods().map(|(table, period)| {
        let every = ReadEvery {
            near_ns: ns(period.tracked),
            rest_ns: ns(period.background),
        };
        (table.to_owned(), every)
    });
    periods.collect()
}

/// The description of a recording that begins now, by `run` or `record`.
pub(super) fn meta(command: &str, targets: &[Named], environment: &Environment) -> Meta {
    let clocks = kernel::Clocks::read();
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: uuid::Uuid::new_v4().to_string(),
            machine_id: environment.machine_id.clone(),
            boot_id: environment.boot_id.clone(),
            node: environment.node.clone(),
            stallscope: env!("CARGO_PKG_VERSION").to_owned(),
            anchor_realtime_ns: clocks.realtime_ns,
            anchor_boottime: clocks.boottime,
        },
        plan: Plan {
            command: command.to_owned(),
            targets: targets.iter().map(|target| target.text.clone()).collect(),
            fast_period_ns: FAST_PERIOD_NS,
            typed: typed(),
            periods: periods(),
            trace_all: false,
        },
        window: Window::new(clocks.boottime, clocks.boottime),
        complete: false,
        cpus: environment.cpus,
        environment: environment.facts.clone(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
    }
}
