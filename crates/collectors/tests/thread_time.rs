//! Thread-time accounting as it is recorded, of this process under load: every nanosecond is in one class, and the
//! kernel's own account of the same threads agrees.
#![expect(
    clippy::print_stdout,
    reason = "SKIPPED lines are read by scripts/test.sh, and one process of a test by the other"
)]

mod backend;
mod recorded;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backend::Backend;
use recorded::{Load, Recorded, skipped};

/// What another test starts is of this process too, and would be the target's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn every_nanosecond_is_in_one_class_and_agrees_with_the_kernel() {
    let _alone = alone();
    let load = Load::start();
    let recorded = Recorded::of(&[std::process::id()], || {
        std::thread::sleep(Duration::from_secs(3));
    });
    drop(load);
    let Some(recorded) = recorded else {
        return;
    };
    let threads = recorded.series("thread_time").len();
    assert!(threads >= 6, "every thread has an account: {threads}");
    recorded.assert_every_ns_is_in_one_class();
    let background = recorded.series("process_time");
    assert!(!background.is_empty(), "somebody else was there");
    recorded.assert_the_kernel_says_the_same();
    recorded.assert_no_counter_runs_backwards();
}

/// Each thread's account grows by the time of the on-windows, and stands still in off-windows.
fn assert_accounts_are_of_on_windows(recorded: &Recorded) {
    let table = &sensors::thread_time::THREAD_TIME;
    let times = 0..sensors::thread_time::CLASSES + sensors::thread_time::HOLDERS;
    let coverage = recorded.series(&sensors::COVERAGE.name).values().next();
    let edges: Vec<(i64, i64)> = coverage
        .expect("it notes its on-windows")
        .iter()
        .map(|(time, values)| (*time, values[0]))
        .collect();
    let covered = |at: i64| {
        let after = edges.partition_point(|(time, _)| *time <= at);
        let (from, before) = edges[after.saturating_sub(1)];
        let Some((to, then)) = edges.get(after) else {
            return before;
        };
        before + (then - before) * (at - from).max(0) / (to - from).max(1)
    };
    let mut windows = 0;
    for (thread, rows) in recorded.series(&table.name) {
        let sum = |row: &(i64, Vec<i64>)| row.1[times.clone()].iter().sum::<i64>();
        for pair in rows.windows(2) {
            let grown = sum(&pair[1]) - sum(&pair[0]);
            let on = covered(pair[1].0) - covered(pair[0].0);
            // All threads are looked at, one after the other, when an on-window begins.
            let (off, name) = (grown - on, &recorded.names[thread]);
            assert!(
                off.abs() < 10_000_000,
                "{grown} of {on} ns of {name} from {} to {}: {:?}, {rows:?}",
                pair[0].0,
                pair[1].0,
                edges
            );
            windows += u32::from(on > 30_000_000);
        }
    }
    assert!(windows > 10, "{windows}");
}

#[test]
fn under_a_duty_cycle_accounts_are_those_of_the_on_windows() {
    let _alone = alone();
    let load = Load::start();
    let recorded = Recorded::tracing(false, &[std::process::id()], || {
        // Some 100,000 switches a second are more than all are reported, and few accounts stand still in a spell.
        let end = std::time::Instant::now() + Duration::from_secs(8);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let (here, there) = std::os::unix::net::UnixStream::pair().expect("a pair");
                for mut end_of_it in [&here, &there].map(|it| it.try_clone().expect("once more")) {
                    scope.spawn(move || {
                        let mut byte = [0];
                        while std::time::Instant::now() < end {
                            end_of_it.write_all(&byte).expect("room");
                            end_of_it.read_exact(&mut byte).expect("it answers");
                        }
                        // The other end may wait for one more.
                        let _ = end_of_it.write_all(&byte);
                    });
                }
            }
        });
    });
    drop(load);
    let Some(recorded) = recorded else {
        return;
    };
    let coverage = recorded.series("coverage").values().next();
    let rows = coverage.expect("it notes its on-windows");
    let (first, last) = (rows.first().expect("a row"), rows.last().expect("a row"));
    let off = (last.0 - first.0) - (last.1[0] - first.1[0]);
    println!("{off} ns off");
    assert!(off > 1_000_000_000, "there were too many events: {off}");
    assert_accounts_are_of_on_windows(&recorded);
    let agreement = recorded.cost.cross_check.as_ref().expect("it was compared");
    println!("{agreement:?}");
    assert!(agreement.compared > 10, "{agreement:?}");
    // A switch that nobody reported, at the begin of a spell, is one slice less.
    assert!(agreement.diff <= agreement.switches_missed, "{agreement:?}");
    assert!(agreement.worst_ns < 100_000, "{agreement:?}");
    recorded.assert_no_counter_runs_backwards();
}

