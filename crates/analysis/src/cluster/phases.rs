//! Where the cluster changed: nodes that come, go or get another size, and change points of its throughput, CPUs and I/O.

use std::ops::Range;

use super::grid::Grid;
use super::quantity::Quantity;
use crate::stats::change_points::{self, Sensitivity};
use crate::stats::without_outliers;
use crate::thresholds::Phases;

/// Changes of less than this part of a CPU, per node, are no change of the load.
const LITTLE_CPU: f64 = 0.05;
/// The same of pressure, part of the time.
const LITTLE_PRESSURE: f64 = 0.05;
/// And of bytes per second, per node.
const LITTLE_IO: f64 = 1e6;

/// Intervals that a phase has at least: a load's own throughput is often a mean over some of them, and lags behind.
pub(super) const LEAST: usize = 6;

/// The phases as ranges of intervals: together they hold each once.
pub(super) fn phases(grid: &Grid, throughput: &[f64], thresholds: &Phases) -> Vec<Range<usize>> {
    let mut cuts: Vec<usize> = vec![0, grid.steps];
    let mut add = |found: Vec<usize>| {
        for cut in found {
            if cuts.iter().all(|known| known.abs_diff(cut) >= LEAST) {
                cuts.push(cut);
            }
        }
    };
    add(shapes(grid));
    let nodes = grid.nodes().len() as f64;
    let of = |quantity: Quantity| -> Vec<f64> {
        (0..grid.steps)
            .map(|step| grid.together(quantity, step))
            .collect()
    };
    let cpu = (of(Quantity::CpusUsed), LITTLE_CPU * nodes);
    let pressure = (of(Quantity::CpuSome), LITTLE_PRESSURE);
    let io = (of(Quantity::IoSome), LITTLE_PRESSURE);
    let disks: Vec<f64> = of(Quantity::DiskRead)
        .iter()
        .zip(of(Quantity::DiskWritten))
        .map(|(read, written)| read + written)
        .collect();
    let disks = (disks, LITTLE_IO * nodes);
    match throughput.is_empty() {
        true => add(changes(&[cpu, pressure], thresholds)),
        false => {
            add(changes(
                &[(throughput.to_vec(), f64::MIN_POSITIVE), cpu],
                thresholds,
            ));
        }
    }
    add(changes(&[io, disks], thresholds));
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| pair[0]..pair[1])
        .filter(|it| !it.is_empty())
        .collect()
}

/// Where the nodes that are there, or their sizes, change for longer than a moment.
fn shapes(grid: &Grid) -> Vec<usize> {
    let shape = |step: usize| -> Vec<Option<i64>> {
        let each = grid.nodes().map(|node| {
            let size = grid.size(node, step).unwrap_or(0.0);
            // In hundredths: sizes are quotas here and there.
            grid.is_present(node, step)
                .then_some((size * 100.0).round() as i64)
        });
        each.collect()
    };
    let mut shapes: Vec<_> = (0..grid.steps).map(shape).collect();
    // Where nothing is known of any node the source was away, and not the cluster.
    for step in 1..shapes.len() {
        if shapes[step].iter().all(Option::is_none) {
            shapes[step] = shapes[step - 1].clone();
        }
    }
    let lasts = |cut: usize| {
        let behind = shapes.get(cut..cut + LEAST);
        behind.is_some_and(|it| it.iter().all(|each| *each == shapes[cut]))
    };
    let mut last: Option<&Vec<Option<i64>>> = None;
    let mut cuts = Vec::new();
    for (step, shape) in shapes.iter().enumerate() {
        if last != Some(shape) && lasts(step) {
            cuts.extend(last.is_some().then_some(step));
            last = Some(shape);
        }
    }
    cuts
}

/// Change points of one or two series, each with what is little of it.
fn changes(series: &[(Vec<f64>, f64)], thresholds: &Phases) -> Vec<usize> {
    let channels: Vec<Vec<f64>> = series
        .iter()
        .filter(|(values, _)| values.iter().any(|it| !it.is_nan()))
        .map(|(values, little)| without_outliers(&logarithms(values, *little), thresholds.noise))
        .collect();
    let sensitivity = Sensitivity {
        least_difference: (1.0 + thresholds.effect).ln(),
        noise_floor: thresholds.noise,
    };
    let segments = change_points::segments(&channels, &sensitivity);
    segments.iter().skip(1).map(|it| it.first).collect()
}

/// Logarithms over what is little, so that a factor matters and noise around nothing does not; an interval without a value
/// is as the one before it.
fn logarithms(values: &[f64], little: f64) -> Vec<f64> {
    let first = values.iter().find(|it| !it.is_nan()).copied();
    let mut last = first.unwrap_or(0.0);
    let each = values.iter().map(|value| {
        if !value.is_nan() {
            last = *value;
        }
        (last.max(0.0) + little).ln()
    });
    each.collect()
}
