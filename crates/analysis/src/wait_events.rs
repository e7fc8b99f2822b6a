//! Which of PostgreSQL's waits the target's time in a class of locks was, by their own names.

use model::{Account, EntityKind, LedgerClass, Meta, Role, Timeline, Window};
use sensors::wait_event::{self, WAIT_EVENT};

use crate::number_format::percent;

/// Parts less than this are not worth a name.
const WORTH_NAMING: f64 = 0.05;

/// Notes at each class of locks which waits that was, the longest first.
pub(crate) fn name_waits(account: &mut Account, timeline: &Timeline, meta: &Meta, window: Window) {
    let waits = waits(timeline, window);
    for item in &mut account.items {
        let own = waits
            .iter()
            .filter(|(code, _)| class(*code) == Some(item.class));
        let mut own: Vec<&(u32, f64)> = own.collect();
        own.sort_by(|a, b| b.1.total_cmp(&a.1));
        let all: f64 = own.iter().map(|(_, ns)| ns).sum();
        let named = own.into_iter().filter(|(_, ns)| *ns >= WORTH_NAMING * all);
        let told = meta.targets.iter().filter_map(|it| it.version.as_deref());
        let versions = wait_event::versions(told);
        let named = named.filter_map(|(code, ns)| {
            let title = wait_event::title(versions.iter().copied(), *code)?;
            Some(format!("{title} {}", percent(ns / all)))
        });
        let notes = std::iter::once(std::mem::take(&mut item.note)).filter(|it| !it.is_empty());
        let named = named.collect::<Vec<_>>().join(", ");
        let notes = notes.chain(Some(named).filter(|it| !it.is_empty()));
        item.note = notes.collect::<Vec<_>>().join("; ");
    }
}

/// What the target's threads said that they wait for, and how long, ns.
fn waits(timeline: &Timeline, window: Window) -> Vec<(u32, f64)> {
    let of = |entity, column| timeline.series(&WAIT_EVENT.name, entity, column);
    let events = timeline.entities.of_kind(EntityKind::WaitEvent);
    let waits = events.filter_map(|event| {
        let pool = timeline.entities.get(event.parent?)?;
        let process = timeline.entities.get(pool.parent?)?;
        let (_, code) = of(event.id, "wait_event")?.values().next()?;
        let ns = of(event.id, "wait_ns")?.growth(window)?;
        let is_own = process.role == Role::Target && ns > 0.0;
        is_own.then_some((u32::try_from(code).ok()?, ns))
    });
    waits.collect()
}

/// The class of locks that a wait is in, as the ledger has it.
fn class(code: u32) -> Option<LedgerClass> {
    const LOCKS: [LedgerClass; 3] = [
        LedgerClass::SyncQueue,
        LedgerClass::InternalLock,
        LedgerClass::DatabaseLock,
    ];
    let class = wait_event::thread_time_class(code)?.ledger();
    LOCKS.contains(&class).then_some(class)
}
