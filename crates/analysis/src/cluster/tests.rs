use model::{
    Cost, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, FORMAT_VERSION, Identity, Plan,
    Timestamp,
};
use proptest::prelude::*;

use super::*;

const S: i64 = 1_000_000_000;
const STEP: i64 = 15;
const START: i64 = 1_700_000_000;
const STEPS: i64 = 120;

/// What a node does in an interval.
#[derive(Clone, Copy)]
struct Does {
    cpu_some: f64,
    io_some: f64,
    busy: f64,
    read: f64,
    cache: f64,
}

const IDLE: Does = Does {
    cpu_some: 0.02,
    io_some: 0.01,
    busy: 0.2,
    read: 1e5,
    cache: 4e9,
};

/// A recording of a node of two CPUs, whose clock began `clock` s before its first row.
struct Made {
    name: String,
    timeline: Timeline,
    meta: Meta,
    holes: Vec<Window>,
    sizes: Vec<(i64, f64)>,
}

fn made(name: &str, clock: i64, steps: Range<i64>, does: impl Fn(i64) -> Does) -> Made {
    let at = |step: i64| Timestamp::from_ns((clock + (step - steps.start) * STEP) * S);
    let window = Window::new(at(steps.start), at(steps.end));
    let mut timeline = Timeline::new(window);
    introduce(&mut timeline);
    let mut put = |table: &str, entity: u32, time: Timestamp, values: &[(&str, f64)]| {
        put(&mut timeline, table, EntityId(entity), time, values);
    };
    let mut sums = [0.0; 5];
    for step in steps.start..=steps.end {
        let time = at(step);
        let now = does(step);
        let [cpu, io, busy, idle, read] = sums;
        let pressure = [
            ("cpu_some_ns", cpu),
            ("io_some_ns", io),
            ("memory_some_ns", 0.0),
        ];
        put("pressure", 0, time, &pressure);
        put("memory", 0, time, &[("cached_bytes", now.cache)]);
        for number in [1, 2] {
            put(
                "cpu",
                number,
                time,
                &[("user_ns", busy), ("idle_ns", idle), ("steal_ns", 0.0)],
            );
        }
        put(
            "disk",
            3,
            time,
            &[("read_bytes", read), ("write_bytes", 0.0)],
        );
        let ns = (STEP * S) as f64;
        let grown = [
            now.cpu_some * ns,
            now.io_some * ns,
            now.busy * ns,
            (1.0 - now.busy) * ns,
            now.read * STEP as f64,
        ];
        for (sum, by) in sums.iter_mut().zip(grown) {
            *sum += by;
        }
    }
    Made {
        name: name.to_owned(),
        timeline,
        meta: meta(name, window, (START + steps.start * STEP) * S),
        holes: Vec::new(),
        sizes: vec![(0, 2.0)],
    }
}

/// The machine, two CPUs and a disk, by these numbers.
fn introduce(timeline: &mut Timeline) {
    let window = timeline.window;
    let kinds = [
        (EntityKind::Machine, "machine", "/"),
        (EntityKind::Cpu, "cpu0", "0"),
        (EntityKind::Cpu, "cpu1", "1"),
        (EntityKind::Disk, "vda", "vda"),
    ];
    for (number, (kind, name, path)) in (0..).zip(kinds) {
        let record = EntityRecord::new(
            EntityId(number),
            Entity::new(kind, name, path),
            window.start,
        );
        timeline.entities.apply(EntityEvent {
            time: window.start,
            record,
        });
    }
}

fn put(
    timeline: &mut Timeline,
    table: &str,
    entity: EntityId,
    time: Timestamp,
    values: &[(&str, f64)],
) {
    let table = sensors::tables()
        .find(|it| it.name == table)
        .expect("a table");
    let row = table.columns.iter().map(|column| {
        let value = values.iter().find(|it| it.0 == column.name);
        value.map_or(model::MISSING, |it| it.1 as i64)
    });
    let row: Vec<i64> = row.collect();
    timeline.table_mut(table).push(time, entity, &row);
}

