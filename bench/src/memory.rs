//! The most memory that a recorder ever has resident, its verdict at the end included.

use std::time::Duration;

use anyhow::Result;

use crate::held::Crowd;
use crate::recorder::Recorder;

const GROUPS: usize = 1_000;
const RECORDED: Duration = Duration::from_secs(20);

pub(crate) fn measure() -> Result<()> {
    let crowd = Crowd::gather(GROUPS)?;
    let room = tempfile::tempdir()?;
    for (processes, what) in [(10, "10 processes"), (Crowd::PROCESSES, "all")] {
        let folder = room.path().join(format!("{processes}.stall"));
        let recorder = Recorder::stallscope(&crowd.targets(processes), &folder, &[])?;
        std::thread::sleep(RECORDED);
        let recording = recorder.peak_bytes();
        let most = recorder.end()?;
        println!(
            "memory: {GROUPS} groups, {} processes, {} tasks, target {what}: at most {:.1} MB while it records, {:.1} MB with \
             the verdict at the end ({} s)",
            Crowd::PROCESSES,
            Crowd::TASKS,
            recording as f64 / 1e6,
            most as f64 / 1e6,
            RECORDED.as_secs()
        );
    }
    Ok(())
}
