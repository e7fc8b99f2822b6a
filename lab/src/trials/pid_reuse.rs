//! `pid-reuse`: the target ends, and another process gets its pid at once.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "pid-reuse",
    about: "The target ends and another process gets its pid at once: what that uses is not taken for the target's.",
    rounds: 20,
    short: 1,
    lack: || {
        let root = rustix::process::geteuid().is_root();
        let there = Path::new("/proc/sys/kernel/ns_last_pid").exists();
        (!root || !there).then(|| {
            "the next pid can be chosen by root only, with checkpointing in the kernel".to_owned()
        })
    },
    round,
};

/// Runs in a PID namespace of its own, where nobody else takes pids. `$1` computes, the rest is the
/// recorder's command.
const SCRIPT: &str = r#"
hog=$1; shift
"$hog" burn --threads 1 >/dev/null & first=$!
"$@" --target pid:$first & recorder=$!
until [ -e trial.stall/cpu.arrow ] || ! kill -0 $recorder; do sleep 0.02; done
cut -d' ' -f1 /proc/$first/task/*/schedstat > before
sleep 1.3
cut -d' ' -f1 /proc/$first/task/*/schedstat > used
kill -9 $first; wait $first
tries=0
while :; do
    echo $((first - 1)) > /proc/sys/kernel/ns_last_pid
    "$hog" burn --threads 2 >/dev/null & second=$!
    [ $second = $first ] && break
    kill -9 $second; wait $second
    tries=$((tries + 1)); [ $tries -gt 50 ] && exit 77
done
# The other one is seen for a while, and not taken for the target.
sleep 1.5
kill -INT $recorder
wait $recorder; status=$?
kill -9 $second
exit $status
"#;

fn round(round: &Round<'_>) -> Result<()> {
    let stage = Stage::new()?;
    let hog = stage.own(&["burn"])?;
    let mut command: Command = Command::new("unshare");
    let like = recorder::command(round)?;
    command
        .args([
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
            "sh",
            "-c",
            SCRIPT,
            "sh",
        ])
        .arg(hog.get_program())
        .arg(round.program)
        .args(["record", "-o", "trial.stall", "--json", "report.json"])
        .current_dir(round.folder)
        .envs(
            like.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let recorder = Recorder::start(round, command)?;
    let report = claims::sound(round, recorder)?;
    let sum = |file: &str| -> Result<i64> {
        let text = fs::read_to_string(round.folder.join(file)).context("the script was cut off")?;
        Ok(text
            .lines()
            .filter_map(|line| line.parse::<i64>().ok())
            .sum())
    };
    let (before, used) = (sum("before")?, sum("used")?);
    let said = claims::target(&report)?.cpu_ns;
    // Between the look at it and its end it used a little more; what it used before it was recorded, and
    // after it was last read, is not in the report.
    if said > used + 100_000_000 || said < (used - before) / 4 {
        bail!(
            "the target used {used} ns, {before} of them before it was recorded, the report says {said}"
        );
    }
    Ok(())
}
