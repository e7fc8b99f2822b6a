//! The report page: a recording as the JSON and the blocks of numbers that a browser draws it from.
//!
//! Downsampled to what a screen can show and a mail can carry; what a bin hides of its extremes stands
//! beside it. `docs/page.md` describes the form.

mod bins;
mod block;
mod edges;
mod entities;
mod html;
mod rows;
mod tables;

use anyhow::Result;
use model::{Meta, PAGE_SCHEMA, Page, PageEvent, PageEventKind, PageForm, Report, Role};
use recording::Recording;

pub(crate) use html::write;

use block::Numbers;
use entities::Places;
use tables::Written;

/// A page before it is put together.
pub(crate) struct Drawn {
    /// Its JSON part.
    pub(crate) page: Page,
    /// Its blocks, packed.
    pub(crate) blocks: Vec<Vec<u8>>,
}

/// Draws a recording with a report of it; `name` is what a person types for it.
pub(crate) fn draw(recording: &Recording, report: Report, name: String) -> Result<Drawn> {
    let Recording { meta, timeline, .. } = recording;
    let intervals = analysis::intervals(timeline);
    let edges = edges::edges(timeline.window, report.origin, &intervals);
    let mut places = Places::new(timeline);
    let mut tables = Vec::new();
    let mut blocks = vec![times(&edges, report.origin).packed()?];
    for data in tables::in_order(timeline) {
        if tables::is_rows(&data.table) {
            tables.push(Written {
                table: tables::described(&data.table, PageForm::Rows),
                numbers: rows::write(data, report.origin, &mut places),
            });
        } else {
            tables.push(tables::binned(timeline, data, &edges, &mut places)?);
        }
        if data.table.name == "thread" {
            tables.extend(tables::ledger(timeline, meta, &edges, &mut places)?);
        }
    }
    let mut described = Vec::new();
    for Written { mut table, numbers } in tables {
        table.block = blocks.len() as u32;
        blocks.push(numbers.packed()?);
        described.push(table);
    }
    let page = Page {
        schema: PAGE_SCHEMA.to_owned(),
        recording: name,
        complete: meta.complete,
        served: false,
        window: timeline.window,
        step_ns: edges::usual_step(&edges),
        entities: places.list(),
        events: events(meta),
        tables: described,
        report,
    };
    Ok(Drawn { page, blocks })
}

fn times(edges: &[model::Timestamp], origin: model::Timestamp) -> Numbers {
    let mut numbers = Numbers::default();
    numbers.count(edges.len());
    let mut before = origin;
    for edge in edges {
        numbers.push(edge.ns_since(before));
        before = *edge;
    }
    numbers
}

fn events(meta: &Meta) -> Vec<PageEvent> {
    let mut events = Vec::new();
    if let Some(workload) = &meta.workload {
        events.push(PageEvent {
            at: workload.started,
            kind: PageEventKind::WorkloadStarted,
            text: format!("{} was started", workload.name),
        });
        events.extend(workload.outcome.as_ref().map(|outcome| PageEvent {
            at: outcome.ended,
            kind: PageEventKind::WorkloadEnded,
            text: match outcome.exit.status() {
                0 => format!("{} ended", workload.name),
                status => format!("{} ended with status {status}", workload.name),
            },
        }));
    }
    let found = meta.targets.iter().filter(|it| it.role == Role::Target);
    events.extend(found.map(|target| PageEvent {
        at: target.found_at,
        kind: PageEventKind::TargetFound,
        text: format!("{} was found ({})", target.name, target.found_by),
    }));
    events.sort_by_key(|event| event.at);
    events
}
