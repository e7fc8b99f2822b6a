//! The target's threads, one line each: awake, on a CPU, in the run queue, blocked, sleep.

use analysis::percent;
use model::{LedgerClass, Report, Role, ThreadTimes};

use super::layout::table;
use super::on_one_line;

/// Threads that are shown; the rest is counted.
const MOST_SHOWN: usize = 12;

/// The table, or nothing where no thread was watched.
pub(super) fn lines(report: &Report, width: usize, most: usize) -> String {
    let target = |it: &&model::ReportSubject| it.role == Role::Target;
    let account = report
        .subjects
        .iter()
        .find(target)
        .and_then(|it| it.threads.as_ref());
    let (Some(account), false) = (account, report.threads.is_empty()) else {
        return String::new();
    };
    let unseen = report
        .threads
        .iter()
        .any(|it| part(it, it.unseen_ns) >= 0.0005);
    let mut rows = vec![headings(unseen)];
    rows.extend(
        report
            .threads
            .iter()
            .take(MOST_SHOWN.min(most))
            .map(|it| row(it, unseen)),
    );
    let more = (account.threads as usize).saturating_sub(rows.len() - 1);
    let mut notes = Vec::new();
    if more > 0 {
        let word = if more == 1 { "thread" } else { "threads" };
        notes.push(format!("and {more} more {word} that wanted a CPU for less"));
    }
    if account
        .items
        .iter()
        .any(|item| item.class == LedgerClass::Throttled)
    {
        notes.push("the run queue includes what a CPU quota withheld".to_owned());
    }
    if report.threads.iter().any(|it| it.run_queue_ns.is_none()) {
        notes.push("- is not counted by this kernel, and stands in the other columns".to_owned());
    }
    table(&rows, &notes, width)
}

fn headings(unseen: bool) -> Vec<String> {
    let mut all = vec![
        "Thread by thread",
        "awake",
        "CPU",
        "run queue",
        "blocked",
        "sleep",
    ];
    if unseen {
        all.push("not seen");
    }
    all.into_iter().map(str::to_owned).collect()
}

fn row(times: &ThreadTimes, unseen: bool) -> Vec<String> {
    let share = |ns| percent(part(times, ns));
    let tid = times
        .entity
        .path
        .rsplit_once("tid:")
        .map_or("", |(_, tid)| tid);
    let queued = times.run_queue_ns;
    let awake = times.on_cpu_ns + queued.unwrap_or(0) + times.blocked_ns;
    let mut cells = vec![
        on_one_line(format!("  {} {tid}", times.entity.name).as_str()),
        share(awake),
        share(times.on_cpu_ns),
        queued.map_or_else(|| "-".to_owned(), share),
        share(times.blocked_ns),
        share(times.sleep_ns),
    ];
    if unseen {
        cells.push(share(times.unseen_ns));
    }
    cells
}

fn part(times: &ThreadTimes, ns: i64) -> f64 {
    ns as f64 / times.wall_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{Entity, EntityKind};

    use super::*;

    fn thread(tid: u32, parts: [i64; 5]) -> ThreadTimes {
        let path = format!("pid:7@1/tid:{tid}");
        ThreadTimes {
            entity: Entity::new(EntityKind::Thread, "loop\n\u{202e}x", path),
            wall_ns: parts.iter().sum(),
            on_cpu_ns: parts[0],
            run_queue_ns: (parts[1] >= 0).then_some(parts[1]),
            blocked_ns: parts[2],
            sleep_ns: parts[3],
            unseen_ns: parts[4],
        }
    }

    fn shown(threads: Vec<ThreadTimes>, count: u32, width: usize) -> String {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        report.threads = threads;
        let mut target = report
            .subjects
            .iter_mut()
            .filter(|it| it.role == Role::Target);
        let account = target.find_map(|it| it.threads.as_mut());
        account.expect("its threads were watched").threads = count;
        let text = lines(&report, width, usize::MAX);
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
        // So that the golden's own indentation is not taken for the text's.
        format!("at {width}\n{text}")
    }

    #[test]
    fn every_part_of_a_threads_time_has_its_column() {
        let busy = thread(8, [5_000, 4_990, 10, 0, 0]);
        let calm = thread(9, [30, 0, 0, 9_970, 0]);
        expect![[r#"
            at 100
              Thread by thread  awake    CPU  run queue  blocked   sleep
                loop��x 8       100 %   50 %       50 %    0.1 %       0
                loop��x 9       0.3 %  0.3 %          0        0  99.7 %
                the run queue includes what a CPU quota withheld
        "#]]
        .assert_eq(&shown(vec![busy.clone(), calm.clone()], 2, 100));
        let unseen = thread(10, [500, 0, 0, 0, 9_500]);
        expect![[r#"
            at 100
              Thread by thread  awake    CPU  run queue  blocked   sleep  not seen
                loop��x 8       100 %   50 %       50 %    0.1 %       0         0
                loop��x 9       0.3 %  0.3 %          0        0  99.7 %         0
                loop��x 10        5 %    5 %          0        0       0      95 %
                and 28 more threads that wanted a CPU for less; the run queue includes what a CPU quota withheld
        "#]].assert_eq(&shown(vec![busy.clone(), calm, unseen], 31, 100));
        expect![[r#"
            at 60
              Thread by thread  awake   CPU  run queue  blocked  sleep
                loop��x 8       100 %  50 %       50 %    0.1 %      0
                the run queue includes what a CPU quota withheld
        "#]]
        .assert_eq(&shown(vec![busy], 1, 60));
        assert_eq!(shown(Vec::new(), 3, 100), "at 100\n");
    }
}
