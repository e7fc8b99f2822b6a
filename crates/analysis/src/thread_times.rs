//! The accounts of one thread, where the scheduler's own events were counted: every nanosecond is in one
//! class, and nothing is guessed.
//!
//! Books that do not add up to the time that they cover are not believed: the thread is then told from
//! samples, as one without accounts is.

use model::{
    Column, Counters, DecidedBy, EntityId, LedgerClass, MISSING, TableData, ThreadTimeClass,
    Timeline, Timestamp, Window,
};
use sensors::thread_time::{CLASSES, HOLDERS, THREAD_TIME};

/// Columns that are time of the thread's.
const TIMES: usize = CLASSES + HOLDERS;
/// What is asked of a row: those, and `hidden_ns`.
const ASKED: usize = TIMES + 1;
/// What the accounts say of a stretch of time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Counted {
    pub(crate) window: Window,
    /// The time of threads in it, ns: the window's length where they are one.
    pub(crate) wall_ns: f64,
    /// ns by class; they add up to that.
    pub(crate) classes: [f64; LedgerClass::ALL.len()],
    /// The waits for a CPU by `sensors::thread_time::Holder`.
    pub(crate) queued: [f64; HOLDERS],
    /// Time waiting for memory, in whatever class.
    pub(crate) memory_ns: f64,
    /// Time in reads and writes, uninterruptible and not for a disk.
    pub(crate) behind_file_ns: f64,
    /// Time in the classes that the application's own word decides.
    pub(crate) told_ns: f64,
    /// Time on a CPU that the scheduler did not count as its run time; signed.
    pub(crate) hidden_ns: f64,
}

/// One thread's rows in the table.
pub(crate) struct ThreadTimes<'a> {
    counters: Counters<'a>,
    /// What the first row says was counted since when.
    opened: (Timestamp, Timestamp, [f64; ASKED]),
    known: Window,
}

impl<'a> ThreadTimes<'a> {
    /// Those of a thread; `None` where it has none.
    pub(crate) fn of(timeline: &'a Timeline, thread: EntityId) -> Option<Self> {
        let table = &*THREAD_TIME.name;
        let mut counters = timeline.counters(table, thread, &asked())?;
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
        Some(Self {
            known: Window::new(start, counters.known().end),
            opened: (start, first, values),
            counters,
        })
    }

    /// Whether those of a thread are believed over a window; `None` where it has none there.
    pub(crate) fn hold(timeline: &Timeline, thread: EntityId, window: Window) -> Option<bool> {
        // Who lived too short to be listed is reported in rows that cover no time of one thread.
        let since = timeline.series(&THREAD_TIME.name, thread, "known_since_ns")?;
        since.values().next()?;
        let Some(mut thread_times) = ThreadTimes::of(timeline, thread) else {
            return Some(false);
        };
        let covered = window
            .intersect(thread_times.known)
            .filter(|it| !it.is_empty())?;
        Some(thread_times.over(covered).is_some())
    }

    /// What they say of the part of a window that they cover; `None` where they cover none of it.
    pub(crate) fn over(&mut self, window: Window) -> Option<Counted> {
        let covered = window.intersect(self.known).filter(|it| !it.is_empty())?;
        let mut grown = grown(self.at(covered.start)?, self.at(covered.end)?);
        let times = &mut grown[..TIMES];
        if !adds_up(times, covered) {
            return None;
        }
        // What two looks at the clock differ by.
        let exact = covered.len_ns() as f64 / times.iter().sum::<f64>();
        times.iter_mut().for_each(|own| *own *= exact);
        Some(Counted::of(&grown, covered))
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

/// Rows of threads that ended before they were listed, and are reported as one thread of their process: their
/// times are added up, and are not those of any window.
pub(crate) struct ShortLived<'a> {
    counters: Counters<'a>,
}

impl<'a> ShortLived<'a> {
    /// Those of a thread that stands for others; `None` where it is one.
    pub(crate) fn of(timeline: &'a Timeline, thread: EntityId) -> Option<Self> {
        let table = &*THREAD_TIME.name;
        let since = timeline.series(table, thread, "known_since_ns");
        if since.is_some_and(|since| since.values().next().is_some()) {
            return None;
        }
        Some(Self {
            counters: timeline.counters(table, thread, &asked())?,
        })
    }

    /// When there were some.
    pub(crate) fn known(&self) -> Window {
        self.counters.known()
    }

