//! The call stacks of samples as one tree of named frames, and the samples of each bin added up by place in it.
//!
//! Names are found here, so that the page joins nothing: addresses of one function are one frame, and the functions
//! that are inlined there are frames of their own. Samples of the recorder are left out, as in the report.

use std::collections::{BTreeMap, HashMap};

use analysis::stacks::{CpuSample, Frame, Stacks, cpu_samples, process_of};
use analysis::stats::Xorshift;
use model::{EntityId, PageForm, Role, Timeline, Timestamp};
use sensors::stack::{CPU_SAMPLE, STACK};

use super::block::Numbers;
use super::entities::Places;
use super::tables::{Written, described};

/// Rows of samples at most: two saturated CPUs have about as many in an hour.
const MOST_ROWS: f64 = 400_000.0;
/// No recording has so many samples that one of these is too many.
const MOST_THINNED: u32 = 1 << 16;

/// What a node of the tree is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Label<'a> {
    /// Processes of a name and a role, which a first one stands for.
    Process(&'a str, Role, EntityId),
    Frame(Frame<'a>),
}

impl Label<'_> {
    /// The text and the code of its kind.
    fn text(&self) -> (String, i64) {
        match self {
            Self::Process(name, ..) => ((*name).to_owned(), 0),
            Self::Frame(frame) => (frame.to_string(), 1 + i64::from(frame.function.is_none())),
        }
    }
}

/// Frames under what called them; the callers of all are processes.
#[derive(Default)]
struct Tree<'a> {
    labels: Vec<Label<'a>>,
    callers: Vec<Option<usize>>,
    places: HashMap<(Option<usize>, Label<'a>), usize>,
}

impl<'a> Tree<'a> {
    /// The node of a label under a caller.
    fn under(&mut self, caller: Option<usize>, label: Label<'a>) -> usize {
        let next = self.labels.len();
        let place = *self.places.entry((caller, label)).or_insert(next);
        if place == next {
            self.labels.push(label);
            self.callers.push(caller);
        }
        place
    }

    /// The nodes in the order in which a page has them: each before what it calls, siblings by name.
    fn in_order(&self) -> Vec<usize> {
        let mut called: Vec<Vec<usize>> = vec![Vec::new(); self.labels.len() + 1];
        for (node, caller) in self.callers.iter().enumerate() {
            called[caller.map_or(0, |caller| caller + 1)].push(node);
        }
        for siblings in &mut called {
            // The last comes first from a stack; equal names are told apart by their files.
            let label = |node: &usize| self.labels[*node];
            siblings.sort_by_cached_key(|it| std::cmp::Reverse((label(it).text(), label(it))));
        }
        let mut waiting = called[0].clone();
        let mut order = Vec::with_capacity(self.labels.len());
        while let Some(node) = waiting.pop() {
            order.push(node);
            waiting.extend(&called[node + 1]);
        }
        order
    }
}

/// Samples that are alike: their bin, node and end, and the CPU time of each.
type Alike = (usize, usize, Option<i64>, i64);

/// The samples of a page.
struct Taken<'a> {
    tree: Tree<'a>,
    rows: BTreeMap<Alike, usize>,
}

/// The tree, and the samples in it; nothing of a recording without samples.
pub(super) fn write(
    timeline: &Timeline,
    edges: &[Timestamp],
    part: f64,
    places: &mut Places<'_>,
) -> Vec<Written> {
    let samples: Vec<CpuSample> = cpu_samples(timeline, timeline.window).collect();
    if samples.is_empty() || edges.len() < 2 {
        return Vec::new();
    }
    let most = (MOST_ROWS * part) as usize;
    let mut one_of = 1;
    let mut taken = taken(timeline, edges, &samples, one_of);
    while taken.rows.len() > most && one_of < MOST_THINNED {
        one_of *= 2;
        taken = self::taken(timeline, edges, &samples, one_of);
    }
    let order = taken.tree.in_order();
    let stacks = Written {
        table: described(&STACK, PageForm::Stacks, 0),
        numbers: tree_numbers(&taken.tree, &order, places),
    };
    let samples = Written {
        table: described(&CPU_SAMPLE, PageForm::Samples { one_of }, 0),
        numbers: sample_numbers(&taken.rows, &order, one_of),
    };
    vec![stacks, samples]
}

