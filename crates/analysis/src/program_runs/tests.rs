use model::{EntityId, StringKind, TableData, Text};

use super::*;

const S: i64 = 1_000_000_000;

/// A recording with these runs: end, exec, command, parent's, duration, CPU, end and status; texts by their number.
fn recording(texts: &[&str], runs: &[[i64; 8]]) -> Timeline {
    let whole = Window::new(Timestamp::from_ns(0), Timestamp::from_ns(100 * S));
    let mut timeline = Timeline::new(whole);
    let mut data = TableData::new(PROGRAM_RUN.clone());
    for (pid, [end, exec, command, parent, duration, cpu, how, status]) in (1..).zip(runs) {
        let row = [
            pid, 1, *exec, *command, *parent, MISSING, *duration, *cpu, *how, *status,
        ];
        data.push(Timestamp::from_ns(*end), EntityId(0), &row);
    }
    timeline.insert(data);
    let texts = texts.iter().enumerate().map(|(id, text)| Text {
        id: StringId(id as u32),
        kind: StringKind::Command,
        parent: None,
        text: (*text).into(),
    });
    texts.for_each(|text| assert!(timeline.strings.insert(text)));
    timeline
}

#[test]
fn programs_are_put_together_by_template_and_counted_where_they_began() {
    let texts = ["cron", "job 1", "job 2", "sh"];
    let timeline = recording(
        &texts,
        &[
            [5 * S, 1, 1, 0, S, 100, 0, 0],
            [20 * S, 1, 1, 0, S, 300, 0, 0],
            [22 * S, 1, 2, 3, 3 * S, 500, 0, 1],
            [23 * S, 1, 2, 0, 2 * S, 0, 1, 9],
            [24 * S, 0, 3, 3, S, 7, 0, 0],
            [100 * S, 1, 3, MISSING, 80 * S, MISSING, 3, MISSING],
        ],
    );
    let window = Window::new(Timestamp::from_ns(10 * S), Timestamp::from_ns(90 * S));
    let started = started(&timeline, window);
    let [jobs, copies, shell] = &started[..] else {
        panic!("three groups: {started:?}");
    };
    let expected = StartedProgram {
        command: "job N".to_owned(),
        example: "job 1".to_owned(),
        is_fork: false,
        started_by: "cron".to_owned(),
        starts: 3,
        cpu_ns: 800,
        mean_ns: Some(2 * S),
        longest_ns: 3 * S,
        failed: 1,
        killed: 1,
    };
    assert_eq!(*jobs, expected);
    assert_eq!((copies.is_fork, copies.cpu_ns), (true, 7));
    let of_shell = (&*shell.command, &*shell.started_by, shell.mean_ns);
    assert_eq!(of_shell, ("sh", "", None));
    assert_eq!(shell.longest_ns, 80 * S, "it still ran");
}

#[test]
fn absurd_numbers_of_a_stranger_do_no_harm() {
    let absurd = [50 * S, 1, 0, 0, i64::MAX, i64::MAX, 77, i64::MIN + 1];
    let timeline = recording(&["a"], &[absurd, absurd, absurd]);
    let started = started(&timeline, timeline.window);
    assert_eq!((started[0].cpu_ns, started[0].starts), (i64::MAX, 3));
    assert_eq!(started[0].longest_ns, 50 * S, "since the machine began");
}

#[test]
fn of_many_programs_the_most_frequent_and_the_most_expensive_are_kept() {
    let names: Vec<String> = (0..26_u8)
        .flat_map(|a| {
            (0..4).map(move |b| format!("{}-{}", char::from(b'a' + a), "x".repeat(b + 1)))
        })
        .collect();
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut runs = Vec::new();
    for command in 0..texts.len() as i64 {
        // The first are started twice, the later ones cost more.
        let times = if command < 20 { 2 } else { 1 };
        for _ in 0..times {
            runs.push([S, 1, command, MISSING, 1, command, 0, 0]);
        }
    }
    let started = started(
        &recording(&texts, &runs),
        Window::new(Timestamp::default(), Timestamp::from_ns(S)),
    );
    assert_eq!(started.len(), 2 * MOST);
    assert_eq!(started[0].command, names[names.len() - 1]);
    assert_eq!(started.iter().filter(|it| it.starts == 2).count(), 20);
}
