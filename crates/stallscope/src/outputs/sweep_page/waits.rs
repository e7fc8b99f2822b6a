//! Where a request's time goes at each point: a bar for each, of the wait classes on top of each other.

use model::{FigureFamily, FigureUnit, PointFigure, SweepPoint};

use super::super::plain_page::{escaped, titled};
use super::axis::{Axis, LEFT, RIGHT, WIDTH};
use super::{Drawn, written};

/// In units of the drawing.
const HEIGHT: f64 = 180.0;
const TOP: f64 = 12.0;
const BELOW: f64 = 28.0;
const BAR: f64 = 26.0;

/// A drawing for each curve.
pub(super) fn charts(drawn: &[Drawn<'_>]) -> String {
    drawn.iter().map(chart).collect()
}

fn waits(point: &SweepPoint) -> impl Iterator<Item = &PointFigure> {
    let waits = point.figures.iter();
    waits.filter(|it| it.family == FigureFamily::Wait && it.value > 0.0)
}

fn chart(drawn: &Drawn<'_>) -> String {
    let whole = |point: &SweepPoint| waits(point).map(|it| it.value).sum::<f64>();
    let most = drawn
        .points
        .iter()
        .map(|it| whole(it.1))
        .fold(0.0, f64::max);
    let Some(axis) = Axis::over(drawn.points.iter().map(|it| it.0)) else {
        return String::new();
    };
    if most <= 0.0 {
        return String::new();
    }
    let mut body = format!(
        "<path class=\"frame\" d=\"M{LEFT} {TOP}V{}H{}\"/>\n<text class=\"tick\" x=\"{}\" y=\"{}\">{}</text>\n",
        TOP + HEIGHT,
        WIDTH - RIGHT,
        LEFT - 8.0,
        TOP + 4.0,
        escaped(&written(most, FigureUnit::Nanoseconds))
    );
    for (value, point) in &drawn.points {
        body.push_str(&bar(*value, point, &axis, most));
    }
    body.push_str(&axis.ticks(TOP + HEIGHT + 18.0));
    let title = match drawn.name.is_empty() {
        true => "Where a request's time goes".to_owned(),
        false => format!("Where a request's time goes, {}", escaped(&drawn.name)),
    };
    let height = TOP + HEIGHT + BELOW;
    titled(
        &title,
        &format!(
            "{}<div class=\"wide\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}; the table below has the values\">\n{body}</svg></div>\n",
            legend(drawn)
        ),
    )
}

fn bar(value: f64, point: &SweepPoint, axis: &Axis, most: f64) -> String {
    let mut bottom = TOP + HEIGHT;
    let mut body = String::new();
    for figure in waits(point) {
        let height = figure.value / most * HEIGHT;
        bottom -= height;
        body.push_str(&format!(
            "<rect class=\"wait\" {} x=\"{:.1}\" y=\"{bottom:.1}\" width=\"{BAR}\" height=\"{height:.1}\"><title>{}</title></rect>",
            colour(&figure.key),
            axis.x(value) - BAR / 2.0,
            escaped(&format!(
                "{} at {value}: {}",
                figure.label,
                written(figure.value, figure.unit)
            ))
        ));
    }
    body.push('\n');
    body
}

/// The colour of a wait class, as on the page of a recording; time outside has none of its own.
fn colour(key: &str) -> String {
    let class = key.trim_start_matches("wait.").replace('_', "-");
    format!(
        "style=\"--own:var(--class-{},var(--idle))\"",
        escaped(&class)
    )
}

/// The names of the classes that are drawn, with their colours.
fn legend(drawn: &Drawn<'_>) -> String {
    let mut named: Vec<&PointFigure> = Vec::new();
    for figure in drawn.points.iter().flat_map(|it| waits(it.1)) {
        if named.iter().all(|it| it.key != figure.key) {
            named.push(figure);
        }
    }
    let names = named.iter().map(|it| {
        format!(
            "<span class=\"swatch\" {}>{}</span>",
            colour(&it.key),
            escaped(&it.label)
        )
    });
    format!("<p class=\"legend\">{}</p>\n", names.collect::<String>())
}
