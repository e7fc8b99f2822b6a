//! What root's recorder may do while it records, and what its workload may.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::thread::CapabilitySet;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{HANGS, Running};

fn effective(status: &str) -> CapabilitySet {
    let field = status.lines().find_map(|it| it.strip_prefix("CapEff:"));
    let bits = field.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    CapabilitySet::from_bits_retain(bits.expect("the kernel tells it"))
}

/// Each thread's name and what it may do.
fn threads(pid: u32) -> Vec<(String, CapabilitySet)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.expect("the recorder runs").flatten();
    let read = tasks.filter_map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        Some((name.trim().to_owned(), effective(&status)))
    });
    read.collect()
}

/// All that the process may do while it records, thread by thread.
#[track_caller]
fn assert_gives_up(running: &Running, threads_wanted: &[&str]) {
    let reading = CapabilitySet::DAC_READ_SEARCH | CapabilitySet::SYS_PTRACE;
    let allowed = |name: &str| {
        CapabilitySet::IPC_LOCK
            | match name {
                "sampler" => reading,
                "namespaces" => CapabilitySet::SYS_ADMIN,
                "interrupts" | "output" => CapabilitySet::empty(),
                _ => reading | CapabilitySet::KILL,
            }
    };
    let since = Instant::now();
    loop {
        let threads = threads(running.pid());
        let all_there = threads_wanted
            .iter()
            .all(|wanted| threads.iter().any(|(name, _)| name == wanted));
        let mut too_much = threads
            .iter()
            .filter(|(name, held)| !allowed(name).contains(*held));
        if all_there && too_much.next().is_none() {
            return;
        }
        assert!(since.elapsed() < HANGS, "{threads:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn root_gives_up_what_sampling_does_not_need_and_the_workload_keeps_all() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    place.script(
        "load",
        "cat /proc/self/status > status\nwhile [ ! -e done ]; do sleep 0.1; done",
    );
    let running = Running::start(place.stallscope(&["run", "-q", "--json", JSON, "--", "./load"]));
    let workload = place.wait_for("status");
    let status = fs::read_to_string("/proc/self/status").expect("it is our own");
    assert_eq!(effective(&workload), effective(&status));
    assert_gives_up(&running, &["sampler", "namespaces", "interrupts"]);
    std::thread::sleep(Duration::from_secs(3));
    place.write("done", "");
    running.end().status(0);
    let report = place.report();
    assert!(!report.pressure.is_empty());
    let denied = |gap: &&model::Gap| matches!(gap.reason, model::GapReason::Denied(_));
    assert_eq!(report.gaps.iter().find(denied), None);
}

#[test]
fn attached_to_what_runs_root_gives_up_as_much() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    let recorder = ["record", "-q", "--target", "name:."];
    let running = Running::start(place.stallscope(&recorder));
    assert_gives_up(&running, &["sampler", "namespaces", "interrupts"]);
    running.signal(Signal::INT);
    running.end().status(0);
}
