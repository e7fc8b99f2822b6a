//! What of a recording may leave the machine: numbers, and words that say nothing about whose they are.
//!
//! What leaves is declared: the fields of `meta.json` in `fields.rs`, of entities in `entities.rs`, tables by this
//! program's own descriptions. Everything else stays. No text is searched for names: sentences are made of parts
//! (`model::Sentence`), and whoever reads a bundle diagnoses it anew. The diagnosis does not depend on names, so
//! what it says is the same but for them.

mod entities;
mod fields;
mod pseudonyms;
mod strings;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use model::{Column, EntityRecord, Mark, Meta, Part, Sentence, Table, Text, Unit};
use recording::Recording;

use crate::arguments::Names;
use pseudonyms::Pseudonyms;

pub(crate) use pseudonyms::Class;

/// A recording's words as they may leave. Of its rows only numbers leave, and they are not here.
pub(crate) struct Redacted {
    /// The content of `meta.json`.
    pub(crate) meta: Meta,
    /// The entity list.
    pub(crate) entities: Vec<EntityRecord>,
    /// The texts that rows refer to.
    pub(crate) strings: Vec<Text>,
    /// The marks.
    pub(crate) marks: Vec<Mark>,
    /// The tables that leave.
    pub(crate) tables: Vec<PublicTable>,
    /// Every replaced word with what stands for it.
    pub(crate) replaced: BTreeMap<String, String>,
    /// How many words of each class were replaced.
    pub(crate) counts: BTreeMap<Class, usize>,
    /// How many texts were left out.
    pub(crate) withheld: usize,
}

/// A table as it leaves.
pub(crate) struct PublicTable {
    /// The columns that leave.
    pub(crate) table: Table,
    /// Which ones of the recorded table these are.
    pub(crate) columns: Vec<usize>,
}

/// Takes out what should not leave.
///
/// # Errors
/// When the description cannot do without a field that is not public.
pub(crate) fn redact(recording: &Recording, names: Names) -> Result<Redacted> {
    let Recording { meta, timeline, .. } = recording;
    // What damage took away is said in the timeline's gaps, and in the bundle it is gone.
    let mut meta = Meta {
        format_version: model::FORMAT_VERSION,
        gaps: timeline.gaps.clone(),
        ..meta.clone()
    };
    let mut entities: Vec<EntityRecord> = timeline.entities.iter().cloned().collect();
    let mut strings: Vec<Text> = timeline.strings.iter().cloned().collect();
    let tables = timeline.tables().map(|data| &data.table);
    let mut marks = timeline.marks.clone();
    let mut redactor = Redactor::new(names);
    let tables = match names {
        Names::All => tables.map(whole).collect(),
        Names::Programs | Names::None => {
            redactor.learn(&meta, &entities);
            entities = entities.into_iter().map(|it| redactor.entity(it)).collect();
            strings = strings.into_iter().map(|it| redactor.string(it)).collect();
            meta = redactor.meta(meta)?;
            // Their times tell enough.
            let texts = marks.iter_mut().map(|mark| &mut mark.text);
            texts.for_each(|text| *text = redactor.withhold(text));
            tables.filter_map(public).collect()
        }
    };
    let replaced = redactor.names.all();
    Ok(Redacted {
        meta,
        entities,
        strings,
        marks,
        tables,
        counts: redactor.names.counts().clone(),
        withheld: redactor.withheld,
        replaced: replaced
            .map(|(word, pseudonym)| (word.to_owned(), pseudonym.to_owned()))
            .collect(),
    })
}

/// The tables that this version describes.
fn own_tables() -> impl Iterator<Item = &'static Table> {
    sensors::tables().chain(workloads::tables())
}

fn whole(table: &Table) -> PublicTable {
    PublicTable {
        table: table.clone(),
        columns: (0..table.columns.len()).collect(),
    }
}

/// Columns that only recordings of earlier versions have, and that the analysis reads there.
const EARLIER: &[(&str, Column)] = &[(
    "recorder",
    Column::counter(
        "detached_ns",
        Unit::Nanoseconds,
        "Time in which the programs that trace were detached.",
        "the sampler",
    ),
)];

/// Of a recorded table the columns that this version describes, in its own words.
fn public(recorded: &Table) -> Option<PublicTable> {
    let own = own_tables().find(|own| own.name == recorded.name)?;
    let columns = recorded
        .columns
        .iter()
        .enumerate()
        .filter_map(|(number, column)| {
            let earlier = EARLIER.iter().filter(|(table, _)| *table == own.name);
            let mut described = own.columns.iter().chain(earlier.map(|(_, column)| column));
            let own = described.find(|own| own.name == column.name)?;
            let Column {
                unit,
                kind,
                quality,
                ..
            } = *column;
            let public = Column {
                unit,
                kind,
                quality,
                ..own.clone()
            };
            Some((number, public))
        });
    let (numbers, columns): (Vec<usize>, Vec<Column>) = columns.unzip();
    let covered_by = match recorded.covered_by.is_empty() {
        true => "".into(),
        false => own.covered_by.clone(),
    };
    Some(PublicTable {
        table: Table {
            columns: columns.into(),
            entity: recorded.entity,
            covered_by,
            ..own.clone()
        },
        columns: numbers,
    })
}

/// What is known while a recording is gone through.
struct Redactor {
    names: Pseudonyms,
    /// Whether names of programs stay.
    programs: bool,
    /// Texts that were left out so far.
    withheld: usize,
    /// The redacted sentences by their text.
    sentences: HashMap<String, Sentence>,
}

impl Redactor {
    fn new(names: Names) -> Self {
        Self {
            names: Pseudonyms::new(names),
            programs: names == Names::Programs,
            withheld: 0,
            sentences: HashMap::new(),
        }
    }

    /// Meets the names whose meaning is sure before those that may hold them.
    fn learn(&mut self, meta: &Meta, entities: &[EntityRecord]) {
        if self.programs {
            self.keep_programs(meta, entities);
        }
        self.host(&meta.identity.node);
        self.learn_environment(&meta.environment);
        self.learn_units(&meta.targets);
        let command = meta.workload.iter().flat_map(|it| it.command.get(1..));
        command.for_each(|words| drop(text::command(&mut self.names, words)));
        self.names.keep_no_compounds();
    }

    /// A host as it was typed: a name, an address, or a socket's folder.
    fn host(&mut self, host: &str) -> String {
        if host.starts_with('/') {
            return text::path(&mut self.names, Class::Folder, host);
        }
        if let Some(address) = text::address(&mut self.names, host) {
            return address;
        }
        let pseudonym = self.names.of(Class::Host, host);
        // People call `db7.acme.com` db7.
        if let Some((short, _)) = host.split_once('.') {
            self.names.alias(short, &pseudonym);
        }
        pseudonym
    }

    /// A sentence with other names, and without what others wrote.
    fn sentence(&mut self, sentence: &Sentence) -> Sentence {
        let part = |part: &Part| match part {
            Part::Own(_) => part.clone(),
            Part::Name { kind, name } => Part::name(*kind, self.name(*kind, name)),
            Part::Foreign { foreign } => Part::Own(self.withhold(foreign).into()),
        };
        sentence.parts().iter().map(part).collect()
    }

    /// What stands for a text that is left out.
    fn withhold(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        self.withheld += 1;
        "[withheld]".to_owned()
    }
}
