//! The places in a program that causes name: the function that has most of its CPU time, where it spins, and where it
//! waits for a lock.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{EntityId, LedgerClass, Role, Timeline, Window};
use sensors::stack::LOCK;

use super::{Frame, Stacks, add, cpu_samples, process_of, rows_or_none, sum, wait_samples};

/// Fewer samples say nothing of a part.
const LEAST_SAMPLES: u64 = 50;
/// Fewer waits are no place.
const LEAST_WAITS: u64 = 5;
/// Functions of a path that are named.
const NAMED: usize = 3;

/// The function in which most of the target's CPU time went.
pub(crate) struct Hot {
    /// It and its callers, the innermost first.
    pub(crate) path: String,
    /// The part of the target's CPU time in it.
    pub(crate) part: f64,
    /// Samples of the target.
    pub(crate) samples: u64,
}

/// A lock that threads of a process waited for.
pub(crate) struct Lock {
    /// In the process's memory.
    pub(crate) address: i64,
    /// The variable, where it is one.
    pub(crate) variable: Option<String>,
}

/// Where the target's threads waited most.
pub(crate) struct Place {
    /// The function that waits and its callers, the innermost first.
    pub(crate) path: String,
    /// The part of the waits in it.
    pub(crate) part: f64,
    /// The lock, where most of these waits were for one.
    pub(crate) lock: Option<Lock>,
    /// Where those were who ended most of them.
    pub(crate) ended_in: Option<String>,
}

/// CPU time by stack of the target's samples, and how many there were; with `spinning` of those in loops that wait.
fn of_target(timeline: &Timeline, window: Window, spinning: bool) -> (HashMap<i64, i64>, u64, i64) {
    let (mut by_stack, mut samples, mut all_ns) = (HashMap::new(), 0, 0);
    for sample in cpu_samples(timeline, window) {
        if !is_targets(timeline, sample.entity) {
            continue;
        }
        samples += 1;
        add(&mut all_ns, sample.cpu_ns);
        if let Some(stack) = sample.stack.filter(|_| sample.spins || !spinning) {
            add(by_stack.entry(stack).or_default(), sample.cpu_ns);
        }
    }
    (by_stack, samples, all_ns)
}

/// The function of most of the target's CPU time: that of the innermost frame. `None` of too few samples.
pub(crate) fn hot(timeline: &Timeline, window: Window) -> Option<Hot> {
    hottest(timeline, window, false)
}

/// The same of what it spent in loops that wait; `part` is that of all of them, and the path that of the code that runs
/// into most of them.
pub(crate) fn spinning(timeline: &Timeline, window: Window) -> Option<Hot> {
    hottest(timeline, window, true)
}

/// The hottest function; with `spinning` the hottest of a program's own that runs into loops that wait.
fn hottest(timeline: &Timeline, window: Window, spinning: bool) -> Option<Hot> {
    let (by_stack, samples, all_ns) = of_target(timeline, window, spinning);
    if samples < LEAST_SAMPLES || all_ns == 0 || by_stack.is_empty() {
        return None;
    }
    let stacks = Stacks::of(timeline)?;
    let spun_ns = sum(by_stack.values().copied());
    // The function alone decides; of its callers the most frequent are named.
    let mut by_function: BTreeMap<Frame<'_>, (i64, BTreeMap<String, i64>)> = BTreeMap::new();
    for (stack, ns) in by_stack {
        let frames = stacks.frames(stack);
        let named = match spinning {
            true => outside_libraries(&frames),
            false => &frames[..],
        };
        if let Some(innermost) = named.first().filter(|frame| frame.function.is_some()) {
            let function = by_function.entry(*innermost).or_default();
            add(&mut function.0, ns);
            add(function.1.entry(path(named)).or_default(), ns);
        }
    }
    let (_, (ns, paths)) = by_function.into_iter().max_by_key(|(_, (ns, _))| *ns)?;
    let (path, _) = paths.into_iter().max_by_key(|(_, ns)| *ns)?;
    Some(Hot {
        path,
        part: if spinning { spun_ns } else { ns } as f64 / all_ns as f64,
        samples,
    })
}

/// Waits at one place.
#[derive(Default)]
struct At {
    ns: i64,
    by_lock: HashMap<(EntityId, i64), i64>,
    by_end: HashMap<i64, i64>,
}

/// The target's waits in these classes by their stacks, how many there were, and their time.
fn waits_by_stack(
    timeline: &Timeline,
    window: Window,
    classes: &[LedgerClass],
    inside: impl Fn(EntityId, LedgerClass) -> f64,
) -> (HashMap<i64, At>, u64, i64) {
    let (mut by_stack, mut count, mut all_ns) = (HashMap::<_, At>::new(), 0, 0);
    let mut parts: HashMap<(EntityId, LedgerClass), f64> = HashMap::new();
    for mut wait in wait_samples(timeline, window) {
        if !classes.contains(&wait.class) || !is_targets(timeline, wait.entity) {
            continue;
        }
        let part = parts.entry((wait.entity, wait.class));
        let part = *part.or_insert_with(|| inside(wait.entity, wait.class));
        wait.weight_ns = (wait.weight_ns as f64 * part).round() as i64;
        if wait.weight_ns == 0 {
            continue;
        }
        count += 1;
        add(&mut all_ns, wait.weight_ns);
        let Some(stack) = wait.stack else {
            continue;
        };
        let at = by_stack.entry(stack).or_default();
        add(&mut at.ns, wait.weight_ns);
        let process = process_of(timeline, wait.entity);
        if let (Some(lock), Some(process)) = (wait.lock, process) {
            add(
                at.by_lock.entry((process.id, lock)).or_default(),
                wait.weight_ns,
            );
        }
        if let Some(end) = wait.waker_stack {
            add(at.by_end.entry(end).or_default(), wait.weight_ns);
        }
    }
    (by_stack, count, all_ns)
}

