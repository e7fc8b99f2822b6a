//! Made-up runs whose spikes differ in what is known.

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Timestamp};

use super::*;
use crate::stats::Xorshift;

const SPIKES: i64 = 12;
const WIDTH_MS: i64 = 800;
const PERIOD_MS: i64 = 10_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ns(ms * 1_000_000)
}

fn window() -> Window {
    Window::new(at(0), at((SPIKES + 1) * PERIOD_MS))
}

fn spikes() -> Vec<Spike> {
    let each = (0..SPIKES).map(|number| {
        let start = 7_300 + number * PERIOD_MS;
        Spike {
            window: Window::new(at(start), at(start + WIDTH_MS)),
            peak_latency_ns: None,
            lowest_throughput: 0.0,
            peak_threads: None,
            lost: 0.0,
        }
    });
    each.collect()
}

/// A process whose CPU time grows by `used(ms)` in each millisecond, read each `every` ms.
fn process(timeline: &mut Timeline, name: &str, every: i64, mut used: impl FnMut(i64) -> f64) {
    let id = EntityId(timeline.entities.of_kind(EntityKind::Process).count() as u32);
    let entity = Entity::new(EntityKind::Process, name, format!("pid:{}@1", id.0));
    let record = EntityRecord::new(id, entity, at(0));
    let time = at(0);
    timeline.entities.apply(EntityEvent { time, record });
    let mut sensors = sensors::all().iter();
    let sensor = sensors
        .find(|it| it.table.name == "process")
        .expect("a sensor");
    let table = &sensor.table;
    let column = table.position("user_ns").expect("a column");
    let mut row = vec![0; table.columns.len()];
    let data = timeline.table_mut(table);
    let mut sum = 0.0;
    for ms in 0..=(SPIKES + 1) * PERIOD_MS {
        if ms % every == 0 {
            row[column] = sum as i64;
            data.push(at(ms), id, &row);
        }
        sum += used(ms) * 1e6;
    }
}

fn is_spike(ms: i64) -> bool {
    spikes().iter().any(|it| it.window.contains(at(ms)))
}

/// A hundred processes that come and go as they like.
fn crowd(timeline: &mut Timeline) {
    for number in 0..100 {
        let mut random = Xorshift::new(number + 1);
        let mut busy = 0.0;
        process(timeline, &format!("p{number}"), 200, |ms| {
            if ms % 500 == 0 {
                busy = if random.below(8) == 0 {
                    random.share()
                } else {
                    0.05
                };
            }
            busy
        });
    }
}

fn different(timeline: &Timeline) -> Vec<SpikeDifference> {
    let pairs = pairs(&spikes(), window());
    found(&counters::measures(timeline, &pairs))
}

#[test]
fn what_is_busy_in_spikes_is_found_among_others_however_seldom_it_is_read() {
    let mut timeline = Timeline::new(window());
    crowd(&mut timeline);
    process(&mut timeline, "quick", 100, |ms| {
        if is_spike(ms) { 0.5 } else { 0.01 }
    });
    process(&mut timeline, "slow", 1_000, |ms| {
        if is_spike(ms) { 0.5 } else { 0.01 }
    });
    let found = different(&timeline);
    let names: Vec<&str> = found.iter().map(|it| &*it.who).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names.contains(&"quick") && names.contains(&"slow"),
        "{names:?}"
    );
    for it in &found {
        assert!((it.inside - 0.5e9).abs() < 0.05e9, "{it:?}");
        assert!((it.outside - 0.01e9).abs() < 0.001e9, "{it:?}");
        assert_eq!((it.spikes, it.of_spikes), (12, 12));
        assert!(it.p_value <= 0.05);
    }
}

#[test]
fn of_others_alone_nothing_is_found() {
    let mut timeline = Timeline::new(window());
    crowd(&mut timeline);
    assert_eq!(different(&timeline), []);
}

#[test]
fn what_differs_in_few_of_the_spikes_is_not_what_they_have_in_common() {
    let mut timeline = Timeline::new(window());
    process(&mut timeline, "once", 100, |ms| {
        if is_spike(ms) && ms < 40_000 {
            0.9
        } else {
            0.01
        }
    });
    assert_eq!(different(&timeline), []);
}
