//! The programs that were started: a line for each group of like ones.

use analysis::program_runs::short;
use analysis::{duration, integer};
use model::{Report, StartedProgram};

use super::layout::{cut, table};
use super::on_one_line;

/// Programs that are shown; the JSON has more.
const MOST: usize = 10;
/// Characters of whoever started them.
const MOST_STARTER: usize = 24;
const HEADINGS: [&str; 6] = ["Programs started", "times", "CPU", "mean", "failed", "by"];

/// Nothing where none were started, or starts were not recorded.
pub(super) fn lines(report: &Report, width: usize) -> String {
    if report.programs.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(report.programs.iter().take(MOST).map(row));
    let mut notes = vec!["N: a number; *: an identifier".to_owned()];
    let more = report.programs.len().saturating_sub(MOST);
    if more > 0 {
        notes.push(format!("{more} more (--json)"));
    }
    table(&rows, &notes, width)
}

fn row(program: &StartedProgram) -> [String; 6] {
    let command = match &*program.command {
        "" => "not known".to_owned(),
        command => short(command),
    };
    let what = match program.is_fork {
        true => format!("  fork of {command}"),
        false => format!("  {command}"),
    };
    let by = cut(&on_one_line(&short(&program.started_by)), MOST_STARTER);
    let mean = program.mean_ns.map(|ns| duration(ns as f64));
    [
        on_one_line(&what),
        integer(program.starts as f64),
        duration(program.cpu_ns as f64),
        mean.unwrap_or_else(|| "-".to_owned()),
        integer((program.failed + program.killed) as f64),
        by,
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn programs_have_a_line_each_and_ten_are_shown() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        let program = |command: &str, is_fork, starts, mean_ns| StartedProgram {
            command: command.to_owned(),
            example: command.to_owned(),
            is_fork,
            started_by: "/usr/sbin/cron -f -P --with-many-options".to_owned(),
            starts,
            cpu_ns: 1_234_000 * starts as i64,
            mean_ns,
            longest_ns: 1,
            failed: 1,
            killed: 2,
        };
        report.programs = vec![
            program("backup --level N", false, 12, Some(61_000_000_000)),
            program("postgres: main", true, 7_000, Some(1_500_000)),
            program("", false, 1, None),
        ];
        expect![[r#"
            at 99
              Programs started          times      CPU     mean  failed                        by
                backup --level N           12  14.8 ms   61.0 s       3  cron -f -P --with-many-…
                fork of postgres: main  7,000   8.64 s  1.50 ms       3  cron -f -P --with-many-…
                not known                   1  1.23 ms        -       3  cron -f -P --with-many-…
                N: a number; *: an identifier
        "#]]
        .assert_eq(&format!("at 99\n{}", lines(&report, 99)));
        report.programs = vec![report.programs[0].clone(); 12];
        let text = lines(&report, 99);
        assert!(
            text.lines().count() == 12 && text.contains("2 more (--json)"),
            "{text}"
        );
        report.programs.clear();
        assert_eq!(lines(&report, 99), "");
    }
}
