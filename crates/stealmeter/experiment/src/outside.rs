//! The same loop seen from outside: what `stallscope record` says of its thread, beside ours.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{Report, ThreadTimes, Timestamp};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::ClockId;

use crate::backend::Kind;
use crate::event_loop::Task;
use crate::meters::{Reading, class, clock_ns};
use crate::run::{Setting, Situation};
use crate::table::Check;

/// Until the recorder has found the process and settled down.
const SETTLE: Duration = Duration::from_secs(2);
/// Cut off at both ends of the loop's readings, ns: the recorder looks ten times a second.
const MARGIN_NS: u64 = 400_000_000;
/// Share of the window, between ours and the recorder's.
const MOST_APART: f64 = 0.01;

/// The busy loop beside a hog, with the recorder on it.
pub(crate) fn compare(setting: &Setting<'_>, program: &Path) -> Result<Check> {
    let situation = Situation {
        backend: Kind::Aio,
        hog: Some(Task::Writer),
    };
    let mut scene = situation.prepare(setting)?;
    let folder = setting.folder.join("outside.stall");
    let mut record = Command::new(program);
    record
        .args(["record", "-q", "--no-report", "--target"])
        .arg(format!("pid:{}", scene.loops.pid()))
        .arg("-o")
        .arg(&folder);
    let recorder = Recorder::start(&mut record)?;
    std::thread::sleep(SETTLE);
    let [_, writer] = scene.play()?;
    recorder.end()?;
    // In this order: boot time is never behind, and ahead only by what the machine was suspended for.
    let monotonic_ns = clock_ns(ClockId::Monotonic);
    let boot_less_monotonic_ns = clock_ns(ClockId::Boottime) - monotonic_ns;
    let ends = writer.first().zip(writer.last());
    let (first, last) = ends.context("the loop came to no reading")?;
    let boottime = |monotonic_ns: u64| {
        Timestamp::from_ns((monotonic_ns + boot_less_monotonic_ns).cast_signed())
    };
    let whole = explain(program, &folder, None)?;
    let since_origin = |at: u64| boottime(at).seconds_since(whole.origin);
    let from_to = [first.at_ns + MARGIN_NS, last.at_ns - MARGIN_NS].map(since_origin);
    let report = explain(program, &folder, Some(from_to))?;
    let times = thread(&report, Task::Writer)?;
    let at = |timestamp: Timestamp| {
        queue_ns(
            &writer,
            timestamp.as_ns().cast_unsigned() - boot_less_monotonic_ns,
        )
    };
    let ours_ns = at(report.window.end) - at(report.window.start);
    let ours = ours_ns / report.window.len_ns() as f64;
    let queue_ns = times
        .run_queue_ns
        .context("this kernel counts no run delay")?;
    let theirs = queue_ns as f64 / times.wall_ns as f64;
    Ok(Check {
        holds: (ours - theirs).abs() <= MOST_APART,
        words: format!(
            "{}, {}: from outside, stallscope record has it in the run queue for {:.2} % of {:.1} s, ours for {:.2} % (1 % apart at most)",
            situation.words(),
            Task::Writer.word(),
            theirs * 100.0,
            times.wall_ns as f64 / 1e9,
            ours * 100.0
        ),
    })
}

/// A recorder that runs until it is dropped.
struct Recorder(Child);

impl Recorder {
    fn start(command: &mut Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self(child))
    }

    /// Ends it as Ctrl-C does, and waits.
    fn end(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.0), Signal::INT)
            .context("it runs until it is interrupted")?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn explain(program: &Path, folder: &Path, from_to: Option<[f64; 2]>) -> Result<Report> {
    let mut explain = Command::new(program);
    explain.arg("explain").arg(folder).args(["--json", "-"]);
    if let Some([from, to]) = from_to {
        explain.args([
            "--from",
            &format!("{from:.3}s"),
            "--to",
            &format!("{to:.3}s"),
        ]);
    }
    let output = explain.output().context("cannot start stallscope")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("stallscope explain --json")
}

fn thread(report: &Report, task: Task) -> Result<&ThreadTimes> {
    let mut threads = report.threads.iter();
    threads
        .find(|it| it.entity.name == task.thread())
        .with_context(|| format!("the recording has no thread {}", task.thread()))
}

/// Our run queue at a moment, between the readings before and after it as if it had grown evenly.
fn queue_ns(readings: &[Reading], at_ns: u64) -> f64 {
    let value = |reading: &Reading| reading.classes[class::RUN_QUEUE] as f64;
    let after = readings.partition_point(|reading| reading.at_ns < at_ns);
    let before = &readings[after.saturating_sub(1)];
    let after = &readings[after.min(readings.len() - 1)];
    if after.at_ns <= before.at_ns {
        return value(before);
    }
    let part = (at_ns - before.at_ns) as f64 / (after.at_ns - before.at_ns) as f64;
    value(before) + (value(after) - value(before)) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_readings_it_grows_evenly_and_beyond_them_not() {
        let reading = |at_ns, queue_ns| Reading {
            at_ns,
            classes: [0, queue_ns, 0, 0, 0],
            ..Reading::default()
        };
        let readings = [reading(100, 10), reading(200, 30), reading(300, 30)];
        let at = [50, 100, 150, 200, 250, 300, 350].map(|at_ns| queue_ns(&readings, at_ns));
        assert_eq!(at, [10.0, 10.0, 20.0, 30.0, 30.0, 30.0, 30.0]);
    }
}
