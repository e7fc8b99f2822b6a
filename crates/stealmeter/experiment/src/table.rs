//! What was seen, as a table that is Markdown and can be read as it is, and what must hold of it.

use crate::event_loop::Task;
use crate::meters::{Reading, class};
use crate::run::Seen;

/// Share of the time awake, as the fair half may be missed.
const OFF_HALF: f64 = 0.03;
/// Share of the time awake, between ours and the truth.
const OFF_TRUTH: f64 = 0.01;
/// Share of the time awake, for a busy loop alone.
const MOST_ALONE: f64 = 0.005;

const HEAD: [&str; 15] = [
    "backend",
    "hog beside",
    "loop",
    "true CPU",
    "true queue",
    "true away",
    "old",
    "fixed, 10/s",
    "fixed, 1000/s",
    "CPU",
    "queue",
    "sleep",
    "blocked",
    "hidden",
    "queue/awake",
];

/// Something that must hold, and whether it did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Check {
    pub(crate) holds: bool,
    pub(crate) words: String,
}

/// The table: ms per second of wall time, and the share of the time awake.
pub(crate) fn table(seen: &[Seen]) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(seen.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEAD.len()).filter_map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match column {
            0..3 => format!(" {cell:<width$} |"),
            _ => format!(" {cell:>width$} |"),
        });
        text.push('|');
        text.extend(cells);
        text.push('\n');
        if index == 0 {
            let rule = widths
                .iter()
                .enumerate()
                .map(|(column, &width)| match column {
                    0..3 => format!("{}|", "-".repeat(width + 2)),
                    _ => format!("{}:|", "-".repeat(width + 1)),
                });
            text.push('|');
            text.extend(rule);
            text.push('\n');
        }
    }
    text
}

fn row(seen: &Seen) -> [String; 15] {
    let wall_ns = seen.window().length_ns() as f64;
    let rate = |ns: f64| format!("{:.1}", ns / wall_ns * 1e3);
    let true_rate = |ns: u64| rate(ns as f64);
    let (first, last) = seen.ends();
    let shown = |now: i64, then: i64| rate((now - then) as f64);
    let ours = |class: usize| rate(seen.class_ns(class) as f64);
    let beside = seen.situation.hog.map_or("nobody", Task::word);
    [
        seen.situation.backend.word().to_owned(),
        beside.to_owned(),
        seen.task.word().to_owned(),
        true_rate(seen.truth.on_cpu_ns),
        true_rate(seen.truth.run_queue_ns),
        true_rate(seen.truth.away_ns()),
        shown(last.old_ns, first.old_ns),
        shown(last.fixed_ns, first.fixed_ns),
        shown(last.fixed_often_ns, first.fixed_often_ns),
        ours(class::CPU),
        ours(class::RUN_QUEUE),
        ours(class::SLEEP),
        ours(class::BLOCKED),
        ours(class::HIDDEN),
        format!("{:.1} %", awake_in_queue(seen) * 100.0),
    ]
}

fn awake_in_queue(seen: &Seen) -> f64 {
    share(seen.class_ns(class::RUN_QUEUE), seen.awake_ns())
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    part_ns as f64 / whole_ns.max(1) as f64
}

/// What must hold of a run that counts.
///
/// A loop that has an idle CPU to itself, and sleeps, is asked nothing: its run queue is what it takes
/// to leave the idle state, of which the kernel has another opinion than a trace ([`per_wakeup_us`]).
pub(crate) fn checks(seen: &Seen) -> Vec<Check> {
    let mut checks = Vec::new();
    if seen.is_busy() || seen.situation.hog == Some(seen.task) {
        checks.push(truth(seen));
    }
    if seen.is_busy() {
        let queue = awake_in_queue(seen);
        let percent = queue * 100.0;
        match seen.situation.hog {
            Some(task) if task == seen.task => checks.push(check(
                seen,
                (queue - 0.5).abs() <= OFF_HALF,
                &format!("busy beside an equal, in the run queue for {percent:.2} % of its time awake (50 % +- 3 %)"),
            )),
            Some(_) => {}
            None => checks.push(check(
                seen,
                queue < MOST_ALONE,
                &format!("busy and alone, in the run queue for {percent:.2} % of its time awake (under 0.5 %)"),
            )),
        }
    }
    checks
}

