//! A part of a run in pieces of whole bins, so that what varies within it is known. At most sixty, however long it is.

use model::Window;

use crate::workload_metrics::{self, Bin};

const MOST: usize = 60;

/// Whole bins, together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) window: Window,
    /// Requests completed in them.
    pub(crate) completed: f64,
}

/// Whole bins of a window, so many together that there are not too many. In the order of time.
pub(crate) fn pieces(bins: &[Bin], window: Window) -> Vec<Piece> {
    let inside: Vec<&Bin> = workload_metrics::inside(bins, window).collect();
    let together = inside.len().div_ceil(MOST).max(1);
    let piece = |some: &[&Bin]| {
        let (first, last) = (some.first()?, some.last()?);
        Some(Piece {
            window: Window::new(first.window.start, last.window.end),
            completed: some.iter().map(|bin| bin.completed()).sum(),
        })
    };
    inside.chunks(together).filter_map(piece).collect()
}
