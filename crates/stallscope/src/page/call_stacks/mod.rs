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
use model::{EntityId, EntityRecord, LedgerClass, PageForm, Role, Timeline, Timestamp};
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

/// What a page is made of.
struct Sampled<'a> {
    samples: Vec<CpuSample>,
    waits: Vec<(WaitSample, &'a EntityRecord)>,
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
    samples: BTreeMap<Alike, usize>,
    waits: BTreeMap<AlikeWaits, WaitSum>,
}

/// The tree, and the samples and the waits in it; nothing of a recording without any.
pub(super) fn write(
    timeline: &Timeline,
    edges: &[Timestamp],
    part: f64,
    places: &mut Places<'_>,
) -> Vec<Written> {
    let sampled = Sampled {
        samples: cpu_samples(timeline, timeline.window).collect(),
        waits: waits_by_process(timeline, timeline.window).collect(),
    };
    if (sampled.samples.is_empty() && sampled.waits.is_empty()) || edges.len() < 2 {
        return Vec::new();
    }
    let most = (MOST_ROWS * part) as usize;
    let mut part = Part {
        one_of: 1,
        least_ns: 0,
    };
    let mut taken = taken(timeline, edges, &sampled, part);
    while taken.samples.len() + taken.waits.len() > most
        && let Some(less) = part.less(&taken, &sampled.waits, most)
    {
        part = less;
        taken = self::taken(timeline, edges, &sampled, part);
    }
    let order = taken.tree.in_order();
    let Part { one_of, least_ns } = part;
    let mut written = vec![Written {
        table: described(&STACK, PageForm::Stacks, 0),
        numbers: taken.tree.numbers(&order, places),
    }];
    if !sampled.samples.is_empty() {
        written.push(Written {
            table: described(&CPU_SAMPLE, PageForm::Samples { one_of }, 0),
            numbers: sample_numbers(&taken.samples, &order, one_of),
        });
    }
    if !sampled.waits.is_empty() {
        written.push(Written {
            table: described(&WAIT_SAMPLE, PageForm::Waits { least_ns }, 0),
            numbers: wait_numbers(&taken.waits, &order),
        });
    }
    written
}

impl Part {
    /// A smaller part, of what has more rows; `None` where there is none.
    fn less(
        self,
        taken: &Taken<'_>,
        waits: &[(WaitSample, &EntityRecord)],
        most: usize,
    ) -> Option<Self> {
        let (can_samples, can_waits) = (
            self.one_of < MOST_THINNED,
            !waits.is_empty() && self.least_ns < LONGEST_WAIT_NS,
        );
        if can_samples && (taken.samples.len() > taken.waits.len() || !can_waits) {
            let one_of = self.one_of * 2;
            return Some(Self { one_of, ..self });
        }
        // Of waits that stand for as much, this would leave sixteen times what there is room for.
        let all_ns: f64 = waits.iter().map(|(wait, _)| wait.weight_ns as f64).sum();
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
    /// The first process of a name and a role.
    first: HashMap<(&'a str, Role), EntityId>,
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
        let first = *self.first.entry((name, role)).or_insert(process.id);
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
fn taken<'a>(
    timeline: &'a Timeline,
    edges: &[Timestamp],
    sampled: &Sampled<'a>,
    part: Part,
) -> Taken<'a> {
    let mut random = Xorshift::new(1);
    let mut taken = Taken::default();
    let mut nodes = Nodes {
        stacks: Stacks::of(timeline),
        tree: Tree::default(),
        first: HashMap::new(),
        known: HashMap::new(),
    };
    let bin = |at: Timestamp| {
        let after = edges.partition_point(|edge| *edge <= at);
        after.saturating_sub(1).min(edges.len() - 2)
    };
    for sample in &sampled.samples {
        let process = process_of(timeline, sample.entity);
        let Some(process) = process.filter(|it| it.role != Role::Recorder) else {
            continue;
        };
        if part.one_of > 1 && random.below(part.one_of as usize) > 0 {
            continue;
        }
        let node = nodes.of(process, sample.stack, None);
        let alike = (bin(sample.at), node, sample.end, sample.cpu_ns);
        *taken.samples.entry(alike).or_default() += 1;
    }
    for (wait, process) in &sampled.waits {
        let weight_ns = wait.weight_ns.max(part.least_ns);
        if weight_ns > wait.weight_ns && random.below(weight_ns as usize) >= wait.weight_ns as usize
        {
            continue;
        }
        let wait = WaitSample { weight_ns, ..*wait };
        let node = nodes.of(process, wait.stack, Some(wait.class));
        let sum = taken.waits.entry((bin(wait.until), node, wait.end));
        let sum = sum.or_default();
        sum.waits += 1;
        sum.ns = sum.ns.saturating_add(weight_ns);
        sum.variance += wait.variance();
    }
    Taken {
        tree: nodes.tree,
        ..taken
    }
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
