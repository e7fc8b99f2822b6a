//! What one thread did: its time on a CPU and waiting for one, and what it was met in when blocked.
//!
//! Asked about one window after the other in the order of time, it reads each row of the thread once.

use model::{Cursor, EntityId, LedgerClass, Meta, Timeline, Timestamp, Window};

use crate::ledger::Ledger;
use crate::sight::Sight;

/// A thread that was sampled.
pub(crate) struct Watched<'a> {
    run: Cursor<'a>,
    wait: Option<Cursor<'a>>,
    state: Option<Cursor<'a>>,
    syscall: Option<Cursor<'a>>,
    event: Option<Cursor<'a>>,
    channel: Option<Cursor<'a>>,
    /// What its process's session waits for.
    said: Option<Cursor<'a>>,
    architecture: &'a str,
}

/// What was counted of a thread over a window. The kernel counts a moment late: over a short window it
/// may be more than fits.
pub(crate) struct Measured {
    /// The part of the window in which it was watched.
    pub(crate) wall_ns: f64,
    pub(crate) run_ns: f64,
    /// `None` where run-queue delay was not recorded.
    pub(crate) wait_ns: Option<f64>,
    /// Blocked time, by what the thread was met in.
    pub(crate) seen: [f64; LedgerClass::ALL.len()],
}

impl Measured {
    /// Its ledger; what does not fit is left out.
    pub(crate) fn ledger(&self) -> Ledger {
        let run_ns = self.run_ns.clamp(0.0, self.wall_ns);
        let wait_ns = self.wait_ns.map(|it| it.clamp(0.0, self.wall_ns - run_ns));
        let mut ledger = Ledger::of_one(self.wall_ns, run_ns, wait_ns);
        let blocked_ns = self.wall_ns - run_ns - wait_ns.unwrap_or(0.0);
        ledger.add_blocked(blocked_ns, &self.seen);
        ledger
    }
}

impl<'a> Watched<'a> {
    /// The rows of a thread; `None` where it has none.
    pub(crate) fn new(timeline: &'a Timeline, meta: &'a Meta, thread: EntityId) -> Option<Self> {
        let of = |table, entity, column| Some(timeline.series(table, entity, column)?.cursor());
        let own = |column| of("thread", thread, column);
        // Asked once a second by SQL, where the backend's memory may not be read.
        let record = timeline.entities.get(thread);
        let backend = record.and_then(|record| record.parent);
        let architecture = meta.environment.get("machine.architecture");
        Some(Self {
            run: own("run_ns")?,
            wait: own("wait_ns"),
            state: own("state"),
            syscall: own("syscall"),
            event: own("wait_event"),
            channel: own("wait_channel"),
            said: backend.and_then(|backend| of("session", backend, "wait_class")),
            architecture: architecture.map_or("", String::as_str),
        })
    }

    /// When it was watched.
    pub(crate) fn known(&self) -> Option<Window> {
        self.run.series().known()
    }

    /// What it did over a window, quota not yet told apart; `None` when it was not seen there.
    pub(crate) fn ledger(&mut self, window: Window) -> Option<Ledger> {
        Some(self.measured(window)?.ledger())
    }

    /// What was counted over a window; `None` when it was not seen there.
    pub(crate) fn measured(&mut self, window: Window) -> Option<Measured> {
        let covered = self.run.series().covered(window)?;
        let wait_covered = self
            .wait
            .as_ref()
            .and_then(|it| it.series().covered(covered));
        let before = (
            self.run.counter_at(covered.start)?,
            self.waited(wait_covered.map(|it| it.start)),
        );
        let seen = self.blocked_time(covered);
        let run_ns = self.run.counter_at(covered.end)? - before.0;
        let waited = self.waited(wait_covered.map(|it| it.end)).zip(before.1);
        // Where only part of the delay is known, that part speaks for the whole.
        let wait_ns = waited.zip(wait_covered).map(|((end, start), part)| {
            let wait = (end - start) / part.seconds();
            wait * covered.seconds()
        });
        Some(Measured {
            wall_ns: covered.len_ns() as f64,
            run_ns,
            wait_ns,
            seen,
        })
    }

    fn waited(&mut self, at: Option<Timestamp>) -> Option<f64> {
        self.wait.as_mut()?.counter_at(at?)
    }

    /// Blocked time between samples, by what the thread was met in at the later one.
    fn blocked_time(&mut self, window: Window) -> [f64; LedgerClass::ALL.len()] {
        let mut seen = [0.0; LedgerClass::ALL.len()];
        let Some(state) = &mut self.state else {
            return seen;
        };
        let at = |cursor: &mut Option<Cursor<'_>>, time| cursor.as_mut()?.gauge_at(time);
        let mut from = window.start;
        let until = [(window.end, 0)];
        for (to, _) in self.run.values_in(window).chain(until) {
            let between = Window::new(from, to);
            from = to;
            let ran = self.run.growth(between).unwrap_or(0.0);
            let wait = self.wait.as_mut().and_then(|wait| wait.growth(between));
            let blocked = between.len_ns() as f64 - ran - wait.unwrap_or(0.0);
            if blocked <= 0.0 {
                continue;
            }
            let sight = Sight {
                state: state.gauge_at(to),
                syscall: at(&mut self.syscall, to),
                wait_event: at(&mut self.event, to)
                    .or_else(|| at(&mut self.said, to).map(|class| class << 24)),
                reclaims: at(&mut self.channel, to).is_some_and(is_reclaim),
            };
            let class = sight.class(self.architecture);
            // Without run-queue delay, a runnable thread may have waited for a CPU all along.
            let class = class.or(self.wait.is_none().then_some(LedgerClass::Unknown));
            // A thread seen on a CPU says nothing about what it was blocked in before.
            if let Some(class) = class {
                seen[class as usize] += blocked;
            }
        }
        seen
    }
}

/// Whether a thread in this kernel function waits for memory to be made free.
fn is_reclaim(channel: i64) -> bool {
    sensors::wait_channel::class(channel) == sensors::wait_channel::WaitChannel::Reclaim
}
