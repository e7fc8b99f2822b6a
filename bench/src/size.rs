//! Bytes per value on disk.

use anyhow::Result;

use crate::mixed;

const SECONDS: i64 = 200;

pub(crate) fn measure() -> Result<()> {
    let room = tempfile::tempdir()?;
    let made = mixed::write(&room.path().join("mixed.stall"), SECONDS)?;
    let share = made.bytes as f64 / made.values as f64;
    println!(
        "size: {} series, {SECONDS} s, {} values, {} bytes: {share:.3} bytes per value",
        made.series, made.values, made.bytes
    );
    Ok(())
}
