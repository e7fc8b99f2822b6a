//! A recording of a part of a recording: `--from` and `--to`.
//!
//! Inside the part every row stays as it was recorded. Of each series the value before the part and the one behind it are
//! taken too, at their own times: between two rows a counter grows evenly and a gauge holds, so that the part begins and
//! ends with what the whole recording says of these instants.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use model::{
    EntityEvent, EntityId, EntityKind, Identity, MISSING, Meta, RowKind, Rows, TableData, Timeline,
    Window,
};
use recording::{Recording, Writer};

use super::{destination, size};
use crate::arguments::Export;
use crate::outputs;
use crate::temporary_output::{Entry, TemporaryOutput};

/// Rows that are held at a time.
const BATCH_ROWS: usize = 1 << 16;

/// Writes the part of a recording in a window.
pub(super) fn export(
    arguments: &Export,
    path: &Path,
    recording: &Recording,
    window: Window,
) -> Result<()> {
    let Recording { meta, timeline, .. } = recording;
    let (origin, _) = analysis::judged(timeline, meta);
    let folder = destination(arguments, path, "-cut.stall");
    let meta = part_of(meta, timeline, window)?;
    let bytes = save(&folder, timeline, &meta)?;
    outputs::say(&format!(
        "Saved {}: {:.1} s to {:.1} s of the run, {}. The answer for it: stallscope explain {}",
        folder.display(),
        window.start.seconds_since(origin),
        window.end.seconds_since(origin),
        bytes,
        folder.display()
    ));
    Ok(())
}

/// Writes a whole recording again, which has other words than the one it was read from; returns its size.
pub(crate) fn save_again(folder: &Path, timeline: &Timeline, meta: &Meta) -> Result<String> {
    let meta = Meta {
        format_version: model::FORMAT_VERSION,
        // Of one that was cut off the rows say how far it goes, and what was damaged is a gap from now on.
        window: timeline.window,
        gaps: timeline.gaps.clone(),
        ..meta.clone()
    };
    save(folder, timeline, &meta)
}

/// Writes the part of a recording that `meta` describes; returns its size.
fn save(folder: &Path, timeline: &Timeline, meta: &Meta) -> Result<String> {
    let unfinished = Meta {
        complete: false,
        ..meta.clone()
    };
    let make = || Writer::create(folder, &unfinished);
    let entry = |writer: &Writer| Entry::Folder(writer.folder().clone());
    let (temporary_output, writer) = TemporaryOutput::make(make, entry)?;
    let held = writer.folder().clone();
    let written = write(writer, timeline, meta);
    if written.is_err() {
        // It was made here and holds half of something. What cannot be removed is no second error.
        let _ = held.remove_all();
    }
    drop(temporary_output);
    let bytes = written.with_context(|| format!("cannot write {}", folder.display()))?;
    Ok(size(bytes))
}

/// The description of the part. What stands in it for the whole run, as the workload's own summary, stays.
fn part_of(meta: &Meta, timeline: &Timeline, window: Window) -> Result<Meta> {
    let mut gaps = timeline.gaps.clone();
    gaps.retain(|gap| gap.window.is_none_or(|of| of.intersect(window).is_some()));
    let mut environment = meta.environment.clone();
    let identity = &meta.identity;
    environment.insert("cut.of".to_owned(), identity.recording_id.clone());
    Ok(Meta {
        identity: Identity {
            recording_id: uuid::Uuid::new_v4().to_string(),
            ..identity.clone()
        },
        window,
        complete: true,
        environment,
        gaps,
        firings: meta
            .firings
            .iter()
            .filter(|firing| window.contains(firing.at))
            .cloned()
            .collect(),
        format_version: model::FORMAT_VERSION,
        ..meta.clone()
    })
}

fn write(mut writer: Writer, timeline: &Timeline, meta: &Meta) -> Result<u64> {
    let events = timeline.entities.iter().map(|record| EntityEvent {
        time: record.vanished.unwrap_or(record.first_seen),
        record: record.clone(),
    });
    writer.entities(&events.collect::<Vec<_>>())?;
    writer.strings(&timeline.strings.iter().cloned().collect::<Vec<_>>())?;
    for data in timeline.tables() {
        append(&mut writer, data, meta.window)?;
    }
    let marks = timeline.marks.iter();
    for mark in marks.filter(|mark| meta.window.contains(mark.at)) {
        recording::add_mark(writer.folder(), mark)?;
    }
    Ok(writer.close(meta)?)
}

