//! Streams drawn by hand: a character per 100 ms, its digit the requests in it, ten each.

use model::{EntityEvent, EntityRecord, Timestamp};
use sensors::block_io::{BLOCK_IO, BUCKETS_FROM, TIMES, WIDTH};

use super::*;

const TICK_NS: i64 = 100_000_000;
const DEVICE: i64 = 254 << 20;

/// What is drawn of a stream, beside its requests over time.
#[derive(Clone, Copy)]
struct Stroke<'a> {
    name: &'a str,
    scope: Scope,
    operation: Operation,
    bytes: i64,
    /// Of ten requests.
    sequential: i64,
    synced: i64,
    /// Time of a request in the queue and at the device, ns, and how many there are at once.
    queue_ns: i64,
    device_ns: i64,
    depth: i64,
    ticks: &'a str,
}

const LOG: Stroke<'_> = Stroke {
    name: "/pg_wal/1",
    scope: Scope::File,
    operation: Operation::Write,
    bytes: 20 << 10,
    sequential: 9,
    synced: 10,
    queue_ns: 2_000,
    device_ns: 200_000,
    depth: 1,
    ticks: "5555555555",
};

const DATA: Stroke<'_> = Stroke {
    name: "/base/1",
    scope: Scope::File,
    operation: Operation::Write,
    bytes: 8 << 10,
    sequential: 0,
    synced: 0,
    queue_ns: 500_000,
    device_ns: 1_000_000,
    depth: 8,
    ticks: "9.........",
};

fn octave(value: i64, buckets: usize) -> usize {
    (value.ilog2() as usize).saturating_sub(11).min(buckets - 1)
}

/// Draws the rows of a stream; the disk is entity 0.
fn draw(timeline: &mut Timeline, id: u32, stroke: &Stroke<'_>) {
    let at = |tick: usize| Timestamp::from_ns(tick as i64 * TICK_NS);
    let id = EntityId(id);
    let entity = Entity::new(
        EntityKind::BlockStream,
        stroke.name,
        format!("254:0/{}", id.0),
    );
    let mut record = EntityRecord::new(id, entity, at(0));
    record.parent = Some(EntityId(0));
    timeline.entities.apply(EntityEvent {
        time: at(0),
        record,
    });
    let mut row = [0; WIDTH];
    row[0] = DEVICE;
    row[1] = stroke.scope as i64;
    row[2] = stroke.operation as i64;
    let data = timeline.table_mut(&BLOCK_IO);
    data.push(at(0), id, &row);
    for (tick, drawn) in stroke.ticks.bytes().enumerate() {
        let tens = i64::from(drawn.wrapping_sub(b'0'));
        if drawn.is_ascii_digit() {
            let requests = 10 * tens;
            let time = requests * (stroke.queue_ns + stroke.device_ns);
            let grown = [
                requests,
                requests * stroke.bytes,
                0,
                tens * stroke.sequential,
                tens * stroke.synced,
                0,
                requests * stroke.queue_ns,
                requests * stroke.device_ns,
                time / stroke.depth,
            ];
            row[3..12]
                .iter_mut()
                .zip(grown)
                .for_each(|(sum, own)| *sum += own);
            row[12] = stroke.depth;
            row[BUCKETS_FROM + octave(stroke.queue_ns, TIMES)] += requests;
            row[BUCKETS_FROM + TIMES + octave(stroke.device_ns, TIMES)] += requests;
            row[BUCKETS_FROM + 2 * TIMES + octave(stroke.bytes, 10)] += requests;
        }
        data.push(at(tick + 1), id, &row);
    }
}

