//! The load's operations by label, one line each: completed, failed, mean latency and p99.

use analysis::{duration, integer};
use model::{LabelReport, Report};

use super::layout::table;
use super::on_one_line;

/// Labels that are shown; the JSON has all.
const MOST_SHOWN: usize = 20;
const HEADINGS: [&str; 5] = ["By label", "completed", "failed", "mean", "p99"];

/// The table, those with most operations first; nothing where the load has no labels.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let mut labels: Vec<&LabelReport> = report.labels.iter().collect();
    labels.sort_by_key(|it| std::cmp::Reverse(it.completed.unwrap_or(0) + it.failed.unwrap_or(0)));
    let Some(first) = labels.first() else {
        return String::new();
    };
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(labels.iter().take(MOST_SHOWN).map(|it| row(it)));
    let more = labels.len() - (rows.len() - 1);
    let mut notes = Vec::new();
    if more > 0 {
        notes.push(format!("{more} more labels (--json)"));
    }
    if first.of_whole_run {
        notes.push("of the whole run, as the load generator reported it".to_owned());
    }
    table(&rows, &notes, width)
}

fn row(label: &LabelReport) -> [String; 5] {
    let count = |it: Option<u64>| it.map_or_else(|| "-".to_owned(), |it| integer(it as f64));
    let time = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), duration);
    [
        on_one_line(format!("  {}", label.name).as_str()),
        count(label.completed),
        count(label.failed),
        time(label.latency_mean_ns),
        time(label.latency_p99_ns),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn label(name: &str, completed: u64, p99: Option<f64>, of_whole_run: bool) -> LabelReport {
        LabelReport {
            name: name.to_owned(),
            completed: Some(completed),
            failed: (completed > 100).then_some(7),
            latency_mean_ns: Some(1.5e6),
            latency_p99_ns: p99,
            of_whole_run,
        }
    }

    fn shown(labels: Vec<LabelReport>, width: usize) -> String {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        report.labels = labels;
        format!("at {width}\n{}", lines(&report, width))
    }

    #[test]
    fn labels_stand_in_the_order_of_their_operations() {
        let two = || {
            vec![
                label("GET /b", 9, None, false),
                label("GET /a\nb", 12_345, Some(2.5e7), false),
            ]
        };
        expect![[r#"
            at 60
              By label    completed  failed     mean      p99
                GET /a�b     12,345       7  1.50 ms  25.0 ms
                GET /b            9       -  1.50 ms        -
        "#]]
        .assert_eq(&shown(two(), 60));
        let long = "x".repeat(99);
        let many = (0..30)
            .map(|n| label(&format!("{n}{long}"), n, None, true))
            .collect();
        let text = shown(many, 60);
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
        assert!(
            text.contains("\n    10 more labels (--json); of the whole run,"),
            "{text}"
        );
        assert_eq!(shown(Vec::new(), 60), "at 60\n");
    }
}
