//! The life of a sampler: how it ends.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

/// Starts a sampler of this machine, and gives what it hands over, and when it was told to stop.
fn recorded_for(length: Duration) -> (Vec<Harvest>, Timestamp) {
    let root = PathBuf::from("/");
    let environment = crate::environment(&root);
    let settings = Settings {
        root,
        harden: false,
        workload: None,
    };
    let (tell, told) = channel();
    let sink = move |harvest| drop(tell.send(harvest));
    let sampler = Sampler::start(&settings, &environment, sink).expect("it can be started");
    std::thread::sleep(length);
    let stopped = boottime();
    sampler.tell(Command::Stop);
    let mut all = Vec::new();
    while let Ok(harvest) = told.recv_timeout(Duration::from_secs(30)) {
        let ended = matches!(harvest, Harvest::Ended(_));
        all.push(harvest);
        if ended {
            break;
        }
    }
    (all, stopped)
}

#[test]
fn a_stop_before_the_first_tick_ends_the_sampling() {
    let (all, _) = recorded_for(Duration::ZERO);
    assert!(matches!(all.last(), Some(Harvest::Ended(_))));
}

#[test]
fn pressure_is_known_up_to_the_end() {
    if std::fs::read("/proc/pressure/cpu").is_err() {
        let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
        assert!(
            !required,
            "STALLSCOPE_REQUIRE=all, and there is no pressure"
        );
        println!("SKIPPED: this kernel shows no pressure (boot it with psi=1)");
        return;
    }
    // Far less than the two seconds between two readings.
    let (all, stopped) = recorded_for(Duration::from_millis(400));
    let rows = all.iter().filter_map(|harvest| match harvest {
        Harvest::Rows(table, rows) if table.name == "pressure" => rows.iter().last(),
        _ => None,
    });
    let last = rows.map(|(time, _, _)| time).max();
    assert!(last.expect("it was read") >= stopped);
}
