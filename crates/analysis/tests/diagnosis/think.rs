//! Generators that sleep by their own script between a reply and the next request.

use model::{EntityId, Report, Role};
use sensors::request::{CALLS, REQUESTS};

use crate::drawing::drawn;
use crate::healthy::HEALTHY;
use crate::requests::add_requests;

/// 200 transactions of 5 ms each, of which the server works 1 ms and requests take 1.1 ms at the generator's sockets;
/// the generator's thread works for a part of the time, in tenths. `between_us` is what was counted between a reply and
/// the next request.
fn report(works: char, between_us: Option<i64>) -> Report {
    let text = HEALTHY
        .replace("run       8888", "run       2222")
        .replace("88888888", "22222222")
        .replace(
            "gen       22222222222222222222",
            &format!("gen       {}", works.to_string().repeat(20)),
        );
    let mut drawn = drawn(&text);
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (20, 1_000));
    add_requests(&mut drawn, &CALLS, Role::Generator, |_| (20, 1_100));
    let between = CALLS.position("between_ns").expect("it is a column");
    let connection = EntityId(9_999 - Role::Generator as u32);
    let data = drawn.timeline.table_mut(&CALLS);
    let rows: Vec<_> = (0..data.len())
        .map(|it| (data.key(it), data.row(it).collect::<Vec<i64>>()))
        .collect();
    let table = data.table.clone();
    let mut columns = table.columns.to_vec();
    if between_us.is_none() {
        columns[between].name = "pipelined".into();
    }
    let mut again = model::TableData::new(model::Table {
        columns: columns.into(),
        ..table
    });
    for (tenth, ((at, _), mut row)) in rows.into_iter().enumerate() {
        row[between] = between_us.unwrap_or(0) * 1_000 * 20 * tenth as i64;
        again.push(at, connection, &row);
    }
    drawn.timeline.insert(again);
    drawn.diagnose()
}

/// The part of the response time that is shown as think time.
fn thought(report: &Report) -> f64 {
    let account = report
        .verdict
        .account
        .as_ref()
        .expect("a target and its times");
    let items = account.items.iter();
    let think = items.filter(|it| it.label.starts_with("think time of"));
    think.map(|it| it.share).sum()
}

fn cause(report: &Report) -> &str {
    &report.verdict.findings[0].cause
}

#[test]
fn think_time_in_the_latency_is_shown_as_such_and_leaves_nothing_undetermined() {
    let seen = report('2', Some(3_900));
    // 3.9 ms between requests, less 1 ms of the generator's own work in a thread that is busy for a fifth of the time.
    assert!(
        (thought(&seen) - 2.65 / 5.0).abs() < 0.01,
        "{}",
        thought(&seen)
    );
    assert_eq!(cause(&seen), "healthy");
    let think = seen.think_time.expect("it is known");
    assert!(think.in_latency);
    assert!(
        (think.between_requests_ns - 2.65e6).abs() < 0.05e6,
        "{think:?}"
    );
}

#[test]
fn where_nobody_counted_it_none_is_told() {
    let older = report('2', None);
    assert_eq!((thought(&older), older.think_time), (0.0, None));
    assert_eq!(cause(&older), "undetermined");
}

#[test]
fn a_generator_that_hardly_rests_does_not_think() {
    let busy = report('9', Some(3_900));
    assert_eq!((thought(&busy), busy.think_time), (0.0, None));
}

#[test]
fn no_more_is_think_time_than_the_latency_leaves_room_for() {
    // Counted between requests, and no part of the latency: a tool that does not count its own sleeps.
    let apart = report('1', Some(50_000));
    let think = apart.think_time.expect("it is known");
    assert!(
        !think.in_latency && think.between_requests_ns > 40e6,
        "{think:?}"
    );
    assert!(thought(&apart) <= 0.79, "{}", thought(&apart));
}
