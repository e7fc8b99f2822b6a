//! Call stacks of a recording: their frames by name, in which of them CPU time went, and where threads waited.

mod by_function;
mod places;
mod report;
mod waits;

use std::collections::HashMap;
use std::fmt;

use model::{EntityId, EntityKind, EntityRecord, MISSING, StringKind, Text, Timeline, Window};
use sensors::stack::{CPU_SAMPLE, STACK, SYMBOL};

pub(crate) use by_function::{ByFunction, cpu_by_function};
pub(crate) use places::{Hot, Place, hot, outside_libraries, path, spinning, where_waited};
pub use report::report;
pub use waits::{WaitSample, wait_samples, waits_by_process};

/// The part of a window in which waits were traced, 0 to 1; 1 where that is not known.
pub fn traced(timeline: &Timeline, window: Window) -> f64 {
    1.0 - crate::coverage::off_part(timeline, window).unwrap_or(0.0)
}

/// Frames of a stack are followed up to here: in a file from elsewhere a stack may be its own caller.
const MOST_FRAMES: usize = 512;

/// A stack that leads to the outermost function, by the code of column `end`.
const WHOLE: i64 = 0;

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame<'a> {
    /// The function; `None` where the address lies in none that is known.
    pub function: Option<&'a str>,
    /// The file of the code; empty where it is not known.
    pub module: &'a str,
    /// The address in the file. 0 where a function is known: it names the frame.
    pub address: u64,
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            return f.write_str(function);
        }
        let file = self.module.rsplit('/').next().unwrap_or_default();
        match file {
            "" => write!(f, "[unknown]"),
            _ => write!(f, "{file}+{:#x}", self.address),
        }
    }
}

/// One row of table `stack`.
#[derive(Clone, Copy)]
struct Node {
    caller: i64,
    module: i64,
    address: i64,
}

/// A sample of what ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuSample {
    /// When.
    pub at: model::Timestamp,
    /// The thread, or the process where its threads are not followed, or the machine.
    pub entity: EntityId,
    /// The number of its stack, if there was room for it.
    pub stack: Option<i64>,
    /// The CPU time that it stands for, ns.
    pub cpu_ns: i64,
    /// How its stack in user space ends, by the code of the column; `None` where it has none.
    pub end: Option<i64>,
    /// Whether it was in a loop that waits.
    pub spins: bool,
}

/// The call stacks of a recording.
pub struct Stacks<'a> {
    timeline: &'a Timeline,
    nodes: HashMap<i64, Node>,
    /// The innermost function of a module and an address, by the numbers of their texts.
    functions: HashMap<(i64, i64), i64>,
}

impl<'a> Stacks<'a> {
    /// Of a recording that has some.
    pub fn of(timeline: &'a Timeline) -> Option<Self> {
        let rows = rows(
            timeline,
            &STACK.name,
            ["number", "caller", "module", "address"],
        )?;
        let nodes = rows.map(|(_, _, [number, caller, module, address])| {
            let node = Node {
                caller,
                module,
                address,
            };
            (number, node)
        });
        let named = rows_or_none(timeline, &SYMBOL.name, ["module", "address", "function"]);
        let functions =
            named.map(|(_, _, [module, address, function])| ((module, address), function));
        Some(Self {
            timeline,
            nodes: nodes.collect(),
            functions: functions.collect(),
        })
    }

    /// The frames of a stack, the innermost first; those that are inlined are frames of their own.
    pub fn frames(&self, stack: i64) -> Vec<Frame<'a>> {
        let mut frames = Vec::new();
        let mut next = stack;
        while let Some(node) = self.nodes.get(&next)
            && frames.len() < MOST_FRAMES
        {
            self.frames_of(*node, &mut frames);
            next = node.caller;
        }
        frames
    }

    fn frames_of(&self, node: Node, frames: &mut Vec<Frame<'a>>) {
        let strings = &self.timeline.strings;
        let module = strings.of_value(node.module);
        let module = module.map_or("", |text| &*text.text);
        let function = self.functions.get(&(node.module, node.address));
        let mut function: Option<&Text> = function.and_then(|id| strings.of_value(*id));
        if function.is_none() {
            frames.push(Frame {
                function: None,
                module,
                address: node.address as u64,
            });
        }
        // A parent's number is smaller, so this ends.
        while let Some(text) = function.filter(|text| text.kind == StringKind::Function)
            && frames.len() < MOST_FRAMES
        {
            frames.push(Frame {
                function: Some(&text.text),
                module,
                address: 0,
            });
            function = text.parent.and_then(|parent| strings.get(parent));
        }
    }
}

/// The samples of a window, in the order of their rows.
pub fn cpu_samples(timeline: &Timeline, window: Window) -> impl Iterator<Item = CpuSample> {
    let known = |value: i64| (value != MISSING).then_some(value);
    let rows = rows_or_none(timeline, &CPU_SAMPLE.name, ["stack", "cpu_ns", "end"]);
    // Older recordings have no such column.
    let mut spins = rows_or_none(timeline, &CPU_SAMPLE.name, ["spins"]);
    rows.map(move |row| (row, spins.next()))
        .filter(move |((at, ..), _)| window.contains(*at))
        .map(
            move |((at, entity, [stack, cpu_ns, end]), spins)| CpuSample {
                at,
                entity,
                stack: known(stack),
                cpu_ns: known(cpu_ns).unwrap_or(0).max(0),
                end: known(end),
                spins: spins.is_some_and(|(.., [spins])| spins == 1),
            },
        )
}

/// The process that an entity belongs to, or the entity itself where it belongs to none.
pub fn process_of(timeline: &Timeline, entity: EntityId) -> Option<&EntityRecord> {
    let record = timeline.entities.get(entity)?;
    match record.entity.kind {
        EntityKind::Thread => timeline.entities.get(record.parent?),
        _ => Some(record),
    }
}

/// Adds a time, ns; a file from elsewhere may hold any number.
fn add(to: &mut i64, ns: i64) {
    *to = to.saturating_add(ns);
}

/// The same of many.
fn sum(all: impl IntoIterator<Item = i64>) -> i64 {
    all.into_iter().fold(0, i64::saturating_add)
}

type Row<const N: usize> = (model::Timestamp, EntityId, [i64; N]);

/// Some columns of a table; `None` where it lacks one.
fn rows<'a, const N: usize>(
    timeline: &'a Timeline,
    table: &str,
    columns: [&str; N],
) -> Option<impl Iterator<Item = Row<N>> + use<'a, N>> {
    let data = timeline.table(table)?;
    let places = columns.map(|column| data.table.position(column));
    if places.contains(&None) {
        return None;
    }
    let places = places.map(Option::unwrap_or_default);
    Some((0..data.len()).map(move |row| {
        let (at, entity) = data.key(row);
        let values = places.map(|place| data.value(row, place));
        (at, entity, values)
    }))
}

fn rows_or_none<'a, const N: usize>(
    timeline: &'a Timeline,
    table: &str,
    columns: [&str; N],
) -> impl Iterator<Item = Row<N>> + use<'a, N> {
    rows(timeline, table, columns).into_iter().flatten()
}
