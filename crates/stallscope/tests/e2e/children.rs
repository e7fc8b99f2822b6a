//! What children did once their parents have reaped them, and children that outlive their parents, against a real
//! kernel.

use std::fs;

use model::{EntityKind, EntityRecord, Role};

use crate::needs;
use crate::place::Place;

const BYTES: i64 = 20 << 20;

/// A command that writes in a child of a child, and stays a while before and after, to be looked at: what was
/// written before the first reading is in no growth.
const WRITES: &str = "sh -c 'sleep 1.2; dd if=/dev/zero of=written bs=1M count=20 2>/dev/null; sleep 1.6'; sleep 1.6";

#[test]
fn what_a_child_wrote_is_counted_once() {
    if fs::read("/proc/self/io").is_err() {
        needs::skip("this kernel shows no /proc/PID/io");
        return;
    }
    let place = Place::new();
    let ended = place.run(&["run", "--no-report", "--", "sh", "-c", WRITES]);
    assert_eq!(ended.status, 0, "{}", String::from_utf8_lossy(&ended.err));
    let mut recording = place.opened();
    let written = |timeline: &model::Timeline| -> i64 {
        // A command without a server is its own target.
        let of_load = |process: &&EntityRecord| process.role == Role::Target;
        let processes = timeline.entities.of_kind(EntityKind::Process);
        let last = processes.filter(of_load).filter_map(|process| {
            let series = timeline.series("process", process.id, "write_bytes")?;
            Some(series.values().next_back()?.1)
        });
        last.sum()
    };
    let as_the_kernel_says = written(&recording.timeline);
    assert!(
        (2 * BYTES..3 * BYTES).contains(&as_the_kernel_says),
        "the outer shell took over what the inner one has: {as_the_kernel_says}"
    );
    analysis::prepare(&mut recording.timeline);
    let once = written(&recording.timeline);
    assert!((BYTES..BYTES + BYTES / 4).contains(&once), "{once}");
}

#[test]
fn a_workload_that_leaves_a_process_behind_does_not_hold_the_verdict() {
    let place = Place::new();
    // The one that stays closes our streams, as a daemon does.
    place.script("load", "sleep 3 >/dev/null 2>&1 &\necho started");
    let ended = place.run(&["run", "-q", "--", "./load"]);
    ended.status(0).says("Saved");
    assert_eq!(ended.out, b"started\n");
}
