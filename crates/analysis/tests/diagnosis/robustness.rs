//! A recording may be damaged or hostile: there is always an answer, and never a panic.

use model::{
    Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Load, MISSING, Provenance, Report,
    Role, Table, TableData, Target, Timeline, Timestamp, Window,
};
use proptest::prelude::*;

use crate::drawing::{Drawn, SIGNAL, drawn};
use crate::every;
use crate::thread_times::saturated;

/// Entities of every timeline here; more than that are named by rows and do not exist.
const ENTITIES: u32 = 14;

/// Any instant whose distance from any other one can be told in 64 bits.
fn instants() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        8 => (0..12_000i64).prop_map(|ms| Timestamp::from_ns(ms * 1_000_000)),
        1 => (-(1i64 << 61)..1i64 << 61).prop_map(Timestamp::from_ns),
    ]
}

fn values() -> impl Strategy<Value = i64> {
    prop_oneof![
        2 => Just(MISSING),
        2 => Just(0),
        8 => 0..10_000_000_000i64,
        2 => prop::sample::select(vec![i64::MAX, i64::MIN + 1, -1, 1, 83, 82, 68]),
        1 => any::<i64>(),
    ]
}

fn windows() -> impl Strategy<Value = Window> {
    let seconds = |s: i64| Timestamp::from_ns(s * 1_000_000_000);
    prop_oneof![
        40 => (0..4i64, 5..12i64).prop_map(move |(a, b)| Window::new(seconds(a), seconds(b))),
        1 => (instants(), instants()).prop_map(|(a, b)| Window::new(a, b)),
        1 => instants().prop_map(|a| Window::new(a, a)),
    ]
}

fn records() -> impl Strategy<Value = Vec<EntityRecord>> {
    let id = || prop::option::of((0..ENTITIES + 2).prop_map(EntityId));
    let one = (
        prop::sample::select(EntityKind::ALL.to_vec()),
        prop::sample::select(vec!["/", "", "/a", "/a/b", "x"]),
        prop::sample::select(Role::ALL.to_vec()),
        any::<bool>(),
        (id(), id(), id()),
        (instants(), prop::option::of(instants())),
    );
    let one = one.prop_map(|(kind, path, role, serving, above, life)| EntityRecord {
        id: EntityId(0),
        entity: Entity::new(kind, path, path),
        parent: above.0,
        group: above.1,
        pressure_group: above.2,
        memory_group: above.2,
        io_group: above.1,
        role,
        serving,
        first_seen: life.0,
        vanished: life.1,
    });
    prop::collection::vec(one, ENTITIES as usize)
}

type Row = (Timestamp, u32, Vec<i64>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        instants(),
        0..ENTITIES + 2,
        prop::collection::vec(values(), 7),
    );
    prop::collection::vec(row, 0..24)
}

fn tables() -> Vec<&'static Table> {
    sensors::tables().chain([&SIGNAL]).collect()
}

fn timelines() -> impl Strategy<Value = Timeline> {
    let contents = prop::collection::vec(prop::option::weighted(0.8, rows()), tables().len());
    (windows(), records(), contents).prop_map(|(window, records, contents)| {
        let mut timeline = Timeline::new(window);
        for (number, mut record) in records.into_iter().enumerate() {
            record.id = EntityId(number as u32);
            let time = record.first_seen;
            timeline.entities.apply(EntityEvent { time, record });
        }
        for (table, rows) in tables().into_iter().zip(contents) {
            for (time, entity, values) in rows.into_iter().flatten() {
                let data = timeline.table_mut(table);
                let values: Vec<i64> = values
                    .into_iter()
                    .cycle()
                    .take(table.columns.len())
                    .collect();
                data.push(time, EntityId(entity), &values);
            }
        }
        timeline
    })
}

fn loads() -> impl Strategy<Value = Load> {
    let count = || prop::option::of(prop::sample::select(vec![0, 1, 10, u32::MAX]));
    let rate = prop::option::of(prop::sample::select(vec![
        0.0,
        -1.0,
        1e3,
        f64::MAX,
        f64::NAN,
    ]));
    (count(), count(), rate).prop_map(|(clients, threads, rate)| Load {
        clients,
        threads,
        rate,
        rate_unit: String::new(),
        clients_option: Some("-c".to_owned()),
        rate_option: Some("-R".to_owned()),
    })
}

fn targets() -> impl Strategy<Value = Vec<Target>> {
    let cpus = prop::option::of(prop::sample::select(vec![0, 1, u32::MAX]));
    let root = prop::option::of((0..ENTITIES + 2).prop_map(EntityId));
    let role = prop::sample::select(Role::ALL.to_vec());
    let one = (role, root, cpus, instants()).prop_map(|(role, root, cpus, found_at)| Target {
        role,
        root,
        name: String::new(),
        unit: String::new(),
        version: None,
        found_by: "".into(),
        connections: u32::MAX,
        cpus_allowed: cpus,
        allowed: (0..cpus.unwrap_or(0).min(3)).collect(),
        found_at,
        machine_unit: None,
    });
    prop::collection::vec(one, 0..4)
}

