//! Recordings side by side, as a person reads them in a terminal, and as a comment on a pull request.

use analysis::compare::signed;
use analysis::{bound, duration, gain, percent, rate};
use model::{
    ComparedFigure, ComparedGroup, ComparedRun, Comparison, Difference, FigureFamily, FigureUnit,
    GainOf, Remedy,
};

use super::disks;
use super::layout::{cut, labelled, wrap};
use super::{Detail, harmless};

/// A wait that is less of a request's time than this in every group is shown by `--verbose` alone.
const LEAST_WAIT: f64 = 0.02;
/// Pressure below this in every group says little.
const LEAST_PRESSURE: f64 = 0.01;
/// Characters of a label.
const LABEL: usize = 38;
/// Characters of a value.
const VALUE: usize = 11;

/// The families, with what stands above them.
pub(super) const FAMILIES: [(FigureFamily, &str); 5] = [
    (FigureFamily::Load, "Load"),
    (FigureFamily::Wait, "Where a request's time goes"),
    (FigureFamily::Pressure, "Pressure"),
    (FigureFamily::Resource, "Used"),
    (FigureFamily::Code, "Server's CPU time per request, in"),
];

/// The comparison, ending in a line end.
pub(super) fn text(comparison: &Comparison, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    for (at, sentences) in comparison.answers.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        let lines = sentences.iter().flat_map(|it| wrap(it, width));
        lines.for_each(|line| text.push_str(&format!("{line}\n")));
        text.push_str(&format!("\n{}", table(comparison, at + 1, detail)));
    }
    text.push_str(&runs(comparison, width));
    let names = comparison.groups.iter().map(|it| it.name.as_str());
    for (difference, at) in comparison.environment.iter().zip(0..) {
        let values = names.clone().zip(&difference.values);
        let values =
            values.map(|(name, it)| format!("{name}: {}", it.as_deref().unwrap_or("not recorded")));
        let said = format!(
            "{}: {}",
            difference.name,
            values.collect::<Vec<_>>().join("; ")
        );
        text.push_str(&labelled(
            if at == 0 { "\n  Differs" } else { "" },
            &said,
            width,
        ));
    }
    text.push_str(&on_disk(comparison, width));
    text.push('\n');
    for group in &comparison.groups {
        let helps = group.runs.first().map_or(Vec::new(), helps);
        let label = format!("Would help {}", group.name);
        text.push_str(&labelled(&label, &helps.join("; "), width));
    }
    for caveat in &comparison.caveats {
        text.push_str(&labelled("Caveat", caveat, width));
    }
    let text = harmless(&text);
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// What disks did in the first run of each group.
fn on_disk(comparison: &Comparison, width: usize) -> String {
    let of = |group: &ComparedGroup| {
        let said = group
            .runs
            .first()
            .map_or(String::new(), |it| disks::in_short(&it.disks));
        match said.is_empty() {
            true => String::new(),
            false => labelled(&format!("On disk {}", group.name), &said, width),
        }
    };
    let said: String = comparison.groups.iter().map(of).collect();
    match said.is_empty() {
        true => said,
        false => format!("\n{said}"),
    }
}

/// How the runs were made, where they were made to be compared.
fn runs(comparison: &Comparison, width: usize) -> String {
    let Some(experiment) = &comparison.experiment else {
        return String::new();
    };
    let mut text = String::from("\n");
    for group in &comparison.groups {
        let command = group.command.as_deref().unwrap_or_default();
        text.push_str(&labelled(&format!("{} is", group.name), command, width));
    }
    let precision = percent(experiment.precision);
    let reached = match experiment.reached {
        Some(it) if it <= experiment.precision => {
            format!("the precision of {precision} was reached")
        }
        Some(it) => format!(
            "{} instead of the precision of {precision} was reached",
            percent(it)
        ),
        None => format!("too few for the precision of {precision}"),
    };
    let said = format!(
        "{} in random order (seed {}), {}; {reached}",
        analysis::count(experiment.rounds, "round"),
        experiment.seed,
        duration(experiment.spent_s * 1e9)
    );
    text.push_str(&labelled("Runs", &said, width));
    for run in &experiment.voided {
        let said = format!("{} does not count: {}", run.name, run.reason);
        text.push_str(&labelled("Voided", &said, width));
    }
    text
}

