//! Templates of lines, found while the lines come: Drain (P. He, J. Zhu, Z. Zheng, M. R. Lyu, Drain: an online log
//! parsing approach with fixed depth tree, IEEE International Conference on Web Services, 2017).
//!
//! A line goes down a tree of fixed depth, by the number of its words and by its first constant one, and at the leaf to
//! the template that it is most like. Differences from the paper: values are told by their looks before, and several on
//! end are one; the first *constant* word decides, since lines begin with times and numbers; only constant words make a
//! line alike; and what a template has taken in once stays alike to it.

use std::collections::HashMap;

use super::template::{LEAST_LINES, Template, Token, Tokens, hash};

/// Templates of a log.
pub(super) const MOST_TEMPLATES: usize = 1_000;
/// Templates at one leaf.
const MOST_AT_LEAF: usize = 100;
/// Branches at a node; further words share one.
const MOST_BRANCHES: usize = 100;
/// A line is of a template where this part of its constant words at least is the same, in percent: more than the half,
/// which `LOG:` and the time zone may be.
const ALIKE: usize = 60;

/// The templates of one log.
#[derive(Debug, Default)]
pub(super) struct Templates {
    all: Vec<Template>,
    /// Branches by node.
    branches: HashMap<u64, usize>,
    /// Templates by the node at their leaf.
    leaves: HashMap<u64, Vec<usize>>,
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    /// The number of its template.
    pub(super) template: usize,
    /// Whether the template has another text now.
    pub(super) is_renamed: bool,
}

impl Templates {
    /// Takes in a line; `None` where there is no room for a template of its own.
    pub(super) fn take(&mut self, line: &[u8], length: usize) -> Option<Taken> {
        let tokens = Tokens::of(line);
        let path = self.path(tokens.all());
        let leaf = self.leaves.get(&path.leaf);
        let template = match leaf.and_then(|it| self.most_alike(it, tokens.all())) {
            Some(known) => known,
            None => {
                let is_full = leaf.is_some_and(|it| it.len() >= MOST_AT_LEAF);
                if is_full || self.all.len() >= MOST_TEMPLATES {
                    return None;
                }
                self.add(&path, Template::of(line))
            }
        };
        let own = &mut self.all[template];
        let has_changed = own.take(tokens.all(), length);
        let is_told = own.lines == LEAST_LINES || (own.lines > LEAST_LINES && has_changed);
        Some(Taken {
            template,
            is_renamed: own.lines == 1 || is_told,
        })
    }

    /// A template by its number.
    pub(super) fn get(&self, template: usize) -> Option<&Template> {
        self.all.get(template)
    }

    fn most_alike(&self, leaf: &[usize], line: &[Token]) -> Option<usize> {
        let constant = line.iter().filter(|it| **it != Token::VALUE).count();
        let least = (ALIKE * constant).div_ceil(100).max(1);
        let scored = leaf.iter().map(|it| (self.all[*it].likeness(line), *it));
        let alike = scored.filter(|(it, _)| it.is_whole || it.same >= least);
        // Of several the oldest.
        let best = alike.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, template)| template)
    }

    /// The way down the tree.
    fn path(&self, line: &[Token]) -> Path {
        let first = line.iter().copied().find(|it| *it != Token::VALUE);
        let root = node(0, line.len() as u64);
        let leaf = self.branch(root, first);
        Path { root, leaf }
    }

    fn branch(&self, parent: u64, word: Option<Token>) -> u64 {
        let own = node(parent, word.map_or(0, Token::number));
        let is_full = || {
            self.branches
                .get(&parent)
                .is_some_and(|it| *it >= MOST_BRANCHES)
        };
        match self.leaves.contains_key(&own) || !is_full() {
            true => own,
            false => node(parent, u64::MAX),
        }
    }

    fn add(&mut self, path: &Path, template: Template) -> usize {
        let branches = self.branches.entry(path.root).or_default();
        *branches += usize::from(!self.leaves.contains_key(&path.leaf));
        let number = self.all.len();
        self.all.push(template);
        self.leaves.entry(path.leaf).or_default().push(number);
        number
    }
}

/// The nodes on a way down.
struct Path {
    root: u64,
    leaf: u64,
}

