//! What a report says of call stacks: the paths of most CPU time, and those of most waiting.

use std::collections::{BTreeMap, HashMap};

use model::{
    ClassState, EntityId, HotPath, LedgerClass, Role, StackReport, Timeline, WaitEnd, WaitPath,
    WaitReport, Window,
};

use super::{Frame, Stacks, WHOLE, add, cpu_samples, process_of, sum, waits_by_process};

/// Paths that a report has, of each kind.
const PATHS: usize = 10;
/// Paths of waits for work.
const IDLE_PATHS: usize = 3;
/// Of a normal distribution 95 % lie within so many standard deviations.
const NORMAL_95: f64 = 1.96;

/// What ran in a window, and where threads waited; `None` of a recording without stacks, and where there are none.
pub fn report(timeline: &Timeline, window: Window) -> Option<StackReport> {
    let stacks = Stacks::of(timeline)?;
    let waits = waits(&stacks, timeline, window);
    let ran = ran(&stacks, timeline, window);
    match (ran, waits) {
        (Some(ran), waits) => Some(StackReport { waits, ..ran }),
        (None, waits @ Some(_)) => Some(StackReport {
            samples: 0,
            cpu_ns: 0,
            whole: None,
            unnamed: 0.0,
            paths: Vec::new(),
            waits,
        }),
        (None, None) => None,
    }
}

/// Processes by name and role, with a path.
type Path<'a> = (&'a str, Role, Vec<Frame<'a>>);

fn ran(stacks: &Stacks<'_>, timeline: &Timeline, window: Window) -> Option<StackReport> {
    let mut by_path: BTreeMap<Path<'_>, i64> = BTreeMap::new();
    let mut by_stack: HashMap<(EntityId, Option<i64>), i64> = HashMap::new();
    let (mut samples, mut unwound, mut whole) = (0, 0_u64, 0_u64);
    for sample in cpu_samples(timeline, window) {
        let process = process_of(timeline, sample.entity);
        let Some(process) = process.filter(|it| it.role != Role::Recorder) else {
            continue;
        };
        samples += 1;
        unwound += u64::from(sample.end.is_some());
        whole += u64::from(sample.end == Some(WHOLE));
        add(
            by_stack.entry((process.id, sample.stack)).or_default(),
            sample.cpu_ns,
        );
    }
    let cpu_ns = sum(by_stack.values().copied());
    if cpu_ns == 0 {
        return None;
    }
    let mut unnamed_ns = 0;
    for ((process, stack), ns) in by_stack {
        let frames = stack.map(|stack| stacks.frames(stack)).unwrap_or_default();
        if frames.first().is_none_or(|frame| frame.function.is_none()) {
            add(&mut unnamed_ns, ns);
        }
        if let Some(process) = timeline.entities.get(process) {
            let key = (&*process.entity.name, process.role, frames);
            add(by_path.entry(key).or_default(), ns);
        }
    }
    let mut paths: Vec<_> = by_path.into_iter().collect();
    paths.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let share = |ns: i64| ns as f64 / cpu_ns as f64;
    Some(StackReport {
        samples,
        cpu_ns,
        whole: (unwound > 0).then(|| whole as f64 / unwound as f64),
        unnamed: share(unnamed_ns),
        paths: paths
            .into_iter()
            .take(PATHS)
            .map(|((process, role, frames), ns)| HotPath {
                process: process.to_owned(),
                role,
                share: share(ns),
                frames: words(&frames),
            })
            .collect(),
        waits: None,
    })
}

/// Waits on one path.
#[derive(Default)]
struct OnPath {
    waits: u64,
    ns: i64,
    /// By waker's process and stack.
    ended_ns: HashMap<(EntityId, Option<i64>), i64>,
}

/// Waits by process, class and stack.
type ByStack = HashMap<(EntityId, LedgerClass, Option<i64>), OnPath>;
/// Waits by class and path.
type ByPath<'a> = BTreeMap<(LedgerClass, Path<'a>), OnPath>;