/// One group's figures beside the first's.
fn table(comparison: &Comparison, place: usize, detail: Detail) -> String {
    let names = [0, place].map(|at| comparison.groups.get(at).map_or("", |it| it.name.as_str()));
    let names = names.map(|it| cut(it, VALUE - 1));
    let mut text = format!(
        "  {:LABEL$}{:>VALUE$}{:>VALUE$}{:>12}   95 % interval\n",
        "", names[0], names[1], "difference"
    );
    for (family, title) in FAMILIES {
        let rows = comparison.figures.iter().filter(|it| it.family == family);
        let rows: Vec<&ComparedFigure> = rows
            .filter(|it| detail == Detail::Full || says(it, comparison))
            .collect();
        if rows.is_empty() {
            continue;
        }
        text.push_str(&format!("  {title}\n"));
        rows.iter().for_each(|it| text.push_str(&row(it, place)));
    }
    let noise = comparison.figure("throughput").and_then(|it| it.noise);
    if let Some(noise) = noise {
        text.push_str(&format!(
            "  Runs of one group differ by {} in throughput (standard deviation).\n",
            percent(noise)
        ));
    }
    text
}

/// A function's name says most at its end: `…growing::find_row`.
fn shortened_label(figure: &ComparedFigure, most: usize) -> String {
    let length = figure.label.chars().count();
    if figure.family != FigureFamily::Code || length < most {
        return cut(&figure.label, most - 1);
    }
    let end = figure.label.chars().skip(length + 2 - most);
    std::iter::once('…').chain(end).collect()
}

fn row(figure: &ComparedFigure, place: usize) -> String {
    let value = |at: usize| figure.values.get(at).copied().flatten();
    let shown = |it: Option<f64>| it.map_or("-".to_owned(), |it| amount(it, figure.unit));
    let difference = figure.differences.get(place - 1).copied().flatten();
    let (by, interval) = difference.map_or_else(Default::default, |it| apart(&it, figure.unit));
    format!(
        "    {:<width$}{:>VALUE$}{:>VALUE$}{by:>12}   {interval}\n",
        shortened_label(figure, LABEL - 2),
        shown(value(0)),
        shown(value(place)),
        width = LABEL - 2,
    )
}

/// Whether a row tells a reader something.
fn says(figure: &ComparedFigure, comparison: &Comparison) -> bool {
    let at_least = |least: f64| figure.values.iter().flatten().any(|it| *it >= least);
    match figure.family {
        FigureFamily::Wait => {
            let latency = comparison.figure("latency");
            let whole = |at: usize| latency.and_then(|it| it.values.get(at).copied().flatten());
            let part = |(at, value): (usize, &Option<f64>)| Some((*value)? / whole(at)?);
            figure
                .values
                .iter()
                .enumerate()
                .filter_map(part)
                .any(|it| it >= LEAST_WAIT)
        }
        FigureFamily::Pressure if figure.unit == FigureUnit::Share => at_least(LEAST_PRESSURE),
        _ => true,
    }
}

/// How far two values are apart, and the interval of that. Shares of time are compared in points, ratios of small ones
/// being large and empty.
pub(super) fn apart(difference: &Difference, unit: FigureUnit) -> (String, String) {
    let by = match (unit, difference.relative) {
        (FigureUnit::Share, _) => points(difference.absolute),
        (_, Some(relative)) => ratio(relative),
        (_, None) if difference.absolute > 0.0 => format!("+{}", amount(difference.absolute, unit)),
        (_, None) => String::new(),
    };
    let interval = difference.interval.filter(|_| unit != FigureUnit::Share);
    let interval = interval.map_or(String::new(), |it| {
        format!("{} to {}", ratio(it.low), ratio(it.high))
    });
    (by, interval)
}

/// `-60 %`, `+5 %`; where much is more than ten times as much, `x 31`.
fn ratio(relative: f64) -> String {
    match relative < 10.0 {
        true => signed(relative),
        false => format!("x {}", bound(1.0 + relative).trim_end_matches(".0")),
    }
}

fn points(difference: f64) -> String {
    match (difference * 100.0).round() {
        0.0 => "0 points".to_owned(),
        points => format!("{points:+} points"),
    }
}

pub(super) fn amount(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Rate | FigureUnit::Number => rate(value),
        FigureUnit::Nanoseconds => duration(value),
        FigureUnit::Share => percent(value),
        FigureUnit::Bytes => analysis::storage(value),
    }
}

/// What would help a run, with what that would bring.
pub(super) fn helps(run: &ComparedRun) -> Vec<String> {
    run.would_help.iter().map(help).collect()
}

