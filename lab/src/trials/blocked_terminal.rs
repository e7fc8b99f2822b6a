//! `blocked-terminal`: nobody reads what the recorder says.

use std::fs::File;
use std::io::{PipeReader, Write, pipe};

use anyhow::{Context, Result, bail};
use rustix::fs::{OFlags, fcntl_setfl};

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims};

pub(super) static TRIAL: Trial = Trial {
    name: "blocked-terminal",
    about: "Standard error is a full pipe that nobody reads: the workload goes on to its end, memory is bounded, and once it is read the recorder ends.",
    rounds: 10,
    short: 1,
    lack: || None,
    round,
};

/// Lines of the workload each second.
const LINES: u64 = 10_000;

fn round(round: &Round<'_>) -> Result<()> {
    let seconds = if round.short { 3 } else { 30 };
    // What is understood passes through the recorder: more than a pipe holds, behind a word that
    // nobody reads.
    let script = format!(
        "echo oh >&2; i=0; while [ $i -lt {seconds} ]; do seq -f 'rate %g' {LINES}; sleep 1; i=$((i+1)); done; echo > over; exit 7"
    );
    let (reader, writer) = pipe().context("cannot make a pipe")?;
    let mut filler = writer.try_clone().context("cannot copy a descriptor")?;
    fcntl_setfl(&filler, OFlags::NONBLOCK).context("cannot set a pipe up")?;
    while filler.write(&[b'.'; 4096]).is_ok() {}
    while filler.write(b".").is_ok() {}
    fcntl_setfl(&filler, OFlags::empty()).context("cannot set a pipe up")?;
    drop(filler);

    let out = round.folder.join("1.out");
    let mut command = recorder::command(round)?;
    command
        .args(["run", "-o", "trial.stall", "--json", "report.json"])
        .args(["--metric", "throughput=rate ([0-9]+)", "--no-adjust", "--"])
        .args(["sh", "-c", &script])
        .stdout(File::create(&out).context("cannot make a file")?)
        .stderr(writer);
    let mut recorder = Recorder::start_with_streams(command, out, round.folder.join("1.err"))?;
    let over = round.folder.join("over");
    recorder.until(
        "the workload is delayed by a terminal that nobody reads",
        || over.exists(),
    )?;
    drain(reader);
    let ended = recorder.end()?;
    ended.expect(7)?.within(claims::MOST_MEMORY)?;
    let lines = ended.stdout.iter().filter(|byte| **byte == b'\n').count();
    if lines as u64 != seconds * LINES {
        bail!(
            "{lines} of {} lines of the workload arrived",
            seconds * LINES
        );
    }
    claims::report(&round.folder.join("report.json")).map(drop)
}

/// Reads to the end, beside whatever happens.
fn drain(mut reader: PipeReader) {
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
}
