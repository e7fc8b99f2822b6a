//! The report page: a recording as the JSON and the blocks of numbers that a browser draws it from.
//!
//! Downsampled to what a screen can show and a mail can carry; what a bin hides of its extremes stands
//! beside it. `docs/page.md` describes the form.

mod against;
mod bins;
mod block;
mod call_stacks;
mod edges;
mod entities;
mod entity_selection;
mod events;
mod file;
mod fine_bins;
mod html;
mod program_runs;
mod request_tables;
mod requests;
mod rows;
mod size_estimate;
mod tables;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use model::{EntityId, PAGE_SCHEMA, Page, PageForm, Report, RowKind, Timeline, Timestamp};
use recording::Recording;
use sensors::program_run::PROGRAM_RUN;

pub(crate) use against::Against;
pub(crate) use file::{Place, name, save};
pub(crate) use html::{data, policy, write};

use block::Numbers;
use entities::Places;
use entity_selection::EntitySelection;
use tables::{PageWriter, Written};

/// A page before it is put together.
pub(crate) struct Drawn {
    /// Its JSON part.
    pub(crate) page: Page,
    /// Its blocks, packed.
    pub(crate) blocks: Vec<Vec<u8>>,
}

/// Bytes that the data of a page may have, so that a mail takes it.
const MOST_BYTES: usize = 4_700_000;
/// Entities of one kind at most.
const MOST_ENTITIES: usize = 750;
/// Of the usual room, what a short recording may have.
const MOST_PARTS: f64 = 4.0;
/// A page in less than this part of the usual room is as small as it gets.
const LEAST_PART: f64 = 0.01;

/// Draws a recording with a report of it; `name` is what a person types for it.
pub(crate) fn draw(recording: &Recording, report: &Report, name: &str) -> Result<Drawn> {
    draw_against(recording, report, name, None)
}

/// The same with the call stacks of another recording, to be compared with.
pub(crate) fn draw_against(
    recording: &Recording,
    report: &Report,
    name: &str,
    against: Option<&Against<'_>>,
) -> Result<Drawn> {
    let Recording { timeline, meta, .. } = recording;
    let intervals = analysis::intervals(timeline, meta);
    let edges = edges::edges(timeline.window, report.origin, &intervals);
    // A short recording has room for more entities.
    let mut part = (edges::MOST as f64 / edges.len() as f64).clamp(1.0, MOST_PARTS);
    let mut before = usize::MAX;
    loop {
        let drawn = draw_in(recording, report, name, against, &edges, part)?;
        let size = drawn.size()?;
        if size <= MOST_BYTES {
            return Ok(drawn);
        }
        if part < LEAST_PART {
            let mb = |bytes: usize| analysis::rate(bytes as f64 / 1e6);
            bail!(
                "{name} makes no page: without most of its rows it would still have {} MB of data, and a page may have {} MB, so that a mail takes it. Its texts, gaps or names are that long; `stallscope explain {name}` says the same as text",
                mb(size),
                mb(MOST_BYTES)
            );
        }
        part *= step(size, before);
        before = size;
    }
}

/// By how much the room of a page that is too large becomes less, where it had `before` bytes with more.
fn step(size: usize, before: usize) -> f64 {
    let step = 0.8 * MOST_BYTES as f64 / size as f64;
    // What is in the way does not depend on the room, or not yet.
    let in_vain = size as f64 > 0.95 * before as f64;
    if in_vain { step.min(0.25) } else { step }
}

impl Drawn {
    /// Bytes of its data in the file, about.
    fn size(&self) -> Result<usize> {
        let blocks: usize = self
            .blocks
            .iter()
            .map(|block| block.len().div_ceil(3) * 4)
            .sum();
        Ok(blocks + serde_json::to_string(&self.page)?.len())
    }
}

fn draw_in(
    recording: &Recording,
    report: &Report,
    name: &str,
    against: Option<&Against<'_>>,
    edges: &[Timestamp],
    part: f64,
) -> Result<Drawn> {
    let Recording { meta, timeline, .. } = recording;
    let serving = &analysis::serving_threads(timeline, meta);
    let writer = PageWriter {
        timeline,
        meta,
        serving,
        edges,
        selection: &EntitySelection::of(timeline, (MOST_ENTITIES as f64 * part.sqrt()) as usize),
        part,
    };
    let mut places = Places::new(timeline, serving);
    let mut tables = Vec::new();
    let mut blocks = vec![times(edges, report.origin).packed()?];
    let mut keep = |Written { mut table, numbers }: Written| {
        table.block = blocks.len() as u32;
        table.every = meta.plan.periods.get(&table.name).copied();
        blocks.push(numbers.packed()?);
        tables.push(table);
        anyhow::Ok(())
    };
    for data in tables::in_order(timeline) {
        if data.table.rows != RowKind::Readings {
            let written = of_events(&data.table.name, &writer, report.origin, &mut places);
            written.into_iter().try_for_each(&mut keep)?;
        } else if tables::is_rows(&data.table) {
            let numbers = rows::write(data, report.origin, part, &mut places);
            let table = tables::described(&data.table, PageForm::Rows, 0);
            keep(Written { table, numbers })?;
        } else {
            keep(writer.table(data, &mut places))?;
        }
        if let Some(sum) = writer.request_times(&data.table, &mut places) {
            keep(sum)?;
        }
        if data.table.name == "thread" {
            keep(writer.ledger(data, &mut places))?;
        }
    }
    let other = against.map(Against::run);
    let stacks = call_stacks::write(timeline, edges, other.as_ref(), part, &mut places);
    stacks.into_iter().try_for_each(keep)?;
    for blocker in blockers(timeline) {
        places.of(blocker);
    }
    let page = Page {
        schema: PAGE_SCHEMA.to_owned(),
        report: report.clone(),
        recording: name.to_owned(),
        typed: meta.plan.typed.clone(),
        complete: meta.complete,
        served: false,
        window: timeline.window,
        step_ns: edges::usual_step(edges),
        entities: places.list(),
        against: against.zip(other).map(|(it, run)| it.described(&run)),
        events: events::events(timeline, meta),
        tables,
    };
    Ok(Drawn { page, blocks })
}

/// What is drawn of a table of events, call stacks aside: these stand with samples and waits.
fn of_events(
    table: &str,
    writer: &PageWriter<'_>,
    origin: Timestamp,
    places: &mut Places<'_>,
) -> Option<Written> {
    let PageWriter { timeline, part, .. } = *writer;
    if table == PROGRAM_RUN.name {
        return program_runs::write(timeline, origin, part, places);
    }
    fine_bins::write(table, timeline, origin, part, places)
}

/// Who blocks sessions of a database: tables name them by their number in the recording.
fn blockers(timeline: &Timeline) -> BTreeSet<EntityId> {
    let tables = [&sensors::postgres::SESSION, &sensors::mysql::SESSION];
    let named = tables.into_iter().flat_map(|table| {
        let data = timeline.table(&table.name);
        let column = data.and_then(|data| Some((data, data.table.position("blocked_by")?)));
        column.into_iter().flat_map(|(data, column)| {
            (0..data.len()).filter_map(move |row| data.row(row).nth(column))
        })
    });
    named
        .filter_map(|number| u32::try_from(number).ok().map(EntityId))
        .collect()
}

fn times(edges: &[Timestamp], origin: Timestamp) -> Numbers {
    let mut numbers = Numbers::default();
    numbers.count(edges.len());
    let mut before = origin;
    for edge in edges {
        numbers.push(edge.ns_since(before));
        before = *edge;
    }
    numbers
}

#[cfg(test)]
mod tests;