#[test]
fn kernel_waits_add_up_to_the_wait_classes() {
    let _alone = alone();
    let recorded = Recorded::of(&[std::process::id()], || {
        let mut file = tempfile::tempfile_in(".").expect("room");
        let end = std::time::Instant::now() + Duration::from_secs(1);
        let mut sync = move || {
            file.write_all(&[1; 4096]).expect("room");
            file.sync_all().expect("it reaches the disk");
        };
        // Who has ended before it was listed is reported too.
        while std::time::Instant::now() < end {
            sync();
            std::thread::spawn(|| std::fs::File::open(".").and_then(|it| it.sync_all()));
        }
    });
    let Some(recorded) = recorded else {
        return;
    };
    let threads = recorded.series("thread_time");
    let kernel_waits = recorded.series("kernel_wait");
    let table = &sensors::thread_time::THREAD_TIME;
    let place = |name| table.position(name).expect("it is a column");
    let columns = place("memory_other_ns")..place("futex_ns");
    let mut all = 0;
    for (thread, rows) in threads {
        let (_, last) = rows.last().expect("it has rows");
        let classes: i64 = last[columns.clone()].iter().sum();
        let sum = kernel_waits.get(thread).map_or(0, |rows| {
            let (_, last) = rows.last().expect("it has rows");
            last.iter().sum()
        });
        assert_eq!(sum, classes, "{last:?}");
        all += sum;
    }
    println!(
        "{all} ns of {} threads of {}",
        kernel_waits.len(),
        threads.len()
    );
    assert!(all > 10_000_000, "it waited for its disk: {all}");
}

#[test]
fn a_wait_event_takes_precedence_over_the_system_call() {
    let _alone = alone();
    const LOCK: u32 = 0x0300_0005;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for before_14 in [false, true] {
        let start = |word| Backend::start(folder.path(), before_14, word);
        // Before 14, two that are idle tell where the word is.
        let Some(idle) = start(0x0600_0000).zip(start(0x0600_0000)) else {
            return skipped("a backend", "there is no C compiler");
        };
        let all = [&idle.0, &idle.1].map(Backend::pid);
        let backend = start(LOCK).expect("it was compiled");
        let pids = [all[0], all[1], backend.pid()];
        let sleep = || std::thread::sleep(Duration::from_secs(2));
        let Some(recorded) = Recorded::of(&pids, sleep) else {
            return;
        };
        let (threads, names) = (recorded.series("thread_time"), &recorded.names);
        let table = &sensors::thread_time::THREAD_TIME;
        let end = format!("/tid:{}", backend.pid());
        let named = names.iter().find(|(_, path)| path.ends_with(&end));
        let rows = &threads[named.expect("it is an entity").0];
        // The place is known after some samples.
        let half = &rows[rows.len() / 2..];
        let grown = |name| {
            let column = table.position(name).expect("it is a column");
            half[half.len() - 1].1[column] - half[0].1[column]
        };
        let (in_lock, asleep) = (grown("event_lock_ns"), grown("sleep_ns"));
        println!("{in_lock} ns in Lock, {asleep} ns in its call");
        assert!(
            in_lock > 100_000_000 && asleep == 0,
            "{in_lock} and {asleep}"
        );
        // The same by the very event, of as many waits as there were.
        let last = |word: u32| {
            let end = format!("/event:{word}");
            let mut named = names.iter().filter(|(_, path)| path.ends_with(&end));
            let rows = named.find_map(|(entity, _)| recorded.series("wait_event").get(entity));
            rows.and_then(|rows| rows.last())
                .map(|(_, row)| row.clone())
        };
        let lock = last(LOCK).expect("it is reported");
        println!("{lock:?}");
        let word = sensors::wait_event::WAIT_EVENT.position("wait_event");
        let word = lock[word.expect("it is a column")];
        assert!(lock[0] >= in_lock && word == i64::from(LOCK), "{lock:?}");
        assert!(last(0x0600_0000).is_some_and(|idle| idle[0] > 0));
    }
}

/// Says to another process of this test that it is to start short-lived threads.
const CHURN: &str = "STALLSCOPE_TEST_CHURN";

