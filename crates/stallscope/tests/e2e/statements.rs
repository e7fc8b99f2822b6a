//! Statements of a real PostgreSQL: whose time its processes spent, when a rare one began, and that no value of a
//! statement gets into the recording.

use std::process::Stdio;
use std::sync::MutexGuard;
use std::time::Duration;

use model::{EntityId, EntityKind, GapReason, Role, Timeline};
use recording::Recording;
use rustix::process::Signal;
use sensors::statement::{NO_STATEMENT, Part, Rare, STATEMENT};

use crate::needs;
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::process::Running;
use crate::secrets::keeps;

/// A value of a statement.
const SECRET: &str = "Xq7Zk9WvNeverToBeSeen";
/// A statement that needs a CPU for long, one that sleeps, and a short one.
const SCRIPT: &str = "select count(*) from generate_series(1, 400000) s where s % 7 = 3;
select pg_sleep(0.05);
select abalance from pgbench_accounts where aid = 4711 and 'Xq7Zk9WvNeverToBeSeen' <> '';
";

fn sql(postgres: &Postgres, statement: &str) {
    let mut psql = postgres.client("psql");
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1"]);
    psql.args(["-c", statement, "bench"]);
    let ended = psql.stdin(Stdio::null()).output().expect("psql runs");
    assert!(ended.status.success(), "{statement}");
}

/// A server of version 14 or later.
fn has_statements(postgres: &Postgres) -> bool {
    let mut psql = postgres.client("psql");
    psql.args(["-X", "-A", "-t", "-c", "show server_version_num", "bench"]);
    let said = psql.output().expect("psql runs").stdout;
    let version: u32 = String::from_utf8_lossy(&said)
        .trim()
        .parse()
        .expect("a number");
    if version < 140_000 {
        needs::skip("this PostgreSQL gives statements no ids (14 does)");
    }
    version >= 140_000
}

/// The server, where its statements can be recorded.
fn server() -> Option<(&'static Postgres, MutexGuard<'static, ()>)> {
    if !needs::root() {
        return None;
    }
    postgres::running().filter(|(postgres, _)| has_statements(postgres))
}

/// Records while two clients run the script and somebody grants.
fn recorded(postgres: &Postgres) -> Recording {
    let (place, scripts) = (Place::new(), Place::new());
    let target = format!("pid:{}", postgres.pid());
    let script = scripts.write("script.sql", SCRIPT);
    scripts.open_to("script.sql", 0o644);
    let mut pgbench = postgres.client("pgbench");
    pgbench.args(["-n", "-c", "2", "-T", "120", "-f"]);
    let load = Running::start({
        pgbench.arg(&script).arg("bench");
        pgbench
    });
    let record = ["record", "--for", "5s", "--trace-all", "--target", &target];
    let record = Running::start(place.stallscope(&record));
    place.wait_for_rows();
    // The server's statements are found within the first second.
    for _ in 0..3 {
        sql(postgres, "grant select on pgbench_tellers to public");
        std::thread::sleep(Duration::from_millis(700));
    }
    let ended = record.end();
    ended.status(0);
    load.signal(Signal::TERM);
    load.end();
    keeps(SECRET, &place, &ended);
    place.opened()
}

fn growth(timeline: &Timeline, entity: EntityId, column: &str) -> f64 {
    let series = timeline.series(&STATEMENT.name, entity, column);
    let series = series.expect("it is a column");
    series.growth(timeline.window).unwrap_or(0.0)
}

fn total(timeline: &Timeline, entity: EntityId) -> f64 {
    let parts = Part::ALL.map(|it| growth(timeline, entity, it.column_name()));
    parts.iter().sum()
}

/// The only statement whose text begins so.
fn statement(timeline: &Timeline, text: &str) -> EntityId {
    let all = timeline.entities.of_kind(EntityKind::Statement);
    let own: Vec<_> = all.filter(|it| it.entity.name.starts_with(text)).collect();
    let names: Vec<&str> = timeline
        .entities
        .of_kind(EntityKind::Statement)
        .map(|it| &*it.entity.name)
        .collect();
    assert_eq!(own.len(), 1, "{text}: {names:?}");
    own[0].id
}

