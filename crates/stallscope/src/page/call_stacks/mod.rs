//! The call stacks of samples and of waits as one tree of named frames, and the samples and waits of each bin added up
//! by place in it.
//!
//! Names are found here, so that the page joins nothing: addresses of one function are one frame, and the functions
//! that are inlined there are frames of their own. What a wait was for is the frame below its innermost function.
//! Samples of the recorder and the scheduler's frames of waits are left out, as in the report.

mod tree;

use std::collections::{BTreeMap, HashMap};

use analysis::stacks::{
    CpuSample, Frame, Stacks, WaitSample, cpu_samples, process_of, waits_by_process,
};
use analysis::stats::Xorshift;
use model::{
    EntityId, EntityRecord, LedgerClass, PageForm, Role, Table, Timeline, Timestamp, Window,
};
use sensors::stack::{CPU_SAMPLE, STACK, WAIT_SAMPLE};

use super::block::Numbers;
use super::entities::Places;
use super::tables::{Written, described};
use tree::{Label, Tree, numbered};

/// Rows of samples and of waits at most: two saturated CPUs have about as many samples in an hour.
const MOST_ROWS: f64 = 400_000.0;
/// No recording has so many samples that one of these is too many.
const MOST_THINNED: u32 = 1 << 16;
/// No wait is longer, ns: 36 years.
const LONGEST_WAIT_NS: i64 = 1 << 60;

/// Samples that are alike: their bin, node and end, and the CPU time of each.
type Alike = (usize, usize, Option<i64>, i64);
/// Waits that are alike: their bin, node and end.
type AlikeWaits = (usize, usize, Option<i64>);

/// Waits that are alike, together.
#[derive(Default)]
struct WaitSum {
    waits: i64,
    /// The blocked time that they stand for.
    ns: i64,
    /// Of that time, ns².
    variance: f64,
}

/// What a page is made of: the samples and waits of a recording, in bins.
pub(super) struct Run<'a> {
    timeline: &'a Timeline,
    samples: Vec<CpuSample>,
    waits: Vec<(WaitSample, &'a EntityRecord)>,
    pub(super) edges: Vec<Timestamp>,
}

impl<'a> Run<'a> {
    /// Those of a window.
    pub(super) fn of(timeline: &'a Timeline, window: Window, edges: Vec<Timestamp>) -> Self {
        Self {
            timeline,
            samples: cpu_samples(timeline, window).collect(),
            waits: waits_by_process(timeline, window).collect(),
            edges,
        }
    }

    fn is_empty(&self) -> bool {
        (self.samples.is_empty() && self.waits.is_empty()) || self.edges.len() < 2
    }

    /// The part of its bins in which waits were traced; all where next to nothing was.
    fn traced(&self) -> f64 {
        let ends = self.edges.first().zip(self.edges.last());
        let traced = ends.map(|(first, last)| {
            analysis::stacks::traced(self.timeline, Window::new(*first, *last))
        });
        traced.filter(|part| *part > 1e-3).unwrap_or(1.0)
    }

    fn bin(&self, at: Timestamp) -> usize {
        let after = self.edges.partition_point(|edge| *edge <= at);
        after.saturating_sub(1).min(self.edges.len() - 2)
    }
}

/// Which part of it the page has, as `PageForm` says.
#[derive(Clone, Copy)]
struct Part {
    one_of: u32,
    least_ns: i64,
}

/// What is in the page.
#[derive(Default)]
struct Taken<'a> {
    tree: Tree<'a>,
    /// Of each run.
    rows: Vec<Rows>,
}

#[derive(Default)]
struct Rows {
    samples: BTreeMap<Alike, usize>,
    waits: BTreeMap<AlikeWaits, WaitSum>,
}

impl Taken<'_> {
    fn samples(&self) -> usize {
        self.rows.iter().map(|it| it.samples.len()).sum()
    }

    fn waits(&self) -> usize {
        self.rows.iter().map(|it| it.waits.len()).sum()
    }
}

