//! `full-disk`: the disk of the recording is full, read-only, or allows no larger file; before the
//! start or from a moment on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fastrand::Rng;

use super::recorder::{self, Ended, Recorder};
use super::{Round, Trial, claims};
use crate::mounts::unmount;
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "full-disk",
    about: "The disk is full, read-only or refuses larger files: before the start a clear error; midway the workload goes on to its own end, what was recorded is read, and the gap is named, if room does not come in time.",
    rounds: 70,
    short: 7,
    lack: || {
        let root = rustix::process::geteuid().is_root();
        (!root).then(|| "only root may mount a disk".to_owned())
    },
    round,
};

/// Takes three seconds, says so, and fails in a way of its own.
const WORKLOAD: &str = "touch began; for i in 1 2 3; do echo line $i; sleep 1; done; exit 7";
const SAID: &[u8] = b"line 1\nline 2\nline 3\n";
/// The same, when it is told to end.
const UNTIL_TOLD: &str =
    "until [ -e over ]; do sleep 0.1; done; for i in 1 2 3; do echo line $i; done; exit 7";
/// What tmpfs may hold, bytes.
const SMALL: u64 = 8 << 20;
/// Less than the largest file of a recording has after a second.
const LARGEST_FILE: u64 = 12 << 10;

fn round(round: &Round<'_>) -> Result<()> {
    let mut random = Rng::with_seed(round.number.into());
    let moment = Duration::from_millis(random.u64(100..1_500));
    let mut stage = Stage::new()?;
    match round.number % 7 {
        0 => {
            let disk = Memory::mount(round.folder)?;
            stage.fill_disk(&disk.0)?;
            never_begins(round, &disk.0)
        }
        1 => {
            let disk = Memory::mount(round.folder)?;
            disk.make_read_only()?;
            never_begins(round, &disk.0)
        }
        2 => {
            let disk = Memory::mount(round.folder)?;
            fills(round, &stage, &disk.0, moment)
        }
        3 => {
            let disk = stage.slow_disk()?;
            fills(round, &stage, &disk, moment)
        }
        4 => {
            let disk = Memory::mount(round.folder)?;
            fills_for_a_while(round, &stage, &disk.0, moment)
        }
        5 => {
            let disk = stage.slow_disk()?;
            turns_read_only(round, &disk, moment)
        }
        _ => refuses_larger_files(round, moment),
    }
}

/// A file system in memory.
struct Memory(PathBuf);

impl Memory {
    fn mount(folder: &Path) -> Result<Self> {
        let point = folder.join("disk");
        fs::create_dir(&point).context("cannot make a folder")?;
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={SMALL}"), "tmpfs"]);
        step(command.arg(&point))?;
        Ok(Self(point))
    }