fn help(remedy: &Remedy) -> String {
    let of = match remedy.gain_of {
        Some(GainOf::ResponseTime) => "less response time",
        _ => "throughput",
    };
    match (remedy.gain, remedy.gain_interval) {
        (Some(_), Some(it)) => format!(
            "{} (+{} to +{} {of})",
            remedy.change,
            gain(it.low),
            gain(it.high)
        ),
        (Some(by), None) => format!("{} (+{} {of})", remedy.change, gain(by)),
        _ => remedy.change.clone(),
    }
}

/// The same as Markdown: the answer first, the figures that say something as a table, the rest folded.
pub(crate) fn markdown(comparison: &Comparison) -> String {
    let names: Vec<String> = comparison.groups.iter().map(|it| cell(&it.name)).collect();
    let mut text = format!("### Stallscope: {}\n\n", names.join(", "));
    for sentences in &comparison.answers {
        text.push_str(&format!("{}\n\n", cell(&sentences.join(" "))));
    }
    let (main, rest): (Vec<_>, Vec<_>) = comparison
        .figures
        .iter()
        .partition(|it| it.family == FigureFamily::Load);
    text.push_str(&markdown_table(&names, &main));
    text.push_str("\n<details><summary>Waits, pressure, resources</summary>\n\n");
    let rest: Vec<&ComparedFigure> = rest.into_iter().filter(|it| says(it, comparison)).collect();
    text.push_str(&markdown_table(&names, &rest));
    for difference in &comparison.environment {
        let values = difference
            .values
            .iter()
            .map(|it| it.as_deref().unwrap_or("not recorded"));
        let values: Vec<String> = values.map(cell).collect();
        text.push_str(&format!(
            "\n- {} differs: {}",
            cell(&difference.name),
            values.join("; ")
        ));
    }
    for caveat in &comparison.caveats {
        text.push_str(&format!("\n- {}", cell(caveat)));
    }
    text.push_str("\n\n</details>\n");
    harmless(&text)
}

fn markdown_table(names: &[String], rows: &[&ComparedFigure]) -> String {
    let others = names.iter().skip(1);
    let heads: String = others
        .map(|it| format!(" {it} | difference (95 % interval) |"))
        .collect();
    let first = names.first().map_or("", String::as_str);
    let mut text = format!(
        "| | {first} |{heads}\n|---|---:|{}\n",
        "---:|---:|".repeat(names.len().saturating_sub(1))
    );
    for figure in rows {
        let shown = |it: Option<f64>| it.map_or("-".to_owned(), |it| amount(it, figure.unit));
        let mut line = format!(
            "| {} | {} |",
            cell(&figure.label),
            shown(figure.values.first().copied().flatten())
        );
        for (value, difference) in figure.values.iter().skip(1).zip(&figure.differences) {
            let (by, interval) =
                difference.map_or_else(Default::default, |it| apart(&it, figure.unit));
            let interval = if interval.is_empty() {
                interval
            } else {
                format!(" ({interval})")
            };
            line.push_str(&format!(" {} | {by}{interval} |", shown(*value)));
        }
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// A text that begins nothing in Markdown: names of programs and files may hold anything.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '!' => safe.extend(['\\', letter]),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Nobody is called by a name in a recording.
            '@' => safe.push_str("@\u{200b}"),
            '\n' => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let json = include_str!("../../fixtures/comparisons/three-disks.json");
        serde_json::from_str(json).expect("it is a comparison")
    }

    #[test]
    fn what_a_person_reads() {
        let text = text(&comparison(), 100, Detail::Short);
        expect_test::expect_file!["../../fixtures/comparisons/three-disks.txt"].assert_eq(&text);
        let longest = text.lines().map(|it| it.chars().count()).max();
        assert!(longest.is_some_and(|it| it <= 100), "{text}");
    }

    #[test]
    fn what_a_pull_request_shows() {
        let text = markdown(&comparison());
        expect_test::expect_file!["../../fixtures/comparisons/three-disks.md"].assert_eq(&text);
    }

    #[test]
    fn names_begin_nothing_in_markdown() {
        let mut comparison = comparison();
        comparison.groups[0].name = "a|b*<img src=x>\n# @all".to_owned();
        let text = markdown(&comparison);
        assert!(!text.contains("<img"), "{text}");
        let safe = "a\\|b\\*&lt;img src=x&gt; \\# @\u{200b}all";
        assert!(text.contains(safe), "{text}");
    }
}