fn append(writer: &mut Writer, data: &TableData, window: Window) -> Result<()> {
    let width = data.table.columns.len();
    let taken = rows(data, window);
    let mut rows = Rows::with_capacity(width, taken.len().min(BATCH_ROWS));
    let mut values = Vec::with_capacity(width);
    for row in taken {
        let (time, entity) = data.key(row);
        values.clear();
        values.extend(data.row(row));
        rows.push(time, entity, &values);
        if rows.len() == BATCH_ROWS {
            writer.append(&data.table, &rows)?;
            rows.clear();
        }
    }
    writer.append(&data.table, &rows)?;
    Ok(())
}

/// The rows that belong to the part, in their order.
fn rows(data: &TableData, window: Window) -> BTreeSet<usize> {
    if data.table.rows == RowKind::Definitions {
        return (0..data.len()).collect();
    }
    let mut taken = BTreeSet::new();
    for entity in data.entities().collect::<BTreeSet<EntityId>>() {
        let rows = data.rows_of(entity).unwrap_or_default();
        let rows: Vec<usize> = rows.iter().map(|row| *row as usize).collect();
        let first = rows.partition_point(|row| data.key(*row).0 < window.start);
        let behind = rows.partition_point(|row| data.key(*row).0 <= window.end);
        taken.extend(&rows[first..behind.max(first)]);
        // A row of a workload stands for its own interval and says nothing of the next.
        if data.table.entity != EntityKind::Workload && data.table.rows != RowKind::Events {
            taken.extend(first_known(data, rows[..first].iter().rev()));
            taken.extend(first_known(data, rows[behind..].iter()));
        }
    }
    taken
}

