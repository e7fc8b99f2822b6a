//! In which functions spikes use CPU time, and in which they wait.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{EntityKind, MeasureKind, Role, Timeline, Timestamp, Unit, Window};

use super::{Measure, Pair, rates};
use crate::stacks::{
    Frame, Stacks, cpu_samples, outside_libraries, path, process_of, waits_by_process,
};

/// A function is looked at where it is this part of what spikes add, at least.
const LEAST_SHARE: f64 = 0.01;
/// Of functions that call each other the innermost that has this part of what spikes add to its process is told.
const MOST_OF_PROCESS: f64 = 0.5;
/// And only where it has this part of all that they add.
const LEAST_TOLD: f64 = 0.05;
/// Paths of waits that are looked at.
const MOST_PATHS: usize = 200;

/// Time around each spike and in each calm stretch, ns.
type Sums = Vec<[f64; 2]>;

/// A function of a process.
#[derive(Default)]
struct Node {
    sums: Sums,
    /// Its distance from the outermost function, times its time.
    depth: f64,
    ns: f64,
    /// Whether it is of the program itself, not of the kernel or a library below it.
    is_own: bool,
    /// The path from it outwards of most time.
    paths: BTreeMap<String, f64>,
}

/// CPU time by function, what it calls included.
pub(super) fn ran(timeline: &Timeline, pairs: &[Pair]) -> Vec<Measure> {
    let Some(stacks) = Stacks::of(timeline) else {
        return Vec::new();
    };
    let mut by_stack: HashMap<(&str, i64), Sums> = HashMap::new();
    for sample in cpu_samples(timeline, all(pairs)) {
        let process = process_of(timeline, sample.entity)
            .filter(|it| it.entity.kind == EntityKind::Process && it.role != Role::Recorder);
        let place = place(pairs, sample.at);
        if let (Some(process), Some(stack), Some(place)) = (process, sample.stack, place) {
            let sums = by_stack.entry((&*process.entity.name, stack));
            add(sums.or_default(), place, sample.cpu_ns as f64, pairs);
        }
    }
    let mut by_process: BTreeMap<&str, BTreeMap<&str, Node>> = BTreeMap::new();
    let mut added: BTreeMap<&str, f64> = BTreeMap::new();
    for ((process, stack), sums) in &by_stack {
        let own: f64 = each_added(sums, pairs).sum();
        *added.entry(process).or_default() += own;
        let frames = stacks.frames(*stack);
        let nodes = by_process.entry(process).or_default();
        count(nodes, &frames, sums, own.max(0.0));
    }
    let all: f64 = added.values().map(|it| it.max(0.0)).sum();
    if all <= 0.0 {
        return Vec::new();
    }
    let processes = by_process.into_iter();
    let measures = processes.flat_map(|(process, nodes)| {
        let own = added.get(process).copied().unwrap_or(0.0);
        of_process(process, nodes, own, all, pairs)
    });
    measures.collect()
}

/// Adds a stack's time to each of its functions, once.
fn count<'a>(nodes: &mut BTreeMap<&'a str, Node>, frames: &[Frame<'a>], sums: &Sums, added: f64) {
    let mut seen = BTreeSet::new();
    let below = frames.len() - outside_libraries(frames).len();
    for (at, frame) in frames.iter().enumerate() {
        let Some(function) = frame.function.filter(|it| seen.insert(*it)) else {
            continue;
        };
        let node = nodes.entry(function).or_default();
        node.sums.resize(sums.len(), [0.0; 2]);
        for (to, from) in node.sums.iter_mut().zip(sums) {
            to[0] += from[0];
            to[1] += from[1];
        }
        let ns: f64 = sums.iter().flatten().sum();
        node.depth += (frames.len() - at) as f64 * ns;
        node.ns += ns;
        node.is_own |= at >= below && below < frames.len();
        if added > 0.0 {
            *node.paths.entry(path(&frames[at..])).or_default() += added;
        }
    }
}

fn of_process(
    process: &str,
    nodes: BTreeMap<&str, Node>,
    of_process: f64,
    all: f64,
    pairs: &[Pair],
) -> Vec<Measure> {
    let nodes = nodes.into_values().filter_map(|node| {
        let own: f64 = each_added(&node.sums, pairs).sum();
        (own.abs() >= LEAST_SHARE * all).then_some((own, node))
    });
    let nodes: Vec<(f64, Node)> = nodes.collect();
    let is_large = |own: f64| own > 0.0 && own >= MOST_OF_PROCESS * of_process;
    let depth = |node: &Node| node.depth / node.ns.max(1.0);
    // Below a program's own functions are those that all programs call.
    let large = nodes.iter().filter(|it| is_large(it.0));
    let innermost = large.map(|(_, node)| (node.is_own, depth(node)));
    let innermost = innermost.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let measures = nodes.iter().map(|(own, node)| {
        let most = node.paths.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let share = own / all;
        Measure {
            kind: MeasureKind::Code,
            who: process.to_owned(),
            what: most.map_or(String::new(), |(path, _)| path.clone()),
            entity: None,
            unit: Unit::Nanoseconds,
            rates: node_rates(&node.sums, pairs),
            share: Some(share.clamp(0.0, 1.0)),
            told: share >= LEAST_TOLD
                && is_large(*own)
                && innermost == Some((node.is_own, depth(node))),
        }
    });
    measures.collect()
}

