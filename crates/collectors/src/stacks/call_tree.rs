//! All stacks so far as a tree, so that each frame is kept once for all stacks that share its callers.

use std::collections::HashMap;

/// More stacks than this are not told apart; a program that recurses in ever new ways makes them.
const MOST_STACKS: usize = 300_000;

/// A stack's number.
pub(super) type StackNumber = u32;

/// Stands for the caller of outermost frames.
pub(super) const NO_CALLER: StackNumber = StackNumber::MAX;

/// Where a frame's code is from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Origin {
    /// A file, by its number.
    File(u32),
    /// Memory of a process without a file: code that it made itself.
    Made(u32),
    /// The kernel.
    Kernel,
}

/// A frame: where its code is from, and the address there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pub(super) origin: Origin,
    pub(super) address: u64,
}

/// A stack: a frame and the stack of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Node {
    pub(super) caller: StackNumber,
    pub(super) place: Place,
}

/// The stacks so far.
#[derive(Default)]
pub(super) struct CallTree {
    numbers: HashMap<Node, StackNumber>,
}

impl CallTree {
    /// The number of the stack with these frames, the outermost first; each one that is new is handed to `note`.
    /// `None` where there is no room for another one.
    pub(super) fn number_of(
        &mut self,
        outermost_first: impl Iterator<Item = Place>,
        mut note: impl FnMut(Node),
    ) -> Option<StackNumber> {
        let mut caller = NO_CALLER;
        for place in outermost_first {
            let node = Node { caller, place };
            let next = self.numbers.len();
            caller = match self.numbers.get(&node) {
                Some(known) => *known,
                None if next == MOST_STACKS => return None,
                None => {
                    note(node);
                    self.numbers.insert(node, next as StackNumber);
                    next as StackNumber
                }
            };
        }
        (caller != NO_CALLER).then_some(caller)
    }

    /// Every frame that stands in a stack, once, in order.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.numbers.keys().map(|node| node.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: u64) -> Place {
        Place {
            origin: Origin::File(0),
            address,
        }
    }

    #[test]
    fn stacks_share_their_callers() {
        let mut tree = CallTree::default();
        let mut new = Vec::new();
        let mut number = |addresses: &[u64]| {
            let frames = addresses.iter().copied().map(place);
            tree.number_of(frames, |node| new.push((node.caller, node.place.address)))
        };
        assert_eq!(number(&[1, 2, 3]), Some(2));
        assert_eq!(number(&[1, 2]), Some(1));
        assert_eq!(number(&[1, 4]), Some(3));
        assert_eq!(number(&[2]), Some(4));
        assert_eq!(number(&[1, 2, 3]), Some(2));
        assert_eq!(number(&[]), None);
        assert_eq!(
            new,
            [(NO_CALLER, 1), (0, 2), (1, 3), (0, 4), (NO_CALLER, 2)]
        );
        let addresses = tree
            .places()
            .iter()
            .map(|it| it.address)
            .collect::<Vec<_>>();
        assert_eq!(addresses, [1, 2, 3, 4]);
    }

    #[test]
    fn there_is_an_end_of_new_stacks() {
        let mut tree = CallTree::default();
        let frames = (0..MOST_STACKS as u64 + 2).map(place);
        assert_eq!(tree.number_of(frames, |_| {}), None);
        assert_eq!(
            tree.number_of([place(0), place(1)].into_iter(), |_| {}),
            Some(1)
        );
    }
}