/// Where the target's threads waited in these classes; `None` of too few such waits. A thread's waits of a class weigh by
/// the part `inside` of requests.
pub(crate) fn where_waited(
    timeline: &Timeline,
    window: Window,
    classes: &[LedgerClass],
    inside: impl Fn(EntityId, LedgerClass) -> f64,
) -> Option<Place> {
    let (by_stack, count, all_ns) = waits_by_stack(timeline, window, classes, inside);
    if count < LEAST_WAITS || all_ns == 0 {
        return None;
    }
    let stacks = Stacks::of(timeline)?;
    let mut by_path: BTreeMap<String, At> = BTreeMap::new();
    for (stack, at) in by_stack {
        let frames = stacks.frames(stack);
        let whole = by_path.entry(path(outside_libraries(&frames))).or_default();
        add(&mut whole.ns, at.ns);
        for (lock, ns) in at.by_lock {
            add(whole.by_lock.entry(lock).or_default(), ns);
        }
        for (end, ns) in at.by_end {
            add(whole.by_end.entry(end).or_default(), ns);
        }
    }
    by_path.remove("");
    let (path, at) = by_path.into_iter().max_by_key(|(_, at)| at.ns)?;
    let is_most = |ns: i64| ns > at.ns / 2;
    let lock = at.by_lock.iter().max_by_key(|(_, ns)| **ns);
    Some(Place {
        part: at.ns as f64 / all_ns as f64,
        lock: lock
            .filter(|(_, ns)| is_most(**ns))
            .map(|((process, address), _)| Lock {
                address: *address,
                variable: variable(timeline, *process, *address),
            }),
        ended_in: ended_in(&stacks, &at.by_end)
            .filter(|(_, ns)| is_most(*ns))
            .map(|(path, _)| path),
        path,
    })
}

/// The variable that a lock is.
fn variable(timeline: &Timeline, process: EntityId, address: i64) -> Option<String> {
    let mut rows = rows_or_none(timeline, &LOCK.name, ["address", "variable"]);
    let (.., [_, text]) = rows.find(|(_, of, [at, _])| *of == process && *at == address)?;
    Some(timeline.strings.of_value(text)?.text.to_string())
}

fn ended_in(stacks: &Stacks<'_>, by_end: &HashMap<i64, i64>) -> Option<(String, i64)> {
    let mut by_path: BTreeMap<String, i64> = BTreeMap::new();
    for (stack, ns) in by_end {
        let frames = stacks.frames(*stack);
        let path = path(outside_libraries(&frames));
        add(by_path.entry(path).or_default(), *ns);
    }
    by_path.remove("");
    by_path.into_iter().max_by_key(|(_, ns)| *ns)
}

pub(super) fn is_targets(timeline: &Timeline, entity: EntityId) -> bool {
    process_of(timeline, entity).is_some_and(|process| process.role == Role::Target)
}

/// The frames of the program itself: behind those of the kernel and of what is between it and the program, where every
/// program waits and locks.
pub(crate) fn outside_libraries<'a, 'b>(frames: &'b [Frame<'a>]) -> &'b [Frame<'a>] {
    let own = frames
        .iter()
        .position(|frame| !is_between(frame) && frame.function.is_some());
    own.map_or(&[], |own| &frames[own..])
}

/// Files and functions of the system's and the languages' own libraries.
fn is_between(frame: &Frame<'_>) -> bool {
    const FILES: [&str; 8] = [
        "libc.",
        "libc-",
        "libpthread",
        "ld-linux",
        "ld-musl",
        "libstdc++",
        "libgomp",
        "[",
    ];
    const FUNCTIONS: [&str; 10] = [
        "std::",
        "core::",
        "parking_lot",
        "pthread_",
        "__pthread_",
        "__lll_",
        "runtime.",
        "sync.",
        "internal/",
        "syscall.",
    ];
    let file = frame.module.rsplit('/').next().unwrap_or_default();
    let starts = |text: &str, with: &[&str]| with.iter().any(|it| text.starts_with(it));
    file.is_empty()
        || starts(file, &FILES)
        || frame.function.is_some_and(|it| starts(it, &FUNCTIONS))
}

/// The innermost functions with a name: `LWLockAcquire < XLogFlush < CommitTransactionCommand`.
pub(crate) fn path(frames: &[Frame<'_>]) -> String {
    let mut seen = BTreeSet::new();
    let named = frames.iter().filter_map(|frame| frame.function);
    let named = named.filter(|function| seen.insert(*function));
    named.take(NAMED).collect::<Vec<_>>().join(" < ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame<'a>(module: &'a str, function: &'a str) -> Frame<'a> {
        Frame {
            function: (!function.is_empty()).then_some(function),
            module,
            address: 0,
        }
    }

    #[test]
    fn a_place_is_named_by_the_programs_own_functions() {
        let frames = [
            frame("[kernel]", "futex_wait"),
            frame("/usr/lib/x86_64-linux-gnu/libc.so.6", ""),
            frame("/usr/lib/x86_64-linux-gnu/libc.so.6", "pthread_mutex_lock"),
            frame("/opt/app", ""),
            frame("/opt/app", "std::mutex::lock"),
            frame("/opt/app", "Queue::push"),
            frame("/opt/app", "Queue::push"),
            frame("/opt/app", ""),
            frame("/opt/app", "worker"),
            frame("/opt/app", "main"),
            frame("/usr/lib/x86_64-linux-gnu/libc.so.6", "__libc_start_main"),
        ];
        let own = outside_libraries(&frames);
        assert_eq!(path(own), "Queue::push < worker < main");
        assert_eq!(path(outside_libraries(&frames[..4])), "");
    }
}
