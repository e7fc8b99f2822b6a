//! Connections as the programs count them, read once a second.

use model::{EntityEvent, EntityRecord, MISSING, Timeline};
use sensors::flow::{OPENED_NS, WIDTH};

use super::*;

const SECONDS: i64 = 60;
const PER_BURST: i64 = 40;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ns(ms * 1_000_000)
}

/// Connections to a port: a burst at each of these times, and one in between at each of those, ms.
fn opened(bursts: &[i64], others: &[i64], knows_times: bool) -> Vec<Stream> {
    let mut timeline = Timeline::new(Window::new(at(0), at(SECONDS * 1_000)));
    let flow = EntityId(1);
    let name = "lab-pool (7) -> 127.0.0.1:6543";
    let entity = Entity::new(EntityKind::Flow, name, "flow:1");
    let record = EntityRecord::new(flow, entity, at(0));
    let time = at(0);
    timeline.entities.apply(EntityEvent { time, record });
    let column = FLOW.position("opened").expect("a column");
    let all = bursts.iter().map(|it| (*it, PER_BURST));
    let mut all: Vec<(i64, i64)> = all.chain(others.iter().map(|it| (*it, 1))).collect();
    all.sort_unstable();
    let data = timeline.table_mut(&FLOW);
    let mut row = [0; WIDTH];
    row[OPENED_NS] = MISSING;
    for second in 0..=SECONDS {
        let read = second * 1_000;
        let new = all.iter().filter(|it| (read - 1_000..read).contains(&it.0));
        row[column] += new.clone().map(|it| it.1).sum::<i64>();
        if let Some((first, _)) = new.clone().next().filter(|_| knows_times) {
            row[OPENED_NS] = at(*first).as_ns();
        }
        data.push(at(read), flow, &row);
    }
    connections(&timeline, timeline.window)
}

fn times_ms(streams: &[Stream]) -> Vec<i64> {
    let times = streams.iter().flat_map(|it| &it.times);
    times.map(|it| (it * 1_000.0).round() as i64).collect()
}

#[test]
fn a_burst_of_connections_begins_with_the_first_of_them() {
    let bursts = [6_432, 17_981, 31_007, 47_500];
    let streams = opened(&bursts, &[], true);
    assert_eq!(times_ms(&streams), bursts);
    assert_eq!(streams[0].resolution, EXACT);
    assert_eq!(streams[0].name, "lab-pool -> :6543");
}

#[test]
fn connections_in_between_change_the_time_of_no_burst() {
    let bursts = [6_432, 31_007];
    let streams = opened(&bursts, &[1_200, 12_700, 40_100], true);
    assert_eq!(times_ms(&streams), bursts);
}

#[test]
fn where_there_are_always_some_only_the_reading_is_known() {
    let always: Vec<i64> = (0..SECONDS).map(|it| it * 1_000 + 10).collect();
    let streams = opened(&[6_432, 31_007], &always, true);
    assert_eq!(streams[0].resolution, 1.0);
}

#[test]
fn a_recording_that_does_not_say_when_knows_the_reading() {
    let streams = opened(&[6_432, 31_007], &[], false);
    assert_eq!(streams[0].resolution, 1.0);
    let [first, second] = times_ms(&streams)[..] else {
        panic!("two");
    };
    assert!((6_000..7_000).contains(&first) && (31_000..32_000).contains(&second));
}
