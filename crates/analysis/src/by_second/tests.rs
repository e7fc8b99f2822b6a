//! Runs of made-up requests, second by second.

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};
use sensors::request::{REQUESTS, bound_ns};

use super::*;
use crate::request_times::End;

/// What was answered in a tenth of a second: how many, and each one's time, ns.
type Tenth = (i64, i64);

/// Tenths of a second in which 200 requests were answered, each in 1 ms.
fn busy(tenths: usize) -> Vec<Tenth> {
    vec![(200, 1_000_000); tenths]
}

/// A recording of a target's requests, all of them timed.
fn recorded(tenths: &[Tenth]) -> Timeline {
    let at = |tenth: usize| Timestamp::from_ns(tenth as i64 * 100_000_000);
    let mut timeline = Timeline::new(Window::new(at(0), at(tenths.len())));
    for (id, kind) in [(0, EntityKind::Machine), (1, EntityKind::Connection)] {
        let record = EntityRecord {
            role: Role::Target,
            ..EntityRecord::new(EntityId(id), Entity::new(kind, "a", "a"), at(0))
        };
        let time = at(0);
        timeline.entities.apply(EntityEvent { time, record });
    }
    let columns = &REQUESTS.columns;
    let place = |name: &str| REQUESTS.position(name).expect("it is there");
    let mut sums = vec![0; columns.len()];
    timeline
        .table_mut(&REQUESTS)
        .push(at(0), EntityId(1), &sums);
    for (tenth, (count, ns)) in tenths.iter().enumerate() {
        sums[place("requests")] += count;
        sums[place("timed")] += count;
        sums[place("timed_ns")] += count * ns;
        if *ns >= sensors::request::LONG_NS as i64 {
            sums[place("long")] += count;
            sums[place("long_ns")] += count * ns;
        }
        let mut buckets = columns.iter();
        let bucket = buckets.position(|it| bound_ns(&it.name).is_some_and(|it| it > *ns as f64));
        sums[bucket.expect("there is one")] += count;
        let time = at(tenth + 1);
        timeline.table_mut(&REQUESTS).push(time, EntityId(1), &sums);
    }
    timeline
}

fn by_second(tenths: &[Tenth], load: Option<&Load>) -> BySecond {
    let timeline = recorded(tenths);
    let rules = Thresholds::default().stalls;
    let requests = kernel::Requests::of(&timeline, End::Target, &rules);
    let requests = requests.expect("requests were counted");
    requests.by_second(load, timeline.window)
}

/// 20 s with a stall of 2 s in the middle, in which 8 requests were open.
fn stalled() -> Vec<Tenth> {
    let gap = [vec![(0, 0); 20], vec![(8, 2_000_000_000)]].concat();
    [busy(100), gap, busy(79)].concat()
}

#[test]
fn a_stall_has_its_time_its_longest_request_and_what_it_left_out() {
    let found = by_second(&stalled(), None);
    let [stall] = found.stalls[..] else {
        panic!("{:?}", found.stalls);
    };
    // The tenth in which those that waited were answered belongs to it: eight are next to nothing.
    assert_eq!(stall.window.start.as_ns(), 10_000_000_000);
    assert_eq!(found.stalled_ns, 2_100_000_000);
    assert_eq!(stall.expected.round(), 4_200.0);
    assert_eq!(found.seconds.len(), 20);
    assert!(found.seconds[12].max_ns.is_some_and(|ns| ns >= 2e9));
    assert!(found.seconds[3].max_ns.is_some_and(|ns| ns < 1.3e6));
    assert!(found.seconds[3].p99_ns.is_some_and(|ns| ns < 1.3e6));
    assert_eq!(found.seconds[10].p99_ns, None);
    let omitted = found.omitted.expect("a closed loop, as far as is known");
    assert_eq!(omitted.requests.round(), 4_192.0);
    // A tenth of the time stood still: the slowest hundredth of what would have been sent waited most of 2 s.
    assert!(
        omitted.p99_ns.is_some_and(|ns| 1.6e9 < ns && ns < 2.2e9),
        "{omitted:?}"
    );
}

#[test]
fn a_generator_with_a_schedule_leaves_nothing_out() {
    let load = Load {
        rate: Some(2_000.0),
        ..Load::default()
    };
    let found = by_second(&stalled(), Some(&load));
    assert_eq!((found.stalls.len(), found.omitted), (1, None));
}

#[test]
fn where_nobody_asks_nothing_stalls() {
    let pause = [busy(100), vec![(0, 0); 20], busy(80)].concat();
    let found = by_second(&pause, None);
    assert_eq!((found.stalls.len(), found.stalled_ns), (0, 0));
    assert_eq!(found.omitted, None);
}

#[test]
fn clients_in_step_leave_gaps_and_no_stalls() {
    let round = [vec![(0, 0); 4], vec![(200, 500_000_000)]].concat();
    let found = by_second(&round.repeat(40), None);
    assert_eq!(found.stalls, []);
}

#[test]
fn a_long_recording_has_no_more_intervals_than_an_hour_has_seconds() {
    let at = |s: f64| Timestamp::from_seconds(s);
    for length in [0.4, 1.0, 59.9, 3_600.0, 1e6] {
        let known = Window::new(at(3.0), at(3.0 + length));
        let step = (known.len_ns() / MOST_SECONDS / SECOND_NS + 1) * SECOND_NS;
        let windows = cut(known, step);
        assert!(windows.len() as i64 <= MOST_SECONDS, "{length}");
        let ends = (windows[0].start, windows[windows.len() - 1].end);
        assert_eq!(ends, (known.start, known.end));
        assert!(windows.windows(2).all(|it| it[0].end == it[1].start));
    }
}
