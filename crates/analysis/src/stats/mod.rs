//! All statistics of the workspace: a file per method, each with the source of its formula.
//!
//! Pure and deterministic: numbers in, numbers out, and the same numbers always give the same answer.
//! Nothing here knows what a number is about: rows, windows and thresholds stay with the callers.
//! What cannot be said of too few values is `None`, never 0.
//!
//! The lab has its own few (`lab/src/statistics.rs`), so that it judges no number by its own source.

mod bootstrap;
pub mod change_points;
mod deviation;
mod dominance;
pub mod histogram;
mod kendall;
mod line;
mod mean;
mod median;
mod mser;
mod normal;
mod outliers;
mod quantile;
mod random;
mod sign_flips;
mod signed_rank;
mod student;
mod two_samples;
mod variance_ratio;

pub use bootstrap::{ratio_interval, resamples};
pub use deviation::{Group, coefficient_of_variation, pooled_deviation};
pub use dominance::dominance;
pub use kendall::{is_monotone, kendall_tau};
pub use line::{Line, least_squares, theil_sen};
pub use mean::{mean, ratio};
pub use median::{Summary, median, median_and_noise, median_high};
pub use mser::warm_up_length;
pub use outliers::without_outliers;
pub use quantile::{is_supported, nearest_rank};
pub use random::Xorshift;
pub use sign_flips::family_p_values;
pub use signed_rank::{Estimate, hodges_lehmann};
pub use student::{mean_of_normal, t_95};
pub use two_samples::shift;
pub use variance_ratio::f_test;
