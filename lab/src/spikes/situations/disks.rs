//! A database on a disk that takes its time, and who else writes there: its own checkpoints, a log that is rotated, a
//! copy of something. The disk is in memory and has a rate of its own: what others do to the machine's is no part of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::{pgbench, script, target};
use crate::spikes::situation::{Answer, By, Made, Named, Situation, Timing, Variant};
use crate::stage::Stage;

/// Transactions per second, of which one in six writes.
const RATE: &str = "360";
const READS: &str = "\\set a random(1, 1000000)\n\
                     SELECT abalance FROM pgbench_accounts WHERE aid = :a;\n";
/// Rows that are far from each other: after a checkpoint each makes a whole page of the log.
const WRITES: &str = "\\set a random(1, 90000)\n\
                      UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid IN \
                      (:a, :a + 100000, :a + 200000, :a + 300000, :a + 400000, :a + 500000, :a + 600000);\n";
const SETTINGS: [&str; 4] = [
    "max_wal_size=300MB",
    "checkpoint_completion_target=0",
    "full_page_writes=on",
    "log_timezone=UTC",
];

/// The disk: room for the tables and the log (WAL), and what it takes in a second.
const BYTES: u64 = 1 << 30;
const BYTES_PER_SECOND: u64 = 100_000_000;

fn slow_disk(stage: &mut Stage) -> Result<PathBuf> {
    stage.mount_memory(BYTES, BYTES_PER_SECOND)
}

