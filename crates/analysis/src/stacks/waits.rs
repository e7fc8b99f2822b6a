//! Waits with their stacks.

use model::{
    EntityId, EntityRecord, LedgerClass, MISSING, Role, ThreadTimeClass, Timeline, Timestamp,
    Window,
};
use sensors::stack::WAIT_SAMPLE;
use sensors::thread_time::THREAD_TIME;

use super::{Frame, Stacks, process_of, rows_or_none};

/// A wait with the stack in which it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitSample {
    /// When it ended.
    pub until: Timestamp,
    /// The thread, or the process where its threads are not followed, or the machine.
    pub entity: EntityId,
    /// The number of its stack, if there was room for it.
    pub stack: Option<i64>,
    /// What it waited for.
    pub class: LedgerClass,
    /// How long it waited, ns.
    pub wait_ns: i64,
    /// The blocked time that it stands for, ns.
    pub weight_ns: i64,
    /// The thread or process that ended it.
    pub waker: Option<EntityId>,
    /// Where that one was.
    pub waker_stack: Option<i64>,
    /// The address of the futex.
    pub lock: Option<i64>,
    /// How its stack in user space ends, by the code of the column; `None` where it has none.
    pub end: Option<i64>,
}

impl WaitSample {
    /// The variance that a wait adds to sums, ns²: each was taken with the probability wait / weight (Horvitz and
    /// Thompson 1952, of independent draws).
    pub fn variance(&self) -> f64 {
        let (weight, wait) = (self.weight_ns as f64, self.wait_ns as f64);
        (weight * (weight - wait)).max(0.0)
    }
}

impl<'a> Stacks<'a> {
    /// The frames of a stack, without those of the scheduler and of what looks at it: every wait and every wake-up has
    /// them.
    pub fn waiting_frames(&self, stack: i64) -> Vec<Frame<'a>> {
        const MOST: usize = 6;
        let frames = self.frames(stack);
        let last = frames.iter().take(MOST).rposition(|frame| {
            let function = frame.function.filter(|_| frame.module == "[kernel]");
            function.is_some_and(is_schedulers)
        });
        frames[last.map_or(0, |last| last + 1)..].to_vec()
    }
}

/// Functions of kernel/sched/core.c that every wait or every wake-up goes through, and the hook.
fn is_schedulers(function: &str) -> bool {
    function.starts_with("__traceiter_")
        || matches!(
            function,
            "__schedule" | "schedule" | "try_to_wake_up" | "wake_up_process"
        )
}

/// The waits of a window with their processes, of those whose waits are recorded.
pub fn waits_by_process(
    timeline: &Timeline,
    window: Window,
) -> impl Iterator<Item = (WaitSample, &EntityRecord)> {
    let is_followed = |role| matches!(role, Role::Target | Role::Generator | Role::Dependency);
    wait_samples(timeline, window).filter_map(move |wait| {
        let process = process_of(timeline, wait.entity)?;
        is_followed(process.role).then_some((wait, process))
    })
}

/// The waits of a window, by when they ended, in the order of their rows.
pub fn wait_samples(timeline: &Timeline, window: Window) -> impl Iterator<Item = WaitSample> {
    const COLUMNS: [&str; 8] = [
        "stack",
        "class",
        "wait_ns",
        "weight_ns",
        "waker",
        "waker_stack",
        "lock",
        "end",
    ];
    let known = |value: i64| (value != MISSING).then_some(value);
    let classes = classes(timeline);
    let rows = rows_or_none(timeline, &WAIT_SAMPLE.name, COLUMNS);
    let in_window = rows.filter(move |(at, ..)| window.contains(*at));
    in_window.map(move |(until, entity, values)| {
        let [
            stack,
            class,
            wait_ns,
            weight_ns,
            waker,
            waker_stack,
            lock,
            end,
        ] = values;
        let class = usize::try_from(class).ok();
        let class = class.and_then(|class| classes.get(class).copied());
        let ns = |value| known(value).unwrap_or(0).max(0);
        WaitSample {
            until,
            entity,
            stack: known(stack),
            class: class.unwrap_or(LedgerClass::Unknown),
            wait_ns: ns(wait_ns),
            weight_ns: ns(weight_ns),
            waker: u32::try_from(waker).ok().map(EntityId),
            waker_stack: known(waker_stack),
            lock: known(lock),
            end: known(end),
        }
    })
}

/// The classes by their numbers: the columns of table `thread_time`, as the recording has them.
fn classes(timeline: &Timeline) -> Vec<LedgerClass> {
    let data = timeline.table(&THREAD_TIME.name);
    let table = data.map_or(&THREAD_TIME, |data| &data.table);
    let columns = table.columns.iter().map(|column| {
        let mut all = ThreadTimeClass::ALL.into_iter();
        all.find(|class| class.column() == column.name)
    });
    let classes = columns.map_while(|class| class.map(ThreadTimeClass::ledger));
    classes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_stands_for_others_makes_sums_uncertain() {
        let wait = |wait_ns, weight_ns| WaitSample {
            until: Timestamp::from_ns(0),
            entity: EntityId(0),
            stack: None,
            class: LedgerClass::Futex,
            wait_ns,
            weight_ns,
            waker: None,
            waker_stack: None,
            lock: None,
            end: None,
        };
        assert!(wait(500, 500).variance() < 1e-9, "it stands for itself");
        // Ten waits of 1, each taken with probability 0.1, weigh 10 each: the variance of one is 10 * 9.
        assert!((wait(1, 10).variance() - 90.0).abs() < 1e-9);
    }
}
