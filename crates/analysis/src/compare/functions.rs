//! Functions of the target beside each other: what takes more CPU time for a request in one group than in another.

use std::collections::BTreeSet;

use model::{ComparedFigure, Difference, FigureFamily, FigureUnit};

use super::code::{self, Code};
use super::measured::Measured;
use super::{Group, differences};
use crate::number_format::duration;
use crate::stats::{mean, median};

/// A difference that is less of the target's CPU time for a request is not shown.
const LEAST_PART: f64 = 0.1;
/// Functions that are shown.
const MOST: usize = 3;

/// A function's CPU time for a request, ns; 0 where it was not seen, `None` where nothing is known of functions.
fn value(run: &Measured, function: &str) -> Option<f64> {
    let pieces = run.code.as_ref()?.pieces(function);
    let all: Vec<usize> = (0..pieces.len()).collect();
    code::for_a_request(&pieces, &all)
}

/// The functions that differ most, of the groups that know them.
pub(super) fn rows(groups: &[Group]) -> Vec<ComparedFigure> {
    let Some((baseline, others)) = groups.split_first() else {
        return Vec::new();
    };
    let of_group = |group: &Group, function: &str| {
        let values = group.runs.iter().filter_map(|it| value(it, function));
        median(&values.collect::<Vec<f64>>())
    };
    let runs = groups.iter().flat_map(|it| &it.runs);
    let spent = runs.clone().filter_map(|run| {
        let requests = run.requests.filter(|it| *it > 0.0)?;
        Some(run.totals.get("cpu.target")? / requests)
    });
    let Some(least) = mean(&spent.collect::<Vec<f64>>()).map(|it| LEAST_PART * it) else {
        return Vec::new();
    };
    let known = runs.filter_map(|it| it.code.as_ref());
    let functions: BTreeSet<&String> = known.flat_map(Code::functions).collect();
    let apart = |function: &String| {
        let before = of_group(baseline, function)?;
        let of_others = others.iter().filter_map(|it| of_group(it, function));
        let apart = of_others.map(|after| (after - before).abs());
        apart.max_by(f64::total_cmp).filter(|it| *it >= least)
    };
    let differing = functions.into_iter();
    let differing = differing.filter_map(|it| Some((it, apart(it)?)));
    let mut differing: Vec<(&String, f64)> = differing.collect();
    differing.sort_by(|a, b| b.1.total_cmp(&a.1));
    differing.truncate(MOST);
    let row = |(function, _): (&String, f64)| {
        let key = format!("{}{function}", code::KEY);
        let value = |run: &Measured| value(run, function);
        let difference = |other| differences::between(baseline, other, &key, value);
        ComparedFigure {
            noise: differences::noise(groups, value),
            differences: others.iter().map(difference).collect(),
            values: groups.iter().map(|it| of_group(it, function)).collect(),
            label: function.clone(),
            family: FigureFamily::Code,
            unit: FigureUnit::Nanoseconds,
            more_is_better: Some(false),
            key,
        }
    };
    differing.into_iter().map(row).collect()
}

/// The functions of the server that take more or less CPU time for a request; `of` has a figure's values in both groups,
/// and its difference.
pub(super) fn sentence(
    figures: &[ComparedFigure],
    of: impl Fn(&str) -> Option<(f64, f64, Difference)>,
) -> Option<String> {
    let known = figures.iter().filter(|it| it.family == FigureFamily::Code);
    let differing = known.filter_map(|it| {
        let (before, after, difference) = of(&it.key)?;
        // Of what was not there before there is no ratio.
        let is_shown = difference.is_shown() || before == 0.0;
        let both = format!("{} instead of {}", duration(after), duration(before));
        is_shown.then(|| format!("{} {both}", it.label))
    });
    let differing: Vec<String> = differing.collect();
    let all = differing.join(", ");
    (!all.is_empty()).then(|| format!("CPU time per request by function: {all}."))
}
