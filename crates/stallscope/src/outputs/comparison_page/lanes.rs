//! Every run's course on one time axis, a lane for each figure.

use model::{ComparedGroup, ComparedMark, ComparedRun, CoursePoint};

use super::super::plain_page::escaped;
use super::Align;

/// Colours that groups are told apart by, each with a dash pattern of its own (comparison.css).
pub(super) const COLOURS: usize = 6;
/// In units of the drawing.
const WIDTH: f64 = 1100.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 12.0;
const HEIGHT: f64 = 84.0;
const GAP: f64 = 26.0;

type Of = fn(&CoursePoint) -> Option<f64>;

/// A lane: its title, what is drawn, and how its highest value is written.
struct Lane {
    title: &'static str,
    of: Of,
    written: fn(f64) -> String,
    /// The highest value that can be; `None` where the lane is as high as its data.
    most: Option<f64>,
}

const LANES: [Lane; 7] = [
    lane("throughput, per second", |it| it.throughput, analysis::rate),
    lane("latency, mean", |it| it.latency_ns, analysis::duration),
    share("CPU pressure (some)", |it| it.cpu_some),
    share("I/O pressure (some)", |it| it.io_some),
    share("I/O pressure (full)", |it| it.io_full),
    share("memory pressure (some)", |it| it.memory_some),
    lane("load average, 1 min", |it| it.load1, analysis::rate),
];

const fn lane(title: &'static str, of: Of, written: fn(f64) -> String) -> Lane {
    Lane {
        title,
        of,
        written,
        most: None,
    }
}

const fn share(title: &'static str, of: Of) -> Lane {
    Lane {
        title,
        of,
        written: analysis::percent,
        most: Some(1.0),
    }
}

/// The drawing, and in words what it holds.
pub(super) fn chart(groups: &[ComparedGroup], align: &Align) -> String {
    let runs = || groups.iter().flat_map(|it| &it.runs);
    let at = |run: &ComparedRun, point: &CoursePoint| point.at_s - zero(run, align);
    let ends = runs().flat_map(|run| {
        run.course
            .iter()
            .map(move |it| (at(run, it), at(run, it) + it.length_s))
    });
    let span = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, it| {
        (all.0.min(it.0), all.1.max(it.1))
    });
    if !(span.1 - span.0).is_finite() || span.1 <= span.0 {
        return "<p class=\"muted\">The recordings are too short to be drawn.</p>\n".to_owned();
    }
    let lanes: Vec<&Lane> = LANES
        .iter()
        .filter(|lane| runs().any(|it| it.course.iter().any(|it| (lane.of)(it).is_some())))
        .collect();
    let height = (HEIGHT + GAP) * lanes.len() as f64 + GAP;
    let mut drawn = String::new();
    for (number, group) in groups.iter().enumerate() {
        for run in &group.runs {
            drawn.push_str(&marks(run, number, align, span, height));
        }
    }
    for (number, lane) in lanes.iter().enumerate() {
        let top = GAP + (HEIGHT + GAP) * number as f64;
        drawn.push_str(&of_lane(lane, groups, align, span, top));
    }
    drawn.push_str(&axis(span, height));
    let listed = listed(groups, align);
    format!(
        "<div class=\"wide\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Throughput, latency, pressure and load average of every run over time; the table below has their means\">\n{drawn}</svg></div>\n{listed}"
    )
}

/// What is 0 s of a run, s after its start; of one without the mark, its start.
fn zero(run: &ComparedRun, align: &Align) -> f64 {
    align.zero(run).unwrap_or(0.0)
}

/// The marks of a run through all lanes.
fn marks(run: &ComparedRun, group: usize, align: &Align, span: (f64, f64), height: f64) -> String {
    let zero = zero(run, align);
    let inside = |it: &&ComparedMark| (span.0..=span.1).contains(&(it.at_s - zero));
    let drawn = run.marks.iter().filter(inside).map(|mark| {
        let x = place(mark.at_s - zero, span);
        format!(
            "<path class=\"mark g{}\" d=\"M{x:.1} {GAP}V{}\"><title>{}</title></path>\n",
            group % COLOURS,
            height - GAP,
            escaped(&format!("{}: {}", run.name, mark.text))
        )
    });
    drawn.collect()
}

