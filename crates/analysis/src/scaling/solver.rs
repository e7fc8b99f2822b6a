//! Weighted least squares of one model within bounds.
//!
//! The rate stands alone in ln X = ln l + h(N), so that for any shape its best value is a weighted mean, and only the
//! shape is searched (variable projection: Golub and Pereyra 1973, SIAM Journal on Numerical Analysis 10(2)): by damped
//! steps (Levenberg 1944; Marquardt 1963, SIAM Journal on Applied Mathematics 11(2)), of which a number that would leave
//! its bounds stays there while the others go on (projected steps: Bertsekas 1982, SIAM Journal on Control and
//! Optimization 20(2)).

use model::ScalingModel;

use super::curve::{Curve, Shape, bounds, relative, shape_size, starts};
use super::measured::Point;

/// Steps after which a fit is taken as it is; most need five to ten.
const MOST_STEPS: usize = 60;

/// A fit ends where the next step is expected to take off less than this part of what is left.
const LEAST_GAIN: f64 = 1e-8;

/// From how many of the starts, the nearest first, a fit is tried.
const TRIED: usize = 3;

/// A model, the points, and the logarithms of throughput that it is to meet at them.
pub(super) struct Problem<'a> {
    model: ScalingModel,
    points: &'a [Point],
    levels: &'a [f64],
    weights: Vec<f64>,
    bounds: [[f64; 2]; 2],
}

/// A curve, and the sum of the squares of what it misses the levels by, each in units of its variance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Solution {
    pub(super) curve: Curve,
    pub(super) squares: f64,
}

/// A shape with what is needed for a step from it.
struct At {
    shape: Shape,
    log_rate: f64,
    squares: f64,
    /// Which way each number reduces the squares.
    descent: Shape,
    /// How the squares bend: J'WJ.
    curvature: [[f64; 2]; 2],
}

impl<'a> Problem<'a> {
    /// `points` are in rising order of load, and `levels` are theirs.
    pub(super) fn new(model: ScalingModel, points: &'a [Point], levels: &'a [f64]) -> Self {
        Self {
            model,
            points,
            levels,
            weights: points.iter().map(Point::weight).collect(),
            bounds: bounds(model, loads(points)),
        }
    }

    /// The best curve, searched from several starts.
    pub(super) fn solve(&self) -> Solution {
        let starts = starts(self.model, loads(self.points));
        let mut starts: Vec<At> = starts.into_iter().map(|it| self.at(it)).collect();
        starts.sort_by(|one, other| one.squares.total_cmp(&other.squares));
        starts.truncate(TRIED);
        let solutions = starts.into_iter().map(|it| self.descend(it));
        let best = solutions.min_by(|one, other| one.squares.total_cmp(&other.squares));
        best.unwrap_or_else(|| self.solve_from([0.0; 2]))
    }

    /// The best curve that damped steps lead to from one shape.
    pub(super) fn solve_from(&self, shape: Shape) -> Solution {
        self.descend(self.at(shape))
    }

    fn descend(&self, mut at: At) -> Solution {
        let mut damping = 1e-3;
        for _ in 0..MOST_STEPS {
            let shape = self.step(&at, damping);
            let along = |number: usize| at.descent[number] * (shape[number] - at.shape[number]);
            if along(0) + along(1) <= LEAST_GAIN * at.squares + f64::EPSILON {
                break;
            }
            let next = self.at(shape);
            if next.squares < at.squares {
                at = next;
                damping = f64::max(damping * 0.1, 1e-9);
            } else {
                damping *= 8.0;
            }
        }
        Solution {
            curve: Curve {
                model: self.model,
                log_rate: at.log_rate,
                shape: at.shape,
            },
            squares: at.squares,
        }
    }

    fn at(&self, shape: Shape) -> At {
        let row = |point: &Point| relative(self.model, shape, point.load, point.ln_load);
        let rows: Vec<[f64; 3]> = self.points.iter().map(row).collect();
        let (mut weight, mut sums) = (0.0, [0.0; 3]);
        for (at, [h, first, second]) in rows.iter().enumerate() {
            weight += self.weights[at];
            sums[0] += self.weights[at] * (self.levels[at] - h);
            sums[1] += self.weights[at] * first;
            sums[2] += self.weights[at] * second;
        }
        let [log_rate, first_mean, second_mean] = sums.map(|it| it / weight);
        let (mut squares, mut descent, mut curvature) = (0.0, [0.0; 2], [0.0; 3]);
        for (at, [h, first, second]) in rows.into_iter().enumerate() {
            let weight = self.weights[at];
            let off = self.levels[at] - h - log_rate;
            let (first, second) = (first - first_mean, second - second_mean);
            squares += weight * off * off;
            descent[0] += weight * off * first;
            descent[1] += weight * off * second;
            curvature[0] += weight * first * first;
            curvature[1] += weight * first * second;
            curvature[2] += weight * second * second;
        }
        At {
            shape,
            log_rate,
            squares,
            descent,
            curvature: [[curvature[0], curvature[1]], [curvature[1], curvature[2]]],
        }
    }

    /// The shape after a damped step.
    fn step(&self, at: &At, damping: f64) -> Shape {
        let free = [0, 1].map(|number| {
            let ([low, high], value) = (self.bounds[number], at.shape[number]);
            let downhill = at.descent[number];
            let is_held = (value <= low && downhill <= 0.0) || (value >= high && downhill >= 0.0);
            number < shape_size(self.model) && !is_held && at.curvature[number][number] > 0.0
        });
        let damped = |number: usize| at.curvature[number][number] * (1.0 + damping);
        let mut step = [0.0; 2];
        match free {
            [true, true] => {
                let (a, b, c) = (damped(0), at.curvature[0][1], damped(1));
                let determinant = a * c - b * b;
                if determinant > 0.0 {
                    step[0] = (c * at.descent[0] - b * at.descent[1]) / determinant;
                    step[1] = (a * at.descent[1] - b * at.descent[0]) / determinant;
                }
            }
            [true, false] => step[0] = at.descent[0] / damped(0),
            [false, true] => step[1] = at.descent[1] / damped(1),
            [false, false] => {}
        }
        [0, 1].map(|number| {
            let [low, high] = self.bounds[number];
            let moved = at.shape[number] + step[number];
            match free[number] && moved.is_finite() {
                true => moved.clamp(low, high),
                false => at.shape[number],
            }
        })
    }
}

/// The smallest and the largest load.
fn loads(points: &[Point]) -> [f64; 2] {
    [points.first(), points.last()].map(|it| it.map_or(1.0, |it| it.load))
}