fn waits(stacks: &Stacks<'_>, timeline: &Timeline, window: Window) -> Option<WaitReport> {
    let mut by_stack = ByStack::new();
    let (mut waits, mut unwound, mut whole, mut variance) = (0, 0_u64, 0_u64, 0.0);
    for (wait, process) in waits_by_process(timeline, window) {
        waits += 1;
        unwound += u64::from(wait.end.is_some());
        whole += u64::from(wait.end == Some(WHOLE));
        variance += wait.variance();
        let key = (process.id, wait.class, wait.stack);
        let on_path = by_stack.entry(key).or_default();
        on_path.waits += 1;
        add(&mut on_path.ns, wait.weight_ns);
        if let Some(waker) = wait.waker.and_then(|id| process_of(timeline, id)) {
            let ended = on_path.ended_ns.entry((waker.id, wait.waker_stack));
            add(ended.or_default(), wait.weight_ns);
        }
    }
    if waits == 0 {
        return None;
    }
    let by_path = by_path(stacks, timeline, by_stack);
    let [needed_ns, idle_ns] = [false, true].map(|idle| {
        let paths = by_path.iter();
        let of_kind = paths.filter(|((class, _), _)| is_idle(*class) == idle);
        sum(of_kind.map(|(_, it)| it.ns))
    });
    Some(WaitReport {
        waits,
        blocked_ns: sum([needed_ns, idle_ns]),
        error_ns: (NORMAL_95 * variance.sqrt()) as i64,
        needed_ns,
        whole: (unwound > 0).then(|| whole as f64 / unwound as f64),
        paths: most(&by_path)
            .map(|((class, (process, role, frames)), it)| WaitPath {
                process: (*process).to_owned(),
                role: *role,
                class: *class,
                share: match is_idle(*class) {
                    true => it.ns as f64 / idle_ns.max(1) as f64,
                    false => it.ns as f64 / needed_ns.max(1) as f64,
                },
                waits: it.waits,
                frames: words(frames),
                kernel_frames: of_kernel(frames),
                ended_by: ended_by(stacks, timeline, it),
            })
            .collect(),
    })
}

/// The waits of stacks with the same functions together.
fn by_path<'a>(stacks: &Stacks<'a>, timeline: &'a Timeline, by_stack: ByStack) -> ByPath<'a> {
    let mut by_path = ByPath::new();
    for ((process, class, stack), on_stack) in by_stack {
        let Some(process) = timeline.entities.get(process) else {
            continue;
        };
        let frames = stack.map_or_else(Vec::new, |stack| stacks.waiting_frames(stack));
        let key = (class, (&*process.entity.name, process.role, frames));
        let on_path = by_path.entry(key).or_default();
        on_path.waits += on_stack.waits;
        add(&mut on_path.ns, on_stack.ns);
        for (waker, ns) in on_stack.ended_ns {
            add(on_path.ended_ns.entry(waker).or_default(), ns);
        }
    }
    by_path
}

/// The paths that are said: of what was needed, then of waits for work.
fn most<'a, 'b>(
    by_path: &'b ByPath<'a>,
) -> impl Iterator<Item = (&'b (LedgerClass, Path<'a>), &'b OnPath)> {
    let mut paths: Vec<_> = by_path.iter().collect();
    paths.sort_by_key(|(_, it)| std::cmp::Reverse(it.ns));
    let (idle, needed): (Vec<_>, Vec<_>) = paths
        .into_iter()
        .partition(|((class, _), _)| is_idle(*class));
    needed
        .into_iter()
        .take(PATHS)
        .chain(idle.into_iter().take(IDLE_PATHS))
}

/// Whether threads without work are in that class.
fn is_idle(class: LedgerClass) -> bool {
    class.state() == ClassState::Idle
}

/// Who ended most of the waits on a path.
fn ended_by(stacks: &Stacks<'_>, timeline: &Timeline, on_path: &OnPath) -> Option<WaitEnd> {
    let mut by_path: BTreeMap<(&str, Vec<Frame<'_>>), i64> = BTreeMap::new();
    for ((waker, stack), ns) in &on_path.ended_ns {
        let Some(waker) = timeline.entities.get(*waker) else {
            continue;
        };
        let frames = stack.map_or_else(Vec::new, |stack| stacks.waiting_frames(stack));
        add(
            by_path.entry((&waker.entity.name, frames)).or_default(),
            *ns,
        );
    }
    let most = by_path.into_iter().max_by_key(|(_, ns)| *ns);
    most.map(|((process, frames), ns)| WaitEnd {
        process: process.to_owned(),
        share: ns as f64 / on_path.ns.max(1) as f64,
        kernel_frames: of_kernel(&frames),
        frames: words(&frames),
    })
}

/// How many frames at the front are the kernel's.
fn of_kernel(frames: &[Frame<'_>]) -> u64 {
    let kernel = frames.iter().take_while(|it| it.module == "[kernel]");
    kernel.count() as u64
}

fn words(frames: &[Frame<'_>]) -> Vec<String> {
    frames.iter().map(Frame::to_string).collect()
}