/// The tree, and the samples and the waits in it; nothing of a recording without any. Those of `against` stand in the same
/// tree, in tables of their own.
pub(super) fn write(
    timeline: &Timeline,
    edges: &[Timestamp],
    against: Option<&Run<'_>>,
    part: f64,
    places: &mut Places<'_>,
) -> Vec<Written> {
    let own = Run::of(timeline, timeline.window, edges.to_vec());
    if own.is_empty() {
        return Vec::new();
    }
    let runs: Vec<&Run<'_>> = std::iter::once(&own)
        .chain(against.filter(|it| !it.is_empty()))
        .collect();
    let most = (MOST_ROWS * part) as usize;
    let mut part = Part {
        one_of: 1,
        least_ns: 0,
    };
    let mut taken = taken(&runs, part);
    while taken.samples() + taken.waits() > most
        && let Some(less) = part.less(&taken, &runs, most)
    {
        part = less;
        taken = self::taken(&runs, part);
    }
    let order = taken.tree.in_order();
    let Part { one_of, least_ns } = part;
    let mut written = vec![Written {
        table: described(&STACK, PageForm::Stacks, 0),
        numbers: taken.tree.numbers(&order, places),
    }];
    for ((run, rows), prefix) in runs.into_iter().zip(&taken.rows).zip(["", "against_"]) {
        let mut add = |table: &Table, form, numbers| {
            let mut table = described(table, form, 0);
            table.name.insert_str(0, prefix);
            written.push(Written { table, numbers });
        };
        if !run.samples.is_empty() {
            let numbers = sample_numbers(&rows.samples, &order, one_of);
            add(&CPU_SAMPLE, PageForm::Samples { one_of }, numbers);
        }
        if !run.waits.is_empty() {
            let numbers = wait_numbers(&rows.waits, &order);
            add(&WAIT_SAMPLE, PageForm::Waits { least_ns }, numbers);
        }
    }
    written
}

impl Part {
    /// A smaller part, of what has more rows; `None` where there is none.
    fn less(self, taken: &Taken<'_>, runs: &[&Run<'_>], most: usize) -> Option<Self> {
        let waits = || runs.iter().flat_map(|run| &run.waits);
        let (can_samples, can_waits) = (
            self.one_of < MOST_THINNED,
            waits().next().is_some() && self.least_ns < LONGEST_WAIT_NS,
        );
        if can_samples && (taken.samples() > taken.waits() || !can_waits) {
            let one_of = self.one_of * 2;
            return Some(Self { one_of, ..self });
        }
        // Of waits that stand for as much, this would leave sixteen times what there is room for.
        let all_ns: f64 = waits().map(|(wait, _)| wait.weight_ns as f64).sum();
        let first = (all_ns / most.max(1) as f64 / 16.0) as i64;
        can_waits.then(|| Self {
            least_ns: (self.least_ns * 2).max(first).max(1),
            ..self
        })
    }
}

/// Finds the nodes of samples and waits.
struct Nodes<'a> {
    stacks: Option<Stacks<'a>>,
    tree: Tree<'a>,
    /// The first process of a name and a role; `None` where it is not of the page's recording.
    first: HashMap<(&'a str, Role), Option<EntityId>>,
    is_own: bool,
    known: HashMap<(usize, i64, Option<LedgerClass>), usize>,
}

impl<'a> Nodes<'a> {
    fn of(
        &mut self,
        process: &'a EntityRecord,
        stack: Option<i64>,
        class: Option<LedgerClass>,
    ) -> usize {
        let (name, role) = (&*process.entity.name, process.role);
        let own = self.is_own.then_some(process.id);
        let first = *self.first.entry((name, role)).or_insert(own);
        let tree = &mut self.tree;
        let root = tree.under(None, Label::Process(name, role, first));
        let mut below = |frames: Vec<Frame<'a>>| {
            let outermost_first = frames.into_iter().rev().map(Label::Frame);
            let all = outermost_first.chain(class.map(Label::Class));
            all.fold(root, |caller, it| tree.under(Some(caller), it))
        };
        let (Some(stacks), Some(stack)) = (&self.stacks, stack) else {
            return below(Vec::new());
        };
        let node = self.known.entry((root, stack, class));
        *node.or_insert_with(|| {
            below(match class {
                None => stacks.frames(stack),
                Some(_) => stacks.waiting_frames(stack),
            })
        })
    }
}

