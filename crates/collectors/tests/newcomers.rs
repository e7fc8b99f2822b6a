//! Processes come, change their names and go between two looks, which are two ticks (200 ms) apart.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use collectors::{Sampler, SamplerEvent, Settings};
use kernel::environment;
use model::{Entities, EntityKind, EntityRecord};
use rustix::process::Signal;

/// Two ticks: one look. The events of it go out within ten.
fn look(sampler: &mut Sampler, entities: &mut Entities) {
    for _ in 0..2 {
        sampler.step(&mut |event| publish(event, entities));
    }
}

fn publish(event: SamplerEvent, entities: &mut Entities) {
    if let SamplerEvent::Entities(events) = event {
        for event in events {
            entities.apply(event);
        }
    }
}

fn process(entities: &Entities, pid: u32) -> Option<&EntityRecord> {
    let start = format!("pid:{pid}@");
    let mut newest = entities.of_kind(EntityKind::Process);
    newest.find(|record| record.entity.path.starts_with(&start))
}

fn sampler() -> Sampler {
    let settings = Settings::default();
    Sampler::new(&settings, &environment(&settings.root))
        .expect("/proc")
        .0
}

#[test]
fn a_process_that_ends_where_none_is_started_is_gone() {
    let mut sampler = sampler();
    let mut entities = Entities::default();
    let mut command = Command::new("sleep");
    kernel::signal_at_parents_end(command.arg("60"), Signal::KILL);
    let mut child = command.spawn().expect("sleep");
    let pid = child.id();
    for _ in 0..6 {
        look(&mut sampler, &mut entities);
    }
    let record = process(&entities, pid).expect("it was seen");
    assert!(record.vanished.is_none(), "it lives: {record:?}");
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    // Others are read every 5 s, and the budget may stretch that.
    for _ in 0..10 {
        sampler.advance(50, &mut |event| publish(event, &mut entities));
    }
    let record = process(&entities, pid).expect("it was seen");
    assert!(record.vanished.is_some_and(|end| end > record.first_seen));
}

#[test]
fn a_process_is_seen_at_the_next_look_renamed_at_the_one_after_and_gone_at_the_third() {
    let mut sampler = sampler();
    let mut entities = Entities::default();
    look(&mut sampler, &mut entities);
    let mut command = Command::new("sh");
    command
        .args(["-c", "read line; exec sleep 60"])
        .stdin(Stdio::piped());
    kernel::signal_at_parents_end(&mut command, Signal::KILL);
    let mut child = command.spawn().expect("sh");
    let pid = child.id();
    look(&mut sampler, &mut entities);
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "go").expect("it reads");
    let name = || std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    while name() != "sleep\n" {
        std::thread::sleep(Duration::from_millis(2));
    }
    look(&mut sampler, &mut entities);
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    look(&mut sampler, &mut entities);
    for _ in 0..5 {
        look(&mut sampler, &mut entities);
    }
    let record = process(&entities, pid).expect("it was seen");
    assert_eq!(record.entity.name, "sleep");
    assert!(record.vanished.is_some_and(|end| end > record.first_seen));
}
