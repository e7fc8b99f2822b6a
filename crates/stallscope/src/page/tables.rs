//! Which tables are in the page, how fine, and who is in them.

use anyhow::Result;
use model::{
    Column, ColumnKind, EntityId, EntityKind, PageColumn, PageForm, PageTable, Table, TableData,
    Timeline, Timestamp, Unit,
};

use super::bins::{self, Binned};
use super::block::Numbers;
use super::edges::strided;
use super::entities::Places;

/// Steps of numbers in nanoseconds: microseconds tell enough, in less room.
const TIME_SCALE: i64 = 1_000;
/// Numbers in one table, about: with more its bins are made longer.
const MOST_NUMBERS: usize = 1_000_000;

/// A table and its numbers.
pub(super) struct Written {
    pub(super) table: PageTable,
    pub(super) numbers: Numbers,
}

/// The tables of the recording in the order of the data dictionary; those that this version does not know
/// come last.
pub(super) fn in_order(timeline: &Timeline) -> Vec<&TableData> {
    let known = sensors::tables().chain([&workloads::SIGNAL, &workloads::LATENCY_SAMPLE]);
    let known: Vec<&str> = known.map(|table| &*table.name).collect();
    let mut tables: Vec<&TableData> = timeline.tables().filter(|it| !it.is_empty()).collect();
    let place = |table: &&TableData| {
        let name = &*table.table.name;
        known
            .iter()
            .position(|it| *it == name)
            .unwrap_or(known.len())
    };
    tables.sort_by_key(place);
    tables
}

/// Whether a table's rows stand for themselves.
pub(super) fn is_rows(table: &Table) -> bool {
    table.entity == EntityKind::Workload
}

/// A recorded table in bins.
pub(super) fn binned(
    timeline: &Timeline,
    data: &TableData,
    edges: &[Timestamp],
    places: &mut Places<'_>,
) -> Result<Written> {
    let entities: Vec<EntityId> = data.entities().collect();
    let stride = stride(entities.len() * data.table.columns.len(), edges);
    let coarse = strided(edges, stride);
    let mut numbers = Numbers::default();
    for entity in entities {
        let Some(place) = places.of(entity) else {
            continue;
        };
        for (column, declared) in data.table.columns.iter().enumerate() {
            let series = timeline.series(&data.table.name, entity, &declared.name);
            let binned = series.and_then(|series| {
                let scale = scale(declared);
                match (declared.kind, declared.unit) {
                    (ColumnKind::Counter, _) => bins::counter(&series, &coarse, scale),
                    (ColumnKind::Gauge, Unit::Code) => bins::code(&series, &coarse),
                    (ColumnKind::Gauge, _) => bins::gauge(&series, &coarse, scale),
                }
            });
            if let Some(binned) = binned {
                write(&binned, (place, column), edges, &mut numbers);
            }
        }
    }
    Ok(Written {
        table: described(
            &data.table,
            PageForm::Bins {
                stride: stride as u32,
            },
        ),
        numbers,
    })
}

/// Bins so long that all series of a table fit.
fn stride(series: usize, edges: &[Timestamp]) -> usize {
    (series * edges.len()).div_ceil(MOST_NUMBERS).max(1)
}

/// Where the time of threads went.
pub(super) fn ledger(
    timeline: &Timeline,
    meta: &model::Meta,
    edges: &[Timestamp],
    places: &mut Places<'_>,
) -> Result<Option<Written>> {
    let Some(threads) = timeline.table("thread") else {
        return Ok(None);
    };
    let threads: Vec<EntityId> = threads.entities().collect();
    let stride = stride(threads.len() * 5, edges);
    let coarse = strided(edges, stride);
    let over_time = analysis::LedgerOverTime::new(timeline, meta, &coarse);
    let table = analysis::ledger_table();
    let mut numbers = Numbers::default();
    for thread in threads {
        let known = timeline
            .series("thread", thread, "run_ns")
            .and_then(|run| run.known());
        let (Some(known), Some(time)) = (known, over_time.of(thread)) else {
            continue;
        };
        let Some(place) = places.of(thread) else {
            continue;
        };
        for class in 0..table.columns.len() {
            let growth = time.bins.iter().map(|bin| bin[class]);
            let binned = bins::grown(known, time.first_bin, growth, TIME_SCALE);
            if !binned.is_zero() {
                write(&binned, (place, class), edges, &mut numbers);
            }
        }
    }
    Ok(Some(Written {
        table: described(
            &table,
            PageForm::Bins {
                stride: stride as u32,
            },
        ),
        numbers,
    }))
}

fn write(
    binned: &Binned,
    (place, column): (u32, usize),
    edges: &[Timestamp],
    numbers: &mut Numbers,
) {
    let Some(first_edge) = edges.first() else {
        return;
    };
    numbers.push(i64::from(place));
    numbers.count(column);
    binned.write(*first_edge, numbers);
}

fn scale(column: &Column) -> i64 {
    match column.unit {
        Unit::Nanoseconds => TIME_SCALE,
        _ => 1,
    }
}

/// A table as the page describes it; its block is numbered later.
pub(super) fn described(table: &Table, form: PageForm) -> PageTable {
    let column = |column: &Column| PageColumn {
        name: column.name.to_string(),
        unit: column.unit,
        kind: column.kind,
        quality: column.quality,
        help: column.help.to_string(),
        source: column.source.to_string(),
        since: column.since.to_string(),
        scale: if form == PageForm::Rows {
            1
        } else {
            scale(column)
        },
    };
    PageTable {
        name: table.name.to_string(),
        entity: table.entity,
        help: table.help.to_string(),
        columns: table.columns.iter().map(column).collect(),
        form,
        block: 0,
        left_out: 0,
    }
}