fn node(parent: u64, branch: u64) -> u64 {
    let mut both = [0; 16];
    both[..8].copy_from_slice(&parent.to_ne_bytes());
    both[8..].copy_from_slice(&branch.to_ne_bytes());
    hash(&both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(lines: &[&str]) -> Vec<String> {
        let mut templates = Templates::default();
        for line in lines {
            templates.take(line.as_bytes(), line.len());
        }
        templates.all.iter().map(Template::text).collect()
    }

    #[test]
    fn lines_that_differ_in_a_word_share_a_template() {
        let lines = [
            "12:00 user alice logged in from 10.0.0.7",
            "12:01 user bob logged in from 10.0.0.8",
            "12:02 user carol logged in from db",
            "12:03 checkpoint starting: time",
            "12:04 checkpoint starting: time",
            "12:05 checkpoint starting: time",
            "something else happened",
        ];
        assert_eq!(
            texts(&lines),
            [
                "<*> user <*> logged in from <*>",
                "<*> checkpoint starting: time",
                "(fewer than 3 lines)",
            ]
        );
    }

    #[test]
    fn a_template_is_told_at_its_third_line_and_when_it_changes() {
        let mut templates = Templates::default();
        let mut renamed = |line: &str| {
            let taken = templates.take(line.as_bytes(), line.len());
            taken.map(|it| it.is_renamed)
        };
        let all = [
            "a b c d", "a b c d", "a b c d", "a b c d", "a b c e", "a b c f",
        ];
        let all = all.map(|line| renamed(line).expect("there is room"));
        assert_eq!(all, [true, false, true, false, true, false]);
    }

    proptest! {
        #[test]
        fn the_same_line_on_end_is_of_the_same_template(lines in proptest::collection::vec("[a-e =:1]{0,12}", 1..60)) {
            let mut templates = Templates::default();
            for line in &lines {
                let mut take = || templates.take(line.as_bytes(), line.len()).map(|it| it.template);
                let first = take();
                prop_assert_eq!(take(), first, "{}", line);
            }
        }

        #[test]
        fn digits_never_split_a_template(lines in proptest::collection::vec("[a-d ]{1,12}", 1..20), a in 0u32..1000, b in 0u32..1000) {
            let mut templates = Templates::default();
            for line in &lines {
                let mut take = |number: u32| {
                    let line = format!("{line} {number}");
                    templates.take(line.as_bytes(), line.len()).map(|it| it.template)
                };
                let first = take(a);
                prop_assert_eq!(take(b), first, "{}", line);
            }
        }

        #[test]
        fn templates_are_bounded_and_count_what_they_took(lines in proptest::collection::vec(any::<Vec<u8>>(), 0..60)) {
            let mut templates = Templates::default();
            let taken = lines.iter().filter(|it| templates.take(it, it.len()).is_some()).count();
            let counted: u64 = templates.all.iter().map(|it| it.lines).sum();
            prop_assert_eq!(counted, taken as u64);
            prop_assert!(templates.all.len() <= MOST_TEMPLATES);
        }

        #[test]
        fn a_template_has_no_digit_and_no_quoted_text(lines in proptest::collection::vec("[a-z0-9\"'= ]{0,40}", 1..20)) {
            let mut templates = Templates::default();
            for line in lines.iter().cycle().take(4 * lines.len()) {
                templates.take(line.as_bytes(), line.len());
            }
            let told = templates.all.iter().filter(|it| it.lines >= LEAST_LINES);
            for text in told.map(Template::text) {
                prop_assert!(!text.contains(|it: char| it.is_ascii_digit() || it == '"'), "{}", text);
            }
        }
    }

    #[test]
    fn more_kinds_of_lines_than_there_is_room_for_are_none() {
        let letters = |number: usize| -> String {
            let digit = |at: u32| char::from(b'a' + (number / 20_usize.pow(at) % 20) as u8);
            (0..4).map(digit).collect()
        };
        let mut templates = Templates::default();
        let mut refused = 0;
        for number in 0..4 * MOST_TEMPLATES {
            let (a, b) = (letters(number), letters(number * 7 + 1));
            let line = format!("{a} {b} {}", "x ".repeat(number % 30));
            refused += usize::from(templates.take(line.as_bytes(), 1).is_none());
        }
        assert_eq!(templates.all.len(), MOST_TEMPLATES);
        assert!(refused > 0);
        assert!(
            templates.leaves.len() <= MOST_TEMPLATES,
            "bounded as they are"
        );
    }
}