pub(crate) fn meta(node: &str, window: Window, realtime: i64) -> Meta {
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: node.to_owned(),
            stallscope: String::new(),
            anchor_realtime_ns: realtime,
            anchor_boottime: window.start,
        },
        plan: Plan {
            command: "import".to_owned(),
            ..Plan::default()
        },
        window,
        complete: true,
        cpus: 2,
        environment: std::collections::BTreeMap::new(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

fn reported(all: &[Made], throughput: &[(i64, f64)]) -> ClusterReport {
    let nodes: Vec<Node<'_>> = all
        .iter()
        .map(|it| Node {
            name: &it.name,
            timeline: &it.timeline,
            meta: &it.meta,
            holes: &it.holes,
            memory_bytes: None,
            sizes: &it.sizes,
            happened: Vec::new(),
            verdict: None,
            spikes: None,
            ahead_ns: 0,
        })
        .collect();
    let asked = Asked {
        source: "a test",
        span: Span {
            from_ns: START * S,
            to_ns: (START + STEPS * STEP) * S,
        },
        step_ns: STEP * S,
        throughput,
        clocks: &[],
        lacks: &[],
    };
    cluster(&nodes, &asked)
}

fn minutes(phase: &ClusterPhase) -> (i64, i64) {
    let at = |ns: i64| (ns / S - START) / 60;
    (at(phase.span.from_ns), at(phase.span.to_ns))
}

#[test]
fn a_load_that_comes_is_a_phase_with_its_limit_at_every_node() {
    let full = Does {
        cpu_some: 0.8,
        busy: 0.97,
        ..IDLE
    };
    let does = |step| if step < 60 { IDLE } else { full };
    // Their clocks have nothing in common but the one on the wall.
    let all = [
        made("n1", 5, 0..STEPS, does),
        made("n2", 86_400, 0..STEPS, does),
    ];
    let report = reported(&all, &[]);
    let [idle, loaded] = &*report.phases else {
        panic!("{:?}", report.phases)
    };
    assert_eq!((minutes(idle), minutes(loaded)), ((0, 15), (15, 30)));
    assert_eq!(idle.limits, ["none"]);
    assert_eq!(loaded.limits, ["cpu"]);
    assert_eq!(loaded.confidence, model::Confidence::Consistent);
    assert_eq!(
        loaded.sentence,
        "CPU is the limit of both nodes: tasks waited 80 % of the time."
    );
    assert!(
        (loaded.means["cpu_some"] - 0.8).abs() < 1e-6,
        "{:?}",
        loaded.means
    );
    assert!((loaded.means["cpus_used"] - 2.0 * 2.0 * 0.97).abs() < 1e-6);
    assert_eq!(
        loaded.changes[0].quantity, "cpu_some",
        "{:?}",
        loaded.changes
    );
    assert!(report.events.is_empty(), "{:?}", report.events);
}

#[test]
fn a_node_with_more_to_do_is_named_and_the_others_are_not() {
    let does = |busy: f64| {
        move |step: i64| Does {
            busy: busy + 0.01 * (step % 3) as f64,
            ..IDLE
        }
    };
    let all = [
        made("n1", 5, 0..STEPS, does(0.4)),
        made("n2", 5, 0..STEPS, does(0.9)),
        made("n3", 5, 0..STEPS, does(0.41)),
        made("n4", 5, 0..STEPS, does(0.39)),
    ];
    let report = reported(&all, &[]);
    let skew: Vec<&str> = report
        .phases
        .iter()
        .flat_map(|it| &it.skew)
        .map(|it| &*it.node)
        .collect();
    assert_eq!(skew, ["n2"]);
    assert!(
        report
            .sentence
            .contains("n2 does more than the others: CPU use 91 %"),
        "{}",
        report.sentence
    );
}

#[test]
fn nodes_that_leave_are_phases_and_events() {
    let all = [
        made("n1", 5, 0..STEPS, |_| IDLE),
        made("n2", 5, 0..STEPS, |_| IDLE),
        made("n3", 5, 0..40, |_| IDLE),
        made("n4", 5, 80..STEPS, |_| IDLE),
    ];
    let report = reported(&all, &[]);
    let present: Vec<u32> = report.phases.iter().map(|it| it.nodes_present).collect();
    assert_eq!(present, [3, 2, 3]);
    let events: Vec<(&str, &str)> = report
        .events
        .iter()
        .map(|it| (&*it.kind, &*it.sentence))
        .collect();
    assert_eq!(
        events,
        [
            ("left", "n3 leaves, or was not read any more."),
            ("joined", "n4 joins.")
        ]
    );
}

#[test]
fn a_gap_is_no_measurement() {
    let mut one = made("n1", 5, 0..STEPS, |_| Does {
        cpu_some: 0.5,
        ..IDLE
    });
    let at = |step: i64| Timestamp::from_ns((5 + step * STEP) * S);
    one.holes = vec![Window::new(at(40), at(80))];
    let report = reported(&[one], &[]);
    let [event] = &*report.events else {
        panic!("{:?}", report.events)
    };
    assert_eq!(event.sentence, "n1 was away, or not read, for 10 min.");
    assert_eq!(report.nodes[0].present.len(), 2);
    assert!((report.nodes[0].means["cpu_some"] - 0.5).abs() < 1e-6);
}

#[test]
fn caches_that_are_cold_one_after_the_other_are_a_rolling_restart() {
    let restarts = |at: i64| {
        move |step: i64| match step - at {
            0..8 => Does {
                read: 60e6,
                io_some: 0.5,
                cache: 3e8 + (step - at) as f64 * 4e8,
                ..IDLE
            },
            _ => IDLE,
        }
    };
    let all = [
        made("n1", 5, 0..STEPS, restarts(40)),
        made("n2", 5, 0..STEPS, restarts(55)),
        made("n3", 5, 0..STEPS, restarts(70)),
    ];
    let report = reported(&all, &[]);
    let kinds: Vec<&str> = report.events.iter().map(|it| &*it.kind).collect();
    assert_eq!(
        kinds,
        ["rolling_restart", "cold_cache", "cold_cache", "cold_cache"]
    );
    let said = &report.events[1].sentence;
    assert!(
        said.starts_with(
            "n1 read from a cold cache for 2 min: its page cache fell from 3.73 GiB to 286 MiB"
        ),
        "{said}"
    );
}

#[test]
fn reads_that_end_as_the_cache_is_seen_empty_are_one_event() {
    let does = |step: i64| match step {
        39 => Does { read: 60e6, ..IDLE },
        40.. => Does { cache: 3e8, ..IDLE },
        _ => IDLE,
    };
    let report = reported(&[made("n1", 5, 0..STEPS, does)], &[]);
    let kinds: Vec<&str> = report.events.iter().map(|it| &*it.kind).collect();
    assert_eq!(kinds, ["cold_cache"]);
}

#[test]
fn the_best_of_several_configurations_is_the_smallest_that_gives_as_much() {
    let all = [
        made("n1", 5, 0..STEPS, |_| IDLE),
        made("n2", 5, 0..STEPS, |_| IDLE),
        made("n3", 5, 0..60, |_| IDLE),
    ];
    let throughput: Vec<(i64, f64)> = (1..=STEPS)
        .map(|step| {
            (
                (START + step * STEP) * S,
                if step <= 60 { 10_100.0 } else { 10_000.0 } + (step % 5) as f64,
            )
        })
        .collect();
    let report = reported(&all, &throughput);
    let names: Vec<&str> = report.configurations.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["2 x 2 CPUs", "3 x 2 CPUs"]);
    let interval = report.configurations[0].interval.expect("enough time");
    assert!(interval.low < 10_002.0 && interval.high > 10_002.0 && interval.high < 10_010.0);
    assert!(report.sentence.contains("2 x 2 CPUs is the best of 2 configurations: 10,002/s, as much as 3 x 2 CPUs (10,102/s) with less."), "{}", report.sentence);
}

