//! The series of all answers by whom they are about, so that each node looks at its own only.

use std::collections::BTreeMap;

use super::answer::{Answers, StoredSeries};
use super::names::Names;
use super::questions::{Subject, host};

/// Series with what was asked for them.
pub(super) type About<'a> = Vec<(Subject, &'a StoredSeries)>;

/// Series by whom they are about.
pub(super) struct Sorted<'a> {
    /// What node exporters say, by node.
    pub(super) own: BTreeMap<&'a str, About<'a>>,
    /// What others say, by what the store calls whom they are about, and by its host.
    by_name: BTreeMap<&'a str, About<'a>>,
    by_host: BTreeMap<&'a str, About<'a>>,
    /// Nodes on each host.
    sharing: BTreeMap<&'a str, usize>,
}

impl<'a> Sorted<'a> {
    pub(super) fn of(names: &Names, answers: &'a Answers) -> Self {
        let mut sorted = Self {
            own: BTreeMap::new(),
            by_name: BTreeMap::new(),
            by_host: BTreeMap::new(),
            sharing: BTreeMap::new(),
        };
        for (subject, series) in answers {
            for series in series {
                let node = series.label(&names.node);
                let each = (*subject, series);
                match subject {
                    _ if node.is_empty() => {}
                    Subject::Throughput => {}
                    Subject::Also | Subject::Cpus => {
                        sorted.by_name.entry(node).or_default().push(each);
                        sorted.by_host.entry(host(node)).or_default().push(each);
                    }
                    _ => sorted.own.entry(node).or_default().push(each),
                }
            }
        }
        for node in sorted.own.keys() {
            *sorted.sharing.entry(host(node)).or_default() += 1;
        }
        sorted
    }

    /// What others than its node exporter say of a node: all on its host, unless another node is there too.
    pub(super) fn beside(&self, node: &str) -> &[(Subject, &'a StoredSeries)] {
        let is_shared = self.sharing.get(host(node)).is_some_and(|it| *it > 1);
        let of = match is_shared {
            true => self.by_name.get(node),
            false => self.by_host.get(host(node)),
        };
        of.map_or(&[], Vec::as_slice)
    }
}