/// Whether half is asked of it.
pub(crate) fn is_busy_beside_a_hog(seen: &Seen) -> bool {
    seen.is_busy() && seen.situation.hog == Some(seen.task)
}

fn check(seen: &Seen, holds: bool, words: &str) -> Check {
    let words = format!("{}, {}: {words}", seen.situation.words(), seen.task.word());
    Check { holds, words }
}

/// Of all runs, however disturbed: nothing ever falls, and all of it is the wall time.
pub(crate) fn counters(seen: &[Seen]) -> Check {
    let (mut falls, mut open, mut readings) = (0, 0, 0);
    for seen in seen {
        readings += seen.readings.len();
        for (then, now) in pairs(seen) {
            let mut classes = then.classes.iter().zip(&now.classes);
            falls += usize::from(classes.any(|(then, now)| now < then));
            let sum = |reading: &Reading| reading.classes.iter().sum::<u64>();
            let adds_up = sum(now).checked_sub(sum(then)) == Some(now.at_ns - then.at_ns);
            open += usize::from(!adds_up);
        }
    }
    Check {
        holds: falls == 0 && open == 0,
        words: format!(
            "all: of {readings} readings of ours {falls} with a counter that fell, {open} whose classes do not add up to the wall time"
        ),
    }
}

fn pairs(seen: &Seen) -> impl Iterator<Item = (&Reading, &Reading)> {
    seen.readings.iter().zip(seen.readings.iter().skip(1))
}

/// Ours beside the separate truth.
fn truth(seen: &Seen) -> Check {
    let (ours_ns, true_ns) = (seen.class_ns(class::RUN_QUEUE), seen.truth.run_queue_ns);
    let off = share(ours_ns.abs_diff(true_ns), seen.awake_ns());
    let words = format!(
        "run queue {:.2} ms, by the truth {:.2} ms: {:.2} % of its time awake apart (1 %)",
        ours_ns as f64 / 1e6,
        true_ns as f64 / 1e6,
        off * 100.0
    );
    check(seen, off <= OFF_TRUTH, &words)
}

/// What ours and the truth are apart for each time that a loop was woken, us, where it sleeps and has
/// the CPU to itself.
pub(crate) fn per_wakeup_us(seen: &Seen) -> Option<f64> {
    let asked = seen.is_busy() || seen.situation.hog == Some(seen.task);
    let off_ns = (seen.truth.run_queue_ns).abs_diff(seen.class_ns(class::RUN_QUEUE));
    (!asked && seen.truth.wakeups > 0).then(|| off_ns as f64 / seen.truth.wakeups as f64 / 1e3)
}

