//! A folder of its own in which the program is run, with what it left there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use model::Report;
use tempfile::TempDir;

use crate::process::{Ended, HANGS, Running};

/// Where `report` looks.
pub const JSON: &str = "report.json";

/// A shell command that waits until the program has said something, in a workload of `run_overheard`.
pub fn until_said(words: &str) -> String {
    format!("until grep -q '{words}' said; do sleep 0.1; done")
}

/// A temporary folder, gone when dropped.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("stallscope-e2e-").tempdir();
        let place = Self(folder.expect("a temporary folder can be made"));
        // Other users run the program here as well.
        place.open_to("", 0o755);
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).expect("the folder can be written");
        path
    }

    /// A shell script that can be run as `./NAME`.
    pub fn script(&self, name: &str, body: &str) {
        self.write(name, format!("#!/bin/sh\n{body}\n"));
        self.open_to(name, 0o755);
    }

    pub fn open_to(&self, name: &str, mode: u32) {
        let path = self.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect(name)
    }

    /// Waits until a file is there and says something.
    pub fn wait_for(&self, name: &str) -> String {
        let since = Instant::now();
        loop {
            match fs::read_to_string(self.path().join(name)) {
                Ok(text) if !text.is_empty() => return text,
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
            assert!(since.elapsed() < HANGS, "no {name} was written");
        }
    }

    /// The program with arguments, to be run in this folder.
    pub fn stallscope<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stallscope"));
        command.current_dir(self.path()).args(arguments);
        command
    }

    /// A shell command in this folder; `$0` is the program.
    pub fn shell(&self, text: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .current_dir(self.path())
            .args(["-c", text, env!("CARGO_BIN_EXE_stallscope")]);
        command
    }

    /// Runs the program to its end.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ended {
        Running::start(self.stallscope(arguments)).end()
    }

    /// Runs the program to its end, with a workload that can read in `said` what it says: how long anything
    /// takes is not known on a busy machine.
    pub fn run_overheard<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ended {
        let mut command = self.shell("exec \"$0\" \"$@\" 2> said");
        command.args(arguments);
        let ended = Running::start(command).end();
        let err = self.read("said").into_bytes();
        Ended { err, ..ended }
    }

    /// Waits until the only recording has its first rows; a machine that is busy with other work takes
    /// seconds to get there.
    pub fn wait_for_rows(&self) {
        let since = Instant::now();
        while !self
            .recordings()
            .iter()
            .any(|it| it.join("cpu.arrow").exists())
        {
            assert!(since.elapsed() < HANGS, "nothing was recorded");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The recordings that were left, by name.
    pub fn recordings(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).expect("the folder is there");
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|it| it == "stall"))
            .collect();
        found.sort();
        found
    }

    /// The only recording.
    pub fn recording(&self) -> PathBuf {
        let mut all = self.recordings();
        assert_eq!(all.len(), 1, "one recording: {all:?}");
        all.remove(0)
    }

    /// The only recording, opened.
    pub fn opened(&self) -> recording::Recording {
        recording::Reader::open(&self.recording()).expect("the recording can be read")
    }

    /// What `--json report.json` wrote.
    pub fn report(&self) -> Report {
        serde_json::from_str(&self.read(JSON)).expect("the report is the documented JSON")
    }
}
