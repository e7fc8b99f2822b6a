//! Constants of the normal distribution.

/// What the absolute value exceeds in 5 of 100 draws, in standard deviations.
pub(super) const Z_95: f64 = 1.960;

/// What the absolute value exceeds in 1 of 100 draws, in standard deviations.
pub(super) const Z_99: f64 = 2.576;

/// Standard deviations per median absolute deviation: 1 / (the quantile of 75 %).
pub(super) const DEVIATIONS_PER_MAD: f64 = 1.4826;