/// One of so many samples, each as likely as any other: every n-th would be those of one CPU.
fn taken<'a>(
    timeline: &'a Timeline,
    edges: &[Timestamp],
    samples: &[CpuSample],
    one_of: u32,
) -> Taken<'a> {
    let stacks = Stacks::of(timeline);
    let mut random = Xorshift::new(1);
    let mut tree = Tree::default();
    let mut first: HashMap<(&str, Role), EntityId> = HashMap::new();
    let mut known: HashMap<(usize, i64), usize> = HashMap::new();
    let mut rows: BTreeMap<Alike, usize> = BTreeMap::new();
    for sample in samples {
        let process = process_of(timeline, sample.entity);
        let Some(process) = process.filter(|it| it.role != Role::Recorder) else {
            continue;
        };
        if one_of > 1 && random.below(one_of as usize) > 0 {
            continue;
        }
        let (name, role) = (&*process.entity.name, process.role);
        let first = *first.entry((name, role)).or_insert(process.id);
        let mut node = tree.under(None, Label::Process(name, role, first));
        if let (Some(stacks), Some(stack)) = (&stacks, sample.stack) {
            node = *known.entry((node, stack)).or_insert_with(|| {
                let frames = stacks.frames(stack);
                let outermost_first = frames.into_iter().rev();
                outermost_first.fold(node, |caller, it| {
                    tree.under(Some(caller), Label::Frame(it))
                })
            });
        }
        let after = edges.partition_point(|edge| *edge <= sample.at);
        let bin = after.saturating_sub(1).min(edges.len() - 2);
        *rows
            .entry((bin, node, sample.end, sample.cpu_ns))
            .or_default() += 1;
    }
    Taken { tree, rows }
}

fn tree_numbers(tree: &Tree<'_>, order: &[usize], places: &mut Places<'_>) -> Numbers {
    let mut modules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut labels: HashMap<Label<'_>, usize> = HashMap::new();
    let mut distinct = Vec::new();
    for node in order {
        let label = tree.labels[*node];
        labels.entry(label).or_insert_with(|| {
            distinct.push(label);
            distinct.len() - 1
        });
        if let Label::Frame(frame) = label {
            let next = modules.len();
            modules.entry(frame.module).or_insert(next);
        }
    }
    let mut by_place: Vec<(&str, usize)> = modules
        .iter()
        .map(|(text, place)| (*text, *place))
        .collect();
    by_place.sort_by_key(|(_, place)| *place);
    let mut numbers = Numbers::default();
    numbers.count(by_place.len());
    for (module, _) in by_place {
        numbers.text(module);
    }
    numbers.count(distinct.len());
    for label in distinct {
        let (text, kind) = label.text();
        numbers.push(kind);
        numbers.push(match label {
            Label::Process(.., first) => places.of(first).map_or(-1, i64::from),
            Label::Frame(frame) => modules[frame.module] as i64,
        });
        numbers.text(&text);
    }
    numbers.count(order.len());
    let mut number = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        number[*node] = at;
        // A caller stands before: 0 is left for none.
        let caller = tree.callers[*node];
        numbers.count(caller.map_or(0, |caller| at - number[caller]));
        numbers.count(labels[&tree.labels[*node]]);
    }
    numbers
}

fn sample_numbers(rows: &BTreeMap<Alike, usize>, order: &[usize], one_of: u32) -> Numbers {
    let mut number = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        number[*node] = at;
    }
    let as_placed = |((bin, node, end, ns), samples): (&Alike, &usize)| {
        let end = end.map_or(-1, |end| end.max(0));
        let ns = ns.saturating_mul(i64::from(one_of));
        let (bin, node) = (*bin as i64, number[*node] as i64);
        [bin, node, end, *samples as i64, ns]
    };
    let mut rows: Vec<[i64; 5]> = rows.iter().map(as_placed).collect();
    rows.sort_unstable();
    let mut numbers = Numbers::default();
    numbers.count(rows.len());
    // Column by column, so that like stands by like.
    for column in 0..5 {
        let mut before = 0i64;
        for row in &rows {
            numbers.push(row[column].wrapping_sub(before));
            before = row[column];
        }
    }
    numbers
}
