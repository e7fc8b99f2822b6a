//! Who woke whom, as a recording has it: the waits of a pool's threads that one waker ended.

use model::{EntityId, LedgerClass, Timeline, Window};
use sensors::serving::Serving;
use sensors::wakeup::{By, CLASSES, THREAD_POOL, WAKEUP};

/// Classes of waits that are somebody's doing: the others are known by what they are.
pub(crate) const LOCKS: [LedgerClass; 2] = [LedgerClass::Futex, LedgerClass::InternalLock];

/// Waits of one pool in one class that one waker ended.
#[derive(Clone)]
pub(crate) struct Edge {
    pub(crate) woken: EntityId,
    pub(crate) class: LedgerClass,
    pub(crate) by: By,
    /// A pool or a process.
    pub(crate) waker: Option<EntityId>,
    pub(crate) ns: f64,
    /// How many there were.
    pub(crate) waits: f64,
    /// Whether they were inside a request; `None` where that is not known.
    pub(crate) serving: Option<Serving>,
    /// What the waker did meanwhile, as far as it is known; by `CLASSES`.
    pub(crate) did: [f64; CLASSES.len()],
}

impl Edge {
    pub(crate) fn is_lock(&self) -> bool {
        LOCKS.contains(&self.class)
    }
}

/// All of them over a window.
pub(crate) fn edges(timeline: &Timeline, window: Window) -> impl Iterator<Item = Edge> {
    let entities = timeline.table(&WAKEUP.name).into_iter();
    let entities = entities.flat_map(|table| table.entities());
    entities.filter_map(move |entity| edge(timeline, entity, window))
}

/// The pool that a thread was last told to be of.
pub(crate) fn pool_of(timeline: &Timeline, thread: EntityId) -> Option<EntityId> {
    let series = timeline.series(&THREAD_POOL.name, thread, "pool")?;
    number(series.values().next_back()?.1)
}

fn edge(timeline: &Timeline, entity: EntityId, window: Window) -> Option<Edge> {
    let woken = timeline.entities.get(entity)?.parent?;
    let column = |name: &str| timeline.series(&WAKEUP.name, entity, name);
    let growth = |name: &str| column(name)?.growth(window);
    // A damaged recording may say anything.
    let grown = |name: &str| growth(name).unwrap_or(0.0).max(0.0);
    let told = |name: &str| Some(column(name)?.values().next_back()?.1);
    let class = usize::try_from(told("class")?).ok()?;
    let mut did = [0.0; CLASSES.len()];
    for (own, column) in did.iter_mut().zip(WAKEUP.columns.iter()) {
        *own = grown(&column.name);
    }
    Some(Edge {
        woken,
        class: *CLASSES.get(class)?,
        by: By::new(told("by")?)?,
        waker: told("waker").and_then(number),
        ns: grown("wait_ns"),
        waits: grown("waits"),
        serving: told("serving").and_then(Serving::new),
        did,
    })
}

fn number(value: i64) -> Option<EntityId> {
    u32::try_from(value).ok().map(EntityId)
}