fn drawn(strokes: &[Stroke<'_>]) -> Vec<DiskReport> {
    let timeline = recorded(strokes, 1.0);
    disks(&timeline, timeline.window)
}

fn recorded(strokes: &[Stroke<'_>], seconds: f64) -> Timeline {
    let window = Window::new(Timestamp::default(), Timestamp::from_seconds(seconds));
    let mut timeline = Timeline::new(window);
    let disk = EntityRecord::new(
        EntityId(0),
        Entity::new(EntityKind::Disk, "vda", "vda"),
        window.start,
    );
    timeline.entities.apply(EntityEvent {
        time: window.start,
        record: disk,
    });
    for (id, stroke) in (1..).zip(strokes) {
        draw(&mut timeline, id, stroke);
    }
    timeline
}

fn whole(stroke: Stroke<'_>) -> Stroke<'_> {
    Stroke {
        scope: Scope::Device,
        name: "vda",
        ..stroke
    }
}

#[test]
fn a_log_and_data_in_bursts_are_said_in_one_sentence() {
    let disks = drawn(&[whole(LOG), LOG, DATA]);
    let [disk] = &disks[..] else {
        panic!("one disk: {disks:?}");
    };
    assert_eq!(disk.entity.name, "vda");
    assert_eq!(
        disk.sentence,
        "data: 8 KiB, random, 8.0 at a time, in bursts 10 times as intense, 1.50 ms; \
         log: 16-32 KiB, sequential, one at a time, 0.202 ms"
    );
    let names: Vec<_> = disk.streams.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["/base/1", "/pg_wal/1"]);
    let log = &disk.streams[1];
    assert_eq!(
        (log.part, log.requests, log.bytes),
        (IoPart::Log, 500, 500 * 20 * 1_024)
    );
    assert_eq!((log.sequential, log.synced), (0.9, Some(1.0)));
    // A bucket is a power of two wide, and the mean is known.
    let device = log.device.median_ns.expect("there are enough");
    assert!((131_072.0..262_144.0).contains(&device), "{device}");
    assert!((log.bursts.expect("enough") - 1.0).abs() < 0.05, "{log:?}");
    assert!((log.per_second - 500.0).abs() < 1e-6);
    assert!((disk.streams[0].peak_per_second - 900.0).abs() < 1e-6);
}

#[test]
fn each_phase_has_its_own_pattern() {
    let log = Stroke {
        ticks: "5555555555..........",
        ..LOG
    };
    let data = Stroke {
        ticks: "..........9.........",
        ..DATA
    };
    let timeline = recorded(&[whole(log), whole(data), log, data], 2.0);
    let said = |from: f64, to: f64| {
        let [from, to] = [from, to].map(Timestamp::from_seconds);
        let disks = working(&timeline, Window::new(from, to));
        disks.into_iter().map(|it| it.sentence).collect::<Vec<_>>()
    };
    assert_eq!(
        said(0.0, 1.0),
        ["log: 16-32 KiB, sequential, one at a time, 0.202 ms"]
    );
    assert_eq!(
        said(1.0, 2.0),
        ["data: 8 KiB, random, 8.0 at a time, in bursts 10 times as intense, 1.50 ms"]
    );
}

#[test]
fn a_log_is_told_by_its_behaviour_alone() {
    let part = |stroke: Stroke<'_>| drawn(&[whole(DATA), stroke])[0].streams[0].part;
    assert_eq!(part(LOG), IoPart::Log);
    assert_eq!(part(Stroke { name: "/x", ..LOG }), IoPart::Log);
    let not_waited_for = Stroke { synced: 0, ..LOG };
    assert_eq!(part(not_waited_for), IoPart::Data);
    let in_disorder = Stroke {
        sequential: 3,
        ..LOG
    };
    assert_eq!(part(in_disorder), IoPart::Data);
    let read = Stroke {
        operation: Operation::Read,
        ..LOG
    };
    assert_eq!(part(read), IoPart::Data);
    let journal = Stroke {
        scope: Scope::Journal,
        ..DATA
    };
    assert_eq!(part(journal), IoPart::Journal);
}

#[test]
fn files_of_one_part_are_one_pattern() {
    let first = Stroke {
        ticks: "5.5.5.5.5.",
        ..LOG
    };
    let second = Stroke {
        ticks: ".5.5.5.5.5",
        ..LOG
    };
    let disks = drawn(&[whole(LOG), first, second]);
    let [log] = &disks[0].parts[..] else {
        panic!("one part: {disks:?}");
    };
    assert_eq!((log.streams, log.requests), (2, 500));
    // Each comes in bursts, and both together do not.
    assert!((log.bursts.expect("enough") - 1.0).abs() < 0.05, "{log:?}");
    let own = disks[0].streams[0].bursts.expect("enough");
    assert!((own - 2.0).abs() < 0.1, "{own}");
}

#[test]
fn reads_and_writes_of_data_are_told_apart_where_there_are_both() {
    let read = Stroke {
        operation: Operation::Read,
        bytes: 128 << 10,
        sequential: 10,
        depth: 1,
        queue_ns: 5_000,
        device_ns: 95_000,
        ticks: "5555555555",
        ..DATA
    };
    let write = Stroke {
        bytes: 4 << 20,
        sequential: 5,
        ticks: "2222222222",
        ..DATA
    };
    assert_eq!(
        drawn(&[whole(DATA), read, write])[0].sentence,
        "data writes: 1 MiB and more, 50 % sequential, 8.0 at a time, 1.50 ms; \
         data reads: 128 KiB, sequential, one at a time, 0.100 ms"
    );
    assert_eq!(drawn(&[]), []);
}
