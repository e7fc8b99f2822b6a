//! The journal of a recording that was killed: rows and events that are in no table yet.
//!
//! An input is the payloads of its records with `BETWEEN` between them. Lengths and sums are made to
//! fit, since otherwise nothing behind them would ever be reached. The tables beside it, which have a few
//! rows each, are what the program writes.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::Result;
use model::{
    Cost, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, FORMAT_VERSION, Identity, Meta,
    Plan, Role, Rows, StringId, StringKind, Table, Text, Timestamp, Window,
};
use recording::{Reader, Recording, Writer};

use super::{diagnosis, folder};
use crate::{Seed, Target, sums};

pub const TARGET: Target = Target {
    name: "journal",
    feed,
    seeds,
    affordable: 1_000,
};

/// No text holds these bytes, and numbers hardly ever.
const BETWEEN: &[u8] = b"\xf5\xf6\xf7\xf8";

const NAME: &str = "journal";

fn feed(bytes: &[u8]) {
    let recording = open(bytes);
    folder::check(&recording);
    diagnosis::judge(&recording.timeline, &recording.meta, None);
}

fn open(bytes: &[u8]) -> Recording {
    let journal: Vec<u8> = split(bytes).flat_map(sums::record).collect();
    let folder = tempfile::tempdir().expect("there is room for a small folder");
    let written = files().iter().map(|(name, whole)| match name.as_str() {
        NAME => (name, &journal),
        _ => (name, whole),
    });
    for (name, content) in written {
        fs::write(folder.path().join(name), content).expect("there is room for a small file");
    }
    let recording = Reader::open(folder.path()).expect("its meta.json and its tables are whole");
    for lost in recording.damage.iter().filter(|lost| lost.file == NAME) {
        assert!(lost.offset < journal.len() as u64, "{lost}");
    }
    recording
}

fn split(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let at = bytes.windows(BETWEEN.len()).position(|it| it == BETWEEN);
        let (payload, rest) = bytes.split_at(at.unwrap_or(bytes.len()));
        bytes = rest.get(BETWEEN.len()..).unwrap_or_default();
        Some(payload)
    })
}

/// The files of a recording that was killed after a few seconds.
fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| killed().expect("a small recording can be written"))
}

/// What the rows are of: a second of CPU, of pressure, of a thread, and of the load.
fn tables() -> impl Iterator<Item = &'static Table> {
    let wanted = ["cpu", "pressure", "thread"];
    let sampled = sensors::tables().filter(move |table| wanted.contains(&&*table.name));
    sampled.chain([&workloads::SIGNAL])
}

fn killed() -> Result<Vec<(String, Vec<u8>)>> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("killed.stall");
    let mut writer = Writer::create(&folder, &meta())?;
    for second in 0..4u32 {
        writer.entities(&[event(second)])?;
        writer.strings(&[Text {
            id: StringId(second),
            kind: StringKind::ALL[second as usize % StringKind::ALL.len()],
            parent: second.checked_sub(1).map(StringId),
            text: format!("text {second}").into(),
        }])?;
        for table in tables() {
            let mut rows = Rows::with_capacity(table.columns.len(), 2);
            for tenth in 0..2 {
                let values: Vec<i64> = (0..table.columns.len() as i64)
                    .map(|column| i64::from(second * 10 + tenth) * (column + 1))
                    .collect();
                rows.push(at(second * 10 + tenth + 1), EntityId(second / 2), &values);
            }
            writer.append(table, &rows)?;
        }
        writer.flush()?;
    }
    drop(writer);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push((name.into_owned(), fs::read(&path)?));
    }
    Ok(files)
}

fn at(tenth: u32) -> Timestamp {
    Timestamp::from_ns(100_000_000_000 + i64::from(tenth) * 100_000_000)
}

fn event(second: u32) -> EntityEvent {
    let kind = [
        EntityKind::Machine,
        EntityKind::Process,
        EntityKind::Thread,
        EntityKind::Cpu,
    ];
    EntityEvent {
        time: at(second * 10),
        record: EntityRecord {
            parent: second.checked_sub(1).map(EntityId),
            memory_group: Some(EntityId(0)),
            serving: second == 2,
            vanished: (second == 3).then(|| at(40)),
            role: Role::Target,
            ..EntityRecord::new(
                EntityId(second),
                Entity::new(
                    kind[second as usize % kind.len()],
                    "name",
                    format!("path:{second}"),
                ),
                at(0),
            )
        },
    }
}

fn meta() -> Meta {
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: String::new(),
            stallscope: String::new(),
            anchor_realtime_ns: 0,
            anchor_boottime: at(0),
        },
        plan: Plan {
            command: "run".to_owned(),
            fast_period_ns: 100_000_000,
            ..Plan::default()
        },
        window: Window::new(at(0), at(0)),
        complete: false,
        cpus: 2,
        environment: Default::default(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

/// The journal as it was left, and each of its records alone.
fn seeds(_: &Path) -> Result<Vec<Seed>> {
    let journal = files().iter().find(|(name, _)| name == NAME);
    let payloads = journal.map_or(Vec::new(), |(_, bytes)| sums::payloads(bytes));
    let whole = Seed::new("whole", payloads.join(BETWEEN));
    let each = payloads.iter().enumerate();
    let each = each.map(|(at, payload)| Seed::new(format!("record-{at}"), *payload));
    Ok([whole].into_iter().chain(each).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_what_the_writer_wrote_and_all_of_it_is_read() {
        let (_, journal) = files()
            .iter()
            .find(|(name, _)| name == NAME)
            .expect("it was killed");
        let seed = &seeds(crate::repository()).expect("they are made here")[0];
        let again: Vec<u8> = split(&seed.bytes).flat_map(sums::record).collect();
        assert_eq!(&again, journal);
        let recording = open(&seed.bytes);
        assert_eq!(recording.damage, []);
        assert_eq!(
            recording
                .timeline
                .tables()
                .map(|it| it.len())
                .sum::<usize>(),
            8 * 4
        );
        assert_eq!(recording.timeline.entities.iter().count(), 4);
    }
}