    /// What those had who ended in a window; `None` where none did.
    pub(crate) fn over(&mut self, window: Window) -> Option<Counted> {
        let covered = window.intersect(self.known())?;
        let (mut start, mut end) = ([0.0; ASKED], [0.0; ASKED]);
        if !self.counters.at(covered.start, &mut start) || !self.counters.at(covered.end, &mut end)
        {
            return None;
        }
        let grown = grown(start, end);
        let times = &grown[..TIMES];
        let some = times.iter().all(|ns| *ns >= 0.0) && times.iter().sum::<f64>() > 0.0;
        some.then(|| Counted::of(&grown, covered))
    }
}

impl Counted {
    fn of(grown: &[f64; ASKED], window: Window) -> Self {
        let (times, queued) = grown[..TIMES].split_at(CLASSES);
        let mut counted = Counted {
            window,
            wall_ns: times.iter().chain(queued).sum(),
            classes: [0.0; LedgerClass::ALL.len()],
            queued: [0.0; HOLDERS],
            memory_ns: 0.0,
            behind_file_ns: times[ThreadTimeClass::KernelReadWrite as usize],
            told_ns: 0.0,
            hidden_ns: grown[TIMES],
        };
        for (class, ns) in ThreadTimeClass::ALL.into_iter().zip(times) {
            counted.classes[class.ledger() as usize] += ns;
            match class.decided_by() {
                DecidedBy::Memstall => counted.memory_ns += ns,
                DecidedBy::WaitEvent => counted.told_ns += ns,
                _ => {}
            }
        }
        counted.classes[LedgerClass::CpuWait as usize] = queued.iter().sum();
        counted.queued.copy_from_slice(queued);
        counted
    }
}

/// Gives a recording from before a class was counted the column of that class. No time is in it: what would be, was
/// counted in another class.
pub(crate) fn with_every_class(timeline: &mut Timeline) {
    let Some(recorded) = timeline.table(&THREAD_TIME.name) else {
        return;
    };
    let of = |column: &Column| recorded.table.position(&column.name);
    let places: Vec<Option<usize>> = THREAD_TIME.columns.iter().map(of).collect();
    if (0..TIMES).map(Some).eq(places[..TIMES].iter().copied()) {
        return;
    }
    let mut rows = TableData::new(THREAD_TIME.clone());
    for row in 0..recorded.len() {
        let (time, entity) = recorded.key(row);
        let values: Vec<i64> = recorded.row(row).collect();
        let values = places.iter().enumerate().map(|(own, place)| match place {
            Some(place) => values[*place],
            None if own < CLASSES => 0,
            None => MISSING,
        });
        rows.push(time, entity, &values.collect::<Vec<_>>());
    }
    timeline.insert(rows);
}

/// The columns that are asked for.
fn asked() -> Vec<&'static str> {
    let times = THREAD_TIME.columns[..TIMES].iter();
    let names = times.map(|column| &*column.name);
    names.chain(["hidden_ns"]).collect()
}

fn grown(start: [f64; ASKED], end: [f64; ASKED]) -> [f64; ASKED] {
    let mut grown = end;
    let both = grown.iter_mut().zip(start);
    both.for_each(|(own, start)| *own -= start);
    grown
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
    use model::Table;
    use sensors::thread_time::Holder;

    use super::*;

    const THREAD: EntityId = EntityId(7);

    fn ms(ms: i64) -> Timestamp {
        Timestamp::from_ns(ms * 1_000_000)
    }

    /// Rows of (time, since, on a CPU, futex, queued behind the target), ms.
    fn thread_times(rows: &[(i64, i64, i64, i64, i64)]) -> Timeline {
        let mut timeline = Timeline::new(Window::new(ms(0), ms(10_000)));
        let data = timeline.table_mut(&THREAD_TIME);
        for (time, since, on_cpu, futex, queued) in rows {
            let mut row = vec![0; THREAD_TIME.columns.len()];
            let mut set = |name: &str, value| {
                row[THREAD_TIME.position(name).expect("it is a column")] = value;
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
        let timeline = thread_times(&[(200, 100, 50, 30, 20), (300, 100, 70, 90, 40)]);
        let mut thread_times = ThreadTimes::of(&timeline, THREAD).expect("it has rows");
        let counted = thread_times
            .over(Window::new(ms(0), ms(250)))
            .expect("covered");
        assert_eq!(counted.window, Window::new(ms(100), ms(250)));
        let of = |class| (counted.classes[class as usize] / 1e6).round();
        assert_eq!(of(LedgerClass::OnCpu), 60.0);
        assert_eq!(of(LedgerClass::Futex), 60.0);
        assert_eq!(of(LedgerClass::CpuWait), 30.0);
        assert_eq!(
            (counted.queued[Holder::Target as usize] / 1e6).round(),
            30.0
        );
        assert!(thread_times.over(Window::new(ms(0), ms(100))).is_none());
        assert!(thread_times.over(Window::new(ms(300), ms(400))).is_none());
    }

    #[test]
    fn a_recording_from_before_a_class_is_believed_too() {
        let whole = thread_times(&[(200, 100, 50, 30, 20), (300, 100, 70, 90, 40)]);
        let left_out = ThreadTimeClass::EventIpc as usize;
        let mut columns = THREAD_TIME.columns.to_vec();
        columns.remove(left_out);
        let mut rows = TableData::new(Table {
            columns: columns.into(),
            ..THREAD_TIME.clone()
        });
        let recorded = whole.table(&THREAD_TIME.name).expect("it was drawn");
        for row in 0..recorded.len() {
            let mut values: Vec<i64> = recorded.row(row).collect();
            values.remove(left_out);
            rows.push(recorded.key(row).0, THREAD, &values);
        }
        let mut timeline = Timeline::new(whole.window);
        timeline.insert(rows);
        assert!(ThreadTimes::of(&timeline, THREAD).is_none());
        with_every_class(&mut timeline);
        let over = |timeline: &Timeline| {
            let mut thread_times = ThreadTimes::of(timeline, THREAD).expect("it has rows");
            thread_times.over(Window::new(ms(100), ms(300)))
        };
        assert_eq!(over(&timeline), over(&whole));
        assert!(over(&whole).is_some());
    }

    #[test]
    fn books_that_do_not_add_up_are_not_believed() {
        let timeline = thread_times(&[(200, 100, 50, 30, 20), (300, 100, 70, 90, 140)]);
        let mut books_of = ThreadTimes::of(&timeline, THREAD).expect("it has rows");
        assert!(books_of.over(Window::new(ms(200), ms(300))).is_none());
        assert!(books_of.over(Window::new(ms(100), ms(200))).is_some());
        let mut short = thread_times(&[(200, 100, 50, 30, 20)]);
        let data = short.table_mut(&THREAD_TIME);
        data.push(ms(300), THREAD, &vec![MISSING; THREAD_TIME.columns.len()]);
        let mut thread_times = ThreadTimes::of(&short, THREAD).expect("it has rows");
        assert!(thread_times.over(Window::new(ms(200), ms(300))).is_none());
    }
}
