//! What one thread did: as its account has it, and where it has none its time on a CPU and waiting for
//! one, and what it was met in when blocked.
//!
//! Asked about one window after the other in the order of time, it reads each row of the thread once.

use model::{Cursor, EntityId, EntityKind, LedgerClass, Meta, Timeline, Timestamp, Window};

use crate::blocked::SESSIONS;
use crate::ledger::Ledger;
use crate::thread_sample::ThreadSample;
use crate::thread_times::{Counted, ThreadTimes};

/// A thread that was sampled, and of which accounts may have been kept.
pub(crate) struct Monitored<'a> {
    run: Cursor<'a>,
    wait: Option<Cursor<'a>>,
    state: Option<Cursor<'a>>,
    syscall: Option<Cursor<'a>>,
    event: Option<Cursor<'a>>,
    channel: Option<Cursor<'a>>,
    /// What its session, or its process's, waits for.
    said: Option<Cursor<'a>>,
    thread_times: Option<ThreadTimes<'a>>,
    architecture: &'a str,
}

/// What was counted of a thread over a window. Where it is not from accounts, the kernel counts a moment
/// late: over a short window it may be more than fits.
#[derive(Default)]
pub(crate) struct Measured {
    /// The part of the window in which it was watched and has no accounts.
    pub(crate) wall_ns: f64,
    pub(crate) run_ns: f64,
    /// `None` where run-queue delay was not recorded.
    pub(crate) wait_ns: Option<f64>,
    /// Blocked time, by what the thread was met in.
    pub(crate) seen: [f64; LedgerClass::ALL.len()],
    /// The rest of the window, as its account has it.
    pub(crate) counted: Option<Counted>,
    /// What the application itself said meanwhile.
    pub(crate) words: Words,
}

/// What a thread with accounts said of its sleep when it was met asleep, for as long as it had been blocked.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Words {
    /// Time by the class of its call.
    asleep: [f64; LedgerClass::ALL.len()],
    /// Of that, time with a word: call, what the word means, ns.
    said: Vec<(LedgerClass, LedgerClass, f64)>,
}

impl Words {
    pub(crate) fn is_empty(&self) -> bool {
        self.asleep.iter().all(|ns| *ns <= 0.0)
    }

    fn add(&mut self, call: LedgerClass, word: Option<LedgerClass>, ns: f64) {
        self.asleep[call as usize] += ns;
        let Some(word) = word.filter(|word| *word != call) else {
            return;
        };
        let mut known = self.said.iter_mut();
        match known.find(|it| (it.0, it.1) == (call, word)) {
            Some(it) => it.2 += ns,
            None => self.said.push((call, word, ns)),
        }
    }

    /// Gives each class of sleep the parts that had a word.
    fn apply(&self, ledger: &mut Ledger) {
        // Parts of what was there before any was moved.
        let all = LedgerClass::ALL.map(|class| ledger.get(class));
        for (call, word, ns) in &self.said {
            let part = ns / self.asleep[*call as usize].max(1.0);
            ledger.shift(*call, *word, all[*call as usize] * part);
        }
    }
}

impl Measured {
    /// Its ledger; what does not fit is left out.
    pub(crate) fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::default();
        if let Some(counted) = &self.counted {
            ledger.add_counted(counted);
            self.words.apply(&mut ledger);
        }
        if self.wall_ns > 0.0 {
            let run_ns = self.run_ns.clamp(0.0, self.wall_ns);
            let wait_ns = self.wait_ns.map(|it| it.clamp(0.0, self.wall_ns - run_ns));
            let mut sampled = Ledger::of_one(self.wall_ns, run_ns, wait_ns);
            let blocked_ns = self.wall_ns - run_ns - wait_ns.unwrap_or(0.0);
            sampled.add_blocked(blocked_ns, &self.seen);
            ledger.merge(&sampled);
        }
        ledger.threads = 1;
        ledger
    }
}