#[test]
fn lengths_are_said_as_people_say_them() {
    for (seconds, said) in [
        (45.0, "45 s"),
        (735.0, "12.2 min"),
        (3_600.0, "60 min"),
        (9_000.0, "2.5 h"),
        (259_200.0, "3 days"),
    ] {
        assert_eq!(length(seconds), said);
    }
}

proptest! {
    // Each looks at minutes of several nodes.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Phases hold every instant once, and every mean lies between the least and the most of its nodes.
    #[test]
    fn phases_hold_all_of_the_time(levels in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 1..5), nodes in 1usize..4) {
        let length = STEPS / levels.len() as i64;
        let does = |step: i64| {
            let at = ((step / length) as usize).min(levels.len() - 1);
            Does { cpu_some: levels[at].0, busy: levels[at].1, ..IDLE }
        };
        let all: Vec<Made> = (0..nodes).map(|it| made(&format!("n{it}"), 5, 0..STEPS, does)).collect();
        let report = reported(&all, &[]);
        let mut at = report.span.from_ns;
        for phase in &report.phases {
            prop_assert_eq!(phase.span.from_ns, at);
            at = phase.span.to_ns;
            for (quantity, mean) in &phase.means {
                if quantity == "cpu_some" || quantity == "cpu_busy" {
                    let each: Vec<f64> = phase.nodes.iter().map(|it| it.means[quantity]).collect();
                    let (low, high) = each.iter().fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
                    prop_assert!(low - 1e-9 <= *mean && *mean <= high + 1e-9);
                }
            }
        }
        prop_assert_eq!(at, report.span.to_ns);
    }
}