/// Time waited by the innermost functions of the program's own, of what spikes add `added_ns` to.
pub(super) fn waited(timeline: &Timeline, pairs: &[Pair], added_ns: f64) -> Vec<Measure> {
    let Some(stacks) = Stacks::of(timeline).filter(|_| added_ns > 0.0) else {
        return Vec::new();
    };
    let mut by_stack: HashMap<(&str, i64), Sums> = HashMap::new();
    for (wait, process) in waits_by_process(timeline, all(pairs)) {
        let Some(stack) = wait.stack.filter(|_| process.role == Role::Target) else {
            continue;
        };
        let sums = by_stack.entry((&*process.entity.name, stack)).or_default();
        // What it stands for lies where it was.
        let stands_for = wait.weight_ns as f64 / wait.wait_ns.max(1) as f64;
        let waited = Window::new(wait.until + -wait.wait_ns, wait.until);
        for (place, ns) in overlaps(pairs, waited) {
            add(sums, place, ns as f64 * stands_for, pairs);
        }
    }
    let mut by_path: BTreeMap<(&str, String), Sums> = BTreeMap::new();
    for ((process, stack), sums) in &by_stack {
        let frames = stacks.waiting_frames(*stack);
        let path = path(outside_libraries(&frames));
        if path.is_empty() {
            continue;
        }
        let whole = by_path.entry((process, path)).or_default();
        whole.resize(sums.len(), [0.0; 2]);
        for (to, from) in whole.iter_mut().zip(sums) {
            to[0] += from[0];
            to[1] += from[1];
        }
    }
    let paths = by_path.into_iter().filter_map(|((process, path), sums)| {
        let own: f64 = each_added(&sums, pairs).sum();
        (own.abs() >= LEAST_SHARE * added_ns).then(|| Measure {
            kind: MeasureKind::Waits,
            who: process.to_owned(),
            what: path,
            entity: None,
            unit: Unit::Nanoseconds,
            rates: node_rates(&sums, pairs),
            share: Some((own / added_ns).clamp(0.0, 1.0)),
            told: true,
        })
    });
    paths.take(MOST_PATHS).collect()
}

/// From the first calm stretch to what is around the last spike.
fn all(pairs: &[Pair]) -> Window {
    let ends = pairs.first().zip(pairs.last());
    let ends = ends.map(|(first, last)| Window::new(first.calm.start, last.around.end));
    ends.unwrap_or(Window::new(Timestamp::from_ns(0), Timestamp::from_ns(0)))
}

/// The pair that a moment belongs to, and the side: 0 around the spike, 1 in the calm stretch.
fn place(pairs: &[Pair], at: Timestamp) -> Option<(usize, usize)> {
    let number = pairs.partition_point(|it| it.around.end <= at);
    let pair = pairs.get(number)?;
    match (pair.around.contains(at), pair.calm.contains(at)) {
        (true, _) => Some((number, 0)),
        (_, true) => Some((number, 1)),
        _ => None,
    }
}

/// The windows of pairs that a window lies in, and for how long, ns.
fn overlaps(pairs: &[Pair], window: Window) -> impl Iterator<Item = ((usize, usize), i64)> {
    let first = pairs.partition_point(|it| it.around.end <= window.start);
    let near = pairs.iter().enumerate().skip(first);
    let near = near.take_while(move |(_, it)| it.calm.start < window.end);
    near.flat_map(move |(number, pair)| {
        let sides = [(0, pair.around), (1, pair.calm)].into_iter();
        sides.filter_map(move |(side, own)| {
            let both = own.intersect(window)?;
            Some(((number, side), both.len_ns()))
        })
    })
}

fn add(sums: &mut Sums, (number, side): (usize, usize), ns: f64, pairs: &[Pair]) {
    sums.resize(pairs.len(), [0.0; 2]);
    sums[number][side] += ns;
}

fn node_rates(sums: &Sums, pairs: &[Pair]) -> Vec<[f64; 2]> {
    let each = sums.iter().zip(pairs);
    each.map(|([around, calm], pair)| rates(pair, *around, *calm))
        .collect()
}

/// What each spike adds, ns.
fn each_added<'a>(sums: &'a Sums, pairs: &'a [Pair]) -> impl Iterator<Item = f64> + 'a {
    let each = sums.iter().zip(pairs);
    each.map(|([around, calm], pair)| around - calm / pair.calm.seconds() * pair.around.seconds())
}
