//! What the whole recorder costs while it records, beside another one on the same load.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::held::Crowd;
use crate::recorder::Recorder;

const GROUPS: usize = 200;
/// Until everything is open, and twice the time by which the periods are judged.
const SETTLE: Duration = Duration::from_secs(8);
const OBSERVED: Duration = Duration::from_secs(30);

pub(crate) fn measure() -> Result<()> {
    let crowd = Crowd::gather(GROUPS)?;
    let room = tempfile::tempdir()?;
    for (processes, what) in [(10, "10 processes"), (Crowd::PROCESSES, "all")] {
        let folder = room.path().join(format!("{processes}.stall"));
        let recorder = Recorder::stallscope(&crowd.targets(processes), &folder, &[])?;
        std::thread::sleep(SETTLE);
        let share = recorder.share(OBSERVED)?;
        recorder.end()?;
        say(&format!("stallscope record, target {what}"), share);
    }
    for (what, mut command) in others(room.path())? {
        match Recorder::start(&mut command) {
            Ok(recorder) => {
                std::thread::sleep(SETTLE);
                say(what, recorder.share(OBSERVED)?);
            }
            Err(error) => println!("own: {error:#}"),
        }
    }
    Ok(())
}

/// Other recorders, every second into a file; they come from `apt-get install atop` and, with a clang newer
/// than 14, `cargo install below`.
fn others(room: &Path) -> Result<[(&'static str, Command); 2]> {
    let mut atop = Command::new("atop");
    atop.arg("-w").arg(room.join("atop.raw")).arg("1");
    let mut lines = String::new();
    for folder in ["log", "store"] {
        let path = room.join(format!("below-{folder}"));
        fs::create_dir(&path)?;
        lines += &format!("{folder}_dir = {path:?}\n");
    }
    if let Some(groups) = kernel::environment(Path::new("/")).hierarchies.v2 {
        lines += &format!("cgroup_root = {:?}\n", groups.point);
    }
    let config = room.join("below.conf");
    fs::write(&config, lines)?;
    let mut below = Command::new("below");
    below.arg("--config").arg(config);
    below.args(["record", "--interval-s", "1"]);
    Ok([
        ("atop -w FILE 1", atop),
        ("below record --interval-s 1", below),
    ])
}

fn say(what: &str, share: f64) {
    println!(
        "own: {what}: {:.2} ms of CPU per second of observation, {:.2} % of a CPU ({GROUPS} groups, {} processes, {} tasks)",
        share * 1e3,
        share * 100.0,
        Crowd::PROCESSES,
        Crowd::TASKS
    );
}
