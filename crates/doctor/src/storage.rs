//! Disk statistics, and space for recordings.

use super::answer::{Answer, counted};
use super::host_facts::HostFacts;
use super::rights::shell_word;
use super::tree::name_of;

/// Block devices on which no workload waits.
const NO_DISKS: [&str; 4] = ["loop", "ram", "zram", "sr"];

/// Whether /proc/diskstats counts.
pub(super) fn disks(host: &HostFacts<'_>) -> Answer {
    const COSTS: &str = "Operations, latency and queue of these disks: io.latency, io.cap and io.neighbour cannot be told there.";
    if let Err(errno) = host.tree.read("proc/diskstats") {
        let what = format!("/proc/diskstats cannot be read ({}).", name_of(errno));
        return Answer::missing(what).costs(COSTS);
    }
    let entries = host.tree.entries("sys/block").unwrap_or_default();
    let names = entries.into_iter().map(|it| it.name);
    let disks: Vec<_> = names
        .filter(|name| !NO_DISKS.iter().any(|it| name.starts_with(it)))
        .collect();
    let switch = |disk: &str| format!("sys/block/{disk}/queue/iostats");
    let is_off = |disk: &&String| host.line(&switch(disk)).as_deref() == Some("0");
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
    Answer::missing(format!(
        "The kernel does not count what {} does: /{} is 0.",
        off.join(", "),
        switch(first)
    ))
    .costs(COSTS)
    .fixed_by(host.type_in("until the next boot", &commands))
}

/// Enough for hours of recording, bytes; half a minute takes less than a megabyte.
const ROOM: u64 = 100 << 20;

/// Whether recordings can be written here.
pub(super) fn recordings(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let folder = shell_word(&probes.folder);
    let elsewhere = "choose another folder with -o, such as";
    let missing = |what: String| {
        Answer::missing(what)
            .costs("Recordings cannot be kept here.")
            .fixed_by(host.type_in(elsewhere, &["stallscope record -o ~/first.stall --for 10s"]))
    };
    match (probes.writable, probes.free) {
        (Err(errno), _) => missing(format!("{folder} cannot be written ({}).", name_of(errno))),
        (_, Err(errno)) => Answer::unknown(format!(
            "How much room {folder} has is not told ({}).",
            name_of(errno)
        )),
        (_, Ok(free)) if free < ROOM => missing(format!("{folder} has {} MB left.", free >> 20)),
        (_, Ok(free)) => Answer::fine(format!(
            "{folder} can be written and has {} GB left.",
            tenths(free)
        )),
    }
}

/// Gigabytes, rounded down to one decimal.
fn tenths(bytes: u64) -> f64 {
    (bytes as f64 / 1e8).floor() / 10.0
}
