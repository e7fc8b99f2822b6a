//! `--postgres`: what a real PostgreSQL says of itself, and that no password and no trouble of it gets
//! into the recording or ends the run.

use std::process::{Command, Stdio};

use model::{EntityId, Gap, GapReason, Meta, Timeline};

use crate::needs;
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::process::{Ended, Running};
use crate::secrets::keeps;

const PASSWORD: &str = "Xq7Zk9WvNeverToBeSeen";

/// A statement for the server's owner.
fn sql(postgres: &Postgres, statement: &str) {
    let mut psql = postgres.client("psql");
    let ended = psql.args([
        "-X",
        "-q",
        "-v",
        "ON_ERROR_STOP=1",
        "-c",
        statement,
        "bench",
    ]);
    let ended = ended.stdin(Stdio::null()).output().expect("psql runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{statement}: {said}");
}

/// A statement of a session of its own, which goes on.
fn session(postgres: &Postgres, statement: &str) -> Running {
    let mut psql = postgres.client("psql");
    psql.args(["-X", "-q", "-c", statement, "bench"]);
    Running::start(psql)
}

/// A run of a shell beside the server, which is asked.
pub fn run(postgres: &Postgres, place: &Place, dsn: &str, shell: &str) -> Ended {
    let target = format!("port:{}", postgres.port());
    let words = [
        "run",
        "--json",
        "report.json",
        "--postgres",
        dsn,
        "--target",
        &target,
        "--",
        "sh",
        "-c",
        shell,
    ];
    Running::start(postgres.stallscope(place, &words)).end()
}

/// The gaps of a table that an application fills, as sentences.
pub fn sentences(gaps: &[Gap], table: &str) -> Vec<String> {
    let of_table = gaps.iter().filter(|gap| gap.table == table);
    let sentence = |gap: &Gap| match &gap.reason {
        GapReason::Denied(sentence) | GapReason::Unsupported(sentence) => sentence.to_string(),
        other => panic!("{other:?}"),
    };
    of_table.map(sentence).collect()
}

/// What was recorded of a column of an entity, in the order of time.
pub fn values(timeline: &Timeline, table: &str, entity: EntityId, column: &str) -> Vec<i64> {
    let series = timeline.series(table, entity, column);
    let series = series.unwrap_or_else(|| panic!("{table}.{column} is recorded"));
    series.values().map(|(_, value)| value).collect()
}

/// How much a counter grew from its first value to its last.
pub fn growth(timeline: &Timeline, table: &str, entity: EntityId, column: &str) -> i64 {
    let values = values(timeline, table, entity, column);
    values[values.len() - 1] - values[0]
}

pub fn pid_of(timeline: &Timeline, entity: EntityId) -> u32 {
    let record = timeline.entities.get(entity).expect("it is in the list");
    let path = record
        .entity
        .path
        .strip_prefix("pid:")
        .expect(&record.entity.path);
    let pid = path.split('@').next().and_then(|pid| pid.parse().ok());
    pid.expect("a pid")
}

#[test]
fn a_blocked_session_is_recorded_with_who_blocks_it() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    if !needs::root() {
        return;
    }
    let place = Place::new();
    sql(postgres, "create table if not exists word (id int)");
    let holder = session(
        postgres,
        "begin; lock table word; select pg_sleep(12); commit",
    );
    std::thread::sleep(std::time::Duration::from_millis(500));
    let queue = [
        // Waits itself, and is waited for: the chain leads on to the holder.
        session(postgres, "begin; lock table word; commit"),
        session(postgres, "select count(*) from word"),
    ];
    let dsn = format!("dbname=bench password={PASSWORD}");
    let ended = run(postgres, &place, &dsn, "sleep 4");
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    describes_the_server(&recording.meta);
    has_one_root_of_blocked_sessions(&recording.timeline);
    counts_the_database(&recording.timeline, postgres);
    let entities = recording.timeline.entities.iter();
    let own = entities.filter(|it| it.role == model::Role::Recorder);
    assert!(
        own.count() >= 2,
        "the process that served us is the recorder's"
    );
    drop((holder, queue));
}

fn describes_the_server(meta: &Meta) {
    for name in [
        "max_connections",
        "server_version",
        "shared_buffers",
        "host",
    ] {
        let name = format!("postgres.{name}");
        assert!(meta.environment.contains_key(&name), "{name}");
    }
    assert_eq!(meta.environment["postgres.database"], "bench");
    assert!(
        sentences(&meta.gaps, "session").is_empty(),
        "{:?}",
        meta.gaps
    );
}

/// That sessions waited for the one that holds the table, which only sleeps.
fn has_one_root_of_blocked_sessions(timeline: &Timeline) {
    let data = timeline.table("session").expect("sessions were recorded");
    let column = |name| data.table.position(name).expect("it is declared");
    let rows: Vec<(EntityId, Vec<i64>)> = (0..data.len())
        .map(|index| (data.key(index).1, data.row(index).collect()))
        .collect();
    let blocked: Vec<_> = rows
        .iter()
        .filter(|(_, row)| row[column("wait_class")] == 3)
        .collect();
    assert!(
        blocked.len() >= 8,
        "two sessions for some seconds: {rows:?}"
    );
    let blockers: Vec<u32> = blocked
        .iter()
        .map(|(_, row)| pid_of(timeline, EntityId(row[column("blocked_by")] as u32)))
        .collect();
    assert!(blockers.iter().all(|pid| *pid == blockers[0]), "one root");
    let holding = rows
        .iter()
        .find(|(entity, _)| pid_of(timeline, *entity) == blockers[0]);
    let (_, holding) = holding.expect("the holder is recorded as well");
    assert_eq!(holding[column("state")], 1, "it runs pg_sleep");
    assert_eq!(holding[column("wait_class")], 9);
    assert_eq!(holding[column("blocked_by")], model::MISSING);
    assert!(holding[column("transaction_age_ns")] > 400_000_000);
}

