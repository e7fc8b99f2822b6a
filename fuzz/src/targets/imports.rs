//! What other tools measured: texts of sar, atop, vmstat, iostat and pidstat, CSVs, snapshots of /proc/pressure, answers of
//! a store of metrics.
//!
//! The parts of an input are files. What is understood must fit into a recording: rows in the order of time, inside the
//! window, about entities that are listed, with nothing declared exact.

use std::collections::BTreeSet;
use std::path::Path;

use ::imports::prometheus::{self, Answers, Names, Subject};
use ::imports::{Imported, Snapshot};
use anyhow::Result;
use model::{EntityId, Quality};

use super::{PART, parts};
use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "imports",
    feed,
    seeds: from_fixtures,
    affordable: 1_000,
};

fn feed(bytes: &[u8]) {
    let files: Vec<&[u8]> = parts(bytes).collect();
    let mut understood = Vec::new();
    for file in &files {
        for period in [None, Some(1_000_000_000)] {
            match ::imports::text(file, period) {
                Ok(imported) => {
                    sound(&imported);
                    understood.push(imported);
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    if let Ok(all) = ::imports::merged(understood) {
        sound(&all);
    }
    let snapshots: Vec<Snapshot> = files
        .iter()
        .enumerate()
        .map(|(index, bytes)| Snapshot {
            path: format!("{}/io", 1_000_000_000 + index),
            bytes: bytes.to_vec(),
        })
        .collect();
    if let Ok(all) = ::imports::snapshots(&snapshots) {
        sound(&all);
    }
    stored(&files);
}

/// What each part answers, when all of them are a store's.
const SUBJECTS: [Subject; 8] = [
    Subject::Cpus,
    Subject::Also,
    Subject::Table("cpu"),
    Subject::Table("disk"),
    Subject::Facts,
    Subject::Table("memory"),
    Subject::Table("pressure"),
    Subject::Times,
];

fn stored(files: &[&[u8]]) {
    let mut answers: Answers = Vec::new();
    // The last of them, so that seeds in the order of their names are what they are.
    for (subject, file) in SUBJECTS.iter().rev().zip(files.iter().rev()) {
        match prometheus::series(file) {
            Ok(series) => answers.push((*subject, series)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let (nodes, _) = prometheus::nodes(&Names::default(), &answers);
    for node in nodes {
        sound(&node.imported);
        assert!(node.backward.iter().all(|it| it.times > 0 && it.most > 0.0));
    }
}

fn sound(imported: &Imported) {
    let known: BTreeSet<EntityId> = imported.entities.iter().map(|it| it.id).collect();
    assert_eq!(known.len(), imported.entities.len(), "numbers differ");
    for (table, rows) in &imported.tables {
        assert_eq!(table.columns.len(), rows.width());
        assert!(table.columns.iter().all(|it| it.quality > Quality::Exact));
        let mut newest = std::collections::BTreeMap::new();
        for (time, entity, _) in rows.iter() {
            assert!(known.contains(&entity));
            assert!(imported.window.start <= time && time <= imported.window.end);
            let before = newest.insert(entity, time);
            assert!(before.is_none_or(|before| before < time), "in order");
        }
    }
}

fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let fixtures = repository.join("crates/imports/fixtures");
    let mut all = seeds::files(&fixtures)?;
    // Answers of a store say something together only.
    let answers = seeds::files(&fixtures.join("prometheus"))?;
    let answers: Vec<&[u8]> = answers.iter().map(|it| &*it.bytes).collect();
    all.push(Seed::new("prometheus, all answers", answers.join(&PART)));
    Ok(all)
}