/// As many of these rows as it takes to have a value of each column that any of them has.
fn first_known<'a>(data: &TableData, rows: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    let mut lacking: BTreeSet<usize> = (0..data.table.columns.len()).collect();
    let mut taken = Vec::new();
    for row in rows {
        if lacking.is_empty() {
            break;
        }
        let values: Vec<i64> = data.row(*row).collect();
        let before = lacking.len();
        lacking.retain(|column| values[*column] == MISSING);
        if lacking.len() < before {
            taken.push(*row);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use model::{Column, Entity, EntityRecord, Table, Timestamp, Unit};

    use super::*;

    static COLUMNS: &[Column] = &[
        Column::counter("busy_ns", Unit::Nanoseconds, "Busy.", "a test"),
        Column::gauge("size", Unit::Count, "Size.", "a test"),
    ];
    static DISKS: Table = Table::new("disks", EntityKind::Disk, "Disks.", COLUMNS);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ns(seconds * 1_000_000_000)
    }

    /// A row each 2 s from 2 to 20 s of a disk; its size is known at 2 s only.
    fn recorded() -> Timeline {
        let mut timeline = Timeline::new(Window::new(at(1), at(21)));
        let mut disks = TableData::new(DISKS.clone());
        for second in (2..=20).step_by(2) {
            let size = if second == 2 { 7 } else { MISSING };
            disks.push(at(second), EntityId(0), &[second * 100, size]);
        }
        timeline.insert(disks);
        let disk = Entity::new(EntityKind::Disk, "vda", "vda");
        timeline.entities.apply(EntityEvent {
            time: at(1),
            record: EntityRecord::new(EntityId(0), disk, at(1)),
        });
        timeline
    }

    #[test]
    fn a_part_begins_and_ends_with_what_the_whole_says() {
        let whole = recorded();
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("a-cut.stall");
        let window = Window::new(at(7), at(11));
        let meta: Meta = serde_json::from_value(meta_of(window)).expect("a description");
        let unfinished = Meta {
            complete: false,
            ..meta.clone()
        };
        let writer = Writer::create(&folder, &unfinished).expect("a folder");
        write(writer, &whole, &meta).expect("a disk");
        let part = recording::Reader::open(&folder).expect("a recording");
        assert_eq!(part.timeline.window, window);
        assert!(part.damage.is_empty() && part.meta.complete);
        let times = |timeline: &Timeline| -> Vec<i64> {
            let data = timeline.table("disks").expect("it is there");
            (0..data.len())
                .map(|row| data.key(row).0.as_ns() / 1_000_000_000)
                .collect()
        };
        // 8 and 10 s lie inside; 6 and 12 s are beside; at 2 s stands the size.
        assert_eq!(times(&part.timeline), [2, 6, 8, 10, 12]);
        let series = |timeline: &Timeline, column: &str| -> Vec<Option<i64>> {
            let series = timeline.series("disks", EntityId(0), column);
            let series = series.expect("it is there");
            let value = |second| match column {
                "size" => series.gauge_at(at(second)),
                _ => series.counter_at(at(second)).map(|value| value as i64),
            };
            [7, 8, 11].into_iter().map(value).collect()
        };
        assert_eq!(
            series(&part.timeline, "busy_ns"),
            [Some(700), Some(800), Some(1100)]
        );
        assert_eq!(series(&part.timeline, "size"), [Some(7); 3]);
        for column in ["busy_ns", "size"] {
            assert_eq!(series(&part.timeline, column), series(&whole, column));
        }
    }

    #[test]
    fn what_was_cut_off_is_saved_again_with_all_its_rows() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("again.stall");
        let mut whole = recorded();
        whole.gaps.push(model::Gap {
            table: "disks".to_owned(),
            what: "x".into(),
            window: None,
            reason: model::GapReason::Overrun,
        });
        // What the description said when it was written last.
        let meta: Meta = serde_json::from_value(meta_of(Window::new(at(1), at(5)))).expect("one");
        let meta = Meta {
            complete: false,
            ..meta
        };
        save_again(&folder, &whole, &meta).expect("a disk");
        let again = recording::Reader::open(&folder).expect("a recording");
        assert!(!again.meta.complete && again.damage.is_empty());
        assert_eq!(again.timeline.window, Window::new(at(1), at(20)));
        assert_eq!(again.timeline.table("disks").map(TableData::len), Some(10));
        assert_eq!(again.timeline.gaps, whole.gaps);
    }

    /// One of the lab's recordings.
    fn kept(home: &Path, name: &str) -> Recording {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/recordings");
        let file = std::fs::File::open(folder.join(format!("{name}.tar.zst")));
        let unpacked = zstd::Decoder::new(file.expect("it is kept")).expect("a zstd stream");
        tar::Archive::new(unpacked)
            .unpack(home)
            .expect("an archive");
        recording::Reader::open(&home.join(format!("{name}.stall"))).expect("a recording")
    }

    #[test]
    fn a_part_has_the_answer_of_that_time() {
        let home = tempfile::tempdir().expect("a folder");
        let mut whole = kept(home.path(), "cpu-saturated");
        let (origin, _) = analysis::judged(&whole.timeline, &whole.meta);
        let window = Window::new(origin + 3_000_000_000, origin + 8_000_000_000);
        let meta = part_of(&whole.meta, &whole.timeline, window).expect("random numbers");
        let folder = home.path().join("part.stall");
        let writer = Writer::create(&folder, &meta).expect("a folder");
        write(writer, &whole.timeline, &meta).expect("a disk");
        let mut part = recording::Reader::open(&folder).expect("a recording");
        assert!(part.damage.is_empty(), "{:?}", part.damage);
        let answer = |recording: &mut Recording| {
            analysis::prepare(&mut recording.timeline);
            let report = analysis::diagnose(&recording.timeline, &recording.meta, Some(window));
            let first = &report.verdict.findings[0];
            (first.cause.clone(), first.share.expect("it has one"))
        };
        let (of_whole, of_part) = (answer(&mut whole), answer(&mut part));
        assert_eq!(of_part.0, "cpu.saturated");
        assert_eq!(of_part.0, of_whole.0);
        assert!(
            (of_part.1 - of_whole.1).abs() < 0.01,
            "{of_part:?} and {of_whole:?}"
        );
    }

    fn meta_of(window: Window) -> serde_json::Value {
        serde_json::json!({
            "format_version": model::FORMAT_VERSION,
            "identity": {
                "recording_id": "1", "machine_id": "", "boot_id": "", "node": "",
                "stallscope": "0.1.0", "anchor_realtime_ns": 1, "anchor_boottime": at(1),
            },
            "plan": model::Plan::default(),
            "window": window,
            "complete": true,
            "cpus": 2,
            "environment": {},
            "targets": [],
            "workload": null,
            "gaps": [],
            "cost": model::Cost::default(),
        })
    }

    #[test]
    fn a_row_of_a_workload_stands_for_itself() {
        let table = Table::new("signals", EntityKind::Workload, "Signals.", COLUMNS);
        let mut data = TableData::new(table);
        for second in [2, 4, 6] {
            data.push(at(second), EntityId(0), &[second, second]);
        }
        let taken = rows(&data, Window::new(at(3), at(5)));
        assert_eq!(taken.into_iter().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn gaps_of_other_times_stay_behind() {
        let mut timeline = recorded();
        let gap = |from, to| model::Gap {
            table: "disks".to_owned(),
            what: "x".into(),
            window: Some(Window::new(at(from), at(to))),
            reason: model::GapReason::Overrun,
        };
        timeline.gaps = vec![gap(2, 3), gap(8, 9)];
        let window = Window::new(at(7), at(11));
        let meta: Meta = serde_json::from_value(meta_of(window)).expect("a description");
        let part = part_of(&meta, &timeline, window).expect("random numbers");
        assert_eq!(part.gaps, [gap(8, 9)]);
        assert_ne!(part.identity.recording_id, "1");
        assert_eq!(part.environment["cut.of"], "1");
    }
}
