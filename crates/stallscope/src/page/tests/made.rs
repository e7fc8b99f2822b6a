//! Recordings for tests: kept ones, and some that were never made.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use analysis::stacks::CpuSample;
use model::{
    Column, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Gap, GapReason, MISSING, Meta,
    Role, StringId, StringKind, Table, TableData, Text, ThreadTimeClass, Timeline, Timestamp,
    Window,
};
use recording::{Reader, Recording};
use sensors::program_run::PROGRAM_RUN;
use sensors::request;
use sensors::stack::{STACK, SYMBOL, WAIT_SAMPLE};

/// One of the kept recordings of the lab.
pub(super) fn kept(name: &str) -> Recording {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../lab/recordings");
    let file = File::open(folder.join(format!("{name}.tar.zst"))).expect("it is kept");
    let room = tempfile::tempdir().expect("a temporary folder");
    let unpacked = zstd::Decoder::new(file).expect("a zstd stream");
    tar::Archive::new(unpacked)
        .unpack(room.path())
        .expect("an archive");
    let folder = room.path().join(format!("{name}.stall"));
    let mut recording = Reader::open(&folder).expect("a recording");
    analysis::prepare(&mut recording.timeline);
    recording
}

/// A real recording of a whole machine (`record` without a target) on which PgBouncer before PostgreSQL, MariaDB, Redis
/// and a Java program had load, asked with an option each, and an endpoint in Prometheus's format; with `--names none`.
pub(super) fn of_machine() -> Recording {
    bundle("machine")
}

/// A real recording of `pgbench -S -c 10 -j 2 -P 1 -T 12` against PostgreSQL, with call stacks; with `--names none`. The
/// waits in it are drawn.
pub(super) fn of_stacks() -> Recording {
    with_waits(bundle("stacks"))
}

/// A recording with waits below every second place at which threads of target and generator ran, the scheduler's frames
/// in front; some waits stand for others.
fn with_waits(mut recording: Recording) -> Recording {
    let timeline = &mut recording.timeline;
    let is_one = |id| {
        let process = analysis::stacks::process_of(timeline, id);
        process.is_some_and(|it| matches!(it.role, Role::Target | Role::Generator))
    };
    let samples = analysis::stacks::cpu_samples(timeline, timeline.window);
    let ran: Vec<CpuSample> = samples.filter(|it| is_one(it.entity)).step_by(2).collect();
    let mut waits = TableData::new(WAIT_SAMPLE.clone());
    let mut waiting = HashMap::new();
    for (number, sample) in (0..).zip(ran) {
        let stack = sample.stack.map(|stack| {
            let new = waiting.entry(stack);
            *new.or_insert_with(|| below_schedule(timeline, stack))
        });
        let class = match number % 8 {
            0..4 => ThreadTimeClass::Futex,
            4 | 5 => ThreadTimeClass::Input,
            6 => ThreadTimeClass::IoSync,
            _ => ThreadTimeClass::Output,
        };
        let wait_ns = (1 + number % 7) * 1_000_000;
        let weight_ns = wait_ns.max(4_000_000);
        let [waker, by, waker_stack, lock] = [MISSING; 4];
        let row = [
            stack.unwrap_or(MISSING),
            class as i64,
            wait_ns,
            weight_ns,
            by,
            waker,
            waker_stack,
            lock,
            sample.end.unwrap_or(MISSING),
        ];
        waits.push(sample.at, sample.entity, &row);
    }
    timeline.insert(waits);
    recording
}

