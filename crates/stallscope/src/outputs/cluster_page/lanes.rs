//! Nodes as lanes over one time axis: pressure of each, the throughput above them, phases behind them.

use model::{ClusterReport, Span};

use super::super::cluster::time_of_day;
use super::super::layout::cut;
use super::super::plain_page::{escaped, titled};

/// In units of the drawing.
const WIDTH: f64 = 1100.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 30.0;
const LANE: f64 = 54.0;
const APART: f64 = 14.0;
/// Nodes that have a lane.
const MOST_LANES: usize = 60;
/// Characters of a node's name beside its lane.
const NAME_ROOM: usize = 16;
/// What a lane shows, with its colour: CPU, I/O and memory have theirs on every page.
const LINES: [(&str, &str, &str); 3] = [
    ("cpu_some", "g0", "CPU pressure"),
    ("io_some", "g1", "I/O pressure"),
    ("memory_some", "g4", "memory pressure"),
];

/// The drawing.
pub(super) fn chart(report: &ClusterReport) -> String {
    let over_time = &report.over_time;
    let steps = over_time
        .nodes
        .iter()
        .flat_map(|it| it.values())
        .map(Vec::len)
        .max();
    let Some(steps) = steps.filter(|it| *it > 1) else {
        return String::new();
    };
    let x = |step: f64| LEFT + step / steps as f64 * (WIDTH - LEFT - RIGHT);
    let lanes = report.nodes.iter().zip(&over_time.nodes).take(MOST_LANES);
    let mut body = String::new();
    let mut top = TOP;
    if !over_time.throughput.is_empty() {
        let most = over_time
            .throughput
            .iter()
            .flatten()
            .fold(0.0, |a: f64, b| a.max(*b));
        let points: Vec<Option<f64>> = over_time
            .throughput
            .iter()
            .map(|it| it.map(|it| it / most.max(f64::MIN_POSITIVE)))
            .collect();
        let most = format!("{}/s", analysis::rate(most));
        body.push_str(&lane("throughput", &most, &[("g2", points)], top, &x));
        top += LANE + APART;
    }
    for (node, rows) in lanes {
        let lines = LINES.iter().filter_map(|(quantity, class, _)| {
            let row = rows.get(*quantity)?;
            Some((*class, row.iter().map(|it| it.map(f64::from)).collect()))
        });
        let lines: Vec<(&str, Vec<Option<f64>>)> = lines.collect();
        body.push_str(&lane(&node.name, "100 %", &lines, top, &x));
        top += LANE + APART;
    }
    let height = top + 24.0;
    let bands = bands(report, steps, top - APART, &x);
    let spikes = spikes(report, steps, top - APART, &x);
    let ticks = ticks(report, steps, top + 6.0, &x);
    let more = report.nodes.len().saturating_sub(MOST_LANES);
    let more = match more {
        0 => String::new(),
        more => format!("<p class=\"muted\">and {more} more nodes: in the table below</p>\n"),
    };
    let keys = keys(report);
    titled(
        "Pressure of each node (some, part of the time)",
        &format!(
            "<p>{keys}</p>\n<div class=\"wide\"><svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"pressure of each node over time; the tables below have its means\">\n{bands}{spikes}{body}{ticks}</svg></div>\n{more}"
        ),
    )
}

/// What each colour stands for.
fn keys(report: &ClusterReport) -> String {
    let keys = LINES
        .iter()
        .map(|(_, class, name)| format!("<span class=\"key {class}\">{name}</span> "));
    let spikes = report.spikes.as_ref().map(|it| {
        let name = escaped(&it.node);
        format!("<span class=\"key spike\">spikes of {name}</span>")
    });
    keys.chain(spikes).collect()
}

/// A name, a frame, and lines of shares from 0 to 1; where a value is not known a line is interrupted.
fn lane(
    name: &str,
    most: &str,
    lines: &[(&str, Vec<Option<f64>>)],
    top: f64,
    x: &impl Fn(f64) -> f64,
) -> String {
    let bottom = top + LANE;
    let right = WIDTH - RIGHT;
    let mut text = format!(
        "<path class=\"frame\" d=\"M{LEFT} {top:.1}V{bottom:.1}H{right}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text><text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        LEFT - 8.0,
        top + LANE / 2.0 + 4.0,
        escaped(&cut(name, NAME_ROOM)),
        right + 6.0,
        top + 8.0,
        escaped(most)
    );
    for (class, values) in lines {
        let mut path = String::new();
        let mut is_open = false;
        for (step, value) in values.iter().enumerate() {
            let Some(value) = value else {
                is_open = false;
                continue;
            };
            let y = bottom - value.clamp(0.0, 1.0) * LANE;
            let verb = if is_open { 'L' } else { 'M' };
            path.push_str(&format!("{verb}{:.1} {y:.1}", x(step as f64 + 0.5)));
            is_open = true;
        }
        text.push_str(&format!("<path class=\"line {class}\" d=\"{path}\"/>\n"));
    }
    text
}

fn place(report: &ClusterReport, ns: i64) -> f64 {
    let over_time = &report.over_time;
    (ns - over_time.start_ns) as f64 / over_time.step_ns.max(1) as f64
}

/// Each phase behind all lanes, with its limits above them.
fn bands(report: &ClusterReport, steps: usize, bottom: f64, x: &impl Fn(f64) -> f64) -> String {
    let each = report.phases.iter().enumerate().map(|(number, phase)| {
        let Span { from_ns, to_ns } = phase.span;
        let at = |ns| x(place(report, ns).clamp(0.0, steps as f64));
        let (from, to) = (at(from_ns), at(to_ns));
        let odd = if number % 2 == 1 { " odd" } else { "" };
        // About so many letters fit.
        let room = ((to - from) / 6.5) as usize;
        let limits = phase.limits.join(", ");
        let limits = if limits.len() <= room { &*limits } else { "" };
        format!(
            "<rect class=\"band{odd}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect><text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            TOP - 22.0,
            to - from,
            bottom - TOP + 22.0,
            escaped(&phase.sentence),
            from + 4.0,
            TOP - 8.0,
            escaped(limits)
        )
    });
    each.collect()
}

/// Each spike behind all lanes.
fn spikes(report: &ClusterReport, steps: usize, bottom: f64, x: &impl Fn(f64) -> f64) -> String {
    const NARROWEST: f64 = 1.5;
    let Some(found) = &report.spikes else {
        return String::new();
    };
    let name = escaped(&format!("spike of {}", found.node));
    let each = found.spans.iter().map(|it| {
        let at = |ns| x(place(report, ns).clamp(0.0, steps as f64));
        let (from, to) = (at(it.from_ns), at(it.to_ns));
        format!(
            "<rect class=\"spike\" x=\"{from:.1}\" y=\"{TOP:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{name}</title></rect>\n",
            (to - from).max(NARROWEST),
            bottom - TOP,
        )
    });
    each.collect()
}

fn ticks(report: &ClusterReport, steps: usize, y: f64, x: &impl Fn(f64) -> f64) -> String {
    const TICKS: usize = 6;
    let each = (0..=TICKS).map(|tick| {
        let step = steps as f64 * tick as f64 / TICKS as f64;
        let over_time = &report.over_time;
        let ns = over_time.start_ns + (step * over_time.step_ns as f64) as i64;
        format!(
            "<text class=\"time\" {} x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n",
            super::instant(ns, super::part(report)),
            x(step),
            escaped(&time_of_day(report, ns))
        )
    });
    each.collect()
}
