//! Waits with their stacks.

use model::{EntityId, LedgerClass, MISSING, ThreadTimeClass, Timeline, Timestamp, Window};
use sensors::stack::WAIT_SAMPLE;
use sensors::thread_time::THREAD_TIME;

use super::rows_or_none;

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