    fn make_read_only(&self) -> Result<()> {
        step(
            Command::new("mount")
                .args(["-o", "remount,ro"])
                .arg(&self.0),
        )
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.0) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

fn step(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// `run` on that disk, with a workload.
fn start(round: &Round<'_>, disk: &Path, workload: &str) -> Result<Recorder> {
    let mut command = recorder::command(round)?;
    command
        .args(["run", "-o"])
        .arg(disk.join(claims::RECORDING))
        .args(["--", "sh", "-c", workload]);
    Recorder::start(round, command)
}

/// It says what is wrong with which folder, and starts nothing.
fn never_begins(round: &Round<'_>, disk: &Path) -> Result<()> {
    let ended = start(round, disk, WORKLOAD)?.end()?;
    ended.expect(125)?.says("trial.stall")?;
    if round.folder.join("began").exists() {
        bail!("the workload was started: {}", ended.text());
    }
    if disk.join(claims::RECORDING).exists() {
        bail!("a folder was left behind: {}", ended.text());
    }
    Ok(())
}

fn fills(round: &Round<'_>, stage: &Stage, disk: &Path, moment: Duration) -> Result<()> {
    let mut recorder = start(round, disk, WORKLOAD)?;
    recorder.records(&disk.join(claims::RECORDING))?;
    recorder.stays(moment)?;
    stage.fill_disk(disk)?;
    goes_on(&recorder.end()?)?.says("No space left")?;
    fs::remove_file(disk.join("ballast")).context("cannot remove a file")?;
    is_read(round, disk, Unwritten::Named)
}

/// What waits in memory meanwhile is written once there is room again.
fn fills_for_a_while(
    round: &Round<'_>,
    stage: &Stage,
    disk: &Path,
    moment: Duration,
) -> Result<()> {
    let mut recorder = start(round, disk, UNTIL_TOLD)?;
    recorder.records(&disk.join(claims::RECORDING))?;
    recorder.stays(moment)?;
    stage.fill_disk(disk)?;
    recorder.until_said("The workload goes on")?;
    fs::remove_file(disk.join("ballast")).context("cannot remove a file")?;
    recorder.until_said("the recording is written again")?;
    fs::write(round.folder.join("over"), "").context("cannot make a file")?;
    goes_on(&recorder.end()?)?.says("No space left")?;
    is_read(round, disk, Unwritten::Nothing)
}

fn turns_read_only(round: &Round<'_>, disk: &Path, moment: Duration) -> Result<()> {
    let mut recorder = start(round, disk, WORKLOAD)?;
    recorder.records(&disk.join(claims::RECORDING))?;
    recorder.stays(moment)?;
    // Refused in the ordinary way while files are open for writing: as after an error of the disk.
    step(
        Command::new("mount")
            .args(["-o", "remount,abort"])
            .arg(disk),
    )?;
    goes_on(&recorder.end()?)?.says("Read-only")?;
    // Where nothing can be written no gap can be: the recording ends there.
    is_read(round, disk, Unwritten::Unsaid)
}

fn refuses_larger_files(round: &Round<'_>, moment: Duration) -> Result<()> {
    let mut recorder = start(round, round.folder, WORKLOAD)?;
    recorder.records(&round.folder.join(claims::RECORDING))?;
    recorder.stays(moment)?;
    let pid = format!("--pid={}", recorder.pid());
    step(Command::new("prlimit").args([pid, format!("--fsize={LARGEST_FILE}")]))?;
    goes_on(&recorder.end()?)?.says("too large")?;
    // Other files of the recording may have taken what this one did not: then nothing is lacking.
    is_read(round, round.folder, Unwritten::Unsaid)
}

/// The workload had its own end and its own words.
fn goes_on(ended: &Ended) -> Result<&Ended> {
    ended.expect(7)?;
    if ended.stdout != SAID {
        bail!(
            "the workload's output became {:?}",
            String::from_utf8_lossy(&ended.stdout)
        );
    }
    ended.says("stallscope: ")
}

/// What a recording says of rows that the disk did not take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unwritten {
    /// A gap names them.
    Named,
    /// There are none.
    Nothing,
    /// It may say nothing.
    Unsaid,
}

/// What was recorded is read, and says what is not in it.
fn is_read(round: &Round<'_>, disk: &Path, expected: Unwritten) -> Result<()> {
    let recording = disk.join(claims::RECORDING);
    let json = round.folder.join("report.json");
    let words = [
        "explain".as_ref(),
        recording.as_os_str(),
        "--json".as_ref(),
        json.as_os_str(),
    ];
    recorder::run(round, &words)?.expect(0)?;
    let report = claims::report(&json)?;
    let unwritten = |gap: &model::Gap| gap.reason.to_string().contains("written");
    match (expected, report.gaps.iter().any(unwritten)) {
        (Unwritten::Named, false) => {
            bail!(
                "no gap says that something was not written: {:?}",
                report.gaps
            )
        }
        (Unwritten::Nothing, true) => {
            bail!(
                "something was not written, and there was room again: {:?}",
                report.gaps
            )
        }
        _ => Ok(()),
    }
}