/// The number of a new stack: `__schedule` and `schedule`, called by a known one.
fn below_schedule(timeline: &mut Timeline, stack: i64) -> i64 {
    let texts = &timeline.strings;
    let kernel = texts.iter().find(|it| &*it.text == "[kernel]");
    let kernel = i64::from(kernel.expect("it is there").id.0);
    ["schedule", "__schedule"]
        .into_iter()
        .fold(stack, |caller, name| {
            let id = timeline.strings.iter().last().map_or(0, |it| it.id.0 + 1);
            assert!(timeline.strings.insert(Text {
                id: StringId(id),
                kind: StringKind::Function,
                parent: None,
                text: name.into(),
            }));
            let address = i64::MAX - i64::from(id);
            let (at, machine) = (timeline.window.start, EntityId(0));
            let symbols = timeline.table_mut(&SYMBOL);
            symbols.push(at, machine, &[kernel, address, i64::from(id)]);
            let stacks = timeline.table_mut(&STACK);
            let number = stacks.len() as i64;
            stacks.push(at, machine, &[number, caller, kernel, address]);
            number
        })
}

fn bundle(name: &str) -> Recording {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let file = folder.join(format!("{name}.stallbundle"));
    let unpacked = recording::bundle::unpack(&file).expect("a bundle");
    let mut recording = Reader::open(unpacked.folder()).expect("a recording");
    analysis::prepare(&mut recording.timeline);
    recording
}

/// A recording in which nothing was seen for a while, as after a late sampler.
pub(super) fn with_gaps(mut recording: Recording) -> Recording {
    let timeline = &mut recording.timeline;
    let from = timeline.window.start + timeline.window.len_ns() * 2 / 5;
    let hole = Window::new(from, from + 1_500_000_000);
    let tables: Vec<TableData> = timeline.tables().cloned().collect();
    for table in tables {
        let mut seen = TableData::new(table.table.clone());
        for row in 0..table.len() {
            let (time, entity) = table.key(row);
            if !hole.contains(time) {
                seen.push(time, entity, &table.row(row).collect::<Vec<_>>());
            }
        }
        timeline.insert(seen);
    }
    let gap = |table: &str, window, reason| Gap {
        table: table.to_owned(),
        what: "".into(),
        window,
        reason,
    };
    timeline.gaps.push(gap("*", Some(hole), GapReason::Overrun));
    let denied = GapReason::Denied("Permission denied".into());
    timeline.gaps.push(gap("thread", None, denied));
    recording
}

/// A recording in which requests were counted and timed at the sockets of target and generator: of
/// connections that come and go, and not all of them timed.
pub(super) fn with_requests(mut recording: Recording) -> Recording {
    const STEP_NS: i64 = 100_000_000;
    const CONNECTIONS: u32 = 5;
    let timeline = &mut recording.timeline;
    let window = timeline.window;
    let steps = window.len_ns() / STEP_NS;
    let sides = [
        (&*request::REQUESTS, Role::Target),
        (&*request::CALLS, Role::Generator),
    ];
    for (side, (table, role)) in (0..).zip(sides) {
        let plays = |it: &&EntityRecord| it.role == role;
        let process = timeline.entities.of_kind(EntityKind::Process).find(plays);
        let process = process.expect("it was found").id;
        let mut seen = TableData::new(table.clone());
        for number in 0..CONNECTIONS {
            let id = EntityId(900_000 + side * CONNECTIONS + number);
            // Each but the first comes later and ends sooner.
            let own = i64::from(number) * steps / 12..steps - i64::from(number) * steps / 15;
            let first_seen = window.start + own.start * STEP_NS;
            let mut record = connection(id, process, first_seen);
            record.role = role;
            record.vanished = Some(window.start + (own.end - 1) * STEP_NS);
            timeline.entities.apply(EntityEvent {
                time: first_seen,
                record,
            });
            let mut row = vec![0i64; table.columns.len()];
            for step in own {
                seen.push(window.start + step * STEP_NS, id, &row);
                answer(table, &mut row, step, i64::from(number + side));
            }
        }
        timeline.insert(seen);
    }
    recording
}

