//! Requests as the kernel sees them at the sockets, beside pgbench's own count and its own clock.

use model::Timeline;

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::{Ended, Running};

const CLIENTS: f64 = 4.0;

/// Where pgbench finds the server.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Tcp,
    Unix,
}

impl Way {
    /// What pgbench asks before it begins: each client says who it is, and over TCP asks before whether
    /// it may encrypt; so does a first connection, which asks for two things more.
    fn start_up(self) -> f64 {
        let each = match self {
            Way::Tcp => 2.0,
            Way::Unix => 1.0,
        };
        (CLIENTS + 1.0) * each + 2.0
    }
}

/// What was recorded of a load that ran while target and generator were known, and what it said.
struct Recorded {
    timeline: Timeline,
    ended: Ended,
}

/// Records a load from before it begins until after it has ended; `None` where BPF is lacking.
fn record(postgres: &Postgres, way: Way, load: &str) -> Option<Recorded> {
    let place = Place::new();
    let target = format!("port:{}", postgres.port());
    let script = format!("sleep 0.7; {load}; sleep 0.3");
    let words = [
        "run", "-q", "--json", JSON, "--target", &target, "--", "sh", "-c", &script,
    ];
    let mut command = postgres.stallscope(&place, &words);
    if way == Way::Tcp {
        command.env("PGHOST", "127.0.0.1");
    }
    let ended = Running::start(command).end();
    ended.status(0);
    if let Some(why) = place.report().cost.programs["requests"].as_deref() {
        needs::skip(&format!("programs in the kernel: {why}"));
        return None;
    }
    let timeline = place.opened().timeline;
    Some(Recorded { timeline, ended })
}

/// How much a column of a table of requests has grown, all its connections together.
fn grown(timeline: &Timeline, table: &str, column: &str) -> f64 {
    let data = timeline.table(table).expect("there were requests");
    let of = |entity| {
        timeline
            .series(table, entity, column)?
            .growth(timeline.window)
    };
    data.entities().filter_map(of).sum()
}

/// The number after a label of pgbench's closing report.
fn said(ended: &Ended, label: &str) -> f64 {
    let text = ended.out_text();
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|it| it.split('/').next()?.parse().ok())
        .expect(label)
}

#[test]
fn statements_of_pgbench_are_counted_one_by_one_over_every_way() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let ways = [
        (Way::Tcp, "-S", 1.0, 0.0),
        (Way::Unix, "-S", 1.0, 0.0),
        (Way::Tcp, "-S -M extended", 1.0, 0.0),
        // Each client prepares each statement once.
        (Way::Unix, "-S -M prepared", 1.0, 1.0),
        (Way::Tcp, "-M simple", 7.0, 0.0),
    ];
    for (way, mode, statements, prepared) in ways {
        let load = format!("pgbench -n -c {CLIENTS} -j 2 -T 2 {mode} bench");
        let Some(recorded) = record(postgres, way, &load) else {
            return;
        };
        let done = statements
            * said(
                &recorded.ended,
                "number of transactions actually processed: ",
            );
        let all = done + way.start_up() + CLIENTS * prepared;
        for table in ["requests", "calls"] {
            let counted = grown(&recorded.timeline, table, "requests");
            println!("{way:?} {mode}: {table} {counted} of {all}");
            let apart = (counted - all).abs();
            assert!(
                apart <= done / 1_000.0,
                "{way:?} {mode}: {table}: {counted} of {all}"
            );
            let merged = grown(&recorded.timeline, table, "merged");
            assert!(
                merged < 0.02 * counted,
                "{way:?} {mode}: {merged} of {counted}"
            );
        }
    }
}
