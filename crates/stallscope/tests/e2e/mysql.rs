//! `--mysql`: what a real MariaDB reports, with the rights that the documentation names and no others.

use std::process::{Command, Stdio};
use std::time::Duration;

use model::{EntityId, Timeline};

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::Place;
use crate::postgres;
use crate::postgres_word::{pid_of, sentences};
use crate::process::{Ended, Running};
use crate::secrets::keeps;

const PASSWORD: &str = "My5Kd9VrNeverToBeSeen";
const WRONG: &str = "Mw8Jc3TzNeverToBeSeen";
/// As in docs/sources.md.
const SETUP: &str = "CREATE USER monitor@localhost IDENTIFIED BY 'PASSWORD'; GRANT PROCESS ON *.* TO monitor@localhost; \
    CREATE USER plain@localhost IDENTIFIED BY 'PASSWORD'; \
    CREATE DATABASE b; CREATE TABLE b.t (i INT PRIMARY KEY, v INT); INSERT INTO b.t VALUES (1, 0)";

/// A server in this place, with a user `monitor` of these rights and a user `plain` of none.
struct MariaDb {
    server: Running,
    port: u16,
}

impl MariaDb {
    fn start(place: &Place) -> Option<Self> {
        if !needs::root() || !needs::program("mariadbd") || !needs::program("mariadb-install-db") {
            return None;
        }
        let data = format!("--datadir={}/data", place.path().display());
        let mut install = Command::new("mariadb-install-db");
        install.args(["--no-defaults", "--skip-test-db", "--user=root", &data]);
        install.arg("--auth-root-authentication-method=normal");
        let installed = install.stdin(Stdio::null()).output().expect("it runs");
        assert!(installed.status.success(), "{installed:?}");
        let port = free_port();
        let mut server = Command::new("mariadbd");
        server.args(["--no-defaults", "--user=root", &data]);
        server.args(["--bind-address=127.0.0.1", "--port", &port.to_string()]);
        server.arg(format!("--socket={}/socket", place.path().display()));
        let server = Self {
            server: started(server, port),
            port,
        };
        let ended = server.client(&SETUP.replace("PASSWORD", PASSWORD)).end();
        ended.status(0);
        Some(server)
    }

    /// A session of the administrator's that runs these statements.
    fn client(&self, statements: &str) -> Running {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "-h", "127.0.0.1", "-u", "root"]);
        client.args(["-P", &self.port.to_string(), "-e", statements]);
        Running::start(client)
    }

    fn record(&self, place: &Place, user: &str, load: &str) -> Ended {
        let address = format!("mysql://{user}@127.0.0.1:{}", self.port);
        let target = format!("port:{}", self.port);
        let words = ["run", "--mysql", &address, "--target", &target, "--"];
        let mut command = place.stallscope(&[&words[..], &["sh", "-c", load]].concat());
        command.env("MYSQL_PWD", PASSWORD);
        Running::start(command).end()
    }
}

#[test]
fn a_session_that_waits_for_a_row_is_recorded_with_the_thread_that_holds_it() {
    let _alone = postgres::alone();
    let (place, home) = (Place::new(), Place::new());
    let Some(mariadb) = MariaDb::start(&home) else {
        return;
    };
    let update = "UPDATE b.t SET v = v + 1 WHERE i = 1";
    let holder = mariadb.client(&format!("BEGIN; {update}; SELECT SLEEP(15); COMMIT"));
    std::thread::sleep(Duration::from_millis(500));
    // The second waits for the first as well: the chain leads on to the holder.
    let queue = [mariadb.client(update), mariadb.client(update)];
    let ended = mariadb.record(&place, "monitor", "sleep 4");
    ended.status(0);
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    let (timeline, meta) = (&recording.timeline, &recording.meta);
    for table in ["mysql", "mysql_session"] {
        assert_eq!(sentences(&meta.gaps, table), [""; 0]);
    }
    assert_eq!(meta.environment["mysql.user"], "monitor");
    assert!(meta.environment["mysql.version"].contains("MariaDB"));
    assert!(meta.environment.contains_key("mysql.max_connections"));
    counts_the_server(timeline, mariadb.server.pid());
    has_one_root_of_blocked_threads(timeline, mariadb.server.pid());
    drop((holder, queue));
}

