//! The statements of the target's database: a line each, with what its time went to.

use analysis::{duration, integer, percent};
use model::{Report, StatementTime};

use super::layout::table;
use super::on_one_line;

/// Statements that are shown; the JSON has more.
const MOST: usize = 10;
/// Beginnings of rare statements that are shown.
const MOST_BEGUN: usize = 5;
const HEADINGS: [&str; 10] = [
    "Statements",
    "share",
    "calls",
    "time",
    "CPU",
    "queued",
    "disk",
    "fsync",
    "locks",
    "client",
];

/// Nothing where none were recorded.
pub(super) fn lines(report: &Report, width: usize) -> String {
    if report.statements.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(report.statements.iter().take(MOST).map(row));
    let mut notes = vec![
        "share: of the time of all statements; CPU to client: of the statement's own time; queued: waiting for a CPU; \
         fsync: or for another session's flush of the log"
            .to_owned(),
    ];
    let more = report.statements.len().saturating_sub(MOST);
    if more > 0 {
        notes.push(format!("{more} more (--json)"));
    }
    let mut text = table(&rows, &notes, width);
    text.push_str(&rare_lines(report, width));
    text
}

fn row(statement: &StatementTime) -> [String; 10] {
    let of = |ns: f64| match ns > 0.0 {
        true => percent(ns / statement.total_ns),
        false => "-".to_owned(),
    };
    [
        on_one_line(&format!("  {}", statement.text)),
        percent(statement.share),
        integer(statement.calls),
        duration(statement.total_ns),
        of(statement.on_cpu_ns),
        of(statement.queued.total_ns()),
        of(statement.disk_ns),
        of(statement.sync_ns),
        of(statement.lock_ns + statement.internal_lock_ns),
        of(statement.client_ns),
    ]
}

/// When rare statements began.
fn rare_lines(report: &Report, width: usize) -> String {
    let rare = report.statements.iter();
    let rare = rare.filter(|it| !it.began_ns.is_empty()).take(MOST);
    let mut rows = vec![["Rare statements".to_owned(), "began at".to_owned()]];
    rows.extend(rare.map(|it| {
        let times = it.began_ns.iter().take(MOST_BEGUN);
        let times = times.map(|ns| format!("{:.2} s", *ns as f64 / 1e9));
        let more = it.began_ns.len() > MOST_BEGUN;
        let times = times.chain(more.then(|| "...".to_owned()));
        let text = on_one_line(&format!("  {}", it.text));
        [text, times.collect::<Vec<_>>().join(", ")]
    }));
    match rows.len() {
        1 => String::new(),
        _ => table(&rows, &[], width),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::QueuedBehind;

    use super::*;

    fn statement(text: &str, id: i64, began_ns: Vec<i64>) -> StatementTime {
        StatementTime {
            text: text.to_owned(),
            query_id: (id != 0).then(|| id.to_string()),
            calls: 1234.0,
            share: 0.5,
            total_ns: 4e9,
            on_cpu_ns: 2e9,
            queued: QueuedBehind {
                rest_ns: 5e8,
                target_ns: 5e8,
                ..QueuedBehind::default()
            },
            memory_ns: 0.0,
            disk_ns: 0.0,
            sync_ns: 6e8,
            lock_ns: 3e8,
            internal_lock_ns: 1e8,
            client_ns: 0.0,
            other_ns: 0.0,
            rare: (!began_ns.is_empty()).then(|| "GRANT, REVOKE".to_owned()),
            began_ns,
        }
    }

    #[test]
    fn statements_have_a_line_each_and_rare_ones_their_times() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        assert_eq!(lines(&report, 90), "");
        report.statements = vec![
            statement("UPDATE t\u{1b} SET a = ?", -17, Vec::new()),
            statement(
                "GRANT SELECT ON t TO u",
                5,
                vec![1_500_000_000, 12_000_000_000],
            ),
            statement("no statement", 0, Vec::new()),
        ];
        expect![[r#"
            at 100
              Statements                share  calls    time   CPU  queued  disk  fsync  locks  client
                UPDATE t� SET a = ?      50 %  1,234  4.00 s  50 %    25 %     -   15 %   10 %       -
                GRANT SELECT ON t TO u   50 %  1,234  4.00 s  50 %    25 %     -   15 %   10 %       -
                no statement             50 %  1,234  4.00 s  50 %    25 %     -   15 %   10 %       -
                share: of the time of all statements; CPU to client: of the statement's own time; queued:
                waiting for a CPU; fsync: or for another session's flush of the log
              Rare statements                  began at
                GRANT SELECT ON t TO u  1.50 s, 12.00 s
        "#]].assert_eq(&format!("at 100\n{}", lines(&report, 100)));
    }
}
