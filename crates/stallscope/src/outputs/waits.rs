//! Who waits for whom, between thread pools: a line for each edge of the graph, those first in which most threads wait.

use analysis::{duration, percent};
use model::{LedgerClass, Report, WaitEdge};

use super::layout::table;
use super::on_one_line;

/// Edges that are shown; the JSON has more.
const MOST: usize = 12;
/// Threads that wait at a time, of an edge that is shown.
const LEAST: f64 = 0.005;
/// Parts of what a waker did that are named, as many as fit beside the numbers.
const LEAST_PART: f64 = 0.05;
const BESIDE: usize = 46;
const HEADINGS: [&str; 4] = ["Who waits for whom", "threads", "waits/s", "each"];

/// Nothing where wake-ups were not recorded.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let shown: Vec<&WaitEdge> = report
        .wait_graph
        .iter()
        .filter(|it| it.threads >= LEAST)
        .take(MOST)
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for edge in shown {
        let numbers = [
            format!("{:.2}", edge.threads),
            analysis::rate(edge.rate),
            duration(edge.mean_ns),
        ];
        let [threads, rate, each] = numbers;
        rows.push([format!("  {}", waits(edge)), threads, rate, each]);
        if let Some(did) = did(edge, width.saturating_sub(BESIDE)) {
            let row = format!("    meanwhile {did}");
            rows.push([row, String::new(), String::new(), String::new()]);
        }
    }
    let notes = [
        "threads: those that wait so at a time, on average; meanwhile: what those did who are waited for".to_owned(),
        "waits for work are left out".to_owned(),
    ];
    table(&rows, &notes, width)
}

fn waits(edge: &WaitEdge) -> String {
    let (waiter, waker) = (&edge.waiter, &edge.waker);
    let whom = match waker.name == waiter.name && waker.role == Some(waiter.role) {
        true => "each other".to_owned(),
        false => on_one_line(&waker.name),
    };
    let what = match edge.class {
        LedgerClass::Input => String::new(),
        class => format!(
            " ({})",
            class.look().map_or(class.label(), |look| look.label)
        ),
    };
    format!("{} for {whom}{what}", on_one_line(&waiter.name))
}

/// In so many characters, but for the first.
fn did(edge: &WaitEdge, most: usize) -> Option<String> {
    let named = edge.meanwhile.iter().filter(|it| it.share >= LEAST_PART);
    let mut parts = named.map(|it| {
        let label = it.class.look().map_or(it.class.label(), |look| look.label);
        format!("{label} {}", percent(it.share))
    });
    let mut text = parts.next()?;
    for part in parts {
        if text.len() + part.len() > most {
            break;
        }
        text = format!("{text}, {part}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{Meanwhile, PoolName, Role, Waker, WakerKind};

    use super::*;

    #[test]
    fn each_edge_says_who_waits_for_whom_in_what_and_what_that_one_did() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        assert_eq!(lines(&report, 90), "");
        let pool = |name: &str, role| PoolName {
            name: name.to_owned(),
            role,
        };
        let edge = |class, waker, threads, did: &[(LedgerClass, f64)]| WaitEdge {
            waiter: pool("postgres", Role::Target),
            class,
            waker,
            threads,
            rate: 1_234.0,
            mean_ns: 2.3e6,
            meanwhile: did
                .iter()
                .map(|(class, share)| Meanwhile {
                    class: *class,
                    share: *share,
                })
                .collect(),
        };
        let waker = |kind, name: &str, role| Waker {
            kind,
            name: name.to_owned(),
            role,
        };
        let own = waker(WakerKind::Threads, "postgres", Some(Role::Target));
        let disk = waker(WakerKind::Interrupt, "the disk", None);
        let did = [
            (LedgerClass::CpuWait, 0.344),
            (LedgerClass::Sync, 0.2),
            (LedgerClass::SyncQueue, 0.12),
            (LedgerClass::OnCpu, 0.01),
        ];
        report.wait_graph = vec![
            WaitEdge {
                waiter: pool("pgbench", Role::Generator),
                ..edge(LedgerClass::Input, own.clone(), 7.9, &did[..2])
            },
            edge(LedgerClass::DatabaseLock, own, 3.25, &did),
            edge(LedgerClass::Sync, disk.clone(), 0.5, &[]),
            edge(LedgerClass::ReadWrite, disk, 0.001, &[]),
        ];
        let text = lines(&report, 90);
        let shown: Vec<&str> = text.lines().map(str::trim_end).collect();
        expect![[r#"
            at 90
              Who waits for whom                                threads  waits/s     each
                pgbench for postgres                               7.90    1,234  2.30 ms
                  meanwhile waiting for a CPU 34 %, fsync 20 %
                postgres for each other (database lock)            3.25    1,234  2.30 ms
                  meanwhile waiting for a CPU 34 %, fsync 20 %
                postgres for the disk (fsync)                      0.50    1,234  2.30 ms
                threads: those that wait so at a time, on average; meanwhile: what those did who are
                waited for; waits for work are left out
        "#]]
        .assert_eq(&format!("at 90\n{}\n", shown.join("\n")));
    }
}
