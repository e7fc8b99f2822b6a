//! From the sampler to the recorder, without ever making the sampler wait. When the disk or the
//! terminal blocks the recorder, rows pile up to a bound; beyond it they are dropped and counted, and
//! when there is room again the recording is told what it lacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use collectors::SamplerEvent;
use model::{Gap, GapReason, Sentence, Timestamp, Window};

/// Rows on their way take at most about this much memory: several seconds of a thousand threads.
const MOST_BYTES: usize = 16 << 20;
/// Changes have as much again: a name or a part that is lost is told only once.
const MOST_WITH_CHANGES: usize = 2 * MOST_BYTES;
/// A change of an entity: names, paths, and room around them.
const CHANGE_BYTES: usize = 400;
/// A text: what rows refer to, and room around it.
const TEXT_BYTES: usize = 200;
/// A batch holds what was seen since the one before.
const BATCH_NS: i64 = 1_000_000_000;

/// The sampler's end.
pub(super) struct BoundedSender<S> {
    send: S,
    load: Load,
    /// Since when something is missing, and how much.
    dropped: Option<(Timestamp, u64)>,
}

/// What is on its way, bytes; the recorder's end tells what has arrived.
#[derive(Clone, Default)]
pub(super) struct Load(Arc<AtomicUsize>);

impl Load {
    /// Notes that a harvest was taken in.
    pub(super) fn arrived(&self, event: &SamplerEvent) {
        self.0.fetch_sub(weight(event), Ordering::Relaxed);
    }
}

impl<S: Fn(SamplerEvent)> BoundedSender<S> {
    /// Hands on to `send`, which must not wait; `load` is shared with the recorder's end.
    pub(super) fn new(load: Load, send: S) -> Self {
        Self {
            send,
            load,
            dropped: None,
        }
    }

    /// Hands it on, or counts it.
    pub(super) fn put(&mut self, event: SamplerEvent, now: Timestamp) {
        let weight = weight(&event);
        let (most, lost) = match &event {
            SamplerEvent::Rows(_, rows) => (MOST_BYTES, rows.len()),
            SamplerEvent::Entities(events) => (MOST_WITH_CHANGES, events.len()),
            SamplerEvent::Strings(texts) => (MOST_WITH_CHANGES, texts.len()),
            _ => (usize::MAX, 0),
        };
        if self.load.0.load(Ordering::Relaxed).saturating_add(weight) > most {
            let (_, count) = self.dropped.get_or_insert((now - BATCH_NS, 0));
            *count += lost as u64;
            return;
        }
        // At the end too, whatever its weight.
        let goes_on = matches!(event, SamplerEvent::Rows(..) | SamplerEvent::Ended(_));
        if let Some((since, count)) = self.dropped.take_if(|_| goes_on) {
            (self.send)(SamplerEvent::Gap(Gap {
                table: "*".to_owned(),
                what: Sentence::default(),
                window: Some(Window::new(since, now)),
                reason: GapReason::Dropped(count),
            }));
        }
        self.load.0.fetch_add(weight, Ordering::Relaxed);
        (self.send)(event);
    }
}

/// What piles up; the rest is little, and the recording cannot do without.
fn weight(event: &SamplerEvent) -> usize {
    match event {
        SamplerEvent::Rows(_, rows) => rows.len() * (rows.width() + 2) * size_of::<i64>(),
        SamplerEvent::Entities(events) => events.len() * CHANGE_BYTES,
        SamplerEvent::Strings(texts) => texts.len() * TEXT_BYTES,
        SamplerEvent::Gap(_)
        | SamplerEvent::Contact(..)
        | SamplerEvent::Assigned(..)
        | SamplerEvent::Cost(_)
        | SamplerEvent::Ended(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EntityId, Rows};
    use std::sync::mpsc::{Receiver, channel};

    fn rows(count: usize) -> SamplerEvent {
        let table = &workloads::SIGNAL;
        let width = table.columns.len();
        let mut rows = Rows::with_capacity(width, count);
        for _ in 0..count {
            rows.push(Timestamp::default(), EntityId(0), &vec![1; width]);
        }
        SamplerEvent::Rows(table, rows)
    }

    /// A sender, the recorder's end of its load, and what was handed on.
    fn sender() -> (
        BoundedSender<impl Fn(SamplerEvent)>,
        Load,
        Receiver<SamplerEvent>,
    ) {
        let (events, inbox) = channel();
        let load = Load::default();
        let sender = BoundedSender::new(load.clone(), move |event| {
            events.send(event).expect("the test listens");
        });
        (sender, load, inbox)
    }

    #[test]
    fn a_recorder_that_hangs_costs_rows_that_are_counted_and_no_more_memory() {
        let at = |s: i64| Timestamp::from_ns(s * 1_000_000_000);
        let (mut sender, load, inbox) = sender();
        let batch = weight(&rows(1_000));
        let room = MOST_BYTES / batch;
        for second in 0..room as i64 + 30 {
            sender.put(rows(1_000), at(second));
        }
        let mut arrived = 0;
        while let Ok(event) = inbox.try_recv() {
            load.arrived(&event);
            arrived += 1;
        }
        assert_eq!(arrived, room);
        let now = room as i64 + 30;
        sender.put(rows(10), at(now));
        let Ok(SamplerEvent::Gap(gap)) = inbox.try_recv() else {
            panic!("what is missing is said");
        };
        assert_eq!(gap.reason, GapReason::Dropped(30_000));
        let since = at(room as i64 - 1);
        assert_eq!(gap.window, Some(Window::new(since, at(now))));
        assert!(matches!(inbox.try_recv(), Ok(SamplerEvent::Rows(..))));
        sender.put(rows(10), at(now + 1));
        assert!(matches!(inbox.try_recv(), Ok(SamplerEvent::Rows(..))));
    }

    #[test]
    fn names_are_handed_on_when_there_is_no_room_for_rows() {
        let (mut sender, _load, inbox) = sender();
        let now = Timestamp::default();
        let batch = weight(&rows(1_000));
        (0..=MOST_BYTES / batch).for_each(|_| sender.put(rows(1_000), now));
        while inbox.try_recv().is_ok() {}
        let event = || model::EntityEvent {
            time: now,
            record: model::EntityRecord {
                role: model::Role::Target,
                ..model::EntityRecord::new(
                    EntityId(7),
                    model::Entity::new(model::EntityKind::Process, "server", "pid:1@2"),
                    now,
                )
            },
        };
        sender.put(SamplerEvent::Entities(vec![event()]), now);
        let handed: Vec<SamplerEvent> = std::iter::from_fn(|| inbox.try_recv().ok()).collect();
        assert!(matches!(handed.last(), Some(SamplerEvent::Entities(_))));
        sender.put(rows(1_000), now);
        assert!(
            inbox.try_recv().is_err(),
            "of rows there are still too many"
        );
    }

    #[test]
    fn what_is_missing_at_the_end_is_said_before_it() {
        let (mut sender, _load, inbox) = sender();
        let too_many = MOST_BYTES / weight(&rows(1)) + 1;
        sender.put(rows(too_many), Timestamp::default());
        assert!(inbox.try_recv().is_err());
        let ending = collectors::Ending {
            cost: model::Cost::default(),
            at: Timestamp::default(),
        };
        sender.put(SamplerEvent::Ended(ending), Timestamp::default());
        assert!(matches!(inbox.try_recv(), Ok(SamplerEvent::Gap(_))));
        assert!(matches!(inbox.try_recv(), Ok(SamplerEvent::Ended(_))));
    }
}
