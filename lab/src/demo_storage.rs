//! `demo-storage`: the same readers on fast, slow and slower storage, and what Stallscope says of each run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::blog::{Blog, Storage};
use crate::demo::as_a_shell_says;
use crate::{binary, interrupt};

/// The three runs: what they are called, and what the blog's database lies on.
const RUNS: [(&str, Storage); 3] = [
    ("1-fast", Storage::Own),
    ("2-slow", Storage::Delayed(Duration::from_millis(100))),
    ("3-slower", Storage::Delayed(Duration::from_millis(1500))),
];

/// Arguments of `demo-storage`.
#[derive(Args)]
pub struct DemoStorageArguments {
    /// The program to show [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// JMeter: its ApacheJMeter.jar, with its libraries beside
    #[arg(long, value_name = "PATH")]
    jmeter: PathBuf,
}

/// Runs the demonstration; the status is that of `stallscope compare`.
pub fn demo_storage(arguments: &DemoStorageArguments) -> Result<u8> {
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    if !arguments.jmeter.is_file() {
        bail!(
            "there is no {}: scripts/jmeter.sh gets it",
            arguments.jmeter.display()
        );
    }
    let folder = next_folder(Path::new("."))?;
    eprintln!("Installing a blog (WordPress, Apache, PHP, MariaDB, Redis) in a temporary folder.");
    let blog = Blog::install()?;
    let plan = blog.plan()?;
    let mut recordings = Vec::new();
    for (name, storage) in RUNS {
        eprintln!("\n{name}: {}", on(storage));
        let served = blog.serve(storage)?;
        let recording = folder.join(format!("{name}.stall"));
        let mut command = Command::new(&stallscope);
        // A few thousand switches a second: all of them are cheap.
        command.args(["run", "--trace-all", "-o"]).arg(&recording);
        command
            .args(["--", "java", "-Xmx512m", "-jar"])
            .arg(&arguments.jmeter);
        command.arg("-n").arg("-t").arg(&plan);
        command.arg("-l").arg(folder.join(format!("{name}.jtl")));
        command
            .arg("-j")
            .arg(folder.join(format!("{name}.jmeter.log")));
        command.arg(format!("-Jport={}", served.port));
        let status = said(&mut command)?;
        if status != 0 {
            bail!("{name} ended with status {status}");
        }
        recordings.push(recording);
    }
    eprintln!("\nThe three side by side");
    let mut command = Command::new(&stallscope);
    command.arg("compare").args(&recordings);
    said(command.arg("-o").arg(folder.join("comparison.html")))
}

/// Runs a command after it was shown; its status as a shell says it.
fn said(command: &mut Command) -> Result<u8> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|it| it.to_string_lossy()).collect();
    eprintln!("$ {}", words.join(" "));
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    Ok(as_a_shell_says(interrupt::wait(&mut child)?))
}

/// What the database lies on, in words.
fn on(storage: Storage) -> String {
    match storage {
        Storage::Own => "the database lies on this machine's disk.".to_owned(),
        Storage::Delayed(write) => format!(
            "the database lies on a disk that answers each write {} ms later.",
            write.as_millis()
        ),
    }
}

/// The first of demo-storage-1, demo-storage-2, ... that does not exist, made.
fn next_folder(parent: &Path) -> Result<PathBuf> {
    let mut number = 1;
    loop {
        let folder = parent.join(format!("demo-storage-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("cannot make the folder {}", folder.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_never_used_twice() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let first = next_folder(parent.path()).expect("it is made");
        let second = next_folder(parent.path()).expect("it is made");
        assert!(first.ends_with("demo-storage-1") && second.ends_with("demo-storage-2"));
    }
}
