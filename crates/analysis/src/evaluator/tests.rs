//! The cases that both evaluators are tested on, `fixtures/formulas.json`.

use std::collections::BTreeMap;

use model::{
    Amount, Column, Cost, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, FORMAT_VERSION,
    Formula, Identity, MISSING, Meta, Plan, Role, Table, Target, Timeline, Timestamp, Unit, Window,
};
use sensors::thread_time::THREAD_TIME;
use serde::Deserialize;

use super::{Over, are_near};
use crate::facts;
use crate::scene::{Roles, Scene, Scope};
use crate::thresholds::Thresholds;

#[derive(Deserialize)]
struct Cases {
    seconds: Vec<f64>,
    entities: Vec<Somebody>,
    tables: Vec<Readings>,
    signal: Vec<BTreeMap<String, i64>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Somebody {
    kind: EntityKind,
    name: String,
    #[serde(default)]
    role: Role,
    #[serde(default)]
    serving: bool,
    parent: Option<u32>,
    group: Option<u32>,
}

#[derive(Deserialize)]
struct Readings {
    name: String,
    entity: EntityKind,
    series: Vec<Lane>,
}

#[derive(Deserialize)]
struct Lane {
    of: u32,
    counter: Option<String>,
    gauge: Option<String>,
    readings: Vec<Option<i64>>,
}

impl Lane {
    fn column(&self) -> &str {
        let name = self.counter.as_ref().or(self.gauge.as_ref());
        name.expect("a series is of a counter or a gauge")
    }
}

#[derive(Deserialize)]
struct Case {
    name: String,
    window: (f64, f64),
    of: Amount,
    per: Amount,
    value: Option<f64>,
}

#[test]
fn a_formula_gives_what_its_case_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/formulas.json");
    let text = std::fs::read_to_string(path).expect("the cases are kept");
    let cases: Cases = serde_json::from_str(&text).expect("they are JSON");
    let timeline = timeline(&cases);
    let meta = meta(&cases, timeline.window);
    let thresholds = Thresholds::default();
    for Case {
        name,
        window: (from, to),
        of,
        per,
        value: expected,
    } in cases.cases
    {
        let window = Window::new(Timestamp::from_seconds(from), Timestamp::from_seconds(to));
        let roles = Roles::new(&timeline, &meta);
        let scene = Scene::new(&roles, window, Scope::Run);
        let facts = facts::measure(&scene, &thresholds);
        let given = Over::new(&facts, window).value(&Formula { of, per });
        match expected {
            Some(expected) => assert!((given - expected).abs() < 1e-9, "{name}: {given}"),
            None => assert!(!given.is_finite(), "{name}: {given}"),
        }
    }
}

fn timeline(cases: &Cases) -> Timeline {
    let at = |second: f64| Timestamp::from_seconds(second);
    let (first, last) = (cases.seconds[0], cases.seconds[cases.seconds.len() - 1]);
    let mut timeline = Timeline::new(Window::new(at(first), at(last)));
    for (number, somebody) in (0..).zip(&cases.entities) {
        let entity = Entity::new(somebody.kind, &somebody.name, &somebody.name);
        let record = EntityRecord {
            parent: somebody.parent.map(EntityId),
            group: somebody.group.map(EntityId),
            role: somebody.role,
            serving: somebody.serving,
            ..EntityRecord::new(EntityId(number), entity, at(first))
        };
        timeline.entities.apply(EntityEvent {
            time: at(first),
            record,
        });
    }
    // The engine works the ledger out by itself.
    for readings in cases.tables.iter().filter(|it| it.name != "ledger") {
        let table = table(readings);
        let data = timeline.table_mut(&table);
        let of: std::collections::BTreeSet<u32> = readings.series.iter().map(|it| it.of).collect();
        for entity in of {
            for (place, second) in cases.seconds.iter().enumerate() {
                let value = |column: &Column| {
                    let mut lanes = readings.series.iter();
                    let lane = lanes.find(|it| it.of == entity && it.column() == column.name);
                    // Of a thread's accounts, what is not named is zero.
                    let unnamed = (table.name == THREAD_TIME.name).then_some(0);
                    lane.map_or(unnamed, |lane| lane.readings[place])
                        .unwrap_or(MISSING)
                };
                let row: Vec<i64> = table.columns.iter().map(value).collect();
                let mut lanes = readings.series.iter().filter(|it| it.of == entity);
                if lanes.any(|lane| lane.readings[place].is_some()) {
                    data.push(at(*second), EntityId(entity), &row);
                }
            }
        }
    }
    let columns = [
        "interval_ns",
        "throughput_milli",
        "latency_mean_ns",
        "lag_mean_ns",
    ];
    let signal = Table {
        columns: columns.map(|name| column(name, false)).to_vec().into(),
        ..Table::new("signal", EntityKind::Workload, "", &[])
    };
    let data = timeline.table_mut(&signal);
    for row in &cases.signal {
        let values = columns.map(|name| row[name]);
        data.push(at(row["second"] as f64), EntityId(0), &values);
    }
    timeline
}

fn table(readings: &Readings) -> Table {
    if readings.name == THREAD_TIME.name {
        return THREAD_TIME.clone();
    }
    let mut columns: Vec<Column> = Vec::new();
    for lane in &readings.series {
        if columns.iter().all(|it| it.name != lane.column()) {
            columns.push(column(lane.column(), lane.counter.is_some()));
        }
    }
    Table {
        name: readings.name.clone().into(),
        columns: columns.into(),
        ..Table::new("", readings.entity, "", &[])
    }
}

fn column(name: &str, is_counter: bool) -> Column {
    let column = match is_counter {
        true => Column::counter("", Unit::Nanoseconds, "", ""),
        false => Column::gauge("", Unit::Nanoseconds, "", ""),
    };
    Column {
        name: name.to_owned().into(),
        ..column
    }
}

/// A run of the processes that have a role.
fn meta(cases: &Cases, window: Window) -> Meta {
    let processes = (0..).zip(&cases.entities);
    let processes = processes.filter(|(_, it)| it.kind == EntityKind::Process);
    let known = processes.filter(|(_, it)| matches!(it.role, Role::Target | Role::Generator));
    let targets = known.map(|(number, it)| Target {
        role: it.role,
        root: Some(EntityId(number)),
        name: it.name.clone(),
        unit: "process".to_owned(),
        version: None,
        found_by: "drawn".into(),
        connections: 0,
        cpus_allowed: None,
        allowed: Vec::new(),
        found_at: window.start,
        machine_unit: None,
    });
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: "drawn".to_owned(),
            machine_id: String::new(),
            boot_id: "drawn".to_owned(),
            node: "node".to_owned(),
            stallscope: "0.1.0".to_owned(),
            anchor_realtime_ns: 0,
            anchor_boottime: window.start,
        },
        plan: Plan::default(),
        window,
        complete: true,
        cpus: 2,
        environment: BTreeMap::new(),
        targets: targets.collect(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

#[test]
fn the_rounding_of_a_small_account_makes_no_number_wrong() {
    // Seen of a server that had worked for some 50 us.
    let (value, said) = (0.592_344_344, 0.592_338_733);
    assert!(are_near(value, said, 53_000.0));
    assert!(!are_near(value, said, 1e9));
    assert!(!are_near(value, said, f64::NAN));
    assert!(are_near(said + 1e-7, said, f64::NAN));
}
