//! What of a recording may leave the machine: numbers, and words that say nothing about whose they are.
//!
//! Everything is named here that passes: each structure is taken apart field by field, so that a new
//! field does not compile until somebody decided about it. The diagnosis does not depend on names, so
//! what it says of the result is the same but for them.

mod entities;
mod meta;
mod pseudonyms;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use model::{Column, EntityRecord, Meta, Table};
use recording::Recording;

use crate::arguments::Names;
use pseudonyms::Pseudonyms;

pub(crate) use pseudonyms::Class;

/// A recording's words as they may leave. Its rows hold numbers only, and are not here.
pub(crate) struct Redacted {
    /// The content of `meta.json`.
    pub(crate) meta: Meta,
    /// The entity list.
    pub(crate) entities: Vec<EntityRecord>,
    /// The descriptions of the tables, in the order of the timeline's.
    pub(crate) tables: Vec<Table>,
    /// Every replaced word with what stands for it.
    pub(crate) replaced: BTreeMap<String, String>,
    /// How many words of each class were replaced.
    pub(crate) counts: BTreeMap<Class, usize>,
}

/// Takes out what should not leave.
pub(crate) fn redact(recording: &Recording, names: Names) -> Redacted {
    let Recording { meta, timeline, .. } = recording;
    // What damage took away is said in the timeline's gaps, and in the bundle it is gone.
    let mut meta = Meta {
        format_version: model::FORMAT_VERSION,
        gaps: timeline.gaps.clone(),
        ..meta.clone()
    };
    let mut entities: Vec<EntityRecord> = timeline.entities.iter().cloned().collect();
    let mut tables: Vec<Table> = timeline.tables().map(|data| data.table.clone()).collect();
    let mut redactor = Redactor {
        names: Pseudonyms::new(names),
        programs: names == Names::Programs,
    };
    if names != Names::All {
        redactor.learn(&meta, &entities);
        entities = entities.into_iter().map(|it| redactor.entity(it)).collect();
        meta = redactor.meta(meta);
        tables = tables.into_iter().map(|it| redactor.table(it)).collect();
    }
    Redacted {
        meta,
        entities,
        tables,
        counts: redactor.names.counts().clone(),
        replaced: redactor
            .names
            .all()
            .map(|(word, pseudonym)| (word.to_owned(), pseudonym.to_owned()))
            .collect(),
    }
}

/// What is known while a recording is gone through.
struct Redactor {
    names: Pseudonyms,
    /// Whether names of programs stay.
    programs: bool,
}

impl Redactor {
    /// Meets the names whose meaning is sure before the sentences that may hold them.
    fn learn(&mut self, meta: &Meta, entities: &[EntityRecord]) {
        if self.programs {
            self.keep_programs(meta, entities);
        }
        self.host(&meta.identity.node);
        let known = |name: &str| meta.environment.get(name);
        for (name, class) in [("user", Class::User), ("database", Class::Database)] {
            if let Some(word) = known(&format!("postgres.{name}")) {
                self.names.of(class, word);
            }
        }
        if let Some(host) = known("postgres.host") {
            self.host(host);
        }
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

    fn sentence(&mut self, text: &str) -> String {
        text::sentence(&mut self.names, text)
    }

    fn sentences(&mut self, texts: Vec<String>) -> Vec<String> {
        texts.iter().map(|text| self.sentence(text)).collect()
    }

    /// The description of a table, which is this program's own text unless the file says otherwise.
    fn table(&mut self, table: Table) -> Table {
        let mut own = sensors::tables().chain([&workloads::SIGNAL, &workloads::LATENCY_SAMPLE]);
        if own.any(|known| *known == table) {
            return table;
        }
        let columns = table.columns.iter().map(|column| Column {
            name: identifier(&column.name).into(),
            help: self.sentence(&column.help).into(),
            source: self.sentence(&column.source).into(),
            since: identifier(&column.since).into(),
            ..column.clone()
        });
        Table {
            columns: columns.collect(),
            help: self.sentence(&table.help).into(),
            ..table
        }
    }
}

/// A name of the format, of a version that this one may not know: nothing else passes for one.
fn identifier(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.len() <= 60 && name.chars().all(plain) {
        name.to_owned()
    } else {
        "***".to_owned()
    }
}
