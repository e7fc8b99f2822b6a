//! The diagnosis, over whatever numbers a recording may hold: bytes become a timeline of the tables
//! that sensors fill, without the detour over files.
//!
//! An input is a head of 8 bytes, 4 bytes for each entity, and then 18 for each row; see `Bytes`.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use model::{
    Entity, EntityEvent, EntityId, EntityKind, EntityRecord, MISSING, Meta, Provenance, Report,
    Role, Table, Target as Part, Timeline, Timestamp, Window,
};

use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "diagnosis",
    feed,
    seeds,
    affordable: 600,
};

const ENTITIES: u32 = 14;
/// More rows add time and nothing new.
const MOST_ROWS: usize = 2_000;

fn feed(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let (mut timeline, meta, asked) = run(&mut bytes);
    analysis::prepare(&mut timeline);
    judge(&timeline, &meta, asked);
}

/// Diagnoses, and holds the report to what every reader of one relies on.
pub fn judge(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Report {
    let report = analysis::diagnose(timeline, meta, asked);
    let first = report
        .verdict
        .findings
        .first()
        .expect("there is always an answer");
    assert!(!first.sentence.is_empty());
    for finding in &report.verdict.findings {
        let share = finding.share.unwrap_or_default();
        assert!((0.0..=1.0).contains(&share), "{} {share}", finding.cause);
    }
    for judged in &report.verdict.judged {
        let broken = ["NaN", "inf ", "-inf"]
            .iter()
            .any(|it| judged.sentence.contains(it));
        assert!(!judged.sentence.is_empty() && !broken, "{judged:?}");
    }
    serde_json::to_string(&report).expect("a report is JSON");
    report
}

/// What is left of an input; beyond its end there are zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    fn number(&mut self) -> i64 {
        i64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn tenths(&mut self) -> Timestamp {
        let tenths = u16::from_le_bytes([self.byte(), self.byte()]);
        Timestamp::from_ns(i64::from(tenths) * 100_000_000)
    }

    fn entity(&mut self) -> Option<EntityId> {
        let number = u32::from(self.byte()) % (ENTITIES + 2);
        (number > 0).then(|| EntityId(number - 1))
    }
}

fn run(bytes: &mut Bytes<'_>) -> (Timeline, Meta, Option<Window>) {
    let start = Timestamp::from_ns(i64::from(bytes.byte()) * 1_000_000_000);
    let window = Window::new(start, start + i64::from(bytes.byte()) * 1_000_000_000);
    let flags = bytes.byte();
    let mut meta = template().clone();
    meta.cpus = bytes.pick(&[2, 0, 1, 256, u32::MAX]);
    meta.complete = flags & 1 == 0;
    (meta.window, meta.gaps) = (window, Vec::new());
    let root = [bytes.entity(), bytes.entity()];
    meta.targets = [Role::Target, Role::Generator]
        .into_iter()
        .zip(root)
        .map(|(role, root)| part(role, root, start))
        .collect();
    if let Some(workload) = &mut meta.workload {
        workload.load.clients = bytes.pick(&[Some(4), None, Some(0), Some(u32::MAX)]);
        workload.load.rate = bytes.pick(&[None, Some(1e3), Some(0.0), Some(f64::MAX)]);
        workload.started = start;
        if flags & 2 != 0 {
            workload.latency = Provenance::Derived;
        }
    }
    if flags & 4 != 0 {
        meta.workload = None;
    }
    let asked = (flags & 8 != 0).then(|| Window::new(start + 1_000_000_000, window.end));
    let mut timeline = Timeline::new(window);
    timeline.closed = meta.complete;
    (0..ENTITIES).for_each(|number| {
        let record = entity(number, start, bytes);
        timeline.entities.apply(EntityEvent {
            time: start,
            record,
        });
    });
    rows(&mut timeline, bytes);
    (timeline, meta, asked)
}

