//! The target's CPU time by function in one recording.

use model::{Timeline, Window};

use crate::pieces::pieces;
use crate::stacks::{self, ByFunction};
use crate::workload_metrics::Bin;

/// What the key of a figure begins with.
pub(super) const KEY: &str = "code.";
/// Functions that are kept of a recording, those with most CPU time.
const KEPT: usize = 200;

/// CPU time by function over pieces of the judged window.
pub(super) struct Code {
    /// Requests completed in each piece.
    requests: Vec<f64>,
    ns: ByFunction,
}

/// A function in one piece.
pub(super) struct Piece {
    requests: f64,
    ns: f64,
}

impl Code {
    /// Of the judged window; `None` where what the target executed is not known.
    pub(super) fn of(timeline: &Timeline, bins: &[Bin], window: Window) -> Option<Self> {
        let pieces = pieces(bins, window);
        let ns = stacks::cpu_by_function(timeline, &pieces)?;
        let mut all: Vec<(String, Vec<f64>)> = ns.into_iter().collect();
        let spent = |it: &(String, Vec<f64>)| it.1.iter().sum::<f64>();
        all.sort_by(|a, b| spent(b).total_cmp(&spent(a)));
        all.truncate(KEPT);
        Some(Self {
            requests: pieces.iter().map(|it| it.completed).collect(),
            ns: all.into_iter().collect(),
        })
    }

    #[cfg(test)]
    pub(super) fn drawn(requests: Vec<f64>, ns: &[(&str, Vec<f64>)]) -> Self {
        let ns = ns.iter().map(|(name, it)| ((*name).to_owned(), it.clone()));
        Self {
            requests,
            ns: ns.collect(),
        }
    }

    /// The functions that are kept.
    pub(super) fn functions(&self) -> impl Iterator<Item = &String> {
        self.ns.keys()
    }

    /// A function in each piece.
    pub(super) fn pieces(&self, function: &str) -> Vec<Piece> {
        let times = self.ns.get(function);
        let piece = |(at, requests): (usize, &f64)| Piece {
            requests: *requests,
            ns: times.map_or(0.0, |it| it[at]),
        };
        self.requests.iter().enumerate().map(piece).collect()
    }
}

/// CPU time for a request in some of the pieces, ns; `None` without requests.
pub(super) fn for_a_request(pieces: &[Piece], places: &[usize]) -> Option<f64> {
    let sum = |of: fn(&Piece) -> f64| places.iter().map(|it| of(&pieces[*it])).sum::<f64>();
    let requests = sum(|it| it.requests);
    (requests > 0.0).then(|| sum(|it| it.ns) / requests)
}
