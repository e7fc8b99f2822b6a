//! A CPU that goes offline and comes back under load, while it is recorded. No other test runs meanwhile: it
//! may want that CPU.
#![expect(
    clippy::print_stdout,
    reason = "SKIPPED lines are read by scripts/test.sh"
)]

mod recorded;

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use recorded::{Load, Recorded, skipped};

const SWITCH: &str = "/sys/devices/system/cpu/cpu1/online";

/// The second CPU is offline as long as this lives.
struct Offline;

impl Offline {
    fn begin() -> std::io::Result<Self> {
        std::fs::write(SWITCH, "0").map(|()| Self)
    }
}

impl Drop for Offline {
    fn drop(&mut self) {
        let _ = std::fs::write(SWITCH, "1");
    }
}

#[test]
fn times_add_up_and_counters_stay_monotonic_across_cpu_hotplug() {
    // What is written stands there already.
    if !Path::new(SWITCH).exists() || std::fs::write(SWITCH, "1").is_err() {
        return skipped("the second CPU", "it cannot be taken offline");
    }
    let part = || sleep(Duration::from_millis(700));
    let recorded = Recorded::of(&[std::process::id()], || {
        let _load = Load::start();
        part();
        let offline = Offline::begin().expect("it goes offline");
        sleep(Duration::from_millis(300));
        drop(offline);
        part();
    });
    let Some(recorded) = recorded else { return };
    recorded.assert_every_ns_is_in_one_class();
    recorded.assert_the_kernel_says_the_same();
    recorded.assert_no_counter_runs_backwards();
    for table in ["stall", "process_stall", "thread_time", "cpu"] {
        let rows = recorded.series(table).values().flatten().count();
        assert!(rows > 10, "{table} goes on: {rows}");
    }
}
