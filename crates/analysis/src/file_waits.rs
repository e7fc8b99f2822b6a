//! The files that the target waits for.

use model::{Entity, EntityId, EntityKind, Formula, Role};
use sensors::file_wait::FILE_WAIT;
use sensors::kernel_wait::IoIntent;

use crate::formula;
use crate::scene::Scene;

/// Fewer meetings than this say nothing about which file is waited for.
const LEAST_MET: f64 = 10.0;

/// The I/O intents that are told apart at files, with the columns of their time and meetings.
const COUNTED: [(IoIntent, &str, &str); 2] = [
    (IoIntent::Sync, "sync_ns", "syncs_met"),
    (IoIntent::ReadWrite, "io_ns", "ios_met"),
];

/// What the target's threads waited for at its files.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileWaits {
    files: Vec<FileWait>,
}

/// One file, with the time that threads were met at it, ns, and how often, by intent.
#[derive(Clone, PartialEq, Debug)]
struct FileWait {
    entity: Entity,
    id: EntityId,
    ns: [f64; COUNTED.len()],
    met: [f64; COUNTED.len()],
}

impl FileWaits {
    pub(crate) fn of(scene: &Scene<'_>) -> Self {
        let entities = &scene.timeline.entities;
        let is_targets = |parent| {
            entities
                .get(parent)
                .is_some_and(|it| it.role == Role::Target)
        };
        let own = entities.of_kind(EntityKind::File);
        let own = own.filter(|it| it.parent.is_some_and(is_targets));
        let grown = |id, column| {
            let series = scene.timeline.series(&FILE_WAIT.name, id, column);
            series.and_then(|it| it.growth(scene.window)).unwrap_or(0.0)
        };
        let files: Vec<_> = own
            .map(|it| FileWait {
                entity: it.entity.clone(),
                id: it.id,
                ns: COUNTED.map(|(_, time, _)| grown(it.id, time)),
                met: COUNTED.map(|(.., met)| grown(it.id, met)),
            })
            .collect();
        Self { files }
    }

    /// The files with at least this part of the time of an intent, the largest part first; none where too little was
    /// seen to say.
    pub(crate) fn parts(&self, intent: IoIntent, least: f64) -> Vec<FilePart<'_>> {
        let Some(place) = COUNTED.iter().position(|(it, ..)| *it == intent) else {
            return Vec::new();
        };
        let all: f64 = self.files.iter().map(|file| file.ns[place]).sum();
        let met: f64 = self.files.iter().map(|file| file.met[place]).sum();
        if met < LEAST_MET {
            return Vec::new();
        }
        let column = COUNTED[place].1;
        let mut parts: Vec<_> = self
            .files
            .iter()
            .map(|file| FilePart {
                entity: &file.entity,
                part: file.ns[place] / all,
                formula: formula_of(file.id, column),
            })
            .filter(|it| it.part > 0.0 && it.part >= least)
            .collect();
        parts.sort_by(|a, b| b.part.total_cmp(&a.part).then(a.entity.cmp(b.entity)));
        parts
    }
}

/// The column that an intent's time is in, with its table; empty for one that is not told by files.
pub(crate) fn column(intent: IoIntent) -> String {
    let counted = COUNTED.iter().find(|(it, ..)| *it == intent);
    let column = counted.map(|(_, column, _)| format!("{}.{column}", FILE_WAIT.name));
    column.unwrap_or_default()
}

/// A file's part.
pub(crate) struct FilePart<'a> {
    pub(crate) entity: &'a Entity,
    pub(crate) part: f64,
    pub(crate) formula: Formula,
}

fn formula_of(id: EntityId, column: &str) -> Formula {
    let grown = |whose| formula::growth(&FILE_WAIT.name, &[column], whose);
    formula::part(grown(formula::one(id)), grown(formula::role(Role::Target)))
}
