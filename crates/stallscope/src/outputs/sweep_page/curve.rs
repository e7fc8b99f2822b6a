//! Throughput and latency over the parameter, with the stretches of the same limit behind them.

use analysis::sweep::THROUGHPUT_OF_EACH;
use model::{FigureUnit, PointFigure, SweepPoint};

use super::super::plain_page::{escaped, titled};
use super::axis::{Axis, LEFT, RIGHT, WIDTH, rounded_up};
use super::{COLOURS, Drawn, written};

/// In units of the drawing.
const HEIGHT: f64 = 220.0;
const TOP: f64 = 40.0;
const BELOW: f64 = 44.0;

/// A drawing for throughput and one for each latency that was measured.
pub(super) fn charts(drawn: &[Drawn<'_>]) -> String {
    let values = drawn.iter().flat_map(|it| &it.points).map(|it| it.0);
    let Some(axis) = Axis::over(values) else {
        return String::new();
    };
    [
        ("throughput", "Throughput"),
        (THROUGHPUT_OF_EACH, "Throughput of each instance"),
        ("latency", "Latency, mean"),
        ("latency.p99", "Latency, p99"),
    ]
    .into_iter()
    .filter_map(|(key, title)| chart(key, title, drawn, &axis))
    .collect()
}

fn chart(key: &str, title: &str, drawn: &[Drawn<'_>], axis: &Axis) -> Option<String> {
    let figures = || {
        drawn
            .iter()
            .flat_map(|it| &it.points)
            .filter_map(|it| it.1.figure(key))
    };
    let unit = figures().next()?.unit;
    let top = |it: &PointFigure| it.interval.map_or(it.value, |it| it.high);
    let most = figures().map(top).fold(0.0, f64::max);
    let scale = Scale {
        most: rounded_up(most),
        unit,
    };
    let mut body = match drawn {
        [only] => bands(only, axis),
        _ => String::new(),
    };
    body.push_str(&scale.frame());
    for (number, it) in drawn.iter().enumerate() {
        body.push_str(&series(key, number, it, axis, &scale));
    }
    body.push_str(&axis.ticks(TOP + HEIGHT + 18.0));
    let parameter = drawn.first().map_or("", |it| it.curve.parameter.as_str());
    body.push_str(&format!(
        "<text class=\"time\" x=\"{:.0}\" y=\"{:.0}\">{}</text>\n",
        (LEFT + WIDTH - RIGHT) / 2.0,
        TOP + HEIGHT + 38.0,
        escaped(parameter)
    ));
    let height = TOP + HEIGHT + BELOW;
    let legend = legend(drawn);
    Some(titled(
        title,
        &format!(
            "{legend}<div class=\"wide\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title} by {}; the table below has the values\">\n{body}</svg></div>\n",
            escaped(parameter)
        ),
    ))
}

/// From bottom to top, from 0.
struct Scale {
    most: f64,
    unit: FigureUnit,
}

impl Scale {
    fn y(&self, value: f64) -> f64 {
        TOP + HEIGHT - (value / self.most).clamp(0.0, 1.0) * HEIGHT
    }

    fn frame(&self) -> String {
        let mut frame = format!(
            "<path class=\"frame\" d=\"M{LEFT} {TOP}V{}H{}\"/>\n",
            TOP + HEIGHT,
            WIDTH - RIGHT
        );
        for value in [0.0, self.most / 2.0, self.most] {
            frame.push_str(&format!(
                "<text class=\"tick\" x=\"{}\" y=\"{:.1}\">{}</text>\n",
                LEFT - 8.0,
                self.y(value) + 4.0,
                escaped(&written(value, self.unit))
            ));
        }
        frame
    }
}

/// Behind the points, where what limits them is the same.
fn bands(drawn: &Drawn<'_>, axis: &Axis) -> String {
    let ranges = drawn.curve.limits.iter().enumerate();
    let band = |(number, it): (usize, &model::LimitRange)| {
        let (from, to) = (axis.border_before(it.from), axis.border_after(it.to));
        let odd = if number % 2 == 1 { " odd" } else { "" };
        // About so many letters fit.
        let room = ((to - from) / 6.5) as usize;
        let cause: String = it.limit.cause.chars().take(room).collect();
        format!(
            "<rect class=\"band{odd}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect><text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            TOP - 24.0,
            to - from,
            HEIGHT + 24.0,
            escaped(&it.limit.sentence),
            from + 6.0,
            TOP - 9.0,
            escaped(&cause)
        )
    };
    ranges.map(band).collect()
}

fn series(key: &str, number: usize, drawn: &Drawn<'_>, axis: &Axis, scale: &Scale) -> String {
    let colour = number % COLOURS;
    let known: Vec<(f64, &SweepPoint, &PointFigure)> = drawn
        .points
        .iter()
        .filter_map(|(value, point)| Some((*value, *point, point.figure(key)?)))
        .collect();
    let places = known
        .iter()
        .map(|(value, _, figure)| format!("{:.1} {:.1}", axis.x(*value), scale.y(figure.value)));
    let places: Vec<String> = places.collect();
    let mut body = format!(
        "<path class=\"line g{colour}\" d=\"M{}\"/>\n",
        places.join("L")
    );
    if key == "throughput" {
        body.push_str(&fitted(colour, drawn, axis, scale));
    }
    for (value, point, figure) in known {
        let x = axis.x(value);
        if let Some(it) = figure.interval {
            body.push_str(&format!(
                "<path class=\"bar g{colour}\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
                scale.y(it.low),
                scale.y(it.high)
            ));
        }
        let limit = point.limit.as_ref().map_or("", |it| it.sentence.as_str());
        body.push_str(&format!(
            "<circle class=\"dot g{colour}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}</title></circle>\n",
            scale.y(figure.value),
            escaped(&format!(
                "{} at {value}: {limit}",
                written(figure.value, figure.unit)
            ))
        ));
    }
    body
}

/// The likeliest model through the points, dashed, and its knee.
fn fitted(colour: usize, drawn: &Drawn<'_>, axis: &Axis, scale: &Scale) -> String {
    let scaling = drawn.curve.scaling.as_ref();
    let Some(fit) = scaling.and_then(|it| it.fits.first()) else {
        return String::new();
    };
    let places = fit.curve.iter();
    let places =
        places.map(|it| format!("{:.1} {:.1}", axis.x(it.load), scale.y(it.throughput.value)));
    let line = places.collect::<Vec<_>>().join("L");
    let answer = scaling.map_or("", |it| it.answer.as_str());
    let mut body = format!(
        "<path class=\"line fitted g{colour}\" d=\"M{line}\"><title>{}</title></path>\n",
        escaped(answer)
    );
    let last = fit.curve.last().map_or(0.0, |it| it.load);
    let knee = scaling.and_then(|it| it.knee);
    if let Some(knee) = knee.filter(|it| it.value <= last) {
        let x = axis.x(knee.value);
        body.push_str(&format!(
            "<path class=\"line fitted g{colour}\" d=\"M{x:.1} {TOP}V{}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">knee</text>\n",
            TOP + HEIGHT,
            x - 4.0,
            TOP + HEIGHT - 6.0
        ));
    }
    body
}

/// Names of curves, where there are several.
fn legend(drawn: &[Drawn<'_>]) -> String {
    if drawn.len() < 2 {
        return String::new();
    }
    let names = drawn.iter().enumerate().map(|(number, it)| {
        let colour = number % COLOURS;
        format!("<span class=\"key g{colour}\">{}</span>", escaped(&it.name))
    });
    format!("<p class=\"legend\">{}</p>\n", names.collect::<String>())
}
