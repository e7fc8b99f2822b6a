//! Who held locks of the database that others waited for: a line for each holder, and one for each statement behind it.

use analysis::percent;
use model::{LockHolder, Report};

use super::layout::table;
use super::on_one_line;

/// Holders that are shown, and statements behind each; the JSON has more.
const MOST: usize = 5;
const HEADINGS: [&str; 3] = ["Lock holders", "sessions", "share"];

/// Nothing where nobody waited, or the database was not asked.
pub(super) fn lines(report: &Report, width: usize) -> String {
    if report.lock_holders.is_empty() {
        return String::new();
    }
    let row = |text: String, sessions: f64, share: f64| {
        let sessions = format!("{sessions:.1}");
        [on_one_line(&text), sessions, percent(share)]
    };
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for it in report.lock_holders.iter().take(MOST) {
        rows.push(row(format!("  {}", does(it)), it.sessions, it.share));
        let named = it
            .waiters
            .iter()
            .filter_map(|it| Some((it, it.statement.as_ref()?)));
        rows.extend(named.take(MOST).map(|(it, statement)| {
            let text = format!("    blocks: {}", statement.text);
            row(text, it.sessions, it.share)
        }));
    }
    let notes = [
        "sessions: those that wait, on average; share: of all waits for locks; once a second by the database's own word"
            .to_owned(),
    ];
    table(&rows, &notes, width)
}

fn does(holder: &LockHolder) -> String {
    let statement = holder.statement.as_ref().map(|it| &it.text);
    match (holder.is_idle, statement) {
        (true, Some(last)) => format!("idle in transaction, last: {last}"),
        (true, None) => "idle in transaction".to_owned(),
        (false, Some(statement)) => format!("running: {statement}"),
        (false, None) => "running a statement".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{LockWaiter, NamedStatement};

    use super::*;

    #[test]
    fn holders_stand_above_those_whom_they_block() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        assert_eq!(lines(&report, 90), "");
        let statement = |text: &str| {
            Some(NamedStatement {
                text: text.to_owned(),
                query_id: "8".to_owned(),
            })
        };
        let waiter = |text, share| LockWaiter {
            statement: statement(text),
            sessions: 4.0 * share,
            share,
        };
        let update = "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?";
        report.lock_holders = vec![
            LockHolder {
                is_idle: true,
                statement: statement(update),
                sessions: 3.0,
                share: 0.75,
                waiters: vec![waiter(update, 0.5), waiter("LOCK TABLE a\u{1b}", 0.25)],
            },
            LockHolder {
                is_idle: false,
                statement: None,
                sessions: 1.0,
                share: 0.25,
                waiters: vec![LockWaiter {
                    statement: None,
                    ..waiter("", 0.25)
                }],
            },
        ];
        expect![[r#"
            at 90
              Lock holders                                                             sessions  share
                idle in transaction, last: UPDATE pgbench_branches SET bbalance = bb…       3.0   75 %
                  blocks: UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE …       2.0   50 %
                  blocks: LOCK TABLE a�                                                     1.0   25 %
                running a statement                                                         1.0   25 %
                sessions: those that wait, on average; share: of all waits for locks; once a second by
                the database's own word
        "#]].assert_eq(&format!("at 90\n{}", lines(&report, 90)));
    }
}
