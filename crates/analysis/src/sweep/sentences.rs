//! What a sweep says in words.

use model::{PointFigure, SeriesOfTwo, Sweep, SweepPoint, SweptCrossing, SweptCurve, SweptGoal};

use super::{axis, on_curve};
use crate::number_format::{duration, percent, rate};

/// What brings less than this beside the best is as good as it.
const ALIKE: f64 = 0.03;
/// Where the scatter of runs hides more than this, that is said.
const UNSURE: f64 = 0.15;

/// How far more brings more, what limits where, what keeps the goal.
pub(super) fn answers(sweep: &Sweep) -> Vec<String> {
    let mut answers: Vec<String> = sweep.goal.iter().map(|it| of_goal(sweep, it)).collect();
    for curve in &sweep.curves {
        answers.extend(of_curve(sweep, curve));
    }
    answers.extend(
        sweep
            .crossings
            .iter()
            .flat_map(|it| of_crossings(sweep, it)),
    );
    if sweep.curves.is_empty() {
        answers.extend(best(sweep));
    }
    answers
}

/// Of parameters that are no numbers: what does most.
fn best(sweep: &Sweep) -> Option<String> {
    let known = sweep.points.iter();
    let known = known.filter_map(|it| Some((it, it.figure("throughput")?)));
    let (point, figure) = known.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let (name, most) = (named(sweep, point), throughput(point, figure));
    Some(format!("{name} does most: {most}."))
}

/// `clients=8, scale=10`
fn named(sweep: &Sweep, point: &SweepPoint) -> String {
    let parameters = sweep.parameters.iter().zip(&point.values);
    let each = parameters.map(|(parameter, value)| format!("{}={value}", parameter.name));
    each.collect::<Vec<_>>().join(", ")
}

/// `12,300 tps (95 % interval: 12,100 to 12,500)`
fn throughput(point: &SweepPoint, figure: &PointFigure) -> String {
    let unit = point.runs.first().map_or("", |it| it.rate_unit.as_str());
    let value = format!("{} {unit}", rate(figure.value));
    match figure.interval {
        Some(it) => format!(
            "{value} (95 % interval: {} to {})",
            rate(it.low),
            rate(it.high)
        ),
        None => value,
    }
}

fn of_curve(sweep: &Sweep, curve: &SweptCurve) -> Vec<String> {
    let Some(axis) = axis(&sweep.parameters, &sweep.points) else {
        return Vec::new();
    };
    let points = on_curve(&sweep.parameters, &sweep.points, axis, &curve.fixed);
    let fixed = match curve.fixed.is_empty() {
        true => String::new(),
        false => format!("With {}: ", curve.fixed.join(", ")),
    };
    let rises = rises(&curve.parameter, &points);
    let limits = limits(curve);
    let said: Vec<String> = rises.into_iter().chain(limits).collect();
    let mut answers = Vec::new();
    if !said.is_empty() {
        answers.push(format!("{fixed}{}", said.join(" ")));
    }
    answers.extend(
        curve
            .scaling
            .iter()
            .map(|it| format!("{fixed}{}", it.answer)),
    );
    answers
}

/// `quota=none overtakes quota=0.5 at instances=2.1 (95 % interval: 1.8 to 2.4).`
fn of_crossings(sweep: &Sweep, crossing: &SweptCrossing) -> Vec<String> {
    let parameter = sweep.curves.first().map_or("", |it| it.parameter.as_str());
    let (first, second) = (crossing.first.join(", "), crossing.second.join(", "));
    let each = crossing.report.crossings.iter().map(|it| {
        let (ahead, behind) = match it.ahead_after {
            SeriesOfTwo::First => (&first, &second),
            SeriesOfTwo::Second => (&second, &first),
        };
        let load = it.load;
        format!(
            "{ahead} overtakes {behind} at {parameter}={} ({}{} to {}).",
            rate(load.value),
            match crossing.report.is_joined {
                true => "by straight lines between its points; measured on both sides: ",
                false => "95 % interval: ",
            },
            rate(load.interval.low),
            rate(load.interval.high)
        )
    });
    each.collect()
}

/// How far throughput rises, and what more costs.
fn rises(name: &str, points: &[(f64, &SweepPoint)]) -> Option<String> {
    let known: Vec<Measured<'_>> = points
        .iter()
        .filter_map(|(value, point)| Some((*value, *point, point.figure("throughput")?)))
        .collect();
    let (first, last) = (known.first()?, known.last()?);
    let best = known
        .iter()
        .max_by(|one, other| one.2.value.total_cmp(&other.2.value))?;
    // The lowest value that gives as much as the best: more of it brings nothing.
    let enough = known.iter().find(|it| is_as_good(it.2, best.2))?;
    let (most, at) = (throughput(enough.1, enough.2), shown(enough.0));
    let slower = || slower(enough, last).unwrap_or_default();
    let said = if enough.0 == last.0 {
        let by = rate(last.2.value / first.2.value);
        format!(
            "Throughput rises up to the last value, {name}={at}: {most}, {by} times that of {}. Where it bends lies beyond.",
            shown(first.0),
        )
    } else if enough.0 == first.0 {
        format!("More than {name}={at} brings nothing: {most}{}.", slower())
    } else {
        format!(
            "Throughput rises up to {name}={at}: {most}; more brings nothing{}.",
            slower()
        )
    };
    let margin = margin(best.2, best.2);
    Some(match margin > UNSURE {
        true => format!(
            "{said} Runs of one configuration are so far apart that {} more or less would not be seen: make them longer, or on a quieter machine.",
            percent(margin)
        ),
        false => said,
    })
}

