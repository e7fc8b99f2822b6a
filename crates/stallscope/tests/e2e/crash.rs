//! After kill -9 the recording can be read, up to the last second.

use std::time::Duration;

use model::Timestamp;
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};

use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::{Running, is_alive, send};

/// Rows go to disk once a second and a tick is 0.1 s: that much may be lost. The rest is for a
/// machine that is busy with other work.
const MOST_LOST_S: f64 = 1.1 + 0.9;

#[test]
fn after_kill_9_everything_up_to_the_last_second_is_there() {
    let _alone = postgres::alone();
    let place = Place::new();
    place.script("load", "echo $$ > running; exec sleep 60");
    let running = Running::start(place.stallscope(&["run", "--", "./load"]));
    let pid = place.wait_for("running").trim().parse().expect("a pid");
    std::thread::sleep(Duration::from_millis(4_500));
    let killed = boottime();
    running.signal(Signal::KILL);
    // The workload holds the streams: it ends first.
    while is_alive(running.pid()) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_alive(pid), "the workload is not ours to kill");
    send(pid, Signal::KILL);
    running.end().status(137);

    let recording = place.opened();
    assert!(!recording.meta.complete);
    let ticks = recording
        .timeline
        .table("recorder")
        .expect("it was recorded");
    let last = (0..ticks.len()).map(|row| ticks.key(row).0).max();
    let lost = killed.seconds_since(last.expect("it has rows"));
    assert!((0.0..MOST_LOST_S).contains(&lost), "{lost} s were lost");

    let ended = place.run(&["explain", "--json", JSON]);
    assert!(
        ended.status(0).out_text().contains("No bottleneck"),
        "{ended}"
    );
    let report = place.report();
    let judged = report.window.end.seconds_since(report.window.start);
    assert!(
        judged > 2.0,
        "a verdict over what is there: {judged} s\n{ended}"
    );
    place
        .run(&["explain", "--from", "1s", "--to", "2s"])
        .status(0);
}

fn boottime() -> Timestamp {
    let now = clock_gettime(ClockId::Boottime);
    Timestamp::from_ns(now.tv_sec * 1_000_000_000 + now.tv_nsec)
}
