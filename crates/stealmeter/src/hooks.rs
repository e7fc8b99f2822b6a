//! Meters for threads that somebody else runs: a runtime that calls back when a worker parks.
//!
//! Tokio does, and so this needs nothing of tokio's: two closures on its builder
//! (`examples/tokio.rs`). Each thread gets a meter when it first parks, and keeps it for its life; a
//! thread that parks under the hooks of two runtimes has the one meter of the first.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exposition::Registry;
use crate::meter::Meter;

thread_local! {
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// What a runtime calls on each of its threads.
#[derive(Clone, Debug)]
pub struct ThreadHooks {
    runtime: Arc<str>,
    registry: Arc<Registry>,
    threads: Arc<AtomicU64>,
}

impl ThreadHooks {
    /// Threads of one runtime are added to the registry with the labels `runtime` and `thread`, a
    /// number in the order in which they first parked.
    pub fn new(runtime: &str, registry: Arc<Registry>) -> Self {
        Self {
            runtime: runtime.into(),
            registry,
            threads: Arc::default(),
        }
    }

    /// The calling thread is about to park. Its first call begins its meter.
    pub fn park(&self) {
        METER.with_borrow_mut(|meter| {
            let meter = meter.get_or_insert_with(|| self.begin());
            meter.before_wait();
        });
    }

    /// The calling thread goes on.
    pub fn unpark(&self) {
        METER.with_borrow_mut(|meter| {
            if let Some(meter) = meter {
                meter.after_wait();
            }
        });
    }

    /// Brings the counters of the calling thread up to date, like [`Meter::tick`]: for a worker that
    /// is so busy that it hardly ever parks.
    pub fn tick(&self) {
        METER.with_borrow_mut(|meter| {
            if let Some(meter) = meter {
                meter.tick();
            }
        });
    }

    fn begin(&self) -> Meter {
        let meter = Meter::new();
        let number = self.threads.fetch_add(1, Ordering::Relaxed);
        let labels = [
            ("runtime", &*self.runtime),
            ("thread", &*number.to_string()),
        ];
        let added = self.registry.add(&labels, meter.reader());
        added.expect("`runtime` and `thread` are names of labels");
        meter
    }
}
