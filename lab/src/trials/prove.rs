//! `prove`: an experiment on a running server is killed with SIGKILL at a random moment; or the one that watches over it
//! is killed with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use signal_hook::consts::SIGKILL;

use super::own_time::is_stopped;
use super::recorder::{self, Recorder};
use super::{Round, Trial};
use crate::groups::{Group, Hierarchies};
use crate::interrupt;
use crate::processes::Process;
use crate::stage::Stage;

pub(super) static KILLED: Trial = Trial {
    name: "prove-killed",
    about: "An experiment that lowers a server's CPU time and stops a process is killed (SIGKILL) at a random moment: within 1 s the limit is what it was and the process goes on.",
    rounds: 50,
    short: 1,
    lack,
    round: |round| killed(round, Whom::Driver),
};

pub(super) static BOTH_KILLED: Trial = Trial {
    name: "prove-both-killed",
    about: "The process that watches over an experiment is killed with it: the next command puts everything back and says so.",
    rounds: 20,
    short: 1,
    lack,
    round: |round| killed(round, Whom::Both),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Driver,
    Both,
}

/// CPU time of the server in us per 100 ms before anything is changed.
const QUOTA: &str = "70000";
const QUOTA_FILE: &str = "cpu.cfs_quota_us";
/// So soon everything is as it was.
const SOON: Duration = Duration::from_secs(1);
/// So long after the first change it is killed at the latest, ms: some turns.
const LATEST: u64 = 20_000;
/// Nothing is changed before this.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

fn lack() -> Option<String> {
    match Hierarchies::find() {
        Err(error) => Some(format!("{error:#}")),
        Ok(found) if !found.v1.contains_key("cpu") => {
            Some("the v1 hierarchy of CPU time is not mounted".to_owned())
        }
        Ok(_) if !rustix::process::geteuid().is_root() => {
            Some("only root may make control groups".to_owned())
        }
        Ok(_) => None,
    }
}

/// A server under load in a group with a quota, and a process beside it.
struct Scene {
    /// Removed before what is in it ends.
    group: Group,
    _stage: Stage,
    server: u32,
    bystander: u32,
    /// The process is stopped, and not the quota lowered.
    stops: bool,
}

impl Scene {
    fn new(stops: bool) -> Result<Self> {
        let found = Hierarchies::find()?;
        let hierarchy = found.v1.get("cpu").context("it was there")?;
        let mut stage = Stage::new()?;
        let server = stage.own(&["serve", "single-thread", "--loops", "2"])?;
        let (server, line) = stage.beside_that_speaks(server)?;
        // `listening on ADDRESS, thread N`
        let address = line.split_whitespace().nth(2);
        let address = address.context("it says where it is")?;
        let address = address.trim_end_matches(',');
        let mut load = stage.own(&["load", address, "--connections", "4", "--seconds", "120"])?;
        load.stdout(Stdio::null());
        stage.beside(load)?;
        let mut sleep = Command::new("sleep");
        sleep.arg(SLEEPS);
        let bystander = stage.beside(sleep)?;
        let group = Group::create(hierarchy, "proved")?;
        group.set(QUOTA_FILE, QUOTA)?;
        group.take(server)?;
        Ok(Self {
            group,
            _stage: stage,
            server,
            bystander,
            stops,
        })
    }

    /// Whether the experiment has changed something now.
    fn is_changed(&self) -> bool {
        match self.stops {
            true => is_stopped(self.bystander),
            false => quota(&self.group) != QUOTA,
        }
    }

    fn experiment(&self, round: &Round<'_>) -> Result<Command> {
        let mut command = recorder::command(round)?;
        command.args(["prove", "--yes", "--for", "100s", "-o", "proved.stall"]);
        command.arg(format!("--target=pid:{}", self.server));
        command.args(["--at-most", "20x"]);
        let pattern = format!("^sleep {SLEEPS}$");
        match self.stops {
            true => command.args(["--without", &pattern, "--cycle", "2s", "--cycles", "20"]),
            false => command.args(["--capacity", "cpu"]),
        };
        Ok(command)
    }
}

fn killed(round: &Round<'_>, whom: Whom) -> Result<()> {
    let mut random = Rng::with_seed(u64::from(round.number) + 1);
    // Every second round stops a process instead.
    let scene = Scene::new(round.number % 2 == 1)?;
    let prover = Recorder::start(round, scene.experiment(round)?)?;
    let is_changed = || scene.is_changed();
    until(PATIENCE, "nothing was changed", &is_changed)
        .with_context(|| String::from_utf8_lossy(&prover.said()).into_owned())?;
    std::thread::sleep(Duration::from_millis(random.u64(0..latest(round))));
    let guardian = guardian_of(prover.pid()).context("nobody watches over the experiment")?;
    if whom == Whom::Both {
        interrupt::signal(guardian, SIGKILL);
    }
    prover.signal(SIGKILL);
    match whom {
        Whom::Driver => until(SOON, "not everything is as it was within 1 s", &|| {
            !is_changed()
        })?,
        Whom::Both => {
            until(PATIENCE, "the experiment goes on", &|| !is_there(guardian))?;
            next_command_repairs(round, &scene)?;
        }
    }
    prover.end()?;
    nothing_is_kept()
}

fn next_command_repairs(round: &Round<'_>, scene: &Scene) -> Result<()> {
    let was_changed = scene.is_changed();
    let next = recorder::run(round, &["doctor"])?;
    if scene.is_changed() {
        bail!("the next command did not put back what was changed");
    }
    let says_so = next.text().contains("had left things changed");
    if was_changed && !says_so {
        bail!(
            "the next command does not say what it put back: {}",
            next.text()
        );
    }
    Ok(())
}

/// How long the process sleeps that is stopped: nobody else's does.
const SLEEPS: &str = "317.25";

fn latest(round: &Round<'_>) -> u64 {
    if round.short { LATEST / 4 } else { LATEST }
}

fn quota(group: &Group) -> String {
    let text = fs::read_to_string(group.file(QUOTA_FILE)).unwrap_or_default();
    text.trim().to_owned()
}

/// The process below another one that watches over it.
fn guardian_of(pid: u32) -> Option<u32> {
    let all = Process::all();
    let mut below = all.iter().filter(|it| it.parent == pid);
    let is_guardian = |it: &&Process| {
        let line = fs::read(format!("/proc/{}/cmdline", it.pid)).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"guardian")
    };
    below.find(is_guardian).map(|it| it.pid)
}

fn is_there(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// The journals of ended experiments are gone.
fn nothing_is_kept() -> Result<()> {
    let folder = PathBuf::from("/run/stallscope");
    let left = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|it| it.path()).collect()
    };
    // Who watches ends a moment later.
    until(SOON, "a journal is left", &|| left().is_empty()).with_context(|| format!("{:?}", left()))
}

fn until(long: Duration, otherwise: &'static str, holds: &dyn Fn() -> bool) -> Result<()> {
    let until = Instant::now() + long;
    while !holds() {
        if Instant::now() > until {
            bail!(otherwise);
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}
