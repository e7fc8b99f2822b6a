//! The target's CPU time by function, in each of several pieces of a run: what of it grew.

use std::collections::{BTreeMap, HashMap};

use model::{Timeline, Window};

use super::places::{is_targets, outside_libraries};
use super::{Frame, Stacks, cpu_samples};
use crate::pieces::Piece;

/// CPU time of each piece, ns, by function.
pub(crate) type ByFunction = BTreeMap<String, Vec<f64>>;

/// The target's CPU time in each function of its own, with what that calls of the system's and the languages'
/// libraries, ns, of each piece. The pieces are in the order of time and do not overlap. A stack in which no function is
/// known counts for none. `None` where what was executed was not recorded.
pub(crate) fn cpu_by_function(timeline: &Timeline, pieces: &[Piece]) -> Option<ByFunction> {
    let (first, last) = (pieces.first()?.window, pieces.last()?.window);
    let stacks = Stacks::of(timeline)?;
    let mut functions: HashMap<i64, Option<&str>> = HashMap::new();
    let mut by_function: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for sample in cpu_samples(timeline, Window::new(first.start, last.end)) {
        let at = pieces.partition_point(|it| it.window.end <= sample.at);
        let is_inside = pieces
            .get(at)
            .is_some_and(|it| it.window.contains(sample.at));
        let Some(stack) = sample.stack.filter(|_| is_inside) else {
            continue;
        };
        if !is_targets(timeline, sample.entity) {
            continue;
        }
        let function = functions
            .entry(stack)
            .or_insert_with(|| own_function(&stacks.frames(stack)));
        if let Some(function) = function {
            let times = by_function
                .entry(function)
                .or_insert_with(|| vec![0.0; pieces.len()]);
            times[at] += sample.cpu_ns as f64;
        }
    }
    let named = by_function.into_iter();
    let named: ByFunction = named.map(|(it, ns)| (it.to_owned(), ns)).collect();
    (!named.is_empty()).then_some(named)
}

/// The innermost function of the program itself, or of what it runs in where there is none.
fn own_function<'a>(frames: &[Frame<'a>]) -> Option<&'a str> {
    let own = outside_libraries(frames).first().copied();
    let known = || {
        frames
            .iter()
            .find(|frame| frame.function.is_some())
            .copied()
    };
    own.or_else(known)?.function
}
