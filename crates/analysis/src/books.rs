//! The books of one thread, where the scheduler's own events were counted: every nanosecond is in one
//! class, and nothing is guessed.
//!
//! Books that do not add up to the time that they cover are not believed: the thread is then told from
//! samples, as one without books is.

use model::{Counters, EntityId, LedgerClass, Timeline, Timestamp, Window};
use sensors::ledger::{CLASSES, HOLDERS, THREAD_LEDGER, WORDS, class};

/// Columns that are time of the thread's.
const TIMES: usize = CLASSES + HOLDERS;
/// What is asked of a row: those, and `hidden_ns`.
const ASKED: usize = TIMES + 1;
/// Their first that are waiting for memory, and how many (`bpf/ledger.h`).
const MEMORY: std::ops::Range<usize> = 2..6;

/// Who had the CPU that a thread waited for, in the order of the table's columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    Rest,
    Target,
    Generator,
    Nobody,
}

/// What the books say of a stretch of time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Counted {
    pub(crate) window: Window,
    /// ns by class; they add up to the window.
    pub(crate) classes: [f64; LedgerClass::ALL.len()],
    /// The waits for a CPU by `Holder`.
    pub(crate) queued: [f64; HOLDERS],
    /// Time kept from running for memory, in whatever class.
    pub(crate) memory_ns: f64,
    /// Time in the classes that the application's own word decides.
    pub(crate) told_ns: f64,
    /// Time on a CPU that the scheduler did not count as its run time; signed.
    pub(crate) hidden_ns: f64,
}

/// One thread's rows in the table.
pub(crate) struct Books<'a> {
    counters: Counters<'a>,
    classes: [LedgerClass; TIMES],
    /// What the first row says was counted since when.
    opened: (Timestamp, Timestamp, [f64; ASKED]),
    known: Window,
}

impl<'a> Books<'a> {
    /// Those of a thread; `None` where it has none.
    pub(crate) fn of(timeline: &'a Timeline, thread: EntityId) -> Option<Self> {
        let table = &*THREAD_LEDGER.name;
        let times = THREAD_LEDGER.columns[..TIMES].iter();
        let mut names: Vec<&str> = times.map(|column| &*column.name).collect();
        names.push("hidden_ns");
        let mut counters = timeline.counters(table, thread, &names)?;
        let since = timeline.series(table, thread, "known_since_ns")?;
        let (first, since) = since.values().next()?;
        // A damaged recording may say anything.
        let before_ns = first.as_ns().checked_sub(since).filter(|ns| *ns > 0);
        let since = Timestamp::from_ns(since);
        let mut values = [0.0; ASKED];
        let read = counters.at(first, &mut values);
        let goes_back =
            read && before_ns.is_some() && adds_up(&values[..TIMES], Window::new(since, first));
        let start = if goes_back { since } else { first };
        let mut classes = [LedgerClass::Unknown; TIMES];
        for (own, name) in classes.iter_mut().zip(&names) {
            *own = class(name)?;
        }
        Some(Self {
            known: Window::new(start, counters.known().end),
            opened: (start, first, values),
            counters,
            classes,
        })
    }

    /// Whether those of a thread are believed over a window; `None` where it has none there.
    pub(crate) fn hold(timeline: &Timeline, thread: EntityId, window: Window) -> Option<bool> {
        timeline.series(&THREAD_LEDGER.name, thread, "known_since_ns")?;
        let Some(mut books) = Books::of(timeline, thread) else {
            return Some(false);
        };
        let covered = window.intersect(books.known).filter(|it| !it.is_empty())?;
        Some(books.over(covered).is_some())
    }

    /// What they say of the part of a window that they cover; `None` where they cover none of it.
    pub(crate) fn over(&mut self, window: Window) -> Option<Counted> {
        let covered = window.intersect(self.known).filter(|it| !it.is_empty())?;
        let (start, end) = (self.at(covered.start)?, self.at(covered.end)?);
        let mut grown = [0.0; ASKED];
        for (own, (start, end)) in grown.iter_mut().zip(start.into_iter().zip(end)) {
            *own = end - start;
        }
        let (times, hidden_ns) = grown.split_at_mut(TIMES);
        if !adds_up(times, covered) {
            return None;
        }
        // What two looks at the clock differ by.
        let exact = covered.len_ns() as f64 / times.iter().sum::<f64>();
        times.iter_mut().for_each(|own| *own *= exact);
        let mut counted = Counted {
            window: covered,
            classes: [0.0; LedgerClass::ALL.len()],
            queued: [0.0; HOLDERS],
            memory_ns: times[MEMORY].iter().sum(),
            told_ns: times[CLASSES - WORDS..CLASSES].iter().sum(),
            hidden_ns: hidden_ns[0],
        };
        for (class, ns) in self.classes.iter().zip(&*times) {
            counted.classes[*class as usize] += ns;
        }
        counted.queued.copy_from_slice(&times[CLASSES..]);
        Some(counted)
    }

