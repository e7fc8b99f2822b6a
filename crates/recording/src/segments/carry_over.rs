//! What a segment needs of those before it: who is there, the newest row of each series, and the texts and stacks that
//! rows refer to.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{
    EntityEvent, EntityId, EntityRecord, MISSING, RowKind, Rows, StringId, StringKind, Table, Text,
    Timestamp, Unit,
};

/// The table that defines stacks: its first column is the number of one.
const STACK_TABLE: &str = "stack";

/// What later segments may need.
#[derive(Default)]
pub(super) struct CarryOver {
    /// Entities that live, and those that ended since the last segment began: a last row about them may be late.
    entities: BTreeMap<EntityId, EntityRecord>,
    /// The newest row of each series.
    tables: BTreeMap<String, Newest>,
    texts: HashMap<StringId, Text>,
    /// The build ids of modules: who names functions later needs them, and no row refers to them.
    build_ids: HashMap<StringId, StringId>,
    stacks: HashMap<i64, Stack>,
    stack_table: Option<Table>,
    /// What the newest segment has of them.
    written_texts: HashSet<StringId>,
    written_stacks: HashSet<i64>,
}

/// The newest row of each entity in a table.
struct Newest {
    table: Table,
    rows: HashMap<EntityId, (Timestamp, Box<[i64]>)>,
}

/// A stack's row.
struct Stack {
    time: Timestamp,
    entity: EntityId,
    values: Box<[i64]>,
}

/// Texts and stacks that rows refer to and that the newest segment lacks, in the order in which they are to be written.
#[derive(Default)]
pub(super) struct Lacking {
    pub(super) texts: Vec<Text>,
    /// With their table.
    pub(super) stacks: Option<(Table, Rows)>,
}

impl CarryOver {
    /// Notes changes of the entity list.
    pub(super) fn entities(&mut self, events: &[EntityEvent]) {
        for event in events {
            self.entities.insert(event.record.id, event.record.clone());
        }
    }

    /// Notes texts that are written, and returns those that they belong to and that the newest segment lacks.
    pub(super) fn strings(&mut self, texts: &[Text]) -> Vec<Text> {
        let mut lacking = Vec::new();
        for text in texts {
            self.written_texts.insert(text.id);
            self.texts.insert(text.id, text.clone());
            if let Some(parent) = text.parent {
                if text.kind == StringKind::BuildId {
                    self.build_ids.insert(parent, text.id);
                }
                self.lack_text(parent, &mut lacking);
            }
        }
        lacking
    }

    /// Notes rows that are written.
    pub(super) fn rows(&mut self, table: &Table, rows: &Rows) {
        match table.rows {
            RowKind::Readings => self.readings(table, rows),
            RowKind::Definitions if table.name == STACK_TABLE => self.stacks(table, rows),
            RowKind::Definitions | RowKind::Events => {}
        }
    }

    fn readings(&mut self, table: &Table, rows: &Rows) {
        if !self.tables.contains_key(&*table.name) {
            let newest = Newest {
                table: table.clone(),
                rows: HashMap::new(),
            };
            self.tables.insert(table.name.to_string(), newest);
        }
        let Some(newest) = self.tables.get_mut(&*table.name) else {
            return;
        };
        for (time, entity, values) in rows.iter() {
            match newest.rows.get_mut(&entity) {
                Some((newest, kept)) if kept.len() == values.len() => {
                    *newest = time;
                    kept.copy_from_slice(values);
                }
                _ => drop(newest.rows.insert(entity, (time, values.into()))),
            }
        }
    }

    fn stacks(&mut self, table: &Table, rows: &Rows) {
        self.stack_table.get_or_insert_with(|| table.clone());
        for (time, entity, values) in rows.iter() {
            if let Some(number) = values.first() {
                self.written_stacks.insert(*number);
                let values = values.into();
                let stack = Stack {
                    time,
                    entity,
                    values,
                };
                self.stacks.insert(*number, stack);
            }
        }
    }