/// The marks in words.
fn listed(groups: &[ComparedGroup], align: &Align) -> String {
    let runs = groups.iter().flat_map(|it| &it.runs);
    let of = |run: &ComparedRun| {
        let zero = zero(run, align);
        let mark = |it: &ComparedMark| format!("{} at {:.1} s", it.text, it.at_s - zero);
        let marks: Vec<String> = run.marks.iter().map(mark).collect();
        format!("Marks of {}: {}.", run.name, marks.join(", "))
    };
    let said = runs.filter(|it| !it.marks.is_empty()).map(of);
    said.map(|it| format!("<p class=\"muted\">{}</p>\n", escaped(&it)))
        .collect()
}

/// Where a time stands in the drawing.
fn place(at_s: f64, span: (f64, f64)) -> f64 {
    LEFT + (at_s - span.0) / (span.1 - span.0) * (WIDTH - LEFT - RIGHT)
}

fn of_lane(
    lane: &Lane,
    groups: &[ComparedGroup],
    align: &Align,
    span: (f64, f64),
    top: f64,
) -> String {
    let values = groups
        .iter()
        .flat_map(|it| &it.runs)
        .flat_map(|it| &it.course)
        .filter_map(lane.of);
    let highest = values.fold(0.0, f64::max);
    let most = lane
        .most
        .unwrap_or(if highest > 0.0 { highest } else { 1.0 });
    let bottom = top + HEIGHT;
    let mut drawn = format!(
        "<text class=\"title\" x=\"{LEFT}\" y=\"{}\">{}</text>\n<text class=\"tick\" x=\"{}\" y=\"{}\">{}</text><text class=\"tick\" x=\"{}\" y=\"{bottom}\">0</text>\n<path class=\"frame\" d=\"M{LEFT} {top}V{bottom}H{}\"/>\n",
        top - 6.0,
        lane.title,
        LEFT - 8.0,
        top + 10.0,
        escaped(&(lane.written)(most)),
        LEFT - 8.0,
        WIDTH - RIGHT,
    );
    for (number, group) in groups.iter().enumerate() {
        for run in &group.runs {
            let zero = zero(run, align);
            let point = |point: &CoursePoint| {
                let value = (lane.of)(point)?;
                let x = place(point.at_s - zero + point.length_s / 2.0, span);
                Some(format!(
                    "{x:.1} {:.1}",
                    bottom - (value / most).clamp(0.0, 1.0) * HEIGHT
                ))
            };
            let line = path(run.course.iter().map(point));
            drawn.push_str(&format!(
                "<path class=\"line g{}\" d=\"{line}\"><title>{}</title></path>\n",
                number % COLOURS,
                escaped(&run.name)
            ));
        }
    }
    drawn
}

/// A line through what is known; what is not known interrupts it.
fn path(places: impl Iterator<Item = Option<String>>) -> String {
    let mut line = String::new();
    let mut is_drawn = false;
    for place in places {
        if let Some(place) = &place {
            line.push(if is_drawn { 'L' } else { 'M' });
            line.push_str(place);
        }
        is_drawn = place.is_some();
    }
    line
}

/// Times below the lanes.
fn axis(span: (f64, f64), height: f64) -> String {
    const TICKS: f64 = 8.0;
    let rough = (span.1 - span.0) / TICKS;
    let unit = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|it| it * unit)
        .find(|it| *it >= rough)
        .unwrap_or(rough);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let mut drawn = String::new();
    let mut number = (span.0 / step).ceil();
    while number * step <= span.1 {
        let x = place(number * step, span);
        drawn.push_str(&format!(
            "<text class=\"time\" x=\"{x:.1}\" y=\"{}\">{:.decimals$} s</text>\n",
            height - 6.0,
            number * step + 0.0
        ));
        number += 1.0;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_interrupts_a_line() {
        let places = ["1 2", "2 3", "", "4 5"].map(|it| (!it.is_empty()).then(|| it.to_owned()));
        assert_eq!(path(places.into_iter()), "M1 2L2 3M4 5");
        assert_eq!(path(std::iter::empty()), "");
    }
}