fn entity(number: u32, start: Timestamp, bytes: &mut Bytes<'_>) -> EntityRecord {
    let kind = bytes.pick(&EntityKind::ALL);
    let part = bytes.byte();
    let (parent, group) = (bytes.entity(), bytes.entity());
    let path = ["/", "/a", "/a/b", ""][usize::from(part >> 6)];
    EntityRecord {
        id: EntityId(number),
        entity: Entity::new(kind, path, path),
        parent,
        group,
        pressure_group: group,
        memory_group: group,
        io_group: parent,
        role: Role::ALL[usize::from(part & 7) % Role::ALL.len()],
        serving: part & 8 != 0,
        first_seen: start,
        vanished: (part & 16 != 0).then_some(start + 5_000_000_000),
    }
}

/// A row: table, entity, column, how its number fills the row, time, number, and step to the next.
fn rows(timeline: &mut Timeline, bytes: &mut Bytes<'_>) {
    let tables = tables();
    for _ in 0..MOST_ROWS {
        if bytes.0.is_empty() {
            return;
        }
        let table = bytes.pick(&tables);
        let entity = EntityId(u32::from(bytes.byte()) % (ENTITIES + 2));
        let column = usize::from(bytes.byte());
        let how = bytes.byte();
        let (time, number) = (bytes.tenths(), bytes.number());
        let step = i64::from(bytes.byte()) << (bytes.byte() % 48);
        let length = table.columns.len();
        let mut row = vec![if how & 1 == 0 { number } else { MISSING }; length];
        row[column % length] = number;
        let data = timeline.table_mut(table);
        // The same again, as a counter that goes on: more than one row of an entity, for few bytes.
        for again in 0..1 + i64::from(how >> 1 & 15) {
            let time = time + again * 100_000_000;
            data.push(time, entity, &row);
            for value in row.iter_mut().filter(|value| **value != MISSING) {
                *value = value.wrapping_add(step);
            }
        }
    }
}

fn tables() -> Vec<&'static Table> {
    let own = workloads::tables();
    sensors::tables().chain(own).collect()
}

fn part(role: Role, root: Option<EntityId>, found_at: Timestamp) -> Part {
    Part {
        role,
        root,
        name: "server".to_owned(),
        unit: "process".to_owned(),
        version: None,
        found_by: "pid 1".into(),
        connections: 4,
        cpus_allowed: None,
        allowed: Vec::new(),
        found_at,
        machine_unit: None,
    }
}

/// A run's description, to be changed.
fn template() -> &'static Meta {
    static META: OnceLock<Meta> = OnceLock::new();
    META.get_or_init(|| {
        let path = crate::repository().join("crates/recording/fixtures/format-2.stall/meta.json");
        let text = std::fs::read(path).expect("the fixture is kept");
        serde_json::from_slice(&text).expect("the fixture is whole")
    })
}

/// For each table rows of some entities over ten seconds, and all of them together.
fn seeds(_: &Path) -> Result<Vec<Seed>> {
    let mut head = vec![0, 10, 0, 0, 3, 6, 0, 0];
    for number in 0..ENTITIES as u8 {
        head.extend([number, (number % 8) | 8, number % 4, 2]);
    }
    let mut all = head.clone();
    let mut found = Vec::new();
    for (table, described) in tables().iter().enumerate() {
        let table = u8::try_from(table).context("there are few tables")?;
        let mut rows = Vec::new();
        for (entity, start) in (0..ENTITIES as u8).flat_map(|it| (0..10).map(move |at| (it, at))) {
            let number = i64::from(start) * 50_000_000 + i64::from(entity);
            rows.extend([table, entity, start, 1 << 4]);
            rows.extend((u16::from(start) * 10).to_le_bytes());
            rows.extend(number.to_le_bytes());
            rows.extend([5, 20]);
        }
        all.extend(&rows[..rows.len() / 4]);
        found.push(Seed::new(
            described.name.to_string(),
            [head.clone(), rows].concat(),
        ));
    }
    found.push(Seed::new("all", all));
    Ok(found)
}
