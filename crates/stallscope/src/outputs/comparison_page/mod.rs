//! Recordings side by side as a page: one file that opens offline, without a program in it.

mod align;
mod lanes;

use model::{ComparedFigure, ComparedGroup, Comparison};

use super::comparison::{FAMILIES, amount, apart, helps};
use super::disks;
use super::plain_page::{self, element, escaped, titled};

pub(crate) use align::Align;

/// The page.
pub(crate) fn page(comparison: &Comparison, align: &Align) -> String {
    let names: Vec<&str> = comparison
        .groups
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let title = format!("Stallscope: {}", names.join(", "));
    let groups = comparison.groups.iter().enumerate();
    let sections = [
        paragraphs(comparison),
        element(
            "div",
            "verdicts",
            &groups.map(|(at, it)| verdict(at, it)).collect::<String>(),
        ),
        titled(
            &escaped(&align.title()),
            &lanes::chart(&comparison.groups, align),
        ),
        titled("Figures", &table(comparison)),
        environment(comparison),
        caveats(comparison),
    ];
    let names = names.iter().enumerate();
    let names: Vec<String> = names.map(|(at, it)| key(at, it)).collect();
    plain_page::document(&title, &names.join(" "), &sections.concat())
}

/// A group's name with its colour.
fn key(at: usize, name: &str) -> String {
    format!(
        "<span class=\"key g{}\">{}</span>",
        at % lanes::COLOURS,
        escaped(name)
    )
}

fn paragraphs(comparison: &Comparison) -> String {
    let said = |it: &Vec<String>| element("p", "answer", &escaped(&it.join(" ")));
    comparison.answers.iter().map(said).collect()
}

/// What limits a group, and what would help it.
fn verdict(at: usize, group: &ComparedGroup) -> String {
    let mut text = element("h2", "", &key(at, &group.name));
    for run in group.runs.iter().take(1) {
        let own = run.verdict.as_ref();
        text.push_str(&own.map_or(String::new(), |it| element("p", "", &escaped(&it.sentence))));
        let cause = own.map_or(String::new(), |it| {
            format!("{}, {}; {}", it.cause, it.entity.name, it.confidence.word())
        });
        text.push_str(&element("p", "muted", &escaped(&cause)));
        let helps = helps(run);
        if !helps.is_empty() {
            text.push_str(&element(
                "p",
                "",
                &escaped(&format!("Would help: {}.", helps.join("; "))),
            ));
        }
        if !run.disks.is_empty() {
            let said = format!("On disk: {}.", disks::in_short(&run.disks));
            text.push_str(&element("p", "muted", &escaped(&said)));
        }
    }
    if group.runs.len() > 1 {
        let same = group.runs.iter().filter(|it| {
            let cause = |it: &model::ComparedRun| it.verdict.as_ref().map(|it| it.cause.clone());
            group
                .runs
                .first()
                .is_some_and(|first| cause(first) == cause(it))
        });
        let many = format!(
            "The first of {} runs; {} have this cause.",
            group.runs.len(),
            same.count()
        );
        text.push_str(&element("p", "muted", &many));
    }
    element("section", "card", &text)
}

fn table(comparison: &Comparison) -> String {
    let mut head = "<th scope=\"col\"></th>".to_owned();
    for (at, group) in comparison.groups.iter().enumerate() {
        head.push_str(&format!("<th scope=\"col\">{}</th>", key(at, &group.name)));
        if at > 0 {
            head.push_str("<th scope=\"col\">difference</th><th scope=\"col\">95 % interval</th>");
        }
    }
    let mut rows = format!("<tr>{head}</tr>\n");
    let columns = 3 * comparison.groups.len() - 1;
    for (family, title) in FAMILIES {
        let mut own = comparison
            .figures
            .iter()
            .filter(|it| it.family == family)
            .peekable();
        if own.peek().is_some() {
            rows.push_str(&format!("<tr><th class=\"family\" scope=\"colgroup\" colspan=\"{columns}\">{title}</th></tr>\n"));
        }
        own.for_each(|it| rows.push_str(&row(it)));
    }
    format!("<div class=\"wide\"><table>\n{rows}</table></div>\n")
}

