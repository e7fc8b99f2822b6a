//! A load, and what is recorded of it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use kernel::requirement::needed;
pub(crate) use kernel::requirement::skipped;
use model::{ColumnKind, Cost, EntityId, MISSING, Role, Table};

/// Threads that switch as often as they can, and such that never do on their own.
pub struct Load(Arc<AtomicBool>, Vec<std::thread::JoinHandle<()>>);

impl Load {
    pub fn start() -> Self {
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
pub type Series = BTreeMap<EntityId, Vec<(i64, Vec<i64>)>>;

/// What was recorded.
pub struct Recorded {
    tables: BTreeMap<String, (&'static Table, Series)>,
    /// The path of each entity.
    pub names: BTreeMap<EntityId, String>,
    pub cost: Cost,
}

impl Recorded {
    /// Records processes as the target while something is done, every event of theirs; `None` where thread-time accounting cannot
    /// be had.
    pub fn of(pids: &[u32], act: impl FnOnce()) -> Option<Self> {
        Self::tracing(true, pids, act)
    }

    /// The same, `all` the time or in on-windows where there are many events.
    pub fn tracing(all: bool, pids: &[u32], act: impl FnOnce()) -> Option<Self> {
        let settings = Settings {
            traces_all: all,
            ..Settings::default()
        };
        let (sender, inbox) = channel();
        let sink = move |event| drop(sender.send(event));
        let environment = environment(&settings.root);
        let sampler = Sampler::start(&settings, &environment, sink).expect("/proc is readable");
        sampler.tell(Command::Assign {
            pids: pids.to_vec(),
            role: Role::Target,
        });
        while !matches!(
            inbox.recv().expect("it goes on"),
            SamplerEvent::Assigned(..)
        ) {}
        act();
        sampler.tell(Command::Stop);
        let mut tables = BTreeMap::new();
        let mut names = BTreeMap::new();
        let cost = loop {
            match inbox.recv().expect("it ends") {
                SamplerEvent::Rows(table, rows) => {
                    let series = tables.entry(table.name.to_string());
                    let (_, series): &mut (_, Series) =
                        series.or_insert_with(|| (table, Series::new()));
                    for (time, entity, values) in rows.iter() {
                        let rows = series.entry(entity).or_default();
                        rows.push((time.as_ns(), values.to_vec()));
                    }
                }
                SamplerEvent::Entities(events) => {
                    let records = events.into_iter().map(|event| event.record);
                    names.extend(records.map(|it| (it.id, it.entity.path)));
                }
                SamplerEvent::Ended(end) => break end.cost,
                _ => {}
            }
        };
        needed(
            "thread-time accounting",
            cost.programs["thread_time"].as_ref().map_or(Ok(()), Err),
        )?;
        Some(Self {
            tables,
            names,
            cost,
        })
    }

    /// The rows of a table.
    pub fn series(&self, table: &str) -> &Series {
        static NONE: Series = Series::new();
        self.tables.get(table).map_or(&NONE, |(_, series)| series)
    }

    /// Each thread's account holds all of its time since it is known, each ns once.
    pub fn assert_every_ns_is_in_one_class(&self) {
        let table = &sensors::thread_time::THREAD_TIME;
        let times = 0..sensors::thread_time::CLASSES + sensors::thread_time::HOLDERS;
        let since = table.position("known_since_ns").expect("it is a column");
        for (time, values) in self.series(&table.name).values().flatten() {
            let all: i64 = values[times.clone()].iter().sum();
            let known = time - values[since];
            // The scheduler's clock is looked at anew every 10 s.
            assert!((all - known).abs() < 10_000, "{all} of {known}: {values:?}");
        }
    }

    /// Both accounts of every thread were compared, and were the same.
    pub fn assert_the_kernel_says_the_same(&self) {
        let agreement = self.cost.cross_check.as_ref().expect("it was compared");
        println!("{agreement:?}");
        let each = agreement.compared / self.series("thread_time").len() as u64;
        assert!(each >= 1, "each thread was compared: {agreement:?}");
        assert_eq!(agreement.diff, 0, "{agreement:?}");
    }

    /// Whatever was counted.
    pub fn assert_no_counter_runs_backwards(&self) {
        for (table, series) in self.tables.values() {
            for (place, column) in table.columns.iter().enumerate() {
                let is_counter = column.kind == ColumnKind::Counter;
                for (entity, rows) in series.iter().filter(|_| is_counter) {
                    let values = rows.iter().map(|(_, values)| values[place]);
                    let known: Vec<_> = values.filter(|it| *it != MISSING).collect();
                    let (name, whose) = (&column.name, &self.names[entity]);
                    assert!(
                        known.is_sorted(),
                        "{} {name} of {whose}: {known:?}",
                        table.name
                    );
                }
            }
        }
    }
}
