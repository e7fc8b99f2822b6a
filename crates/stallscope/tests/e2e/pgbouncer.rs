//! `--pgbouncer`: what a real PgBouncer reports in front of a real PostgreSQL, with the rights that the
//! documentation names.

use std::fs;

use model::Role;

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::postgres_word::{growth, pid_of, sentences, values};
use crate::process::{Ended, Running};
use crate::secrets::keeps;

const PASSWORD: &str = "Pb6Hs3LqNeverToBeSeen";
/// Server connections per pool.
const SIZE: usize = 2;
const CLIENTS: usize = 6;

/// A pooler in front of the server, in its folder. It refuses to run as root, as the server does.
fn pooler(postgres: &Postgres, port: u16) -> Running {
    let folder = postgres.folder().join(format!("pgbouncer-{port}"));
    let made = postgres.as_owner("mkdir").arg(&folder).status();
    assert!(made.expect("mkdir runs").success());
    let (user, shown) = (postgres.user(), folder.display());
    let users = format!("\"monitor\" \"{PASSWORD}\"\n\"other\" \"{PASSWORD}\"\n\"{user}\" \"\"\n");
    fs::write(folder.join("users.txt"), users).expect("root may write");
    fs::write(folder.join("hba.conf"), format!("local all {user} trust\nhost all {user} 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n")).expect("root may write");
    let configuration = format!(
        "[databases]\nbench = host={} port={} dbname=bench\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
         auth_type = hba\nauth_hba_file = {shown}/hba.conf\nauth_file = {shown}/users.txt\n\
         stats_users = monitor\npool_mode = transaction\n\
         default_pool_size = {SIZE}\nmax_client_conn = 50\n",
        postgres.folder().display(),
        postgres.port(),
    );
    let file = folder.join("pgbouncer.ini");
    fs::write(&file, configuration).expect("root may write");
    let mut command = postgres.as_owner("pgbouncer");
    command.arg("-q").arg(file);
    started(command, port)
}

fn record(postgres: &Postgres, place: &Place, dsn: &str, load: &str) -> Ended {
    let words = ["run", "--pgbouncer", dsn, "--", "sh", "-c", load];
    let mut command = postgres.stallscope(place, &words);
    command.env("PGPASSWORD", PASSWORD);
    Running::start(command).end()
}

#[test]
fn clients_that_wait_for_a_pool_are_counted() {
    if !needs::root() || !needs::program("pgbouncer") {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let port = free_port();
    let pooler = pooler(postgres, port);
    let place = Place::new();
    let load = format!(
        "pgbench -h 127.0.0.1 -p {port} -U {} -n -c {CLIENTS} -j 1 -S -T 5 bench > out 2>&1",
        postgres.user()
    );
    let dsn = format!("host=127.0.0.1 port={port} user=monitor");
    let ended = record(postgres, &place, &dsn, &load);
    ended.status(0);
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    let (timeline, meta) = (&recording.timeline, &recording.meta);
    assert_eq!(sentences(&meta.gaps, "pgbouncer"), [""; 0]);
    assert_eq!(meta.environment["pgbouncer.pool_mode"], "transaction");
    assert_eq!(meta.environment["pgbouncer.database"], "pgbouncer");
    assert!(meta.environment["pgbouncer.version"].starts_with("PgBouncer"));
    assert!(!meta.environment.contains_key("pgbouncer.auth_file"));

    // Whom the pooler asks in turn is recorded as it is.
    let asked = meta.targets.iter().find(|it| it.role == Role::Dependency);
    let asked = asked.map(|it| (&*it.name, it.root.is_some()));
    assert_eq!(asked, Some(("postgres", true)), "{:?}", meta.targets);

    let data = timeline.table("pgbouncer").expect("it was asked");
    let owner = data.key(0).1;
    let serving = pid_of(timeline, owner);
    assert!(is_or_is_below(serving, pooler.pid()), "{serving}");
    let values = |column| values(timeline, "pgbouncer", owner, column);
    let most = |column| values(column).into_iter().max();
    assert_eq!(most("clients_limit"), Some(50));
    assert_eq!(most("pools_waiting"), Some(1));
    assert_eq!(most("servers_active"), Some(SIZE as i64));
    // Fewer than all others: a client that has its answer waits for nothing until it asks again.
    let others = (CLIENTS - SIZE) as i64;
    assert!(most("clients_waiting").is_some_and(|most| (1..=others).contains(&most)));
    let growth = |column| growth(timeline, "pgbouncer", owner, column);
    for column in ["transactions", "queries", "wait_time_ns", "query_time_ns"] {
        assert!(growth(column) > 0, "{column}: {:?}", values(column));
    }
}

/// The program that was started becomes another user first, which may take a process in between.
fn is_or_is_below(pid: u32, above: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let parent = stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(1));
    pid == above || parent.and_then(|it| it.parse().ok()) == Some(above)
}

#[test]
fn who_may_not_use_the_console_is_told_how() {
    if !needs::root() || !needs::program("pgbouncer") {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let port = free_port();
    let _pooler = pooler(postgres, port);
    for (user, password, said) in [
        ("other", PASSWORD, "add the role to stats_users"),
        (
            "monitor",
            "Wx3NeverToBeSeen",
            "put the password into PGPASSWORD",
        ),
    ] {
        let place = Place::new();
        let dsn = format!("postgresql://{user}:{password}@127.0.0.1:{port}");
        let ended = record(postgres, &place, &dsn, "sleep 2; echo done");
        ended.says(said);
        assert_eq!(ended.out_text(), "done\n");
        keeps(password, &place, &ended);
        let gaps = place.opened().meta.gaps;
        assert_eq!(sentences(&gaps, "pgbouncer").len(), 1);
    }
    // The server itself has no console.
    let place = Place::new();
    let dsn = format!("port={} user={}", postgres.port(), postgres.user());
    record(postgres, &place, &dsn, "sleep 1").says("name its console");
}