    /// What rows refer to and the newest segment lacks; counts as written from now on.
    pub(super) fn lacking(&mut self, table: &Table, rows: &Rows) -> Lacking {
        let mut lacking = Lacking::default();
        for (place, column) in table.columns.iter().enumerate() {
            match column.unit {
                Unit::String => rows
                    .column(place)
                    .for_each(|value| self.lack_text_of(value, &mut lacking.texts)),
                Unit::Stack => rows
                    .column(place)
                    .for_each(|value| self.lack_stack(value, &mut lacking)),
                _ => {}
            }
        }
        lacking
    }

    fn lack_text_of(&mut self, value: i64, lacking: &mut Vec<Text>) {
        if let Ok(id) = u32::try_from(value) {
            self.lack_text(StringId(id), lacking);
        }
    }

    /// Parents first, and a module's build id behind it.
    fn lack_text(&mut self, id: StringId, lacking: &mut Vec<Text>) {
        let first = lacking.len();
        let mut next = Some(id);
        while let Some(id) = next
            && let Some(text) = self.texts.get(&id)
            && self.written_texts.insert(id)
        {
            let build_id = self.build_ids.get(&id);
            let build_id = build_id.filter(|id| self.written_texts.insert(**id));
            lacking.extend(build_id.and_then(|id| self.texts.get(id)).cloned());
            lacking.push(text.clone());
            next = text.parent;
        }
        lacking[first..].reverse();
    }

    /// Callers first.
    fn lack_stack(&mut self, value: i64, lacking: &mut Lacking) {
        let Some(table) = self.stack_table.clone() else {
            return;
        };
        let caller = table.position("caller");
        let mut chain = Vec::new();
        let mut next = value;
        while next != MISSING && self.stacks.contains_key(&next) && self.written_stacks.insert(next)
        {
            chain.push(next);
            let stack = &self.stacks[&next];
            next = caller.map_or(MISSING, |caller| stack.values[caller]);
        }
        if chain.is_empty() {
            return;
        }
        let width = table.columns.len();
        let texts: Vec<usize> = (0..width)
            .filter(|place| table.columns[*place].unit == Unit::String)
            .collect();
        let mut rows = lacking
            .stacks
            .take()
            .map_or_else(|| Rows::with_capacity(width, chain.len()), |(_, rows)| rows);
        for number in chain.into_iter().rev() {
            let stack = &self.stacks[&number];
            rows.push(stack.time, stack.entity, &stack.values);
            let values: Vec<i64> = texts.iter().map(|place| stack.values[*place]).collect();
            for value in values {
                self.lack_text_of(value, &mut lacking.texts);
            }
        }
        lacking.stacks = Some((table, rows));
    }

    /// What a new segment begins with: the entities as they are, and the newest row of each series that goes on, by
    /// table. Those that have ended are forgotten.
    pub(super) fn begin(&mut self, at: Timestamp) -> (Vec<EntityEvent>, Vec<(Table, Rows)>) {
        self.written_texts.clear();
        self.written_stacks.clear();
        let event = |record: &EntityRecord| EntityEvent {
            time: at,
            record: record.clone(),
        };
        let events = self.entities.values().map(event).collect();
        let ended: HashSet<EntityId> = self
            .entities
            .extract_if(.., |_, record| record.vanished.is_some())
            .map(|(id, _)| id)
            .collect();
        let mut tables = Vec::new();
        for newest in self.tables.values_mut() {
            newest.rows.retain(|entity, _| !ended.contains(entity));
            let mut order: Vec<_> = newest.rows.iter().collect();
            order.sort_by_key(|(entity, (time, _))| (*time, **entity));
            let mut rows = Rows::with_capacity(newest.table.columns.len(), order.len());
            for (entity, (time, values)) in order {
                rows.push(*time, *entity, values);
            }
            tables.push((newest.table.clone(), rows));
        }
        (events, tables)
    }
}
