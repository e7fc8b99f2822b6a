//! From the sampler to the recorder, without ever making the sampler wait. When the disk or the
//! terminal blocks the recorder, rows pile up to a bound; beyond it they are dropped and counted, and
//! when there is room again the recording is told what it lacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use host::Harvest;
use model::{Gap, GapReason, Timestamp, Window};

use super::session::Event;

/// Rows on their way take at most about this much memory: several seconds of a thousand threads.
const MOST_BYTES: usize = 16 << 20;
/// Changes have as much again: a name or a part that is lost is told only once.
const MOST_WITH_CHANGES: usize = 2 * MOST_BYTES;
/// A change of an entity: names, paths, and room around them.
const CHANGE_BYTES: usize = 400;
/// A batch holds what was seen since the one before.
const BATCH_NS: i64 = 1_000_000_000;

/// The sampler's end.
pub(super) struct Outlet {
    events: Sender<Event>,
    load: Load,
    /// Since when something is missing, and how much.
    dropped: Option<(Timestamp, u64)>,
}

/// What is on its way, bytes; the recorder's end tells what has arrived.
#[derive(Clone, Default)]
pub(super) struct Load(Arc<AtomicUsize>);

impl Load {
    /// Notes that a harvest was taken in.
    pub(super) fn arrived(&self, harvest: &Harvest) {
        self.0.fetch_sub(weight(harvest), Ordering::Relaxed);
    }
}

impl Outlet {
    pub(super) fn new(events: Sender<Event>) -> (Self, Load) {
        let load = Load::default();
        let outlet = Self {
            events,
            load: load.clone(),
            dropped: None,
        };
        (outlet, load)
    }

    /// Hands it on, or counts it.
    pub(super) fn put(&mut self, harvest: Harvest, now: Timestamp) {
        let weight = weight(&harvest);
        let (most, lost) = match &harvest {
            Harvest::Rows(_, rows) => (MOST_BYTES, rows.len()),
            Harvest::Entities(events) => (MOST_WITH_CHANGES, events.len()),
            _ => (usize::MAX, 0),
        };
        if self.load.0.load(Ordering::Relaxed).saturating_add(weight) > most {
            let (_, count) = self.dropped.get_or_insert((now - BATCH_NS, 0));
            *count += lost as u64;
            return;
        }
        // At the end too, whatever its weight.
        let goes_on = matches!(harvest, Harvest::Rows(..) | Harvest::Ended(_));
        if let Some((since, count)) = self.dropped.take_if(|_| goes_on) {
            self.send(Harvest::Gap(Gap {
                table: "*".to_owned(),
                what: String::new(),
                window: Some(Window::new(since, now)),
                reason: GapReason::Dropped(count),
            }));
        }
        self.load.0.fetch_add(weight, Ordering::Relaxed);
        self.send(harvest);
    }

    fn send(&self, harvest: Harvest) {
        // A closed channel means that the program is ending.
        let _ = self.events.send(Event::Harvest(harvest));
    }
}

/// What piles up; the rest is little, and the recording cannot do without.
fn weight(harvest: &Harvest) -> usize {
    match harvest {
        Harvest::Rows(_, rows) => rows.len() * (rows.width() + 2) * size_of::<i64>(),
        Harvest::Entities(events) => events.len() * CHANGE_BYTES,
        Harvest::Gap(_) | Harvest::Assigned(..) | Harvest::Ended(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EntityId, Rows};
    use std::sync::mpsc::{Receiver, channel};

    fn rows(count: usize) -> Harvest {
        let table = &workloads::SIGNAL;
        let width = table.columns.len();
        let mut rows = Rows::with_capacity(width, count);
        for _ in 0..count {
            rows.push(Timestamp::default(), EntityId(0), &vec![1; width]);
        }
        Harvest::Rows(table, rows)
    }

    fn take(inbox: &Receiver<Event>) -> Option<Harvest> {
        inbox.try_recv().ok().map(|event| match event {
            Event::Harvest(harvest) => harvest,
            _ => panic!("only the sampler speaks here"),
        })
    }

    #[test]
    fn a_recorder_that_hangs_costs_rows_that_are_counted_and_no_more_memory() {
        let at = |s: i64| Timestamp::from_ns(s * 1_000_000_000);
        let (events, inbox) = channel();
        let (mut outlet, load) = Outlet::new(events);
        let batch = weight(&rows(1_000));
        let room = MOST_BYTES / batch;
        for second in 0..room as i64 + 30 {
            outlet.put(rows(1_000), at(second));
        }
        let mut arrived = 0;
        while let Some(harvest) = take(&inbox) {
            load.arrived(&harvest);
            arrived += 1;
        }
        assert_eq!(arrived, room);
        let now = room as i64 + 30;
        outlet.put(rows(10), at(now));
        let Some(Harvest::Gap(gap)) = take(&inbox) else {
            panic!("what is missing is said");
        };
        assert_eq!(gap.reason, GapReason::Dropped(30_000));
        let since = at(room as i64 - 1);
        assert_eq!(gap.window, Some(Window::new(since, at(now))));
        assert!(matches!(take(&inbox), Some(Harvest::Rows(..))));
        outlet.put(rows(10), at(now + 1));
        assert!(matches!(take(&inbox), Some(Harvest::Rows(..))));
    }

    #[test]
    fn names_are_handed_on_when_there_is_no_room_for_rows() {
        let (events, inbox) = channel();
        let (mut outlet, _load) = Outlet::new(events);
        let now = Timestamp::default();
        let batch = weight(&rows(1_000));
        (0..=MOST_BYTES / batch).for_each(|_| outlet.put(rows(1_000), now));
        while take(&inbox).is_some() {}
        let event = || model::EntityEvent {
            time: now,
            record: model::EntityRecord {
                id: EntityId(7),
                entity: model::Entity::new(model::EntityKind::Process, "server", "pid:1@2"),
                parent: None,
                group: None,
                pressure_group: None,
                memory_group: None,
                io_group: None,
                role: model::Role::Target,
                serving: false,
                first_seen: now,
                vanished: None,
            },
        };
        outlet.put(Harvest::Entities(vec![event()]), now);
        let handed: Vec<Harvest> = std::iter::from_fn(|| take(&inbox)).collect();
        assert!(matches!(handed.last(), Some(Harvest::Entities(_))));
        outlet.put(rows(1_000), now);
        assert!(take(&inbox).is_none(), "of rows there are still too many");
    }

    #[test]
    fn what_is_missing_at_the_end_is_said_before_it() {
        let (events, inbox) = channel();
        let (mut outlet, _load) = Outlet::new(events);
        let too_many = MOST_BYTES / weight(&rows(1)) + 1;
        outlet.put(rows(too_many), Timestamp::default());
        assert!(take(&inbox).is_none());
        let ending = host::Ending {
            cost: model::Cost::default(),
            at: Timestamp::default(),
        };
        outlet.put(Harvest::Ended(ending), Timestamp::default());
        assert!(matches!(take(&inbox), Some(Harvest::Gap(_))));
        assert!(matches!(take(&inbox), Some(Harvest::Ended(_))));
    }
}
