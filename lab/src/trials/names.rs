//! `names`: processes, threads, groups and commands with names that no terminal should see.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fastrand::Rng;

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims, usage};
use crate::groups::{Group, Hierarchies};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "names",
    about: "Names hold line ends, spaces, %, escape codes, markup and invalid UTF-8: no control character reaches the terminal, and the JSON is valid.",
    rounds: 60,
    short: 2,
    lack: usage::lack,
    round,
};

/// Each is at most 15 bytes, so that it is a whole name of a process.
const NAMES: [&[u8]; 10] = [
    b"a\nb) R 1 2 3",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"100% %s %n %d",
    b"<script>alert(1)",
    b"\xff\xfe\x80\xc3(",
    b"\xc2\x9b31m csi",
    b" lead and end ",
    b"\"quote\\\" ${x}`",
    b"\r\x08\x08\t\x0b\x7f",
];

fn round(round: &Round<'_>) -> Result<()> {
    let mut random = Rng::with_seed(round.number.into());
    let mut name = || NAMES[random.usize(0..NAMES.len())].to_vec();
    let mut stage = Stage::new()?;
    let group = Group::create(&hierarchy()?, "names")?;
    let inner = Folder::make(group.folder().join(OsString::from_vec(group_name(name()))))?;

    let mut hogs = Vec::new();
    for hog in [name(), name()] {
        let file = stage.folder().join(OsString::from_vec(hog.clone()));
        if !file.exists() {
            fs::copy("/bin/sh", &file).context("cannot copy a shell")?;
        }
        let mut command = Command::new(&file);
        let argument = OsString::from_vec(name());
        command
            .args(["-c", "echo there; while :; do :; done"])
            .arg(argument);
        let (pid, _) = stage.beside_that_speaks(command)?;
        fs::write(inner.0.join("cgroup.procs"), pid.to_string())
            .context("cannot move a process")?;
        hogs.push((pid, hog));
    }
    let (pid, hog) = &hogs[0];
    let own = fs::read(format!("/proc/{pid}/comm"))?;
    if own.strip_suffix(b"\n") != Some(&hog[..hog.len().min(15)]) {
        bail!("the process is called {own:?}");
    }

    let mut command = recorder::command(round)?;
    command.args(claims::recording_of(*pid, Duration::from_millis(1_200)));
    let recorder = Recorder::start(round, command)?;
    claims::sound(round, recorder)?;
    json_is_plain(&round.folder.join("report.json"))?;

    let text = recorder::run(round, &["explain", "trial.stall"])?;
    text.expect(0)?;
    claims::harmless("the verdict", &text.stdout)?;

    // The command line and the name of a workload reach the user as well, errors included.
    let workload = stage.folder().join(OsString::from_vec(hog.clone()));
    let mut command = recorder::command(round)?;
    command
        .args(["run", "--json", "report.json", "--"])
        .arg(workload)
        .args(["-c", "sleep 0.4; exit 3"])
        .arg(OsString::from_vec(name()));
    let ended = Recorder::start(round, command)?.end()?;
    claims::harmless("what it said", &ended.expect(3)?.stderr)?;
    json_is_plain(&round.folder.join("report.json"))?;
    files_are_plain(round.folder)?;
    let mut command = recorder::command(round)?;
    command.args(["run", "--"]).arg(OsString::from_vec(name()));
    let ended = Recorder::start(round, command)?.end()?;
    claims::harmless("its error", &ended.expect(127)?.stderr)
}

fn hierarchy() -> Result<crate::groups::Hierarchy> {
    let found = Hierarchies::find()?;
    let any = found.v2.as_ref().or(found.v1.get("cpuacct"));
    any.cloned().context("no hierarchy is mounted")
}

/// The kernel takes no line ends in names of groups; nor is a slash part of one.
fn group_name(mut name: Vec<u8>) -> Vec<u8> {
    name.retain(|byte| *byte != b'\n' && *byte != b'/');
    name
}

/// A group inside one of ours: its processes are moved away when that is removed.
struct Folder(PathBuf);

impl Folder {
    fn make(path: PathBuf) -> Result<Self> {
        fs::create_dir(&path).with_context(|| format!("cannot make the cgroup {path:?}"))?;
        Ok(Self(path))
    }
}

/// A recording is called after its workload: its name is one that any shell and any page can take.
fn files_are_plain(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).context("the round's folder is there")? {
        let name = entry?.file_name();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        if !name.as_encoded_bytes().iter().all(is_plain) {
            bail!("a file is called {name:?}");
        }
    }
    Ok(())
}

fn json_is_plain(file: &Path) -> Result<()> {
    let bytes = fs::read(file).context("it wrote no report")?;
    let _: serde_json::Value = serde_json::from_slice(&bytes).context("the report is no JSON")?;
    claims::harmless("the report", &bytes)
}
