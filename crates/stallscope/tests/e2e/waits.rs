//! What PostgreSQL says that its backends wait for, read from their memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::ChildStdin;
use std::time::{Duration, Instant};

use model::{EntityId, Role};
use recording::Recording;
use sensors::wait_event::{WaitClass, class, name};

use crate::needs;
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::process::{HANGS, Running};

/// One backend at one instant, as pg_stat_activity says.
struct Said {
    pid: u32,
    /// Time on a CPU, ns: while it stands still the backend does nothing, its wait included.
    run_ns: i64,
    /// `Lock:relation`, or empty.
    wait: String,
}

#[test]
fn a_wait_for_a_table_and_an_idle_session_are_told_by_the_server_itself() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let holder = Session::open(
        postgres,
        "begin; lock table pgbench_branches in access exclusive mode;",
    );
    await_waits(postgres, "Client:ClientRead");
    let waiter = Session::open(postgres, "select count(*) from pgbench_branches;");
    await_waits(postgres, "Lock:relation");
    let place = Place::new();
    let target = format!("pid:{}", postgres.pid());
    place
        .run(&["record", "--for", "2s", "--target", &target])
        .status(0);
    let said = ask_waits(postgres);
    drop((waiter, holder));

    let recording = place.opened();
    let target = &recording.meta.targets[0];
    assert_eq!(target.role, Role::Target);
    let version = target.version.as_deref();
    let major: u32 = version.and_then(|it| it.parse().ok()).expect("a number");
    let seen = waits(&recording);
    for expected in ["Lock:relation", "Client:ClientRead"] {
        let pid = said.iter().find(|it| it.wait == expected);
        let pid = pid.expect("it still waits").pid;
        let codes = seen.iter().filter(|((of, _), _)| *of == pid);
        let codes: Vec<String> = codes.map(|(_, code)| told(major, *code)).collect();
        assert!(
            !codes.is_empty() && codes.iter().all(|it| it == expected),
            "{pid}: {codes:?}, not {expected}"
        );
        // Neither stirred: their accounts are known from the first reading on.
        let column = match expected {
            "Lock:relation" => "event_lock_ns",
            _ => "event_client_ns",
        };
        if recording.timeline.table("thread_time").is_some() {
            let (part, whole) = exact(&recording, column, |of| of == pid);
            println!("{pid}: {part} of {whole} ns in {column}");
            assert!(whole > 1_000_000_000.0 && part > 0.99 * whole);
        }
    }
    let gaps: Vec<_> = recording.meta.gaps.iter().collect();
    assert!(gaps.iter().all(|gap| gap.what != "wait_event"), "{gaps:?}");
}

#[test]
fn the_exact_ledger_says_of_waits_for_rows_what_samples_of_the_servers_own_word_say() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    // All want one row, and one at a time has it, for 5 ms and more.
    let script = place.write(
        "row.sql",
        "begin;\nupdate pgbench_branches set bbalance = bbalance + 1 where bid = 1;\nselect pg_sleep(0.005);\ncommit;\n",
    );
    let mut pgbench = postgres.client("pgbench");
    pgbench.args(["-n", "-c", "4", "-T", "60", "-f"]);
    pgbench.arg(script).arg("bench");
    let before = postgres.backends().len();
    let load = Running::start(pgbench);
    let since = Instant::now();
    while postgres.backends().len() < before + 4 {
        assert!(since.elapsed() < HANGS, "they come");
        std::thread::sleep(Duration::from_millis(50));
    }
    let target = format!("pid:{}", postgres.pid());
    place
        .run(&["record", "--for", "5s", "--target", &target])
        .status(0);
    let backends: BTreeSet<u32> = postgres.backends().into_iter().collect();
    drop(load);
    let recording = place.opened();
    if recording.timeline.table("thread_time").is_none() {
        return needs::skip("the scheduler's events cannot be counted here");
    }
    let is_backend = |pid| backends.contains(&pid);
    let sampled = sampled_in_lock(&recording, is_backend);
    let exact = exact(&recording, "event_lock_ns", is_backend);
    let [sampled, exact] = [sampled, exact].map(|(part, whole)| part / whole);
    println!("in Lock: {sampled:.3} by samples, {exact:.3} exactly");
    assert!(exact > 0.2 && (sampled - exact).abs() < 0.1);
}

/// How long samples saw those processes in class Lock, of how long, s.
fn sampled_in_lock(recording: &Recording, is_one: impl Fn(u32) -> bool) -> (f64, f64) {
    let table = recording.timeline.table("thread").expect("threads");
    let (mut part, mut whole) = (0.0, 0.0);
    for thread in table.entities() {
        if !pid_of(recording, thread).is_some_and(&is_one) {
            continue;
        }
        let words = recording.timeline.series("thread", thread, "wait_event");
        let words: Vec<_> = words.expect("its words").values().collect();
        for pair in words.windows(2) {
            let [(start, word), (end, _)] = [pair[0], pair[1]];
            let held = end.seconds_since(start);
            let class = u32::try_from(word).ok().and_then(class);
            if class == Some(WaitClass::Lock) {
                part += held;
            }
            whole += held;
        }
    }
    (part, whole)
}

/// How much of the recorded time of those processes is in a column of the ledger, of how much, ns.
fn exact(recording: &Recording, column: &str, is_one: impl Fn(u32) -> bool) -> (f64, f64) {
    let table = recording
        .timeline
        .table("thread_time")
        .expect("it is there");
    let (mut part, mut whole) = (0.0, 0.0);
    for thread in table.entities() {
        if !pid_of(recording, thread).is_some_and(&is_one) {
            continue;
        }
        let series = recording.timeline.series("thread_time", thread, column);
        let series = series.expect("it is a column");
        let window = recording.timeline.window;
        part += series.growth(window).unwrap_or(0.0);
        whole += series.covered(window).map_or(0, |it| it.len_ns()) as f64;
    }
    (part, whole)
}