fn row(figure: &ComparedFigure) -> String {
    let shown = |it: Option<f64>| it.map_or("-".to_owned(), |it| amount(it, figure.unit));
    let mut cells = format!("<th scope=\"row\">{}</th>", escaped(&figure.label));
    for (at, value) in figure.values.iter().enumerate() {
        cells.push_str(&format!("<td>{}</td>", shown(*value)));
        if let Some(before) = at.checked_sub(1) {
            let difference = figure.differences.get(before).copied().flatten();
            let (by, interval) =
                difference.map_or_else(Default::default, |it| apart(&it, figure.unit));
            let class = match difference.is_some_and(|it| it.is_shown()) {
                true => " class=\"shown\"",
                false => "",
            };
            cells.push_str(&format!(
                "<td{class}>{by}</td><td class=\"muted\">{interval}</td>"
            ));
        }
    }
    format!("<tr>{cells}</tr>\n")
}

fn environment(comparison: &Comparison) -> String {
    if comparison.environment.is_empty() {
        return String::new();
    }
    let heads = comparison.groups.iter().enumerate();
    let heads: String = heads
        .map(|(at, it)| format!("<th scope=\"col\">{}</th>", key(at, &it.name)))
        .collect();
    let mut rows = format!("<tr><th scope=\"col\"></th>{heads}</tr>\n");
    for it in &comparison.environment {
        let values = it
            .values
            .iter()
            .map(|it| it.as_deref().unwrap_or("not recorded"));
        let cells: String = values
            .map(|it| format!("<td class=\"fact\">{}</td>", escaped(it)))
            .collect();
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
            escaped(&it.name)
        ));
    }
    titled(
        "What differs about machines and runs",
        &format!("<div class=\"wide\"><table>\n{rows}</table></div>\n"),
    )
}

fn caveats(comparison: &Comparison) -> String {
    if comparison.caveats.is_empty() {
        return String::new();
    }
    let items: String = comparison
        .caveats
        .iter()
        .map(|it| element("li", "", &escaped(it)))
        .collect();
    titled("Caveats", &format!("<ul>\n{items}</ul>\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let json = include_str!("../../../fixtures/comparisons/three-disks.json");
        serde_json::from_str(json).expect("it is a comparison")
    }

    #[test]
    fn the_page_is_one_file_without_a_program() {
        let mut comparison = comparison();
        comparison.groups[1].name = "<script>alert(1)</script>\u{1b}[31m".to_owned();
        for align in [Align::Start, Align::Steady] {
            let page = page(&comparison, &align);
            for bad in [
                "<script", "http:", "https:", "url(", "@import", "\u{1b}", "NaN", "inf",
            ] {
                assert!(!page.contains(bad), "{bad}");
            }
            assert!(page.contains("&lt;script&gt;alert(1)"));
            // A lane for each figure that was recorded, with a line for each run.
            let runs: usize = comparison.groups.iter().map(|it| it.runs.len()).sum();
            let lanes = page.matches("class=\"frame\"").count();
            assert_eq!(page.matches("<path class=\"line").count(), lanes * runs);
            assert_eq!(lanes, 7);
        }
    }

    #[test]
    fn runs_are_aligned_at_a_mark_that_each_has() {
        let mut comparison = comparison();
        let align = Align::Mark("deploy <began>".to_owned());
        let runs: Vec<_> = comparison
            .groups
            .iter_mut()
            .flat_map(|it| &mut it.runs)
            .collect();
        for (number, run) in runs.into_iter().enumerate() {
            run.marks = vec![model::ComparedMark {
                at_s: 1.0 + number as f64,
                text: "deploy <began>".to_owned(),
            }];
        }
        align.check(&comparison).expect("each has it");
        let page = page(&comparison, &align);
        // The lines of all of them lie on each other.
        let lines: std::collections::BTreeSet<&str> = page
            .lines()
            .filter(|it| it.starts_with("<path class=\"mark"))
            .filter_map(|it| it.split_once(" d=\"M")?.1.split_once('"'))
            .map(|it| it.0)
            .collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(!page.contains("<began>"), "{page}");
        assert!(page.contains("deploy &lt;began&gt; at 0.0 s"), "{page}");
        comparison.groups[1].runs[0].marks[0].text = "other".to_owned();
        let error = align
            .check(&comparison)
            .expect_err("one lacks it")
            .to_string();
        let name = &comparison.groups[1].runs[0].name;
        assert!(error.starts_with(&format!("{name} has no mark")), "{error}");
        assert!(error.contains("it has \"other\""), "{error}");
    }

    #[test]
    fn runs_without_a_course_are_said_to_be_too_short() {
        let mut comparison = comparison();
        let runs = comparison.groups.iter_mut().flat_map(|it| &mut it.runs);
        runs.for_each(|it| it.course.clear());
        assert!(page(&comparison, &Align::Start).contains("too short to be drawn"));
    }
}