    fn at(&mut self, at: Timestamp) -> Option<[f64; ASKED]> {
        let (start, first, values) = &self.opened;
        if at < *first {
            let part = at.ns_since(*start) as f64 / first.ns_since(*start) as f64;
            return Some(values.map(|value| value * part));
        }
        let mut values = [0.0; ASKED];
        self.counters.at(at, &mut values).then_some(values)
    }
}

/// Whether times are those of a window, none of them less than nothing.
fn adds_up(times: &[f64], window: Window) -> bool {
    /// The clock is looked at anew every 10 s.
    const APART_NS: f64 = 20_000.0;
    let length = window.len_ns() as f64;
    let sum: f64 = times.iter().sum();
    times.iter().all(|ns| *ns >= 0.0)
        && (sum - length).abs() <= APART_NS + length / 1e3
        && sum > 0.0
}

#[cfg(test)]
mod tests {
    use model::{MISSING, Timestamp};

    use super::*;

    const THREAD: EntityId = EntityId(7);

    fn ms(ms: i64) -> Timestamp {
        Timestamp::from_ns(ms * 1_000_000)
    }

    /// Rows of (time, since, on a CPU, futex, queued behind the target), ms.
    fn books(rows: &[(i64, i64, i64, i64, i64)]) -> Timeline {
        let mut timeline = Timeline::new(Window::new(ms(0), ms(10_000)));
        let data = timeline.table_mut(&THREAD_LEDGER);
        for (time, since, on_cpu, futex, queued) in rows {
            let mut row = vec![0; THREAD_LEDGER.columns.len()];
            let mut set = |name: &str, value| {
                row[THREAD_LEDGER.position(name).expect("it is a column")] = value;
            };
            set("known_since_ns", since * 1_000_000);
            set("on_cpu_ns", on_cpu * 1_000_000);
            set("futex_ns", futex * 1_000_000);
            set("queued_target_ns", queued * 1_000_000);
            data.push(ms(*time), THREAD, &row);
        }
        timeline
    }

    #[test]
    fn what_was_counted_before_the_first_row_is_known_too() {
        let timeline = books(&[(200, 100, 50, 30, 20), (300, 100, 70, 90, 40)]);
        let mut books = Books::of(&timeline, THREAD).expect("it has rows");
        let counted = books.over(Window::new(ms(0), ms(250))).expect("covered");
        assert_eq!(counted.window, Window::new(ms(100), ms(250)));
        let of = |class| (counted.classes[class as usize] / 1e6).round();
        assert_eq!(of(LedgerClass::OnCpu), 60.0);
        assert_eq!(of(LedgerClass::Futex), 60.0);
        assert_eq!(of(LedgerClass::CpuWait), 30.0);
        assert_eq!(
            (counted.queued[Holder::Target as usize] / 1e6).round(),
            30.0
        );
        assert!(books.over(Window::new(ms(0), ms(100))).is_none());
        assert!(books.over(Window::new(ms(300), ms(400))).is_none());
    }

    #[test]
    fn books_that_do_not_add_up_are_not_believed() {
        let timeline = books(&[(200, 100, 50, 30, 20), (300, 100, 70, 90, 140)]);
        let mut books_of = Books::of(&timeline, THREAD).expect("it has rows");
        assert!(books_of.over(Window::new(ms(200), ms(300))).is_none());
        assert!(books_of.over(Window::new(ms(100), ms(200))).is_some());
        let mut short = books(&[(200, 100, 50, 30, 20)]);
        let data = short.table_mut(&THREAD_LEDGER);
        data.push(ms(300), THREAD, &vec![MISSING; THREAD_LEDGER.columns.len()]);
        let mut books = Books::of(&short, THREAD).expect("it has rows");
        assert!(books.over(Window::new(ms(200), ms(300))).is_none());
    }

    #[test]
    fn the_columns_are_in_the_order_that_is_counted_on() {
        let place = |name| THREAD_LEDGER.position(name).expect("it is a column");
        assert_eq!(MEMORY.start, place("memory_other_ns"));
        assert_eq!(MEMORY.end, place("io_other_ns"));
        let holders = [
            Holder::Rest,
            Holder::Target,
            Holder::Generator,
            Holder::Nobody,
        ];
        for (holder, name) in holders
            .into_iter()
            .zip(["rest", "target", "generator", "nobody"])
        {
            let column = format!("queued_{name}_ns");
            let at = THREAD_LEDGER.position(&column).expect("it is a column");
            assert_eq!(CLASSES + holder as usize, at);
        }
    }
}
