//! What a series is cut into, and how small a change may be.

/// Fewest bins of a segment: what holds for less is an outlier, not a phase.
pub const LEAST_BINS: usize = 3;

/// What is too little to be a change, in the unit of the channels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sensitivity {
    /// Least difference of two levels that matters.
    pub least_difference: f64,
    /// Least standard deviation that noise is taken to have.
    pub noise_floor: f64,
}

/// How the bins of a stretch lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Around one level.
    Level,
    /// Along a line that rises or falls.
    Trend,
}

/// A stretch of bins, half-open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its first bin.
    pub first: usize,
    /// The bin after its last.
    pub end: usize,
    /// How its bins lie.
    pub shape: Shape,
}

impl Segment {
    /// How many bins it holds; no segment is empty.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.end - self.first
    }
}