fn counts_the_database(timeline: &Timeline, postgres: &Postgres) {
    let database = timeline.table("database").expect("its counters as well");
    let owner = database.key(0).1;
    assert_eq!(pid_of(timeline, owner), postgres.pid());
    let series = |column| {
        timeline
            .series("database", owner, column)
            .expect("recorded")
    };
    assert!(series("commits").growth(timeline.window).expect("it grew") >= 2.0);
    let last = |column| series(column).values().next_back().expect("a value").1;
    assert_eq!((last("lock_waiters"), last("sessions_limit")), (2, 97));
    assert!(last("sessions") >= 4 && last("active_sessions") == 3);
}

#[test]
fn a_wrong_password_is_a_gap_and_the_run_goes_on() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    sql(
        postgres,
        "drop role if exists word_closed; create role word_closed login password 'other'",
    );
    postgres.with_password_for("word_closed", || {
        let place = Place::new();
        let dsn = format!(
            "postgresql://word_closed:{PASSWORD}@127.0.0.1:{}/bench",
            postgres.port()
        );
        let ended = run(postgres, &place, &dsn, "sleep 3; echo done");
        ended
            .says("password authentication failed for user \"word_closed\"")
            .says("put the right password into PGPASSWORD");
        assert_eq!(ended.out_text(), "done\n");
        keeps(PASSWORD, &place, &ended);
        let meta = place.opened().meta;
        for table in ["session", "database"] {
            let sentences = sentences(&meta.gaps, table);
            assert_eq!(sentences.len(), 1, "{sentences:?}");
            // The user of a URL is hidden wherever it is repeated.
            assert!(
                sentences[0].contains("database bench, role ***"),
                "{sentences:?}"
            );
        }
        let window = meta.gaps.iter().find(|gap| gap.table == "session");
        let window = window.and_then(|gap| gap.window).expect("it has one");
        assert!(window.seconds() > 2.0, "all of the run: {window:?}");

        // The right one, from where it belongs.
        let place = Place::new();
        let dsn = format!(
            "host=127.0.0.1 user=word_closed dbname=bench port={}",
            postgres.port()
        );
        let words = ["record", "--for", "3s", "--postgres", &dsn, "--target"];
        let target = format!("port:{}", postgres.port());
        let mut command: Command = postgres.stallscope(&place, &[&words[..], &[&target]].concat());
        let passfile = place.write(".pgpass", "127.0.0.1:*:bench:word_closed:other\n");
        place.open_to(".pgpass", 0o600);
        command.env("PGPASSFILE", passfile);
        let ended = Running::start(command).end();
        ended.says("GRANT pg_monitor to this role");
        let recording = place.opened();
        assert!(recording.timeline.table("database").is_some());
        let sentences = sentences(&recording.meta.gaps, "session");
        assert!(
            sentences[0].contains("hidden by PostgreSQL"),
            "{sentences:?}"
        );
    });
}

#[test]
fn a_connection_that_was_ended_comes_back_and_the_gap_is_named() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let kill = "sleep 3; psql -X -q -t -c \"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'stallscope'\" bench; sleep 5";
    let ended = run(postgres, &place, "bench", kill);
    ended.says("terminating connection due to administrator command");
    let recording = place.opened();
    let gap = recording
        .meta
        .gaps
        .iter()
        .find(|gap| gap.table == "database");
    let window = gap.and_then(|gap| gap.window).expect("it has one");
    assert!((0.5..5.0).contains(&window.seconds()), "{window:?}");
    let data = recording.timeline.table("database").expect("recorded");
    let last = data.key(data.len() - 1).0;
    assert!(last >= window.end, "it came back");
    assert!(data.len() >= 5);
}

#[test]
fn what_is_no_connection_string_ends_it_before_it_begins_and_is_not_quoted() {
    let place = Place::new();
    let bad = format!("host=h nonsense=x password={PASSWORD}");
    place
        .run(&["record", "--postgres", &bad, "--target", "pid:1"])
        .says("is no connection string that this version reads")
        .does_not_say(PASSWORD);
    place
        .run(&[
            "record",
            "--postgres",
            "sslmode=require",
            "--target",
            "pid:1",
        ])
        .says("ssh -L");
    assert!(place.recordings().is_empty());
}

#[test]
fn a_server_that_is_not_there_is_a_gap() {
    let place = Place::new();
    let dsn = "postgresql://nobody@127.0.0.1:1/none";
    let ended = place.run(&["run", "--postgres", dsn, "--", "sh", "-c", "sleep 2"]);
    ended
        .says("127.0.0.1 port 1, database none, role nobody")
        .says("refused");
    assert_eq!(sentences(&place.opened().meta.gaps, "database").len(), 1);
}
