//! The ledger as it is recorded, of this process under load: every nanosecond is in one class, and the
//! kernel's own account of the same threads agrees.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use host::{Command, Harvest, Sampler, Settings, environment};
use model::{EntityId, Role, Rows};

/// Threads that switch as often as they can, and such that never do on their own.
struct Load(Arc<AtomicBool>, Vec<std::thread::JoinHandle<()>>);

impl Load {
    fn start() -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let mut threads = Vec::new();
        for _ in 0..2 {
            let (mut here, mut there) = UnixStream::pair().expect("a pair");
            let on = Arc::clone(&goes_on);
            threads.push(std::thread::spawn(move || {
                while on.load(Ordering::Relaxed) {
                    here.write_all(&[0]).expect("it takes it");
                    here.read_exact(&mut [0]).expect("it comes back");
                }
            }));
            threads.push(std::thread::spawn(move || {
                let mut byte = [0];
                while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
            }));
            let on = Arc::clone(&goes_on);
            threads.push(std::thread::spawn(move || {
                while on.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }));
        }
        Self(goes_on, threads)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        for thread in self.1.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Rows of a table by entity, in time.
type Series = BTreeMap<EntityId, Vec<(i64, Vec<i64>)>>;

#[test]
fn every_nanosecond_is_in_one_class_and_the_kernel_says_the_same() {
    let settings = Settings {
        root: PathBuf::from("/"),
        harden: false,
        workload: None,
    };
    let (tell, told) = channel();
    let sink = move |harvest| drop(tell.send(harvest));
    let environment = environment(&settings.root);
    let sampler = Sampler::start(&settings, &environment, sink).expect("/proc is readable");
    sampler.tell(Command::Assign {
        pids: vec![std::process::id()],
        role: Role::Target,
    });
    let load = Load::start();
    std::thread::sleep(Duration::from_secs(3));
    sampler.tell(Command::Stop);
    let (mut threads, mut others, mut ending) = (Series::new(), Series::new(), None);
    let keep = |rows: &Rows, series: &mut Series| {
        for (time, entity, values) in rows.iter() {
            let rows = series.entry(entity).or_default();
            rows.push((time.as_ns(), values.to_vec()));
        }
    };
    while ending.is_none() {
        match told.recv_timeout(Duration::from_secs(5)).expect("it ends") {
            Harvest::Rows(table, rows) if table.name == "thread_ledger" => {
                keep(&rows, &mut threads)
            }
            Harvest::Rows(table, rows) if table.name == "process_ledger" => {
                keep(&rows, &mut others)
            }
            Harvest::Ended(end) => ending = Some(end),
            _ => {}
        }
    }
    drop(load);
    let cost = ending.expect("it ends").cost;
    if let Some(why) = &cost.programs["ledger"] {
        let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
        assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
        println!("SKIPPED: the ledger: {why}");
        return;
    }
    assert!(
        threads.len() >= 6,
        "every thread has its books: {}",
        threads.len()
    );
    let table = &sensors::ledger::THREAD_LEDGER;
    let times = 0..sensors::ledger::CLASSES + sensors::ledger::HOLDERS;
    let since = table.position("known_since_ns").expect("it is a column");
    for rows in threads.values() {
        for (time, values) in rows {
            let all: i64 = values[times.clone()].iter().sum();
            let known = time - values[since];
            // The scheduler's clock is looked at anew every 10 s.
            assert!((all - known).abs() < 10_000, "{all} of {known}: {values:?}");
        }
    }
    assert!(!others.is_empty(), "somebody else was there");
    let agreement = cost.ledger.expect("it was compared");
    println!("{agreement:?}");
    let each = agreement.compared / threads.len() as u64;
    assert!(each >= 1, "each thread was compared: {agreement:?}");
    assert_eq!(agreement.apart, 0, "{agreement:?}");
}