/// Programs that were started: a job each second, which fails each fifth time, one that lasts, and 45 others, each
/// cheaper than the one before.
pub(super) fn with_programs(mut recording: Recording) -> Recording {
    const SECOND_NS: i64 = 1_000_000_000;
    const OTHERS: i64 = 45;
    let timeline = &mut recording.timeline;
    let window = timeline.window;
    let machine = timeline.entities.machine().expect("there is one").id;
    let mut intern = |text: String| {
        let id = StringId(timeline.strings.iter().len() as u32);
        let text = Text {
            id,
            kind: StringKind::Command,
            parent: None,
            text: text.into(),
        };
        assert!(timeline.strings.insert(text));
        i64::from(id.0)
    };
    let [cron, lasting] = ["cron -f", HOSTILE[1]].map(|text| intern(text.to_owned()));
    // By their ends.
    let mut runs = Vec::new();
    let mut run = |command, start_ns: i64, [duration, cpu, end, status]: [i64; 4]| {
        let row = [7, 1, 1, command, cron, MISSING, duration, cpu, end, status];
        runs.push((window.start + (start_ns + duration), row));
    };
    for number in 0..window.len_ns() / SECOND_NS - 1 {
        let job = intern(format!("/opt/job --number {number} --key ***"));
        let status = i64::from(number % 5 == 4);
        let cpu = SECOND_NS / 20;
        run(job, number * SECOND_NS, [SECOND_NS / 10, cpu, 0, status]);
    }
    for (other, letters) in (0..OTHERS).zip(1..) {
        let other = OTHERS - other;
        let command = intern(format!("tool-{}", "x".repeat(letters)));
        let start = other * SECOND_NS / 20;
        run(command, start, [SECOND_NS / 50, other * 1_000_000, 1, 9]);
    }
    let lasts = window.len_ns() / 2;
    run(lasting, lasts, [lasts, MISSING, 3, MISSING]);
    runs.sort_by_key(|(end, _)| *end);
    let mut seen = TableData::new(PROGRAM_RUN.clone());
    for (end, row) in runs {
        seen.push(end, machine, &row);
    }
    timeline.insert(seen);
    recording
}

fn connection(id: EntityId, process: EntityId, first_seen: Timestamp) -> EntityRecord {
    EntityRecord {
        parent: Some(process),
        ..EntityRecord::new(
            id,
            Entity::new(
                EntityKind::Connection,
                format!("127.0.0.1:{id:?}"),
                format!("{id:?}"),
            ),
            first_seen,
        )
    }
}

/// Some requests of about 0.1 ms, a few of several, now and then one of a second: two of three timed.
fn answer(table: &Table, row: &mut [i64], step: i64, number: i64) {
    let mut add = |name: &str, more: i64| {
        if let Some(place) = table.position(name) {
            row[place] += more;
        }
    };
    let requests = 30 + (step * 7 + number * 11) % 25;
    for request in 0..requests {
        add("requests", 1);
        add("pipelined", i64::from(request % 20 == 19));
        if request % 3 == 0 {
            continue;
        }
        let ns = match (step + request) % 29 {
            // So rarely that these are no spikes with a cause.
            0 if step % 30 == 0 => 1_000_000_000 + step * 1_000_000,
            few @ 0..3 => 3_000_000 * (few + 2),
            more => 60_000 + more * 5_000 + number * 3_000,
        };
        add("timed", 1);
        add("timed_ns", ns);
        let holds =
            |column: &&Column| request::bound_ns(&column.name).is_some_and(|it| (ns as f64) < it);
        let bucket = table.columns.iter().find(holds);
        add(&bucket.expect("the last one has no end").name, 1);
    }
}

/// Names that nobody should choose.
pub(super) const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "a\nb\r\tc",
    "\u{2028}\u{2029}\u{202e}desrever",
    "\u{0}\u{1b}[31m\u{9b}",
    "<!--stallscope:data--><!-- <script> ",
    "{{constructor.constructor('alert(1)')()}}",
    "\"'`;&amp;\\u003c/script>",
];

