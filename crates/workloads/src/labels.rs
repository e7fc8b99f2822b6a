//! Labels of operations: their sampler, endpoint or kind. A recording holds a bounded number of them.

use std::collections::HashMap;

use crate::quote::quote;

/// So many are told apart; all further ones are one more.
pub const MOST_LABELS: usize = 64;
/// What stands for the labels beyond.
const OTHER: &str = "other";
/// Names whose label is remembered: where names are made up anew for each operation nearly all are met once.
const MOST_NAMES: usize = 1024;

/// The labels of a run, in the order in which each was first met, as they may be stored.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    labels: Vec<String>,
    by_name: HashMap<String, usize>,
    other: Option<usize>,
}

impl Labels {
    /// The number of the label of an operation of this name, `MOST_LABELS` at most.
    pub(crate) fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        let number = if self.labels.len() < MOST_LABELS {
            let label = quote(name);
            let known = self.labels.iter().position(|it| *it == label);
            known.unwrap_or_else(|| push(&mut self.labels, label))
        } else {
            let labels = &mut self.labels;
            *self
                .other
                .get_or_insert_with(|| push(labels, OTHER.to_owned()))
        };
        if self.by_name.len() < MOST_NAMES {
            self.by_name.insert(name.to_owned(), number);
        }
        number
    }

    /// What an operation of this name is counted under.
    pub(crate) fn of(&mut self, name: &str) -> &str {
        let number = self.number(name);
        &self.labels[number]
    }

    /// All so far, by number.
    pub(crate) fn all(&self) -> &[String] {
        &self.labels
    }
}

fn push(labels: &mut Vec<String>, label: String) -> usize {
    labels.push(label);
    labels.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_the_bound_are_one() {
        let mut labels = Labels::default();
        for _ in 0..2 {
            for n in 0..MOST_NAMES + 9 {
                let name = format!("GET /{n}");
                let expected = if n < MOST_LABELS { &name } else { OTHER };
                assert_eq!(labels.of(&name), expected);
            }
        }
        assert_eq!(labels.all().len(), MOST_LABELS + 1);
    }

    #[test]
    fn a_label_is_fit_for_storing() {
        let mut labels = Labels::default();
        assert!(labels.of(&"x".repeat(9999)).len() < 300);
        assert_eq!(labels.of("a\nb\u{1b}[1m"), "a b [1m");
        assert!(
            !labels
                .of("http://u:hunter2@h/?token=Zq1239")
                .contains("hunter2")
        );
        // Two names of one label.
        assert_eq!(labels.number("a b"), labels.number("a\tb"));
    }
}
