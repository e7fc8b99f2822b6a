//! What the whole recorder costs while it records, beside another one on the same load.

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
        let recorder = Recorder::stallscope(&crowd.targets(processes), &folder)?;
        std::thread::sleep(SETTLE);
        let share = recorder.share(OBSERVED)?;
        recorder.end()?;
        say(&format!("stallscope record, target {what}"), share);
    }
    // Every second, into a file, as its service does every ten minutes.
    let mut atop = Command::new("atop");
    atop.arg("-w").arg(room.path().join("atop.raw")).arg("1");
    match Recorder::start(&mut atop) {
        Ok(recorder) => {
            std::thread::sleep(Duration::from_secs(2));
            say("atop -w FILE 1", recorder.share(OBSERVED)?);
        }
        Err(error) => println!("own: {error:#}: apt-get install atop"),
    }
    Ok(())
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
