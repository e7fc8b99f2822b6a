//! Disks that keep account, and room for recordings.

use super::answer::{Answer, counted};
use super::patient::Patient;
use super::rights::shell_word;
use super::tree::name_of;

/// Not disks that anybody waits for.
const NO_DISKS: [&str; 4] = ["loop", "ram", "zram", "sr"];

/// Whether /proc/diskstats counts.
pub(super) fn disks(patient: &Patient<'_>) -> Answer {
    const COSTS: &str = "Operations, latency and queue of these disks: io.latency, io.cap and io.neighbour cannot be told there.";
    if let Err(errno) = patient.tree.read("proc/diskstats") {
        let what = format!("/proc/diskstats cannot be read ({}).", name_of(errno));
        return Answer::lacking(what).costs(COSTS);
    }
    let entries = patient.tree.entries("sys/block").unwrap_or_default();
    let names = entries.into_iter().map(|it| it.name);
    let disks: Vec<_> = names
        .filter(|name| !NO_DISKS.iter().any(|it| name.starts_with(it)))
        .collect();
    let switch = |disk: &str| format!("sys/block/{disk}/queue/iostats");
    let is_off = |disk: &&String| patient.line(&switch(disk)).as_deref() == Some("0");
    let off: Vec<_> = disks.iter().filter(is_off).map(String::as_str).collect();
    let Some(first) = off.first() else {
        if disks.is_empty() {
            return Answer::fine("/proc/diskstats can be read; /sys/block names no disk.");
        }
        return Answer::fine(format!(
            "/proc/diskstats counts {}.",
            counted(disks.len(), "disk", "disks")
        ));
    };
    let commands: Vec<_> = off
        .iter()
        .map(|disk| format!("echo 1 | {{sudo}}tee /{}", switch(disk)))
        .collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    Answer::lacking(format!(
        "The kernel does not count what {} does: /{} is 0.",
        off.join(", "),
        switch(first)
    ))
    .costs(COSTS)
    .mended_by(patient.type_in("until the next boot", &commands))
}

/// So much room is left to hours of recording; half a minute takes under a megabyte.
const ROOM: u64 = 100 << 20;

/// Whether recordings can be written here.
pub(super) fn recordings(patient: &Patient<'_>) -> Answer {
    let Some(trials) = &patient.trials else {
        return Answer::not_tried();
    };
    let folder = shell_word(&trials.folder);
    let elsewhere = "choose another folder with -o, such as";
    let lacking = |what: String| {
        Answer::lacking(what)
            .costs("Recordings cannot be kept here.")
            .mended_by(
                patient.type_in(elsewhere, &["stallscope record -o ~/first.stall --for 10s"]),
            )
    };
    match (trials.writable, trials.free) {
        (Err(errno), _) => lacking(format!("{folder} cannot be written ({}).", name_of(errno))),
        (_, Err(errno)) => Answer::untold(format!(
            "How much room {folder} has is not told ({}).",
            name_of(errno)
        )),
        (_, Ok(free)) if free < ROOM => lacking(format!("{folder} has {} MB left.", free >> 20)),
        (_, Ok(free)) => Answer::fine(format!(
            "{folder} can be written and has {} GB left.",
            tenths(free)
        )),
    }
}

/// Gigabytes with one decimal.
fn tenths(bytes: u64) -> f64 {
    (bytes as f64 / 1e8).floor() / 10.0
}
