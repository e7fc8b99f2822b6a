//! Several files of one machine as one recording: each table from the first file that has it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::{EntityId, EntityKind, EntityRecord, Rows, Sentence, Timestamp, Window, sentence};

use crate::draft::LONGEST_NS;
use crate::{Imported, NotUnderstood};

/// What several files say together, by their wall clocks.
///
/// # Errors
/// When there is no file, or files lie more than a year apart.
pub fn merged(files: Vec<Imported>) -> Result<Imported, NotUnderstood> {
    let starts = files.iter().map(|file| file.start_realtime_ns);
    let Some(first) = starts.min() else {
        return Err(NotUnderstood::whole("a file", "name one"));
    };
    if files
        .iter()
        .any(|file| file.start_realtime_ns - first > LONGEST_NS)
    {
        return Err(NotUnderstood::whole(
            "files of one machine, recorded at the same time",
            "import those that lie far from the others on their own; a file without times lies at 1970",
        ));
    }
    let mut files = files.into_iter();
    let mut all = Merger::default();
    let Some(mut whole) = files.next() else {
        return Err(NotUnderstood::whole("a file", "name one"));
    };
    let mut end = whole.window.start;
    let start = whole.window.start;
    all.add(&whole, whole.start_realtime_ns - first, &mut end);
    for file in files {
        all.add(&file, file.start_realtime_ns - first, &mut end);
        if !whole.tool.split(", ").any(|tool| tool == file.tool) {
            whole.tool = Cow::Owned(format!("{}, {}", whole.tool, file.tool));
        }
        whole.resolution_ns = whole.resolution_ns.max(file.resolution_ns);
        whole.node = whole.node.or(file.node);
        whole.kernel = whole.kernel.or(file.kernel);
        whole.cpus = whole.cpus.or(file.cpus);
    }
    Ok(Imported {
        start_realtime_ns: first,
        window: Window::new(start, end),
        entities: all.entities.into_values().collect(),
        tables: all.tables,
        notes: all.notes,
        holes: all.holes,
        ..whole
    })
}

/// Whether a note says that something is not in a file.
fn is_lacking(note: &Sentence) -> bool {
    note.to_string().contains("not in the file")
}

#[derive(Default)]
struct Merger {
    entities: BTreeMap<(EntityKind, String), EntityRecord>,
    tables: Vec<(model::Table, Rows)>,
    notes: Vec<(String, Sentence)>,
    holes: Vec<Window>,
}

impl Merger {
    /// Takes what the files before do not have, so much later, ns.
    fn add(&mut self, file: &Imported, later_ns: i64, end: &mut Timestamp) {
        let later = |time: Timestamp| Timestamp::from_ns(time.as_ns() + later_ns);
        *end = (*end).max(later(file.window.end));
        let ids: BTreeMap<EntityId, EntityId> = file
            .entities
            .iter()
            .map(|record| (record.id, self.id(record)))
            .collect();
        let before: BTreeSet<String> = self.tables.iter().map(|it| it.0.name.to_string()).collect();
        for (table, rows) in &file.tables {
            if self.tables.iter().any(|(it, _)| it.name == table.name) {
                let name = Sentence::from_iter([model::Part::Own(table.name.clone())]);
                let note = sentence!(
                    "Several files have the table {}: it was taken from the first",
                    name
                );
                self.notes.push((table.name.to_string(), note));
                continue;
            }
            let mut taken = Rows::with_capacity(rows.width(), rows.len());
            for (time, entity, values) in rows.iter() {
                if let Some(id) = ids.get(&entity) {
                    taken.push(later(time), *id, values);
                }
            }
            // What the files before lacked is there now.
            self.notes
                .retain(|note| !is_lacking(&note.1) || note.0 != *table.name);
            self.tables.push((table.clone(), taken));
        }
        for note in &file.notes {
            let is_answered = is_lacking(&note.1) && before.contains(&note.0);
            if !is_answered && !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let moved = file.holes.iter();
        self.holes
            .extend(moved.map(|hole| Window::new(later(hole.start), later(hole.end))));
    }

    fn id(&mut self, record: &EntityRecord) -> EntityId {
        let next = EntityId(self.entities.len() as u32);
        let key = (record.entity.kind, record.entity.path.clone());
        let known = self.entities.entry(key);
        let known = known.or_insert_with(|| EntityRecord {
            id: next,
            ..record.clone()
        });
        known.id
    }
}
