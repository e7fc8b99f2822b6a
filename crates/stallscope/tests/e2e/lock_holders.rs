//! Who holds the locks of a real PostgreSQL: what the holder ran before it went idle, and what waits behind it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use model::{NamedStatement, Report};

use crate::needs;
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::postgres_word;
use crate::process::Running;
use crate::secrets::keeps;

/// A value of a statement.
const SECRET: &str = "4711815";

fn psql(postgres: &Postgres) -> Command {
    let mut psql = postgres.client("psql");
    psql.args(["-X", "-q", "bench"]);
    psql
}

#[test]
fn locks_are_told_by_statement() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let version: u32 = postgres.ask("show server_version_num")[0]
        .parse()
        .expect("a number");
    if version < 140_000 {
        return needs::skip("this PostgreSQL gives statements no ids (14 does)");
    }
    postgres.with_setting("compute_query_id = on", || {
        let report = recorded(postgres);
        let [first] = &report.lock_holders[..] else {
            panic!("{:?}", report.lock_holders);
        };
        assert!(first.is_idle);
        let text = |it: &Option<NamedStatement>| it.as_ref().map(|it| it.text.clone());
        let last = text(&first.statement);
        assert_eq!(last.as_deref(), Some("update held set id = id + ?"));
        assert!((1.5..=2.0).contains(&first.sessions), "{first:?}");
        let [waiter] = &first.waiters[..] else {
            panic!("{first:?}");
        };
        let waits = text(&waiter.statement);
        assert_eq!(
            waits.as_deref(),
            Some("update held set id = ? where id > ?")
        );
        assert!((waiter.share - 1.0).abs() < 1e-9);
    });
}

/// A run beside a transaction that was opened before it and waits for its client, and two sessions that wait for a row.
fn recorded(postgres: &Postgres) -> Report {
    let place = Place::new();
    let mut prepare = psql(postgres);
    prepare.args([
        "-c",
        "drop table if exists held; create table held (id int); insert into held values (1)",
    ]);
    let ended = prepare.stdin(Stdio::null()).output().expect("psql runs");
    assert!(ended.status.success(), "{ended:?}");
    let (holder, mut typed) = Running::start_typing(psql(postgres));
    let hold = format!("begin;\nupdate held set id = id + {SECRET};\n");
    typed.write_all(hold.as_bytes()).expect("psql reads");
    typed.flush().expect("psql reads");
    std::thread::sleep(Duration::from_millis(500));
    let waiting = [1, 2].map(|_| {
        let mut psql = psql(postgres);
        psql.args(["-c", "update held set id = 5 where id > 0"]);
        Running::start(psql)
    });
    let wait = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    let both = || postgres.ask(wait) == ["2"];
    let mut looks = (0..100).map(|_| std::thread::sleep(Duration::from_millis(100)));
    assert!(looks.any(|()| both()), "both wait");
    let ended = postgres_word::run(postgres, &place, "dbname=bench", "sleep 4");
    ended.status(0);
    keeps(SECRET, &place, &ended);
    drop((typed, holder, waiting));
    place.report()
}