/// By hand, for each version: with STALLSCOPE_POSTGRES=FOLDER of the server's programs,
/// `cargo test -p stallscope --test e2e -- --ignored --nocapture pg_stat_activity`.
///
/// Seen with Debian's 15.18 and npm's builds (embedded-postgres) of the others, on Linux 6.18. Compared
/// are processes that did not run between both looks:
///
/// | version | equal | not | kinds of wait |
/// |---|---|---|---|
/// | 13.23 | 291 | 1, woken meanwhile | 8 |
/// | 14.23 | 405 | 0 | 10 |
/// | 15.18 | 216 | 0 | 8 |
/// | 16.14 | 296 | 0 | 10 |
/// | 17.10 | 321 | 0 | 10 |
/// | 18.4 | 100 | 0 | 10 |
#[test]
#[ignore = "by hand, for a server of each version"]
fn the_word_in_memory_is_what_pg_stat_activity_says() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let target = format!("pid:{}", postgres.pid());
    let mut pgbench = postgres.client("pgbench");
    pgbench.args(["-c", "24", "-j", "2", "-T", "24", "bench"]);
    let load = Running::start(pgbench);
    let sleeper = Session::open(postgres, "select pg_sleep(18);");
    let record = ["record", "--for", "15s", "--target", &target];
    let record = Running::start(place.stallscope(&record));
    let mut said = BTreeMap::new();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(17) {
        said.extend(
            ask_waits(postgres)
                .into_iter()
                .map(|it| ((it.pid, it.run_ns), it.wait)),
        );
    }
    record.end().status(0);
    load.end().status(0);
    drop(sleeper);

    let recording = place.opened();
    let version = recording.meta.targets[0].version.clone();
    let major: u32 = version.and_then(|it| it.parse().ok()).expect("a number");
    let (mut equal, mut other) = (BTreeMap::<String, u32>::new(), 0);
    for (key, code) in waits(&recording) {
        let Some(expected) = said.get(&key) else {
            continue;
        };
        if told(major, code) == *expected {
            *equal.entry(expected.clone()).or_default() += 1;
        } else {
            // It may wake between the reading of its time and that of its word.
            println!("{key:?}: {expected}, read {}", told(major, code));
            other += 1;
        }
    }
    let all: u32 = equal.values().sum();
    println!("{major}: {all} equal, {other} not, {equal:?}");
    assert!(equal.len() >= 5 && other * 100 <= all);
}

/// `Lock:relation`, as pg_stat_activity would put it; empty for no wait.
fn told(major: u32, code: u32) -> String {
    let Some(class) = class(code) else {
        assert_eq!(code, 0, "no class is known");
        return String::new();
    };
    let name = name(major, code).unwrap_or("?");
    format!("{}:{name}", class.word())
}

/// The process that an entity is, or is a thread of.
fn pid_of(recording: &Recording, id: EntityId) -> Option<u32> {
    let path = &recording.timeline.entities.get(id)?.entity.path;
    let pid = path.strip_prefix("pid:")?.split('@').next()?;
    pid.parse().ok()
}

/// The wait events of the recording, by process and its time on a CPU.
fn waits(recording: &Recording) -> BTreeMap<(u32, i64), u32> {
    let table = recording.timeline.table("thread").expect("threads");
    let column = |name: &str| {
        let columns = &table.table.columns;
        columns.iter().position(|it| it.name == name).expect(name)
    };
    let (run, wait) = (column("run_ns"), column("wait_event"));
    let row = |index: usize| {
        let values: Vec<i64> = table.row(index).collect();
        let pid = pid_of(recording, table.key(index).1)?;
        let code = u32::try_from(values[wait]).ok()?;
        Some(((pid, values[run]), code))
    };
    (0..table.len()).filter_map(row).collect()
}

/// What every backend waits for, where it did not run meanwhile.
fn ask_waits(postgres: &Postgres) -> Vec<Said> {
    const QUESTION: &str = "select pid, coalesce(wait_event_type || ':' || wait_event, '') \
        from pg_stat_activity where pid <> pg_backend_pid()";
    let before = run_times();
    let lines = postgres.ask(QUESTION);
    let said = lines.iter().filter_map(|line| {
        let (pid, wait) = line.split_once('|')?;
        let pid = pid.parse().ok()?;
        let run_ns = run_ns(pid)?;
        (before.get(&pid) == Some(&run_ns)).then(|| Said {
            pid,
            run_ns,
            wait: wait.to_owned(),
        })
    });
    said.collect()
}

fn await_waits(postgres: &Postgres, expected: &str) {
    let since = Instant::now();
    while !ask_waits(postgres).iter().any(|it| it.wait == expected) {
        assert!(since.elapsed() < HANGS, "no {expected}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn run_times() -> BTreeMap<u32, i64> {
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, run_ns(pid)?))).collect()
}

fn run_ns(pid: u32) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A session that has said something and stays.
struct Session {
    _running: Running,
    _input: ChildStdin,
}

impl Session {
    fn open(postgres: &Postgres, statement: &str) -> Self {
        let mut psql = postgres.client("psql");
        psql.args(["-q", "bench"]);
        let (running, mut input) = Running::start_typing(psql);
        writeln!(input, "{statement}").expect("psql reads");
        Self {
            _running: running,
            _input: input,
        }
    }
}
