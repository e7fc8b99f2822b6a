//! The files that threads wait for, from end to end: this process writes and syncs two files.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use model::{EntityKind, Role};

/// Long enough for a thread that is nearly always in fsync to be met there, however the machine is shared.
const MOST_TICKS: u32 = 3_000;

/// Stops the writers when the test ends, however it does.
struct Writers(Arc<AtomicBool>);

impl Drop for Writers {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_file_that_is_synced_is_named_with_the_time_in_fsync() {
    // On the disk of the build, since /tmp may be in memory, where nothing is waited for.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made");
    let stop = Writers(Arc::default());
    let [log, data] = ["the log", "data"].map(|name| folder.path().join(name));
    // Twice as many threads sync the log as sync the data.
    for path in [&log, &log, &data] {
        let mut options = OpenOptions::new();
        let file = options.create(true).write(true).truncate(false).open(path);
        let (file, stopped) = (file.expect("a file can be made"), Arc::clone(&stop.0));
        std::thread::spawn(move || {
            let mut at = 0;
            while !stopped.load(Ordering::Relaxed) {
                file.write_all_at(&[b'x'; 4_096], at).expect("room");
                file.sync_all().expect("it is safe");
                at = (at + 4_096) % (1 << 24);
            }
        });
    }
    let settings = Settings::default();
    let environment = environment(&settings.root);
    let (mut sampler, commands, _spare) =
        Sampler::new(&settings, &environment).expect("/proc is readable");
    let (pids, role) = (vec![std::process::id()], Role::Target);
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
    let (mut names, mut newest) = (BTreeMap::new(), BTreeMap::new());
    let log = log.to_str().expect("a plain name").to_owned();
    let synced = |newest: &BTreeMap<String, [i64; 2]>| newest.get(&log).map_or(0, |it| it[0]);
    for _ in 0..MOST_TICKS {
        sampler.step(&mut |event| match event {
            SamplerEvent::Entities(events) => {
                let records = events.iter().map(|event| &event.record);
                let files = records.filter(|it| it.entity.kind == EntityKind::File);
                names.extend(files.map(|it| (it.id, it.entity.name.clone())));
            }
            SamplerEvent::Rows(table, rows) if table.name == "file_wait" => {
                for (_, entity, values) in rows.iter() {
                    newest.insert(names[&entity].clone(), [values[0], values[1]]);
                }
            }
            _ => {}
        });
        std::thread::sleep(std::time::Duration::from_millis(10));
        if synced(&newest) > 1_000_000_000 && newest.len() > 1 {
            break;
        }
    }
    let all: i64 = newest.values().map(|it| it[0]).sum();
    assert!(synced(&newest) > 1_000_000_000, "{newest:?}");
    // Nothing but the two is synced by this process.
    let data = data
        .to_str()
        .and_then(|it| newest.get(it))
        .map_or(0, |it| it[0]);
    assert_eq!(all, synced(&newest) + data, "{newest:?}");
    assert!(synced(&newest) > data, "{newest:?}");
    assert!(newest.values().all(|it| it[1] > 0), "{newest:?}");
}
