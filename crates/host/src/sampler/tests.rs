//! The life of a sampler: how it ends.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::handle::Ending;
use crate::requirement::skipped;

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
        return skipped("pressure", "this kernel shows none (boot it with psi=1)");
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

#[test]
fn what_it_takes_of_memory_is_told_for_itself_and_for_each_program() {
    let (all, _) = recorded_for(Duration::ZERO);
    let Some(Harvest::Ended(Ending { cost, .. })) = all.last() else {
        panic!("it ends");
    };
    // Less than any of them takes.
    const LEAST: i64 = 10_000;
    assert!(cost.resident_bytes > LEAST, "{cost:?}");
    for (name, refusal) in &cost.programs {
        let taken = cost.kernel_bytes.get(name).copied();
        match refusal {
            None => assert!(taken.is_some_and(|it| it > LEAST), "{name}: {cost:?}"),
            Some(why) => {
                assert_eq!(taken, None, "{name}");
                skipped(name, why);
            }
        }
    }
    let last = all.iter().rev().find_map(|harvest| match harvest {
        Harvest::Rows(table, rows) if table.name == "recorder" => rows.iter().last(),
        _ => None,
    });
    let (_, _, values) = last.expect("it notes itself");
    let [resident, kernel] = values[values.len() - 2..] else {
        panic!("there are more columns");
    };
    assert!(resident > LEAST && resident <= cost.resident_bytes);
    assert_eq!(kernel, cost.kernel_bytes.values().sum::<i64>());
}