/// A value of the parameter, its point, and that point's throughput.
type Measured<'a> = (f64, &'a SweepPoint, &'a PointFigure);

/// Whether a throughput cannot be told from the highest, or is so little below that it does not matter.
fn is_as_good(it: &PointFigure, best: &PointFigure) -> bool {
    it.value >= best.value * (1.0 - margin(it, best))
}

/// How far two means may be apart by chance or without meaning, as a part of the higher: half of the interval of their
/// difference, which has the scatter of both.
fn margin(it: &PointFigure, best: &PointFigure) -> f64 {
    let half = |it: &PointFigure| {
        let interval = it.interval.filter(|_| it.value > 0.0)?;
        Some((interval.high - it.value) / it.value)
    };
    let both = half(it)
        .zip(half(best))
        .map(|(one, other)| one.hypot(other));
    both.unwrap_or(0.0).max(ALIKE)
}

/// What a request takes at the last value against where throughput stops to rise.
fn slower(enough: &Measured<'_>, last: &Measured<'_>) -> Option<String> {
    let latency = |it: &SweepPoint| it.figure("latency").map(|it| it.value);
    let (before, after) = (latency(enough.1)?, latency(last.1)?);
    let less = 1.0 - last.2.value / enough.2.value;
    let throughput = match less > margin(last.2, enough.2) {
        true => format!("throughput is {} lower and ", percent(less)),
        false => String::new(),
    };
    Some(format!(
        ", at {} {throughput}a request takes {} instead of {}",
        shown(last.0),
        duration(after),
        duration(before)
    ))
}

/// `The limit is cpu.quota (postgres) from 1 to 4, io.sync (postgres) at 8.`
fn limits(curve: &SweptCurve) -> Option<String> {
    let said: Vec<String> = curve
        .limits
        .iter()
        .map(|it| {
            let place = match it.from == it.to {
                true => format!("at {}", shown(it.from)),
                false => format!("from {} to {}", shown(it.from), shown(it.to)),
            };
            format!("{} ({}) {place}", it.limit.cause, it.limit.entity.name)
        })
        .collect();
    (!said.is_empty()).then(|| format!("The limit is {}.", said.join(", ")))
}

fn of_goal(sweep: &Sweep, swept: &SweptGoal) -> String {
    let name = sweep.parameters.first().map_or("", |it| it.name.as_str());
    let goal = format!(
        "{} < {}",
        swept.goal.of,
        duration(swept.goal.below_ns as f64)
    );
    let at = |value: &String| {
        sweep
            .points
            .iter()
            .find(|it| it.values.first() == Some(value))
    };
    let latency = |value: &String| {
        let key = match swept.goal.of {
            model::Latency::Mean => "latency".to_owned(),
            of => format!("latency.{of}"),
        };
        let ns = at(value)?.figure(&key)?.value;
        Some(format!("{} {}", swept.goal.of, duration(ns)))
    };
    let measured = |value: &String| latency(value).map_or(String::new(), |it| format!(", {it}"));
    match (&swept.kept, &swept.missed) {
        (Some(kept), missed) => {
            let figure = at(kept).and_then(|it| Some(throughput(it, it.figure("throughput")?)));
            let figure = figure.map_or(String::new(), |it| format!(": {it}"));
            let missed = match missed {
                Some(missed) => format!("; {missed} misses it{}", measured(missed)),
                None => format!("; nothing above was tried: name higher values with --set {name}="),
            };
            format!(
                "The highest load that keeps {goal} is {name}={kept}{figure}{}{missed}.",
                measured(kept)
            )
        }
        (None, Some(missed)) => {
            format!("Not even {name}={missed} keeps {goal}{}.", measured(missed))
        }
        (None, None) => format!("Whether {goal} is kept is not known of any run."),
    }
}

/// A value as a person writes it.
fn shown(value: f64) -> String {
    format!("{value}")
}

/// What should be known before the points are believed.
pub(super) fn caveats(sweep: &Sweep) -> Vec<String> {
    let mut caveats = Vec::new();
    let divided: Vec<String> = sweep
        .points
        .iter()
        .filter(|it| it.limit.is_some() && 2 * it.agreeing as usize <= it.runs.len())
        .map(|it| {
            format!(
                "{} ({} of {})",
                named(sweep, it),
                it.agreeing,
                it.runs.len()
            )
        })
        .collect();
    if !divided.is_empty() {
        caveats.push(format!(
            "The runs of one configuration do not agree on the limit: {}",
            divided.join("; ")
        ));
    }
    if sweep.points.iter().all(|it| it.runs.len() < 2) {
        caveats.push(
            "Each configuration was run once: nothing is known of how far runs are apart (--repeat 3)"
                .to_owned(),
        );
    }
    caveats
}