#[test]
fn statements_have_their_time_their_text_and_rare_ones_a_beginning() {
    let Some((postgres, _alone)) = server() else {
        return;
    };
    postgres.with_setting("compute_query_id = on", || {
        let recording = recorded(postgres);
        let timeline = &recording.timeline;
        if timeline.table(&STATEMENT.name).is_none() {
            needs::skip("no programs in the kernel");
            return;
        }
        let count = statement(
            timeline,
            "select count(*) from generate_series(?, ?) s where s % ?",
        );
        // How long it is in line for a CPU is the machine's matter, not the statement's.
        let line = [
            Part::QueuedRest,
            Part::QueuedTarget,
            Part::QueuedGenerator,
            Part::QueuedNobody,
        ];
        let without_line = |statement| {
            let in_line = line.map(|it| growth(timeline, statement, it.column_name()));
            total(timeline, statement) - in_line.iter().sum::<f64>()
        };
        let cpu = growth(timeline, count, Part::OnCpu.column_name());
        assert!(cpu > 0.8 * without_line(count), "it computes: {cpu}");
        let sleep = statement(timeline, "select pg_sleep(?)");
        let slept = growth(timeline, sleep, Part::Other.column_name());
        assert!(slept > 0.8 * without_line(sleep), "it sleeps: {slept}");
        let calls = growth(timeline, sleep, "calls");
        // One call at either end may have been under way: it counts, and a part of its sleep does not.
        let whole = (calls - 1.0).max(1.0) / calls.max(1.0);
        let per_call = slept / calls.max(1.0);
        assert!(
            (4.9e7 * whole..7e7).contains(&per_call),
            "{per_call} ns per call of {calls}"
        );
        let short = statement(timeline, "select abalance");
        assert!(growth(timeline, short, "calls") > 10.0);
        let none = statement(timeline, NO_STATEMENT);
        let all = timeline.entities.of_kind(EntityKind::Statement);
        let all: f64 = all.map(|it| total(timeline, it.id)).sum();
        assert!(total(timeline, none) < 0.05 * all);

        let grant = statement(timeline, "grant select on pgbench_tellers to public");
        let rare = timeline.series(&STATEMENT.name, grant, "rare");
        let rare = rare.and_then(|it| it.values().next_back()).map(|it| it.1);
        assert_eq!(rare.and_then(Rare::new), Some(Rare::Grant));
        let began = timeline.series(&STATEMENT.name, grant, "started_ns");
        let began = began
            .and_then(|it| it.values().next_back())
            .expect("a time");
        let began = model::Timestamp::from_ns(began.1);
        assert!(timeline.window.contains(began));
    });
}

#[test]
fn without_ids_the_way_to_them_is_told() {
    let Some((postgres, _alone)) = server() else {
        return;
    };
    postgres.with_setting("compute_query_id = off", || {
        let recording = recorded(postgres);
        if recording.timeline.table(&STATEMENT.name).is_none() {
            needs::skip("no programs in the kernel");
            return;
        }
        let gaps = recording.meta.gaps.iter();
        let mut own = gaps.filter(|gap| gap.table == STATEMENT.name);
        let said = own.any(|gap| match &gap.reason {
            GapReason::Unsupported(why) => why.to_string().contains("compute_query_id = on"),
            _ => false,
        });
        let all = recording.timeline.entities.of_kind(EntityKind::Statement);
        let names: Vec<&str> = all.map(|it| &*it.entity.name).collect();
        assert!(said, "{:?}, {names:?}", recording.meta.gaps);
    });
}

#[test]
fn statements_that_answer_the_recorder_are_not_the_servers() {
    let Some((postgres, _alone)) = server() else {
        return;
    };
    postgres.with_setting("compute_query_id = on", || {
        let place = Place::new();
        let target = format!("port:{}", postgres.port());
        let run = ["run", "--trace-all", "--postgres", "dbname=bench", "--target", &target];
        let load = ["--", "pgbench", "-n", "-S", "-c", "2", "-T", "10", "bench"];
        let run = postgres.stallscope(&place, &[run.as_slice(), &load].concat());
        let run = Running::start(run);
        place.wait_for_rows();
        // The process that answers after this one is forked by a server that is known as the target.
        std::thread::sleep(Duration::from_secs(2));
        let all = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'stallscope'";
        assert_eq!(postgres.ask(all), ["t"], "it is connected");
        run.end().status(0);
        let recording = place.opened();
        let timeline = &recording.timeline;
        if timeline.table(&STATEMENT.name).is_none() {
            needs::skip("no programs in the kernel");
            return;
        }
        let answers = timeline.entities.iter();
        let answers = answers.filter(|it| it.role == Role::Recorder && it.entity.name == "postgres");
        assert_eq!(answers.count(), 2, "it has connected again");
        statement(timeline, "SELECT abalance FROM pgbench_accounts");
        // What was asked before the recorder knew whose process answers it is counted: a look or two of some ten.
        let all = timeline.entities.of_kind(EntityKind::Statement);
        let own = all.filter(|it| it.entity.name.contains("backend_type"));
        let looks: Vec<f64> = own.map(|it| growth(timeline, it.id, "calls")).collect();
        assert!(looks.iter().sum::<f64>() <= 3.0, "{looks:?}");
    });
}
