//! The energy distance between neighbouring sets of bins (Matteson & James 2014, JASA 109(505)).

use super::segment::LEAST_BINS;

/// Fewest bins of a right set that ends before its stretch does. A change and its way back are found
/// by it; every further choice of sets is one more in which chance may differ.
const LEAST_RIGHT: usize = 6;

/// A place to cut and the segments on both sides that differ there: `[first, cut)`, `[cut, until)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) first: usize,
    pub(super) cut: usize,
    pub(super) until: usize,
}

/// Sums of the distances between bins, so that the sum over any rectangle is four look-ups.
pub(super) struct Distances {
    /// `sums[i * (bins + 1) + j]`: over all pairs of the first i and the first j bins.
    sums: Vec<f64>,
    bins: usize,
}

impl Distances {
    /// Of channels that are in one unit: Euclidean.
    pub(super) fn of(channels: &[Vec<f64>]) -> Self {
        let bins = channels[0].len();
        let width = bins + 1;
        let mut sums = vec![0.0; width * width];
        for i in 0..bins {
            let mut row = 0.0;
            for j in 0..bins {
                let square: f64 = channels.iter().map(|c| (c[i] - c[j]).powi(2)).sum();
                row += square.sqrt();
                sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
            }
        }
        Self { sums, bins }
    }

    fn between(&self, a: (usize, usize), b: (usize, usize)) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * (self.bins + 1) + j];
        at(a.1, b.1) - at(a.0, b.1) - at(a.1, b.0) + at(a.0, b.0)
    }

    /// The scaled energy distance of two neighbouring sets, equation 5 of Matteson & James 2014
    /// with alpha = 1.
    fn energy(&self, split: Split) -> f64 {
        let (left, right) = ((split.first, split.cut), (split.cut, split.until));
        let (m, n) = (
            (split.cut - split.first) as f64,
            (split.until - split.cut) as f64,
        );
        let across = 2.0 * self.between(left, right) / (m * n);
        // The sums hold each pair twice.
        let within_left = self.between(left, left) / (m * (m - 1.0));
        let within_right = self.between(right, right) / (n * (n - 1.0));
        m * n / (m + n) * (across - within_left - within_right)
    }

    /// The split of `[first, end)` with the largest distance, over every cut and every end of the
    /// right set; `None` where there is no room for one.
    pub(super) fn best_split(&self, first: usize, end: usize) -> Option<Split> {
        let mut best: Option<(f64, Split)> = None;
        for cut in first + LEAST_BINS..(end + 1).saturating_sub(LEAST_BINS) {
            let shorter = (cut + LEAST_RIGHT..(end + 1).saturating_sub(LEAST_BINS)).chain([end]);
            for until in shorter {
                let split = Split { first, cut, until };
                let energy = self.energy(split);
                if best.is_none_or(|(most, _)| energy > most) {
                    best = Some((energy, split));
                }
            }
        }
        best.map(|(_, split)| split)
    }
}
