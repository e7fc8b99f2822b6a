//! What a killed run could not clean up: processes, folders, servers and cgroups. Names carry the pid of the run that
//! made them, and so does the environment of every process that it started, however far down. A janitor, a process
//! of its own, removes them when the run is gone; what it could not is removed before the next run.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::groups::{self, Hierarchies};
use crate::mounts::unmount;
use crate::names::{FOLDERS, maker};
use crate::{interrupt, processes};

/// The environment variable that holds the pid of the run.
const RUN: &str = "STALLSCOPE_LAB_RUN";

/// Begins this program again with its pid in its environment, where it is not there yet: what it starts inherits that.
pub fn sign() -> Result<()> {
    let own = std::process::id().to_string();
    if std::env::var_os(RUN).is_some_and(|run| run == *own) {
        return Ok(());
    }
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let arguments = std::env::args_os().skip(1);
    let error = Command::new(program).args(arguments).env(RUN, own).exec();
    Err(error).context("cannot start this program again")
}

/// Starts the janitor. It works once the kernel closes its pipe, however this run ends.
pub fn start_janitor() -> Result<ChildStdin> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut janitor = Command::new(program)
        .args(["janitor", &std::process::id().to_string()])
        .env_remove(RUN)
        // What ends the whole group of the run must leave it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start the janitor")?;
    janitor.stdin.take().context("its input is a pipe")
}

/// The janitor: removes what run `run` left, once standard input ends.
pub fn janitor(run: u32) -> Result<Vec<String>> {
    std::io::stdin()
        .read_to_end(&mut Vec::new())
        .context("cannot wait for the run's end")?;
    // A process closes its files some time before its pid is free.
    remove(&|maker| maker == run || is_over(maker))
}

/// Removes what dead runs left behind, and says what. What belongs to another user stays, and is
/// said too: it cannot disturb this run, only waste room.
pub fn remove_of_dead_runs() -> Result<Vec<String>> {
    remove(&is_over)
}

fn is_over(run: u32) -> bool {
    !processes::exists(run)
}

fn remove(is_over: &impl Fn(u32) -> bool) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let folders = dead_in(Path::new(FOLDERS), is_over);
    for folder in &folders {
        // QUIT frees a server's shared memory.
        end_all(signal_hook::consts::SIGQUIT, || working_in(folder));
    }
    // TERM has a recorder end its workload.
    end_all(signal_hook::consts::SIGTERM, || orphans(is_over));
    for folder in folders {
        unmount_below(&folder);
        let outcome = fs::remove_dir_all(&folder).map_err(anyhow::Error::from);
        said.push(sentence(&folder, outcome));
    }
    for hierarchy in Hierarchies::find()?.all() {
        for group in dead_in(&hierarchy.mount, is_over) {
            let outcome = groups::remove(&group, &hierarchy.mount);
            said.push(sentence(&group, outcome));
        }
    }
    Ok(said)
}

fn sentence(path: &Path, outcome: Result<()>) -> String {
    let path = path.display();
    match outcome {
        Ok(()) => format!("Removed {path}, left by a killed run."),
        Err(error) => format!("{path} was left by a killed run and stays: {error:#}."),
    }
}

/// The folders directly below `parent` that were made by runs that are gone.
fn dead_in(parent: &Path, is_over: &impl Fn(u32) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        // A symbolic link is not a folder here: nobody else can point us at theirs.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str().and_then(maker).is_some_and(is_over)
        })
        .map(|entry| entry.path())
        .collect()
}

/// Removing a folder must not reach into a disk that is mounted there.
fn unmount_below(folder: &Path) {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    for point in points.filter(|point| Path::new(point).starts_with(folder)) {
        if let Err(error) = unmount(Path::new(point)) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

/// Ends processes: by a signal that lets them clean up, and then by KILL.
fn end_all(gently: i32, all: impl Fn() -> Vec<u32>) {
    for signal in [gently, signal_hook::consts::SIGKILL] {
        // Up to 5 s: a server gives its own backends as long.
        for attempt in 0..100 {
            let left = all();
            if left.is_empty() {
                return;
            }
            if attempt == 0 {
                left.iter().for_each(|pid| interrupt::signal(*pid, signal));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn working_in(folder: &Path) -> Vec<u32> {
    // A generator works where the user does, and is a program of that folder.
    let places = |pid| [processes::working_folder(pid), processes::program(pid)];
    let inside = |pid: &u32| {
        let mut places = places(*pid).into_iter().flatten();
        places.any(|place| place.starts_with(folder))
    };
    processes::pids().filter(inside).collect()
}

/// Processes that runs started which are over.
fn orphans(is_over: &impl Fn(u32) -> bool) -> Vec<u32> {
    processes::pids()
        .filter(|pid| processes::variable(*pid, RUN).is_some_and(is_over))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::own_name;

    #[test]
    fn the_maker_is_in_the_name() {
        assert_eq!(maker("stallscope-lab-17"), Some(17));
        assert_eq!(maker("stallscope-lab-17-x7-z"), Some(17));
        assert_eq!(maker(&own_name()), Some(std::process::id()));
        for other in [
            "stallscope-lab-",
            "stallscope-lab-x",
            "stallscope-lab-+1",
            "lab-17",
            "",
        ] {
            assert_eq!(maker(other), None, "{other}");
        }
    }

    #[test]
    fn only_folders_of_dead_runs_are_leftovers() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let mut child = Command::new("true").spawn().expect("true runs");
        let dead = child.id();
        child.wait().expect("our own child");
        let left = parent.path().join(format!("stallscope-lab-{dead}-abc"));
        fs::create_dir(&left).expect("a folder");
        fs::create_dir(parent.path().join(own_name())).expect("a folder");
        fs::create_dir(parent.path().join("somebody-else")).expect("a folder");
        let link = parent.path().join(format!("stallscope-lab-{dead}-link"));
        std::os::unix::fs::symlink("/", link).expect("a link");
        assert_eq!(dead_in(parent.path(), &is_over), [left]);
    }

    #[test]
    fn processes_of_a_folder_are_ended() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("sleep");
        let mut child = command
            .arg("30")
            .current_dir(parent.path())
            .spawn()
            .expect("sleep runs");
        assert_eq!(working_in(parent.path()), [child.id()]);
        // A child that ended keeps no folder, even before it is waited for.
        end_all(signal_hook::consts::SIGQUIT, || working_in(parent.path()));
        assert!(!child.wait().expect("our own child").success());
    }

    #[test]
    fn what_a_run_started_is_known_by_its_environment() {
        const RUN_OF_THIS_TEST: u32 = u32::MAX;
        let mut command = Command::new("sh");
        let mut child = command
            // What the shell starts in turn has its environment.
            .args(["-c", "sleep 30; true"])
            .env(RUN, RUN_OF_THIS_TEST.to_string())
            .spawn()
            .expect("sh runs");
        let left = || orphans(&|run| run == RUN_OF_THIS_TEST);
        while left().len() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(left().contains(&child.id()));
        end_all(signal_hook::consts::SIGTERM, left);
        assert!(!child.wait().expect("our own child").success());
    }
}
