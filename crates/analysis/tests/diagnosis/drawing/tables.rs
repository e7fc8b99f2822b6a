//! Lanes of tables: any column of any sensor's table, drawn beside what the other lanes say.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, Table, Timeline};

use super::lanes::{Drawing, Lane};
use super::people::People;
use super::rows::{Value, Writer};

/// Tables whose rows are looks: one each, changed or not.
const LOOKS: [&str; 4] = ["session", "database", "mysql_session", "mysql"];

/// Writes into the sensors' tables.
pub struct Tables<'a> {
    timeline: &'a mut Timeline,
    seconds: usize,
    drawn: Vec<Column<'a>>,
    written: BTreeSet<(&'static str, EntityId)>,
}

/// One lane about one entity.
#[derive(Clone, Copy)]
struct Column<'a> {
    table: &'static Table,
    name: &'static str,
    entity: EntityId,
    lane: &'a Lane,
    /// Who a cell above 0 stands for.
    value: Option<EntityId>,
}

impl Column<'_> {
    fn at(&self, second: usize) -> Value {
        let (cell, seen) = (self.lane.value(second), self.lane.seen(second));
        match self.value {
            Some(who) => Value(self.name, f64::from(who.0), seen && cell > 0.0),
            None => Value(self.name, cell * self.lane.scale, seen),
        }
    }
}

impl<'a> Tables<'a> {
    pub fn of(drawing: &'a Drawing, people: &People, timeline: &'a mut Timeline) -> Self {
        let mut drawn = Vec::new();
        for lane in &drawing.lanes {
            let Some((table, name)) = lane.column() else {
                continue;
            };
            let value = lane.value.as_deref();
            let kind = match name {
                "pool" | "waker" => EntityKind::Pool,
                "process" => EntityKind::Process,
                _ => table.entity,
            };
            let value = value.map(|who| people.called(kind, who));
            let about = people.about(lane, table.entity).into_iter();
            drawn.extend(about.map(|entity| Column {
                table,
                name,
                entity,
                lane,
                value,
            }));
        }
        Self {
            timeline,
            seconds: drawing.seconds,
            drawn,
            written: BTreeSet::new(),
        }
    }

    /// What lanes draw of one entity in a second; nothing where none is about it.
    pub fn drawn(&self, table: &str, entity: EntityId, second: usize) -> Vec<Value> {
        let own = |column: &&Column<'_>| column.table.name == table && column.entity == entity;
        let drawn = self.drawn.iter().filter(own);
        drawn.map(|column| column.at(second)).collect()
    }

    /// Writes the rows of one entity; a lane of the table goes before a value of the same column.
    pub fn write(
        &mut self,
        table: &str,
        entity: EntityId,
        every_ms: usize,
        seen: impl Fn(usize) -> bool,
        values: impl Fn(usize) -> Vec<Value>,
    ) {
        let table = sensors::tables()
            .find(|declared| declared.name == table)
            .expect("a sensor's table");
        let own = |column: &&Column<'_>| column.table.name == table.name && column.entity == entity;
        let drawn: Vec<Column<'a>> = self.drawn.iter().filter(own).copied().collect();
        self.written.insert((&table.name, entity));
        let values = |second| {
            let mut values = values(second);
            values.retain(|value| drawn.iter().all(|column| column.name != value.0));
            values.extend(drawn.iter().map(|column| column.at(second)));
            values
        };
        let writer = Writer {
            table,
            entity,
            every_ms,
            seconds: self.seconds,
            all: LOOKS.contains(&&*table.name),
        };
        writer.write(self.timeline, seen, values);
    }

    /// Writes what only lanes of tables speak of, once a second.
    pub fn finish(mut self) {
        for column in self.drawn.clone() {
            let Column { table, entity, .. } = column;
            if self.written.contains(&(&*table.name, entity)) {
                continue;
            }
            let own =
                |other: &&Column<'_>| other.table.name == table.name && other.entity == entity;
            let lanes: Vec<&Lane> = self.drawn.iter().filter(own).map(|it| it.lane).collect();
            let seen = |second| lanes.iter().any(|lane| lane.seen(second));
            self.write(&table.name, entity, 1000, seen, |_| Vec::new());
        }
    }
}
