//! Named frames under what called them, as one tree, and its block.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use analysis::stacks::Frame;
use model::{EntityId, LedgerClass, Role};

use crate::page::block::Numbers;
use crate::page::entities::Places;

/// What a node of the tree is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Label<'a> {
    /// Processes of a name and a role, which a first one of the page's recording stands for.
    Process(&'a str, Role, Option<EntityId>),
    Frame(Frame<'a>),
    /// What the frame above waited for.
    Class(LedgerClass),
}

impl Label<'_> {
    /// The text and the code of its kind.
    fn text(&self) -> (String, i64) {
        match self {
            Self::Process(name, ..) => ((*name).to_owned(), 0),
            Self::Frame(frame) => (frame.to_string(), 1 + i64::from(frame.function.is_none())),
            Self::Class(class) => (class.word().to_owned(), 3),
        }
    }
}

/// Frames under what called them; the callers of all are processes.
#[derive(Default)]
pub(super) struct Tree<'a> {
    labels: Vec<Label<'a>>,
    callers: Vec<Option<usize>>,
    places: HashMap<(Option<usize>, Label<'a>), usize>,
}

impl<'a> Tree<'a> {
    /// The node of a label under a caller.
    pub(super) fn under(&mut self, caller: Option<usize>, label: Label<'a>) -> usize {
        let next = self.labels.len();
        let place = *self.places.entry((caller, label)).or_insert(next);
        if place == next {
            self.labels.push(label);
            self.callers.push(caller);
        }
        place
    }

    /// The nodes in the order in which a page has them: each before what it calls, siblings by name.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut called: Vec<Vec<usize>> = vec![Vec::new(); self.labels.len() + 1];
        for (node, caller) in self.callers.iter().enumerate() {
            called[caller.map_or(0, |caller| caller + 1)].push(node);
        }
        for siblings in &mut called {
            // The last comes first from a stack; equal names are told apart by their files.
            let label = |node: &usize| self.labels[*node];
            siblings.sort_by_cached_key(|it| Reverse((label(it).text(), label(it))));
        }
        let mut waiting = called[0].clone();
        let mut order = Vec::with_capacity(self.labels.len());
        while let Some(node) = waiting.pop() {
            order.push(node);
            waiting.extend(&called[node + 1]);
        }
        order
    }

    pub(super) fn numbers(&self, order: &[usize], places: &mut Places<'_>) -> Numbers {
        let mut modules: BTreeMap<&str, usize> = BTreeMap::new();
        let mut labels: HashMap<Label<'_>, usize> = HashMap::new();
        let mut distinct = Vec::new();
        for node in order {
            let label = self.labels[*node];
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
                Label::Process(.., first) => {
                    first.and_then(|it| places.of(it)).map_or(-1, i64::from)
                }
                Label::Frame(frame) => modules[frame.module] as i64,
                Label::Class(_) => -1,
            });
            numbers.text(&text);
        }
        numbers.count(order.len());
        let number = numbered(order);
        for (at, node) in order.iter().enumerate() {
            // A caller stands before: 0 is left for none.
            let caller = self.callers[*node];
            numbers.count(caller.map_or(0, |caller| at - number[caller]));
            numbers.count(labels[&self.labels[*node]]);
        }
        numbers
    }
}

/// The number in a page of each node.
pub(super) fn numbered(order: &[usize]) -> Vec<usize> {
    let mut number = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        number[*node] = at;
    }
    number
}