impl<'a> Monitored<'a> {
    /// The rows of a thread; `None` where it has none.
    pub(crate) fn new(timeline: &'a Timeline, meta: &'a Meta, thread: EntityId) -> Option<Self> {
        let of = |table, entity, column| Some(timeline.series(table, entity, column)?.cursor());
        let own = |column| of("thread", thread, column);
        // Asked once a second by SQL, where the backend's memory may not be read, or no server has it there.
        let record = timeline.entities.get(thread);
        let backend = record.and_then(|record| record.parent);
        let mut sessions = SESSIONS.into_iter();
        let said = sessions.find_map(|table| {
            let served_by = match table.entity {
                EntityKind::Thread => Some(thread),
                _ => backend,
            };
            of(&table.name, served_by?, "wait_class")
        });
        let architecture = meta.environment.get("machine.architecture");
        Some(Self {
            run: own("run_ns")?,
            wait: own("wait_ns"),
            state: own("state"),
            syscall: own("syscall"),
            event: own("wait_event"),
            channel: own("wait_channel"),
            said,
            thread_times: ThreadTimes::of(timeline, thread),
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
        let mut measured = Measured {
            wait_ns: Some(0.0),
            ..Measured::default()
        };
        let counted = self
            .thread_times
            .as_mut()
            .and_then(|thread_times| thread_times.over(covered));
        let Some(counted) = counted else {
            self.sample(covered, &mut measured)?;
            return Some(measured);
        };
        let booked = counted.window;
        self.sample(Window::new(covered.start, booked.start), &mut measured)?;
        // What it says at each of its sleeps need not be sampled.
        let is_told = counted.told_ns > 0.0;
        if !is_told && (self.event.is_some() || self.said.is_some()) {
            self.words(booked, &mut measured.words);
        }
        self.sample(Window::new(booked.end, covered.end), &mut measured)?;
        measured.counted = Some(counted);
        Some(measured)
    }

    /// Adds what is known of a stretch without accounts.
    fn sample(&mut self, segment: Window, measured: &mut Measured) -> Option<()> {
        if segment.is_empty() {
            return Some(());
        }
        let wait_covered = self
            .wait
            .as_ref()
            .and_then(|it| it.series().covered(segment));
        let before = (
            self.run.counter_at(segment.start)?,
            self.waited(wait_covered.map(|it| it.start)),
        );
        self.blocked_time(segment, &mut measured.seen);
        measured.run_ns += self.run.counter_at(segment.end)? - before.0;
        measured.wall_ns += segment.len_ns() as f64;
        let waited = self.waited(wait_covered.map(|it| it.end)).zip(before.1);
        // Where only part of the delay is known, that part speaks for the whole.
        let wait_ns = waited.zip(wait_covered).map(|((end, start), part)| {
            let wait = (end - start) / part.seconds();
            wait * segment.seconds()
        });
        measured.wait_ns = measured.wait_ns.zip(wait_ns).map(|(sum, own)| sum + own);
        Some(())
    }

    fn waited(&mut self, at: Option<Timestamp>) -> Option<f64> {
        self.wait.as_mut()?.counter_at(at?)
    }

    /// Blocked time between samples, by what the thread was met in at the later one.
    fn blocked_time(&mut self, window: Window, seen: &mut [f64; LedgerClass::ALL.len()]) {
        self.samples(
            window,
            |thread_sample, architecture, is_queued_known, blocked| {
                let class = thread_sample.class(architecture);
                // Without run-queue delay, a runnable thread may have waited for a CPU all along.
                let class = class.or((!is_queued_known).then_some(LedgerClass::Unknown));
                // A thread seen on a CPU says nothing about what it was blocked in before.
                if let Some(class) = class {
                    seen[class as usize] += blocked;
                }
            },
        );
    }

    /// What the application said while its thread slept.
    fn words(&mut self, window: Window, words: &mut Words) {
        self.samples(window, |thread_sample, architecture, _, blocked| {
            if let Some((call, word)) = thread_sample.asleep(architecture) {
                words.add(call, word, blocked);
            }
        });
    }

    /// Each sample with the blocked time before it; whether run-queue delay is known.
    fn samples(&mut self, window: Window, mut each: impl FnMut(ThreadSample, &str, bool, f64)) {
        let Some(state) = &mut self.state else {
            return;
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
            let thread_sample = ThreadSample {
                state: state.gauge_at(to),
                syscall: at(&mut self.syscall, to),
                wait_event: at(&mut self.event, to)
                    .or_else(|| at(&mut self.said, to).map(|class| class << 24)),
                reclaims: at(&mut self.channel, to).is_some_and(is_reclaim),
            };
            each(
                thread_sample,
                self.architecture,
                self.wait.is_some(),
                blocked,
            );
        }
    }
}

/// Whether a thread in this kernel function waits for memory to be made free.
fn is_reclaim(channel: i64) -> bool {
    sensors::wait_channel::class(channel) == sensors::wait_channel::WaitChannel::Reclaim
}
