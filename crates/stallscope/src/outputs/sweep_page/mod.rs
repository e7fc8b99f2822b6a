//! Runs over a parameter as a page: one file that opens offline, without a program in it.

mod axis;
mod curve;
mod waits;

use analysis::sweep::{axis as axis_of, on_curve};
use model::{FigureUnit, PointFigure, Sweep, SweepPoint};

use super::comparison::amount;
use super::plain_page::{self, element, escaped, titled};
use super::sweep::disks_of;

/// Colours that curves are told apart by.
const COLOURS: usize = 6;

/// A curve with its points, from the lowest value on.
struct Drawn<'a> {
    name: String,
    points: Vec<(f64, &'a SweepPoint)>,
    curve: &'a model::SweptCurve,
}

/// The page.
pub(crate) fn page(sweep: &Sweep) -> String {
    let drawn = drawn(sweep);
    let title = format!("Stallscope: {}", sweep.command);
    let answers = sweep.answers.iter();
    let answers: String = answers
        .map(|it| element("p", "answer", &escaped(it)))
        .collect();
    let body = [
        answers,
        curve::charts(&drawn),
        waits::charts(&drawn),
        titled("Points", &table(sweep)),
        on_disk(sweep),
        caveats(sweep),
    ];
    plain_page::document(&title, &escaped(&sweep.command), &body.concat())
}

fn drawn(sweep: &Sweep) -> Vec<Drawn<'_>> {
    let Some(axis) = axis_of(&sweep.parameters, &sweep.points) else {
        return Vec::new();
    };
    let curves = sweep.curves.iter().map(|curve| Drawn {
        points: on_curve(&sweep.parameters, &sweep.points, axis, &curve.fixed),
        name: curve.fixed.join(", "),
        curve,
    });
    curves.collect()
}

/// Every figure of every point: a row for each point.
fn table(sweep: &Sweep) -> String {
    let mut columns: Vec<&PointFigure> = Vec::new();
    for figure in sweep.points.iter().flat_map(|it| &it.figures) {
        if columns.iter().all(|it| it.key != figure.key) {
            columns.push(figure);
        }
    }
    let head = |it: &str| format!("<th scope=\"col\">{}</th>", escaped(it));
    let parameters: String = sweep.parameters.iter().map(|it| head(&it.name)).collect();
    let names: String = columns.iter().map(|it| head(&it.label)).collect();
    let mut rows = format!(
        "<tr>{parameters}<th scope=\"col\" class=\"name\">limit</th><th scope=\"col\">runs</th>{names}</tr>\n"
    );
    for point in &sweep.points {
        rows.push_str(&row(point, &columns));
    }
    format!("<div class=\"wide\"><table>\n{rows}</table></div>\n")
}

fn row(point: &SweepPoint, columns: &[&PointFigure]) -> String {
    let values: String = point
        .values
        .iter()
        .map(|it| format!("<th scope=\"row\">{}</th>", escaped(it)))
        .collect();
    let limit = point.limit.as_ref().map_or("-".to_owned(), |it| {
        format!("{} ({})", it.cause, it.entity.name)
    });
    let said = point.limit.as_ref().map_or("", |it| it.sentence.as_str());
    let cells: String = columns
        .iter()
        .map(|column| {
            let own = point.figure(&column.key);
            let interval = own.and_then(|it| Some((it.unit, it.interval?)));
            let title = interval.map_or(String::new(), |(unit, it)| {
                let ends = [it.low, it.high].map(|it| amount(it, unit));
                format!(" title=\"95 % interval: {} to {}\"", ends[0], ends[1])
            });
            let shown = own.map_or("-".to_owned(), |it| amount(it.value, it.unit));
            format!("<td{title}>{}</td>", escaped(&shown))
        })
        .collect();
    format!(
        "<tr>{values}<td class=\"name\" title=\"{}\">{}</td><td>{} of {}</td>{cells}</tr>\n",
        escaped(said),
        escaped(&limit),
        point.agreeing,
        point.runs.len()
    )
}

/// What disks did in each configuration.
fn on_disk(sweep: &Sweep) -> String {
    let heads = sweep.parameters.iter();
    let heads: String = heads
        .map(|it| format!("<th scope=\"col\">{}</th>", escaped(&it.name)))
        .collect();
    let row = |point: &SweepPoint| {
        let said = disks_of(point);
        let values = point.values.iter();
        let values: String = values
            .map(|it| format!("<th scope=\"row\">{}</th>", escaped(it)))
            .collect();
        match said.is_empty() {
            true => String::new(),
            false => format!(
                "<tr>{values}<td class=\"fact\">{}</td></tr>\n",
                escaped(&said)
            ),
        }
    };
    let rows: String = sweep.points.iter().map(row).collect();
    match rows.is_empty() {
        true => rows,
        false => titled(
            "What disks did",
            &format!(
                "<div class=\"wide\"><table>\n<tr>{heads}<th scope=\"col\" class=\"name\">in the first run</th></tr>\n{rows}</table></div>\n"
            ),
        ),
    }
}

fn caveats(sweep: &Sweep) -> String {
    let voided = sweep.voided.iter();
    let voided =
        voided.map(|it| format!("{} ({}) does not count: {}", it.name, it.group, it.reason));
    let items: String = sweep
        .caveats
        .iter()
        .cloned()
        .chain(voided)
        .map(|it| element("li", "", &escaped(&it)))
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => titled("Caveats", &format!("<ul>\n{items}</ul>\n")),
    }
}

/// A value of a figure as it stands on an axis.
fn written(value: f64, unit: FigureUnit) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ => amount(value, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> Sweep {
        let json = include_str!("../../../fixtures/sweeps/clients.json");
        serde_json::from_str(json).expect("it is a sweep")
    }

    #[test]
    fn the_page_is_one_file_without_a_program() {
        let mut sweep = sweep();
        sweep.command = "<script>alert(1)</script>\u{1b}[31m".to_owned();
        let page = page(&sweep);
        for bad in [
            "<script", "http:", "https:", "url(", "@import", "\u{1b}", "NaN", "inf\"",
        ] {
            assert!(!page.contains(bad), "{bad}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)"));
        let points = sweep.points.len();
        assert!(page.matches("class=\"dot").count() >= points, "{page}");
        // In each drawing a band for each stretch with the same limit.
        let drawings = page.matches("<path class=\"line g").count();
        assert!(drawings >= 2, "{page}");
        let bands: usize = sweep.curves.iter().map(|it| it.limits.len()).sum();
        assert_eq!(page.matches("<rect class=\"band").count(), bands * drawings);
    }

    #[test]
    fn values_that_are_no_numbers_have_a_table_and_no_curve() {
        let mut sweep = sweep();
        sweep
            .points
            .iter_mut()
            .for_each(|it| it.values[0].insert(0, 'x'));
        sweep.curves.clear();
        let page = page(&sweep);
        assert!(!page.contains("<svg") && page.contains("<table"), "{page}");
    }
}
