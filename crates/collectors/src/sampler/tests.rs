//! A sampler from start to end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

use model::Role;

use super::*;
use kernel::requirement::{needed, skipped};

/// Settings and environment for a sampler of this machine.
pub(crate) fn of_this_machine() -> (Settings, Environment) {
    let settings = Settings::default();
    let environment = kernel::environment(&settings.root);
    (settings, environment)
}

/// Runs a sampler of this machine; returns its events, and when it was told to stop.
fn recorded_for(length: Duration) -> (Vec<SamplerEvent>, Timestamp) {
    let (settings, environment) = of_this_machine();
    let (sender, inbox) = channel();
    let sink = move |event| drop(sender.send(event));
    let sampler = Sampler::start(&settings, &environment, sink).expect("it can be started");
    std::thread::sleep(length);
    let stopped = boottime();
    sampler.tell(Command::Stop);
    let mut all = Vec::new();
    while let Ok(event) = inbox.recv_timeout(Duration::from_secs(30)) {
        let ended = matches!(event, SamplerEvent::Ended(_));
        all.push(event);
        if ended {
            break;
        }
    }
    (all, stopped)
}

#[test]
fn a_stop_before_the_first_tick_ends_the_sampling() {
    let (all, _) = recorded_for(Duration::ZERO);
    assert!(matches!(all.last(), Some(SamplerEvent::Ended(_))));
}

#[test]
fn pressure_is_known_up_to_the_end() {
    if std::fs::read("/proc/pressure/cpu").is_err() {
        return skipped("pressure", "this kernel shows none (boot it with psi=1)");
    }
    // Far less than the two seconds between two readings.
    let (all, stopped) = recorded_for(Duration::from_millis(400));
    let rows = all.iter().filter_map(|event| match event {
        SamplerEvent::Rows(table, rows) if table.name == "pressure" => rows.iter().last(),
        _ => None,
    });
    let last = rows.map(|(time, _, _)| time).max();
    assert!(last.expect("it was read") >= stopped);
}

#[test]
fn memory_use_is_reported_for_the_recorder_and_each_program() {
    let (all, _) = recorded_for(Duration::ZERO);
    let Some(SamplerEvent::Ended(Ending { cost, .. })) = all.last() else {
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
    let last = all.iter().rev().find_map(|event| match event {
        SamplerEvent::Rows(table, rows) if table.name == "recorder" => {
            Some((table, rows.iter().last()?))
        }
        _ => None,
    });
    let (table, (_, _, values)) = last.expect("it notes itself");
    let [resident, kernel] = ["resident_bytes", "kernel_bytes"]
        .map(|name| values[table.position(name).expect("it is there")]);
    assert!(resident > LEAST && resident <= cost.resident_bytes);
    assert_eq!(kernel, cost.kernel_bytes.values().sum::<i64>());
}

/// How long a process was on a CPU, ns, by its schedstat.
fn ran_ns(pid: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("it lives");
    let first = text.split(' ').next().and_then(|it| it.parse().ok());
    first.expect("a number comes first")
}

#[test]
fn processes_started_after_the_last_scan_are_listed_at_the_end() {
    let (settings, environment) = of_this_machine();
    let (mut sampler, commands, _spare) = Sampler::new(&settings, &environment).expect("/proc");
    let thread_time = sampler.own.cost.programs["thread_time"].clone();
    if needed("thread-time accounting", thread_time.map_or(Ok(()), Err)).is_none() {
        return;
    }
    let mut parent = std::process::Command::new("sh");
    parent.args([
        "-c",
        "read go; while :; do :; done & echo $!; read end; kill $!",
    ]);
    let parent = parent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut parent = parent.spawn().expect("it can be started");
    let mut to = parent.stdin.take().expect("a pipe");
    let (pids, role) = (vec![parent.id()], Role::Target);
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
    let mut all = Vec::new();
    let mut sink = |event| all.push(event);
    sampler.step(&mut sink);
    to.write_all(b"go\n").expect("it reads");
    let mut child = String::new();
    let said = parent.stdout.take().expect("a pipe");
    BufReader::new(said).read_line(&mut child).expect("it says");
    let child = child.trim();
    // On full CPUs its turn comes late.
    while ran_ns(child) < 10_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    sampler.end(boottime(), &mut sink);
    to.write_all(b"end\n").expect("it reads");
    parent.wait().expect("it ends");

    let end = format!("/tid:{child}");
    let entities = all.iter().filter_map(|event| match event {
        SamplerEvent::Entities(events) => Some(events),
        _ => None,
    });
    let mut records = entities.flatten().map(|event| &event.record);
    let thread = records.find(|it| it.entity.path.ends_with(&end));
    let thread = thread.expect("it is listed").id;
    let rows = all.iter().filter_map(|event| match event {
        SamplerEvent::Rows(table, rows) if table.name == "thread_time" => Some(rows.iter()),
        _ => None,
    });
    let mut rows = rows.flatten().filter(|(_, entity, _)| *entity == thread);
    assert!(
        rows.any(|(_, _, values)| values[0] > 1_000_000),
        "it had a CPU"
    );
}