/// At how many readings the old formula's counter was lower than before, of how many.
pub(crate) fn falls_of_old(seen: &Seen) -> (usize, usize) {
    let falls = pairs(seen).filter(|(then, now)| now.old_ns < then.old_ns);
    (falls.count(), pairs(seen).count())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use expect_test::expect;

    use super::super::backend::Kind;
    use super::super::run::Situation;
    use super::super::truth::Times;
    use super::*;

    const MS: u64 = 1_000_000;

    /// A second of a loop beside a hog or not, in ms: queue, sleep, and the truth's queue; the rest is
    /// CPU.
    fn seen(task: Task, hog: Option<Task>, [queue, sleep, true_queue]: [u64; 3]) -> Seen {
        let first = Reading {
            at_ns: 5,
            classes: [1, 2, 3, 4, 5],
            old_ns: 7 * 1_000_000,
            ..Reading::default()
        };
        let last = Reading {
            at_ns: 5 + 1_000 * MS,
            classes: [
                1 + (1_000 - queue - sleep) * MS,
                2 + queue * MS,
                3 + sleep * MS,
                4,
                5,
            ],
            old_ns: -36 * 1_000_000,
            fixed_ns: 2_000_000,
            fixed_often_ns: 3_000_000,
            ..first
        };
        let truth = Times {
            on_cpu_ns: (1_000 - true_queue - sleep) * MS,
            run_queue_ns: true_queue * MS,
            asleep_ns: sleep * MS,
            ..Times::default()
        };
        let backend = Kind::Aio;
        Seen {
            situation: Situation { backend, hog },
            task,
            readings: vec![first, last],
            truth,
            strangers: Vec::new(),
        }
    }

    /// The checks that do not hold.
    fn broken(seen: &Seen) -> Vec<String> {
        let all = checks(seen)
            .into_iter()
            .chain([counters(slice::from_ref(seen))]);
        let broken = all.filter(|check| !check.holds);
        broken.map(|check| check.words).collect()
    }

    const BESIDE: Option<Task> = Some(Task::Writer);

    #[test]
    fn as_it_is_read() {
        let rows = [
            seen(Task::Thinker, None, [1, 900, 1]),
            seen(Task::Writer, BESIDE, [500, 0, 501]),
        ];
        expect![[r#"
            | backend   | hog beside | loop    | true CPU | true queue | true away |   old | fixed, 10/s | fixed, 1000/s |   CPU | queue | sleep | blocked | hidden | queue/awake |
            |-----------|------------|---------|---------:|-----------:|----------:|------:|------------:|--------------:|------:|------:|------:|--------:|-------:|------------:|
            | linux-aio | nobody     | thinker |     99.0 |        1.0 |     900.0 | -43.0 |         2.0 |           3.0 |  99.0 |   1.0 | 900.0 |     0.0 |    0.0 |       1.0 % |
            | linux-aio | writer     | writer  |    499.0 |      501.0 |       0.0 | -43.0 |         2.0 |           3.0 | 500.0 | 500.0 |   0.0 |     0.0 |    0.0 |      50.0 % |
        "#]]
        .assert_eq(&table(&rows));
        assert_eq!(falls_of_old(&rows[0]), (1, 1));
    }

    #[test]
    fn a_busy_loop_has_half_beside_an_equal() {
        let half = seen(Task::Writer, BESIDE, [528, 0, 527]);
        assert_eq!(checks(&half).len(), 2);
        assert_eq!(broken(&half), [""; 0]);
        expect![[r#"
            [
                "linux-aio, hog beside the writer, writer: busy beside an equal, in the run queue for 54.00 % of its time awake (50 % +- 3 %)",
            ]
        "#]]
        .assert_debug_eq(&broken(&seen(Task::Writer, BESIDE, [540, 0, 540])));
    }

    #[test]
    fn a_busy_loop_alone_waits_for_nobody() {
        assert_eq!(broken(&seen(Task::Writer, None, [4, 0, 4])), [""; 0]);
        expect![[r#"
            [
                "linux-aio, alone, writer: busy and alone, in the run queue for 0.60 % of its time awake (under 0.5 %)",
            ]
        "#]]
        .assert_debug_eq(&broken(&seen(Task::Writer, None, [6, 0, 6])));
    }

    #[test]
    fn where_it_sleeps_only_the_truth_is_asked() {
        assert_eq!(broken(&seen(Task::Writer, BESIDE, [60, 800, 61])), [""; 0]);
        expect![[r#"
            [
                "linux-aio, hog beside the writer, writer: run queue 60.00 ms, by the truth 63.00 ms: 1.50 % of its time awake apart (1 %)",
            ]
        "#]]
        .assert_debug_eq(&broken(&seen(Task::Writer, BESIDE, [60, 800, 63])));
    }

    #[test]
    fn where_it_sleeps_and_nobody_is_beside_it_it_is_asked_nothing() {
        let mut woken = seen(Task::Thinker, BESIDE, [60, 800, 63]);
        woken.truth.wakeups = 300;
        assert_eq!(checks(&woken), []);
        assert_eq!(per_wakeup_us(&woken), Some(10.0));
        assert_eq!(per_wakeup_us(&seen(Task::Writer, None, [4, 0, 4])), None);
    }

    #[test]
    fn a_counter_that_fell_is_seen() {
        let mut fell = seen(Task::Thinker, None, [1, 900, 1]);
        fell.readings[1].classes[class::BLOCKED] -= 1;
        expect![[r#"
            [
                "all: of 2 readings of ours 1 with a counter that fell, 1 whose classes do not add up to the wall time",
            ]
        "#]]
        .assert_debug_eq(&broken(&fell));
    }
}