/// The part of samples and waits, each as likely as any other of its time: every n-th would be those of one CPU.
fn taken<'a>(runs: &[&Run<'a>], part: Part) -> Taken<'a> {
    let mut random = Xorshift::new(1);
    let mut nodes = Nodes {
        stacks: None,
        tree: Tree::default(),
        first: HashMap::new(),
        is_own: true,
        known: HashMap::new(),
    };
    let mut rows = Vec::new();
    for run in runs {
        nodes.is_own = rows.is_empty();
        nodes.stacks = Stacks::of(run.timeline);
        nodes.known.clear();
        // The page scales its own recording's waits itself, by window.
        let traced = match nodes.is_own {
            true => 1.0,
            false => run.traced(),
        };
        rows.push(rows_of(run, part, traced, &mut nodes, &mut random));
    }
    Taken {
        tree: nodes.tree,
        rows,
    }
}

fn rows_of<'a>(
    run: &Run<'a>,
    part: Part,
    traced: f64,
    nodes: &mut Nodes<'a>,
    random: &mut Xorshift,
) -> Rows {
    let mut rows = Rows::default();
    for sample in &run.samples {
        let process = process_of(run.timeline, sample.entity);
        let Some(process) = process.filter(|it| it.role != Role::Recorder) else {
            continue;
        };
        if part.one_of > 1 && random.below(part.one_of as usize) > 0 {
            continue;
        }
        let node = nodes.of(process, sample.stack, None);
        let alike = (run.bin(sample.at), node, sample.end, sample.cpu_ns);
        *rows.samples.entry(alike).or_default() += 1;
    }
    for (wait, process) in &run.waits {
        let weight_ns = wait.weight_ns.max(part.least_ns);
        if weight_ns > wait.weight_ns && random.below(weight_ns as usize) >= wait.weight_ns as usize
        {
            continue;
        }
        let wait = WaitSample { weight_ns, ..*wait };
        let node = nodes.of(process, wait.stack, Some(wait.class));
        let sum = rows.waits.entry((run.bin(wait.until), node, wait.end));
        let sum = sum.or_default();
        sum.waits += 1;
        sum.ns = sum.ns.saturating_add((weight_ns as f64 / traced) as i64);
        sum.variance += wait.variance() / (traced * traced);
    }
    rows
}

fn sample_numbers(rows: &BTreeMap<Alike, usize>, order: &[usize], one_of: u32) -> Numbers {
    let number = numbered(order);
    let as_placed = |((bin, node, end, ns), samples): (&Alike, &usize)| {
        let ns = ns.saturating_mul(i64::from(one_of));
        let (bin, node) = (*bin as i64, number[*node] as i64);
        [bin, node, known_end(*end), *samples as i64, ns]
    };
    in_columns(rows.iter().map(as_placed).collect())
}

fn wait_numbers(rows: &BTreeMap<AlikeWaits, WaitSum>, order: &[usize]) -> Numbers {
    let number = numbered(order);
    let as_placed = |((bin, node, end), sum): (&AlikeWaits, &WaitSum)| {
        let (bin, node) = (*bin as i64, number[*node] as i64);
        let deviation = sum.variance.sqrt().round() as i64;
        [bin, node, known_end(*end), sum.waits, sum.ns, deviation]
    };
    in_columns(rows.iter().map(as_placed).collect())
}

fn known_end(end: Option<i64>) -> i64 {
    end.map_or(-1, |end| end.max(0))
}

/// Column by column, so that like stands by like.
fn in_columns<const N: usize>(mut rows: Vec<[i64; N]>) -> Numbers {
    rows.sort_unstable();
    let mut numbers = Numbers::default();
    numbers.count(rows.len());
    for column in 0..N {
        let mut before = 0i64;
        for row in &rows {
            numbers.push(row[column].wrapping_sub(before));
            before = row[column];
        }
    }
    numbers
}
