//! What a killed run could not clean up: folders, servers and cgroups. Their names carry the pid of
//! the run that made them; when that pid is gone, they are removed before the next run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::groups::{self, Hierarchies};
use crate::mounts::unmount;
use crate::names::{FOLDERS, maker};
use crate::{interrupt, processes};

/// Removes what dead runs left behind, and says what. What belongs to another user stays, and is
/// said too: it cannot disturb this run, only waste room.
pub fn remove() -> Result<Vec<String>> {
    let mut said = Vec::new();
    for folder in dead_in(Path::new(FOLDERS)) {
        end_processes(&folder);
        unmount_below(&folder);
        let outcome = fs::remove_dir_all(&folder).map_err(anyhow::Error::from);
        said.push(sentence(&folder, outcome));
    }
    for hierarchy in Hierarchies::find()?.all() {
        for group in dead_in(&hierarchy.mount) {
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
fn dead_in(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        // A symbolic link is not a folder here: nobody else can point us at theirs.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str()
                .and_then(maker)
                .is_some_and(|pid| !processes::exists(pid))
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

/// Ends the server that works in a folder: asked first, so that it frees its shared memory.
fn end_processes(folder: &Path) {
    for signal in [signal_hook::consts::SIGQUIT, signal_hook::consts::SIGKILL] {
        // Up to 5 s: the server gives its own backends as long.
        for attempt in 0..100 {
            let inside = working_in(folder);
            if inside.is_empty() {
                return;
            }
            if attempt == 0 {
                inside
                    .iter()
                    .for_each(|pid| interrupt::signal(*pid, signal));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::own_name;
    use std::process::Command;

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
        assert_eq!(dead_in(parent.path()), [left]);
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
        end_processes(parent.path());
        assert!(!child.wait().expect("our own child").success());
    }
}