fn counts_the_server(timeline: &Timeline, pid: u32) {
    let data = timeline.table("mysql").expect("it was asked");
    let owner = data.key(0).1;
    assert_eq!(pid_of(timeline, owner), pid);
    let last = |column| {
        let series = timeline.series("mysql", owner, column);
        let series = series.unwrap_or_else(|| panic!("{column} is recorded"));
        series.values().next_back().expect("a value").1
    };
    assert_eq!((last("row_lock_waiters"), last("sessions_limit")), (2, 151));
    // The holder, two that wait, and ours.
    assert_eq!((last("sessions"), last("active_sessions")), (4, 4));
    let questions = timeline.series("mysql", owner, "questions");
    let grown = questions.and_then(|it| it.growth(timeline.window));
    assert!(grown.expect("it grew") >= 4.0);
}

/// That both sessions waited for the one that holds the row, which only sleeps.
fn has_one_root_of_blocked_threads(timeline: &Timeline, pid: u32) {
    let data = timeline.table("mysql_session").expect("it was asked");
    let column = |name| data.table.position(name).expect("it is declared");
    let rows: Vec<(EntityId, Vec<i64>)> = (0..data.len())
        .map(|index| (data.key(index).1, data.row(index).collect()))
        .collect();
    let waits = |row: &&(EntityId, Vec<i64>)| row.1[column("wait_class")] == 3;
    let blocked: Vec<_> = rows.iter().filter(waits).collect();
    assert!(
        blocked.len() >= 6,
        "two sessions for some seconds: {rows:?}"
    );
    let blocker = |row: &(EntityId, Vec<i64>)| EntityId(row.1[column("blocked_by")] as u32);
    let holder = blocker(blocked[0]);
    assert!(blocked.iter().all(|row| blocker(row) == holder), "one root");
    let record = timeline.entities.get(holder).expect("it is in the list");
    assert!(record.entity.path.starts_with(&format!("pid:{pid}@")));
    let holding = rows.iter().find(|(entity, _)| *entity == holder);
    let (_, holding) = holding.expect("the holder is recorded as well");
    assert_eq!(holding[column("state")], 1, "it runs SLEEP()");
    assert_eq!(holding[column("blocked_by")], model::MISSING);
    assert!(holding[column("transaction_age_ns")] >= 0);
}

#[test]
fn who_may_not_see_sessions_or_log_in_is_told_how() {
    let _alone = postgres::alone();
    let home = Place::new();
    let Some(mariadb) = MariaDb::start(&home) else {
        return;
    };
    let place = Place::new();
    let ended = mariadb.record(&place, "plain", "sleep 3");
    ended.says("GRANT PROCESS ON *.* TO this user");
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    assert_eq!(sentences(&recording.meta.gaps, "mysql_session").len(), 1);
    assert!(recording.timeline.table("mysql_session").is_none());
    let counters = recording.timeline.table("mysql");
    assert!(!counters.expect("they need no right").is_empty());

    let place = Place::new();
    let user = format!("monitor:{WRONG}");
    let ended = mariadb.record(&place, &user, "sleep 2; echo done");
    ended
        .says("Access denied")
        .says("put the right password into MYSQL_PWD");
    assert_eq!(ended.out_text(), "done\n");
    keeps(WRONG, &place, &ended);
    let gaps = place.opened().meta.gaps;
    assert_eq!(sentences(&gaps, "mysql").len(), 1);
}

#[test]
fn a_mysql_that_is_not_there_is_a_gap_and_no_address_is_not_quoted() {
    let place = Place::new();
    let words = ["run", "--mysql", "127.0.0.1:1", "--", "sleep", "1"];
    let ended = place.run(&words);
    ended.says("127.0.0.1 port 1").says("refused");
    assert_eq!(sentences(&place.opened().meta.gaps, "mysql").len(), 1);
    let place = Place::new();
    let address = format!("u:{PASSWORD}@h");
    place
        .run(&["record", "--mysql", &address, "--target", "pid:1"])
        .says("is no address that this version reads")
        .does_not_say(PASSWORD);
    assert!(place.recordings().is_empty());
}
