//! Bytes per value on disk.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{mixed, replay};

const SECONDS: i64 = 200;

/// A machine with 200 control groups, a tenth of them at work, under a saturating pgbench.
const KEPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/recordings/pgbench-200-groups.stall"
);

/// Of a recording; of the kept one and a made one when none is given.
pub(crate) fn measure(recording: Option<&Path>) -> Result<()> {
    let room = tempfile::tempdir()?;
    let from = recording.map_or_else(|| PathBuf::from(KEPT), Path::to_owned);
    let real = replay::replay(&from, &room.path().join("replayed.stall"))?;
    println!(
        "size: recorded, {} series, {:.0} s, {} values, {} bytes: {:.3} bytes per value; writing took {:.2} ms of CPU per second",
        real.series,
        real.seconds,
        real.values,
        real.bytes,
        real.bytes as f64 / real.values as f64,
        real.cpu_ns as f64 / 1e6 / real.seconds,
    );
    if recording.is_some() {
        return list(&room.path().join("replayed.stall"));
    }
    let made = mixed::write(&room.path().join("mixed.stall"), SECONDS)?;
    let share = made.bytes as f64 / made.values as f64;
    println!(
        "size: made up, steps of noise, {} series, {SECONDS} s, {} values, {} bytes: {share:.3} bytes per value",
        made.series, made.values, made.bytes
    );
    Ok(())
}

/// Where a recording's bytes are, the most first.
fn list(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.push((entry.metadata()?.len(), entry.file_name()));
    }
    files.sort_by_key(|(bytes, _)| Reverse(*bytes));
    for (bytes, name) in files {
        println!("size: {bytes:>9} bytes  {}", name.display());
    }
    Ok(())
}
