//! The target's CPU time by function, in each of several windows: what of it grew.

use std::collections::{BTreeMap, HashMap};

use model::{Timeline, Window};
use sensors::stack::CPU_SAMPLE;

use super::places::{is_targets, outside_libraries};
use super::{Frame, Stacks, cpu_samples};

/// The target's CPU time in each function of its own, with what that calls of the system's and the languages'
/// libraries, ns, of each window. The windows are in the order of time and do not overlap. A stack in which no function
/// is known counts for none. `None` where what was executed was not recorded.
pub(crate) fn cpu_by_function(
    timeline: &Timeline,
    windows: &[Window],
) -> Option<BTreeMap<String, Vec<f64>>> {
    let (first, last) = (windows.first()?, windows.last()?);
    timeline.table(&CPU_SAMPLE.name)?;
    let mut by_stack: HashMap<i64, Vec<f64>> = HashMap::new();
    for sample in cpu_samples(timeline, Window::new(first.start, last.end)) {
        let at = windows.partition_point(|it| it.end <= sample.at);
        let is_inside = windows.get(at).is_some_and(|it| it.contains(sample.at));
        let Some(stack) = sample.stack.filter(|_| is_inside) else {
            continue;
        };
        if is_targets(timeline, sample.entity) {
            let times = by_stack
                .entry(stack)
                .or_insert_with(|| vec![0.0; windows.len()]);
            times[at] += sample.cpu_ns as f64;
        }
    }
    let stacks = Stacks::of(timeline)?;
    let mut by_function: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (stack, times) in by_stack {
        let frames = stacks.frames(stack);
        let Some(function) = own_function(&frames) else {
            continue;
        };
        let all = by_function
            .entry(function.to_owned())
            .or_insert_with(|| vec![0.0; windows.len()]);
        all.iter_mut().zip(times).for_each(|(all, ns)| *all += ns);
    }
    (!by_function.is_empty()).then_some(by_function)
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
