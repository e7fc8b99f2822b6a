//! Time and memory that `stallscope explain` takes for long and for crowded recordings.
//!
//! The recordings are made, the same every time, and kept beside the program until this program changes.

mod made;
mod scene;
mod series;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use analysis::stats::Summary;
use anyhow::{Context, Result, ensure};
use recording::{Reader, Recording};
use wait4::Wait4 as _;

use scene::Size;

/// One hour at 10 Hz.
const HOUR: (&str, Size) = (
    "hour",
    Size {
        seconds: 3_600,
        cpus: 8,
        groups: 200,
        backends: 40,
        strangers: 260,
        threads_of_stranger: 5,
        moments: 3_600,
        spikes: false,
    },
);

/// The same hour with spikes.
const SPIKES: (&str, Size) = (
    "spikes",
    Size {
        spikes: true,
        ..HOUR.1
    },
);

/// Ten minutes in which processes come and go.
const CROWD: (&str, Size) = (
    "crowd",
    Size {
        seconds: 600,
        cpus: 8,
        groups: 1_000,
        backends: 10,
        strangers: 100,
        threads_of_stranger: 2,
        moments: 20_000,
        spikes: false,
    },
);

const RUNS: usize = 5;

/// Prints the figures.
pub(crate) fn measure() -> Result<()> {
    let program = std::env::current_exe()?;
    let beside = program.parent().context("this program has no folder")?;
    let stallscope = beside.join("stallscope");
    ensure!(
        stallscope.is_file(),
        "there is no {}: build it with cargo build --release -p stallscope",
        stallscope.display()
    );
    let mut kept = Vec::new();
    for (name, size) in [HOUR, SPIKES, CROWD] {
        kept.push((name, keep(&program, beside, name, &size)?));
    }
    // What a child is said to have taken at most includes what its parent took before the exec
    // (exec_mmap in fs/exec.c), so nothing is read here until these are done.
    for (name, folder) in &kept {
        explained(name, &stallscope, folder, &[])?;
        explained(
            name,
            &stallscope,
            folder,
            &["--from", "300s", "--to", "310s"],
        )?;
    }
    for (name, folder) in &kept {
        parts(name, folder)?;
    }
    Ok(())
}

/// The made recording, if need be made anew.
fn keep(program: &Path, beside: &Path, name: &str, size: &Size) -> Result<PathBuf> {
    let folder = beside.join(format!("bench-{name}.stall"));
    let built = std::fs::metadata(program)?.modified()?;
    let is_stored = std::fs::metadata(folder.join("meta.json"))
        .and_then(|meta| meta.modified())
        .is_ok_and(|made| made > built);
    if !is_stored {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let rows = made::make(&folder, size)?;
        println!("{name}: {rows} rows made in {}", folder.display());
    }
    Ok(folder)
}

/// Runs the program, and prints what it took.
fn explained(name: &str, stallscope: &Path, folder: &Path, window: &[&str]) -> Result<()> {
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    let mut peak = 0;
    for _ in 0..RUNS {
        let start = Instant::now();
        let child = Command::new(stallscope)
            .arg("explain")
            .arg(folder)
            .args(window)
            .stdout(Stdio::null())
            .spawn()?;
        let used = child.wait4()?;
        wall.push(start.elapsed());
        ensure!(
            used.status.success(),
            "explain of {} ended with {}",
            folder.display(),
            used.status
        );
        cpu.push(used.rusage.utime + used.rusage.stime);
        peak = peak.max(used.rusage.maxrss);
    }
    println!(
        "{name}: explain {}: {} wall, {} CPU, at most {:.0} MB resident",
        window.join(" "),
        spread(&wall),
        spread(&cpu),
        peak as f64 / 1e6
    );
    Ok(())
}

/// Median and least of some durations.
fn spread(times: &[Duration]) -> String {
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    Summary::of(&seconds).map_or_else(String::new, |it| {
        format!("{:.2} s ({:.2} s at best)", it.median, it.minimum)
    })
}

/// How the time divides between reading and diagnosing.
fn parts(name: &str, folder: &Path) -> Result<()> {
    let (mut reading, mut diagnosing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let start = Instant::now();
        let Recording { meta, timeline, .. } = Reader::open(folder)?;
        reading.push(start.elapsed());
        let start = Instant::now();
        let report = analysis::diagnose(&timeline, &meta, None);
        diagnosing.push(start.elapsed());
        ensure!(
            !report.verdict.findings.is_empty(),
            "nothing was found in {name}"
        );
    }
    println!(
        "{name}: {} of it reading, {} diagnosing",
        spread(&reading),
        spread(&diagnosing)
    );
    Ok(())
}
