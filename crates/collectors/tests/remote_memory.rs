//! Words in the memory of other processes, from end to end: into the rows of their threads.

mod backend;

use std::collections::BTreeMap;

use backend::Backend;
use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use kernel::requirement::needed;
use model::{EntityId, MISSING, Role};

const LOCK: u32 = 0x0300_0005;
const IDLE: u32 = 0x0600_0000;

/// The words found in a second of samples, by the number of the process, and what was not seen.
fn sampled(pids: &[u32]) -> (BTreeMap<u32, Vec<i64>>, Vec<String>) {
    let settings = Settings::default();
    let environment = environment(&settings.root);
    let (mut sampler, commands, _spare) =
        Sampler::new(&settings, &environment).expect("/proc is readable");
    let (pids, role) = (pids.to_vec(), Role::Target);
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
    let (mut of, mut found, mut gaps) = (BTreeMap::<EntityId, u32>::new(), BTreeMap::new(), vec![]);
    for _ in 0..31 {
        sampler.step(&mut |event| match event {
            SamplerEvent::Entities(events) => {
                for event in events {
                    let path = &event.record.entity.path;
                    let tid = path
                        .rsplit_once("tid:")
                        .and_then(|(_, tid)| tid.parse().ok());
                    of.extend(tid.map(|tid| (event.record.id, tid)));
                }
            }
            SamplerEvent::Rows(table, rows) if table.name == "thread" => {
                let column = table.position("wait_event").expect("it has one");
                for (_, entity, values) in rows.iter() {
                    let remote_memory: &mut Vec<i64> = found.entry(of[&entity]).or_default();
                    remote_memory.push(values[column]);
                }
            }
            SamplerEvent::Gap(gap) if gap.what == "wait_event" => gaps.push(gap.reason.to_string()),
            _ => {}
        });
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    (found, gaps)
}

fn backend(before_14: bool, value: u32) -> Option<(Backend, tempfile::TempDir)> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let backend = Backend::start(folder.path(), before_14, value);
    let backend = needed("a backend", backend.ok_or("there is no C compiler"))?;
    Some((backend, folder))
}

#[test]
fn an_exported_wait_event_is_in_every_row() {
    let Some((backend, _folder)) = backend(false, LOCK) else {
        return;
    };
    let (found, gaps) = sampled(&[backend.pid()]);
    let remote_memory = &found[&backend.pid()];
    assert!(remote_memory.len() > 10 && remote_memory.iter().all(|word| *word == i64::from(LOCK)));
    assert!(gaps.is_empty(), "{gaps:?}");
}

#[test]
fn an_unexported_wait_event_is_located_from_two_idle_backends() {
    let Some((waiting, folder)) = backend(true, LOCK) else {
        return;
    };
    let idle = || Backend::start(folder.path(), true, IDLE).expect("it was compiled");
    let first = idle();
    let (found, _) = sampled(&[waiting.pid(), first.pid()]);
    assert!(
        found[&first.pid()].iter().all(|word| *word == MISSING),
        "one is not enough"
    );
    let second = idle();
    let (found, _) = sampled(&[waiting.pid(), first.pid(), second.pid()]);
    let last = |of: &Backend| found[&of.pid()].last().copied();
    assert_eq!(last(&first), Some(i64::from(IDLE)));
    assert_eq!(last(&waiting), Some(i64::from(LOCK)));
}

#[test]
fn other_programs_have_no_wait_event_and_no_gap() {
    let own = std::process::id();
    let (found, gaps) = sampled(&[own]);
    let remote_memory = &found[&own];
    assert!(!remote_memory.is_empty() && remote_memory.iter().all(|word| *word == MISSING));
    assert!(gaps.is_empty(), "{gaps:?}");
}