fn runs() -> impl Strategy<Value = Drawn> {
    let cpus = prop::sample::select(vec![0, 1, 2, u32::MAX]);
    let latency = prop::sample::select(vec![Provenance::ToolMean, Provenance::Derived]);
    let times = (instants(), instants());
    let workload = prop::option::weighted(0.8, (loads(), latency, times));
    (timelines(), cpus, targets(), workload, any::<bool>()).prop_map(
        |(timeline, cpus, targets, workload, complete)| {
            let mut meta = drawn("tps 1\n").meta;
            let template = meta.workload.take();
            meta.workload = workload
                .zip(template)
                .map(|((load, latency, times), mut run)| {
                    run.load = load;
                    run.latency = latency;
                    run.started = times.0;
                    if let Some(outcome) = &mut run.outcome {
                        outcome.ended = times.1;
                    }
                    run
                });
            (meta.cpus, meta.targets, meta.complete) = (cpus, targets, complete);
            Drawn { timeline, meta }
        },
    )
}

/// Every number of a report that a person or a program may take for a share.
pub fn assert_sane(report: &Report) {
    assert!(!report.verdict.findings.is_empty());
    assert!(!report.verdict.findings[0].sentence.is_empty());
    for finding in &report.verdict.findings {
        let interval = finding.share_interval;
        let ends = interval.into_iter().flat_map(|it| [it.low, it.high]);
        for share in finding.share.into_iter().chain(ends) {
            assert!((0.0..=1.0).contains(&share), "{} {share}", finding.cause);
        }
        for remedy in &finding.would_help {
            let Some((gain, ends)) = remedy.gain.zip(remedy.gain_interval) else {
                assert!(remedy.gain.is_none() && remedy.gain_model.is_empty());
                continue;
            };
            assert!(0.0 <= ends.low && ends.low <= gain && gain <= ends.high);
            assert!(ends.high.is_finite() && !remedy.gain_model.is_empty());
        }
        for evidence in &finding.evidence {
            assert!(
                evidence.value.is_finite(),
                "{} {}",
                finding.cause,
                evidence.what
            );
        }
    }
    assert_eq!(report.verdict.judged.len(), analysis::causes().len());
    for judged in &report.verdict.judged {
        assert!(!judged.sentence.is_empty(), "{}", judged.cause);
        let damaged = ["NaN", "inf ", "-inf"]
            .iter()
            .any(|it| judged.sentence.contains(it));
        assert!(!damaged, "{}", judged.sentence);
    }
    for ruled_out in &report.verdict.ruled_out {
        assert!(ruled_out.value.is_finite(), "{}", ruled_out.what);
    }
    let json = serde_json::to_string(report).expect("a report is JSON");
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
}

/// A drawing of some cause in which some columns hold whatever there is.
fn poisoned() -> impl Strategy<Value = Drawn> {
    let poison = prop::collection::vec((0..200usize, 0..20usize, values()), 1..40);
    let texts: Vec<String> = every::drawings()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    (prop::sample::select(texts), poison).prop_map(|(text, poison)| {
        let mut run = drawn(&text);
        let tables: Vec<_> = run.timeline.tables().cloned().collect();
        for (number, data) in tables.iter().enumerate() {
            let mut copy = TableData::new(data.table.clone());
            for index in 0..data.len() {
                let (time, entity) = data.key(index);
                let mut row: Vec<i64> = data.row(index).collect();
                let width = row.len();
                let hit = |it: &&(usize, usize, i64)| it.0 % tables.len() == number;
                for (_, column, value) in poison.iter().filter(hit) {
                    // From some row on, so that counters jump.
                    if index > data.len() * column / 20 {
                        row[(column * 7 + value.unsigned_abs() as usize % 3) % width] = *value;
                    }
                }
                copy.push(time, entity, &row);
            }
            run.timeline.insert(copy);
        }
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn hostile_numbers_have_a_sane_answer(run in poisoned()) {
        assert_sane(&run.diagnose());
    }

    #[test]
    fn there_is_always_an_answer(run in runs(), asked in prop::option::of(windows())) {
        let report = analysis::diagnose(&run.timeline, &run.meta, asked);
        assert_sane(&report);
    }
}

/// A recording from elsewhere may have a thread end before it began.
#[test]
fn threads_whose_rows_run_backwards_have_a_sane_answer() {
    let mut run = drawn(&saturated());
    for name in ["thread", "thread_time"] {
        let data = run.timeline.table(name).expect("it was drawn");
        let mut backwards = TableData::new(data.table.clone());
        for index in (0..data.len()).rev() {
            let (time, entity) = data.key(index);
            let row: Vec<i64> = data.row(index).collect();
            backwards.push(time, entity, &row);
        }
        run.timeline.insert(backwards);
    }
    assert_sane(&run.diagnose());
}
