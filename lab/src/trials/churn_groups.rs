//! `churn-groups`: control groups come and go, a thousand a second.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use signal_hook::consts::SIGINT;

use super::recorder::{self, Recorder};
use super::usage::{self, Monitored};
use super::{Round, Trial, claims};
use crate::groups::{Group, Hierarchies};
use crate::interrupt;
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "churn-groups",
    about: "1,000 control groups a second are made and removed, in v1 and v2: deadlines are kept or their breach is told, memory is bounded.",
    rounds: 10,
    short: 1,
    lack: usage::lack,
    round,
};

/// Groups made, and removed, each second.
const PER_SECOND: u32 = 1_000;
/// That many live at a time: each for some 300 ms.
const ALIVE: usize = 300;
/// With less than half of those that the rate would give it is no trial: it then takes longer.
const LEAST_SHARE: f64 = 0.5;
/// Gaps and entities of groups that are gone must not fill what is rewritten at each change.
const MOST_META: u64 = 1 << 20;

fn round(round: &Round<'_>) -> Result<()> {
    let length = Duration::from_secs(if round.short { 3 } else { 10 });
    let mut stage = Stage::new()?;
    let burn = stage.own(&["burn", "--threads", "1"])?;
    let (pid, _) = stage.beside_that_speaks(burn)?;
    let watched = Monitored::over(pid, 1.0)?;
    let mut command = recorder::command(round)?;
    command.args(claims::recording_of(pid, Duration::from_secs(3_600)));
    let mut recorder = Recorder::start(round, command)?;
    recorder.records(&round.folder.join(claims::RECORDING))?;
    churn(length, round.number)?;
    recorder.signal(SIGINT);
    let report = claims::sound(round, recorder)?;
    watched.agrees(&report, 0.03)?;
    let meta = fs::metadata(round.folder.join(claims::RECORDING).join("meta.json"))?.len();
    if meta > MOST_META {
        bail!("meta.json has {meta} bytes");
    }
    Ok(())
}

/// Makes and removes groups for a time, and until they are enough, half of them in v1 where it is mounted.
fn churn(length: Duration, seed: u32) -> Result<()> {
    let found = Hierarchies::find()?;
    let parents = found.v1.get("cpuacct").into_iter().chain(&found.v2);
    let parents = parents
        .map(|hierarchy| Group::create(hierarchy, "churn"))
        .collect::<Result<Vec<_>>>()?;
    let (stop, made) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let mut threads = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        let folder = parent.folder().to_path_buf();
        let (stop, made) = (stop.clone(), made.clone());
        let rate = PER_SECOND / parents.len() as u32;
        let random = Rng::with_seed(u64::from(seed) << 8 | index as u64);
        let make = move || turn_over(&folder, rate, &stop, &made, random);
        let thread = std::thread::Builder::new().name("churn".to_owned());
        threads.push(thread.spawn(make).context("cannot start a thread")?);
    }
    let least = length.as_secs_f64() * f64::from(PER_SECOND) * LEAST_SHARE;
    let since = Instant::now();
    let waited = loop {
        let waited = interrupt::pause();
        let enough = f64::from(made.load(Ordering::Relaxed)) >= least;
        let all_gave_up = threads.iter().all(JoinHandle::is_finished);
        if waited.is_err() || all_gave_up || (enough && since.elapsed() >= length) {
            break waited;
        }
    };
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        let _: std::thread::Result<()> = thread.join();
    }
    waited
}

/// Makes groups at a rate until it is stopped, and counts them.
fn turn_over(
    parent: &std::path::Path,
    rate: u32,
    stop: &AtomicBool,
    all: &AtomicU32,
    mut random: Rng,
) {
    let since = Instant::now();
    let mut alive: VecDeque<PathBuf> = VecDeque::new();
    let mut made = 0;
    while !stop.load(Ordering::Relaxed) {
        if since.elapsed().as_secs_f64() * f64::from(rate) < f64::from(made) {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let folder = parent.join(format!("{made}"));
        if fs::create_dir(&folder).is_ok() {
            alive.push_back(folder);
            all.fetch_add(1, Ordering::Relaxed);
        }
        made += 1;
        if alive.len() > ALIVE {
            let oldest = random.usize(0..8);
            alive.swap(0, oldest);
            let gone = alive.pop_front();
            let _ = gone.map(fs::remove_dir);
        }
    }
    for folder in alive {
        let _ = fs::remove_dir(folder);
    }
}