/// The CPU time of this process, ns.
fn cpu_ns() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Burns 20 ms of CPU in one thread after the other, on a word from the other end, and tells how much CPU
/// time passed meanwhile.
fn churn() {
    let mut word = String::new();
    let mut wait = || drop(std::io::stdin().read_line(&mut word));
    wait();
    let before = cpu_ns();
    for _ in 0..50 {
        let burn = || {
            let own = || {
                let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                time.tv_sec * 1_000_000_000 + time.tv_nsec
            };
            while own() < 20_000_000 {}
        };
        std::thread::spawn(burn).join().expect("it burned");
    }
    println!("\nburned {}", cpu_ns() - before);
    wait();
}

#[test]
fn times_of_threads_that_were_never_listed_are_reported() {
    if std::env::var_os(CHURN).is_some() {
        return churn();
    }
    let _alone = alone();
    let name = "times_of_threads_that_were_never_listed_are_reported";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this is a program"));
    child.args(["--exact", name, "--nocapture"]).env(CHURN, "");
    child.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("it can be started");
    let mut to = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut burned = 0;
    let _load = Load::start();
    let recorded = Recorded::of(&[child.id()], || {
        to.write_all(b"go\n").expect("it reads");
        let mut printed = lines.by_ref().map_while(Result::ok);
        let printed = printed.find_map(|line| line.strip_prefix("burned ")?.parse().ok());
        burned = printed.expect("it prints a number");
        // Beside a load, who has been joined may still wait for a CPU to leave it for good, seen by nobody.
        std::thread::sleep(Duration::from_secs(4));
    });
    drop(to);
    lines.for_each(drop);
    child.wait().expect("it ends");
    let Some(recorded) = recorded else {
        return;
    };
    let threads = recorded.series("thread_time");
    let table = &sensors::thread_time::THREAD_TIME;
    let column = |name| table.position(name).expect("it is a column");
    let (on_cpu, hidden) = (column("on_cpu_ns"), column("hidden_ns"));
    let ran = |rows: &Vec<(i64, Vec<i64>)>| {
        let (first, last) = (&rows.first()?.1, &rows.last()?.1);
        Some(last[on_cpu] - first[on_cpu] - (last[hidden] - first[hidden]))
    };
    let ran: i64 = threads.values().filter_map(ran).sum();
    println!("{ran} of {burned}, {} series", threads.len());
    assert!((ran - burned).abs() < burned / 100, "{ran} of {burned}");
    let process = |thread| Some(recorded.names[thread].rsplit_once("/tid:")?.0);
    let processes: BTreeSet<_> = threads.keys().filter_map(process).collect();
    assert_eq!(processes.len(), 1, "all are of one process");
}

/// Says to another process of this test that its second thread is to become another program.
const EXEC: &str = "STALLSCOPE_TEST_EXEC";

#[test]
fn a_process_whose_second_thread_becomes_another_program_goes_on() {
    let _alone = alone();
    let burn = || {
        let mut sh = std::process::Command::new("sh");
        // The kernel forgets with the first thread what it was asked for at its parent's end.
        sh.args(["-c", "ulimit -t 20; while :; do :; done"]);
        sh
    };
    if std::env::var_os(EXEC).is_some() {
        std::io::stdin()
            .read_line(&mut String::new())
            .expect("it reads");
        let exec = std::thread::spawn(move || burn().exec());
        panic!("{:?}", exec.join());
    }
    let name = "a_process_whose_second_thread_becomes_another_program_goes_on";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this is a program"));
    child.args(["--exact", name, "--nocapture"]).env(EXEC, "");
    let mut child = child
        .stdin(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let mut to = child.stdin.take().expect("a pipe");
    let recorded = Recorded::of(&[child.id()], || {
        std::thread::sleep(Duration::from_millis(500));
        to.write_all(b"go\n").expect("it reads");
        std::thread::sleep(Duration::from_millis(2_500));
    });
    child.kill().expect("it burns");
    child.wait().expect("it ends");
    let Some(recorded) = recorded else {
        return;
    };
    let (threads, names) = (recorded.series("thread_time"), &recorded.names);
    let end = format!("/tid:{}", child.id());
    let named = names.iter().find(|(_, path)| path.ends_with(&end));
    let rows = &threads[named.expect("it is an entity").0];
    let in_order = rows.windows(2).all(|pair| pair[0].0 <= pair[1].0);
    let on_cpu = sensors::thread_time::THREAD_TIME
        .position("on_cpu_ns")
        .expect("it is a column");
    let ran = |row: usize| rows[row].1[on_cpu];
    let (first, last) = (ran(0), ran(rows.len() - 1));
    println!("{last} ns on a CPU after {} rows", rows.len());
    assert!(in_order, "{rows:?}");
    assert!(last > first + 50_000_000, "it burned: {first} and {last}");
}