/// The server, wholly on a slow disk.
fn serve(stage: &mut Stage, settings: &[&str]) -> Result<Result<PathBuf, String>> {
    let disk = match slow_disk(stage) {
        Ok(disk) => disk,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    stage.postgres_on(&disk, &[&SETTINGS[..], settings].concat())?;
    Ok(Ok(disk))
}

fn made(stage: &Stage, by: By) -> Result<Made> {
    let part = |name, text, share| -> Result<String> {
        let path = stage.script(name, text)?;
        let path = path.to_str().context("a path of ours is text")?;
        Ok(format!("{path}@{share}"))
    };
    let (reads, writes) = (part("reads.sql", READS, 5)?, part("writes.sql", WRITES, 1)?);
    Ok(Made {
        target: target(stage)?,
        load: pgbench(stage, &["-R", RATE, "-f", &reads, "-f", &writes])?,
        logs: vec![stage.started()?.log()],
        by,
    })
}

/// Somebody asks for checkpoints.
pub fn issued_checkpoints() -> Situation {
    Situation {
        name: "issued-checkpoints",
        about: "A script asks for a checkpoint of a database that is written to all the time, on a slow \
                disk.",
        timing: Timing::Recurring(7.5),
        follows: 2.0,
        answer: Answer::any_of(&[
            Named::Program("flush-buffers"),
            Named::Program("psql"),
            Named::Process("psql"),
            Named::Line("checkpoint starting"),
        ]),
        set_up: set_up_issued,
    }
}

const ASK: &str = "psql --quiet --no-psqlrc -c CHECKPOINT\n";

fn set_up_issued(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    if let Err(reason) = serve(stage, &["checkpoint_timeout=1h"])? {
        return Ok(Err(reason));
    }
    let action = script(stage, "flush-buffers", ASK)?;
    made(stage, By::Process("lab-timer", vec![action])).map(Ok)
}

/// The same at random times.
pub fn random_checkpoints() -> Situation {
    Situation {
        name: "random-checkpoints",
        about: "The checkpoints of issued-checkpoints at random times.",
        timing: Timing::Random(7.0),
        ..issued_checkpoints()
    }
}

/// PostgreSQL's shortest.
const TIMEOUT: f64 = 30.0;
/// Checkpoints that are put off to the next, of those since the start, from 1.
const MISSED: [u32; 2] = [3, 7];
/// How long after a checkpoint the time of the next is changed, s.
const LATER: f64 = 10.0;

/// The server's own.
pub fn timed_checkpoints() -> Situation {
    Situation {
        name: "timed-checkpoints",
        about: "PostgreSQL's own checkpoints, each 30 s, of a database that is written to all the time, \
                on a slow disk.",
        timing: Timing::OwnClock(TIMEOUT),
        follows: 2.0,
        answer: Answer::any_of(&[Named::Line("checkpoint starting")]),
        set_up: set_up_timed,
    }
}

fn set_up_timed(stage: &mut Stage, variant: Variant) -> Result<Result<Made, String>> {
    let settings = stage.postgres(&[])?.settings();
    // A setting of the command line could not be changed.
    set_timeout(&settings, TIMEOUT)?;
    let served = serve(stage, &[])?;
    let since = Instant::now();
    let text = format!(
        "echo \"checkpoint_timeout = $1\" >{}\nkill -HUP {}\n",
        settings.display(),
        stage.started()?.pid()
    );
    if let Err(reason) = served {
        return Ok(Err(reason));
    }
    let action = script(stage, "tune-checkpoints", &text)?;
    let mut changes = Vec::new();
    if variant == Variant::Missed {
        for cycle in MISSED.map(f64::from) {
            let at = |cycle: f64| cycle * TIMEOUT + LATER;
            changes.push((at(cycle - 1.0), format!("{action} {}", 2.0 * TIMEOUT)));
            changes.push((at(cycle + 1.0), format!("{action} {TIMEOUT}")));
        }
    }
    made(stage, By::Checkpointer("lab-tuner", since, changes)).map(Ok)
}

fn set_timeout(settings: &Path, seconds: f64) -> Result<()> {
    fs::write(settings, format!("checkpoint_timeout = {seconds}\n"))
        .with_context(|| format!("cannot write {}", settings.display()))
}

/// Somebody else's log is rotated there.
pub fn rotated_log() -> Situation {
    Situation {
        name: "rotated-log",
        about: "A script puts away a log of 40 MB on the database's disk, and waits until it is safe.",
        timing: Timing::Recurring(8.0),
        follows: 2.0,
        answer: Answer::any_of(&[Named::Program("rotate-logs")]),
        set_up: set_up_rotated,
    }
}

/// MB of that log.
const LOG_MB: u32 = 40;

fn set_up_rotated(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    let disk = match slow_disk(stage) {
        Ok(disk) => disk,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    stage.postgres_with_log_on(&disk, &SETTINGS)?;
    let log = stage.folder().join("application.log");
    let line = "one line of an application that says much and means little by it\n";
    let count = (LOG_MB as usize) << 20;
    fs::write(&log, line.repeat(count / line.len()))
        .with_context(|| format!("cannot write {}", log.display()))?;
    let text = format!(
        "cp {0} {1}/application.log.1\nsync {1}/application.log.1\nrm {1}/application.log.1\n",
        log.display(),
        disk.display()
    );
    let action = script(stage, "rotate-logs", &text)?;
    made(stage, By::Process("lab-timer", vec![action])).map(Ok)
}

/// A neighbour on the same disk.
pub fn neighbour() -> Situation {
    Situation {
        name: "neighbour-io",
        about: "A script writes 12 pieces of 4 MB, each of which must be safe, to the disk that has the database's log.",
        timing: Timing::Recurring(6.0),
        follows: 2.0,
        answer: Answer::any_of(&[Named::Program("copy-backup")]),
        set_up: set_up_neighbour,
    }
}

fn set_up_neighbour(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    let disk = match slow_disk(stage) {
        Ok(disk) => disk,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    stage.postgres_with_log_on(&disk, &SETTINGS)?;
    let action = copy(stage, &disk)?;
    made(stage, By::Process("lab-timer", vec![action])).map(Ok)
}

fn copy(stage: &Stage, disk: &Path) -> Result<String> {
    let text = format!(
        "dd if=/dev/zero of={}/backup bs=4M count=12 oflag=dsync conv=notrunc status=none\n",
        disk.display()
    );
    script(stage, "copy-backup", &text)
}

/// A checkpoint, a copy or a burst of CPU time, at random times.
pub fn random_mix() -> Situation {
    Situation {
        name: "random-mix",
        about: "A checkpoint, a copy, or a second on all CPUs, at random times.",
        timing: Timing::Random(6.0),
        follows: 2.0,
        answer: Answer::any_of(&[
            Named::Program("flush-buffers"),
            Named::Program("copy-backup"),
            Named::Program("make-report"),
            Named::Program("psql"),
            Named::Process("psql"),
            Named::Line("checkpoint starting"),
        ]),
        set_up: set_up_mix,
    }
}

fn set_up_mix(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    let disk = match serve(stage, &["checkpoint_timeout=1h"])? {
        Ok(disk) => disk,
        Err(reason) => return Ok(Err(reason)),
    };
    let copy = copy(stage, &disk)?;
    let checkpoint = script(stage, "flush-buffers", ASK)?;
    let burn = script(stage, "make-report", super::neighbours::BURN)?;
    made(
        stage,
        By::Process("lab-timer", vec![checkpoint, copy, burn]),
    )
    .map(Ok)
}