/// A small machine on which every name, text and number is as bad as it can be; of `text` in all places.
pub(super) fn with_names(names: &[&str]) -> Recording {
    let mut recording = kept("single-thread");
    let start = Timestamp::from_seconds(100.0);
    let mut timeline = Timeline::new(Window::new(start, start + 6_000_000_000));
    add_entities(&mut timeline, names);
    fill_every_table(&mut timeline);
    for (number, text) in names.iter().enumerate() {
        timeline.gaps.push(Gap {
            table: (*text).to_owned(),
            what: (*text).to_owned().into(),
            window: Some(Window::new(start + 2_000_000_000, start + 3_000_000_000)),
            reason: GapReason::Malformed(format!("{number} {text}").into()),
        });
    }
    rename(&mut recording.meta, names, timeline.window);
    recording.timeline = timeline;
    recording
}

/// The name with this number, where they are used over and over.
fn name_of(names: &[&str], number: usize) -> String {
    names[number % names.len()].to_owned()
}

/// Entities that are each other's parents, and in a group that is not there.
fn add_entities(timeline: &mut Timeline, names: &[&str]) {
    let name = |number| name_of(names, number);
    let start = timeline.window.start;
    let kinds = [
        (EntityKind::Machine, None),
        (EntityKind::Process, Some(Role::Target)),
        (EntityKind::Process, Some(Role::Background)),
        (EntityKind::Thread, None),
        (EntityKind::Thread, None),
        (EntityKind::Cgroup, None),
        (EntityKind::Disk, None),
        (EntityKind::Workload, None),
    ];
    for (number, (kind, role)) in kinds.into_iter().enumerate() {
        let path = format!("/{}/{number}", name(number + 1));
        let parent = EntityId([0, 2, 1, 1, 2, 5, 6, 7][number]);
        let record = EntityRecord {
            parent: (kind != EntityKind::Machine).then_some(parent),
            group: Some(EntityId(5)),
            pressure_group: Some(EntityId(999)),
            role: role.unwrap_or_default(),
            serving: role == Some(Role::Target),
            ..EntityRecord::new(
                EntityId(number as u32),
                Entity::new(kind, name(number), path),
                start,
            )
        };
        timeline.entities.apply(EntityEvent {
            time: start,
            record,
        });
    }
}

/// Rows of all tables that there are, of every entity, with missing values, a hole, and the highest number.
fn fill_every_table(timeline: &mut Timeline) {
    let start = timeline.window.start;
    for table in sensors::tables().chain(workloads::tables()) {
        let of_kind = timeline.entities.of_kind(table.entity);
        let ids: Vec<EntityId> = of_kind.map(|record| record.id).collect();
        let data = timeline.table_mut(table);
        for id in ids {
            for step in 0..60i64 {
                let hole = (20..30).contains(&step);
                let width = table.columns.len() as i64;
                let value = |column: i64| match (step + column) % 7 {
                    0 => MISSING,
                    _ if column == 2 && step == 59 => i64::MAX,
                    _ => step * 9_000_000 + column,
                };
                if !hole {
                    let values: Vec<i64> = (0..width).map(value).collect();
                    data.push(start + step * 100_000_000, id, &values);
                }
            }
        }
    }
}

/// Puts the names into all texts, and the times into the window.
fn rename(meta: &mut Meta, names: &[&str], window: Window) {
    let name = |number| name_of(names, number);
    meta.identity.node = name(0);
    meta.environment.insert(name(1), name(2));
    for target in &mut meta.targets {
        target.name = name(0);
        target.found_by = name(1).into();
        target.root = Some(EntityId(1));
        target.found_at = window.start;
    }
    if let Some(workload) = &mut meta.workload {
        workload.name = name(3);
        workload.command = names.iter().map(|name| (*name).to_owned()).collect();
        workload.notices = names.iter().map(|name| (*name).to_owned().into()).collect();
        workload.started = window.start;
        if let Some(outcome) = &mut workload.outcome {
            outcome.ended = window.end;
            outcome.remarks.clone_from(&workload.notices);
        }
    }
}
