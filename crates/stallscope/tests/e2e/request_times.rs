//! Requests as the kernel sees them at the sockets, beside pgbench's own count and its own clock.

mod duty_cycle;

use std::fs;

use analysis::RequestTimes;
use model::{EntityKind, Meta, Provenance, Role, Series, Timeline, Window};

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::{Ended, Running};

const CLIENTS: f64 = 4.0;
/// What others do on these CPUs between pgbench's clock and ours makes some tries fail.
const TRIES: usize = 4;

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
        (CLIENTS + 1.0) * self.to_connect() + 2.0
    }

    fn to_connect(self) -> f64 {
        match self {
            Way::Tcp => 2.0,
            Way::Unix => 1.0,
        }
    }
}

/// What was recorded of a load that ran while target and generator were known, and what it said.
struct Recorded {
    place: Place,
    meta: Meta,
    timeline: Timeline,
    ended: Ended,
}

impl Recorded {
    fn times(&self, table: &str, role: Role) -> RequestTimes {
        let times = RequestTimes::over(&self.timeline, table, role, self.timeline.window);
        times.expect("there were requests")
    }

    fn served(&self) -> RequestTimes {
        self.times("requests", Role::Target)
    }

    fn calls(&self) -> RequestTimes {
        self.times("calls", Role::Generator)
    }

    /// What a column of the generator's threads grew by.
    fn of_the_generator(&self, column: &str) -> f64 {
        let entities = &self.timeline.entities;
        let threads = entities.of_kind(EntityKind::Thread).filter(|it| {
            let process = it.parent.and_then(|it| entities.get(it));
            process.is_some_and(|it| it.role == Role::Generator)
        });
        let series = threads.filter_map(|it| self.timeline.series("thread", it.id, column));
        series
            .filter_map(|it| it.growth(self.timeline.window))
            .sum()
    }

    /// A column of the on-windows.
    fn coverage(&self, column: &str) -> Series<'_> {
        let mut machines = self.timeline.entities.of_kind(EntityKind::Machine);
        let machine = machines.next().expect("there is one");
        let on = self.timeline.series("coverage", machine.id, column);
        on.expect("it notes its on-windows")
    }

    /// How long switches and wake-ups were not traced.
    fn off_s(&self) -> f64 {
        let on = self.coverage("thread_time_ns");
        let known = on.known().expect("it has rows");
        (known.len_ns() as f64 - on.growth(known).expect("it has rows")) / 1e9
    }

    /// When the generator's requests could be timed and nothing else was traced: requests take longer under that, and
    /// those times are left out of what is said.
    fn timed(&self) -> Vec<Window> {
        let rows: Vec<_> = self.coverage("request_timing_ns").values().collect();
        let traced = self.coverage("thread_time_ns");
        let mut windows: Vec<Window> = Vec::new();
        for pair in rows.windows(2) {
            let [(from, before), (to, after)] = [pair[0], pair[1]];
            let between = Window::new(from, to);
            let length = between.len_ns() as f64;
            let is_traced = traced.growth(between).is_some_and(|ns| ns > 0.01 * length);
            let is_on = (after - before) as f64 > 0.99 * length && !is_traced;
            match windows.last_mut() {
                Some(last) if is_on && last.end == from => last.end = to,
                _ if is_on => windows.push(Window::new(from, to)),
                _ => {}
            }
        }
        windows
    }

    /// Transactions by pgbench's closing report.
    fn transactions(&self) -> f64 {
        const LABEL: &str = "number of transactions actually processed: ";
        let text = self.ended.out_text();
        let line = text.lines().find_map(|line| line.strip_prefix(LABEL));
        let number = line.and_then(|it| it.split('/').next()?.parse().ok());
        number.expect("pgbench says so")
    }

    /// The latencies that pgbench logged, ns, in rising order.
    fn logged(&self) -> Vec<f64> {
        self.logged_where(|_| true)
    }

    /// Those of requests that took place while this is so.
    fn logged_where(&self, is_wanted: impl Fn(Window) -> bool) -> Vec<f64> {
        let identity = &self.meta.identity;
        let entries = fs::read_dir(self.place.path()).expect("the folder is there");
        let logs = entries.flatten().map(|it| it.path());
        let texts = logs.filter_map(|it| {
            let is_log = it.file_name()?.to_str()?.starts_with("each.");
            is_log.then(|| fs::read_to_string(&it).expect("pgbench wrote it"))
        });
        // Client, number, us, script, and when it ended: s and us since 1970.
        let latency = |line: &str| {
            let number = |word: &str| word.parse::<i64>().ok();
            let words: Vec<_> = line.split(' ').map(number).collect();
            let [_, _, Some(took), _, Some(s), Some(us)] = words[..] else {
                return None;
            };
            let since = s * 1_000_000_000 + us * 1_000 - identity.anchor_realtime_ns;
            let end = identity.anchor_boottime + since;
            let took = took * 1_000;
            is_wanted(Window::new(end + -took, end)).then_some(took as f64)
        };
        let mut all: Vec<f64> = texts
            .flat_map(|it| it.lines().filter_map(latency).collect::<Vec<_>>())
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Records a load from before it begins until after it has ended, each request of it; `None` where programs are not
/// allowed.
fn record(postgres: &Postgres, way: Way, load: &str) -> Option<Recorded> {
    record_beside(postgres, way, load, |_| ())
}

/// The same, with what others do from then on, who are no part of the load.
fn record_beside<T>(
    postgres: &Postgres,
    way: Way,
    load: &str,
    others: impl FnOnce(&Place) -> T,
) -> Option<Recorded> {
    record_with(&["--trace-all"], postgres, way, load, others)
}

fn record_with<T>(
    options: &[&str],
    postgres: &Postgres,
    way: Way,
    load: &str,
    others: impl FnOnce(&Place) -> T,
) -> Option<Recorded> {
    let place = Place::new();
    let target = format!("port:{}", postgres.port());
    let script = format!("sleep 0.7; echo yes > begun; {load}; sleep 0.3");
    let own = ["run", "-q", "--json", JSON, "--target", &target];
    let words = [&own, options, &["--", "sh", "-c", &script]].concat();
    let mut command = postgres.stallscope(&place, &words);
    if way == Way::Tcp {
        command.env("PGHOST", "127.0.0.1");
    }
    let running = Running::start(command);
    place.wait_for("begun");
    let others = others(&place);
    let ended = running.end();
    drop(others);
    ended.status(0);
    let report = place.report();
    if let Some(why) = &report.cost.programs["requests"] {
        needs::skip(&format!("programs in the kernel: {why}"));
        return None;
    }
    let recording = place.opened();
    Some(Recorded {
        place,
        meta: recording.meta,
        timeline: recording.timeline,
        ended,
    })
}

/// The server for these tests, which want root.
fn running() -> Option<(&'static Postgres, std::sync::MutexGuard<'static, ()>)> {
    needs::root().then(postgres::running)?
}

/// What was counted is what was done, within a thousandth, at both ends.
#[track_caller]
fn assert_counts(recorded: &Recorded, done: f64, besides: f64) {
    for times in [recorded.served(), recorded.calls()] {
        let apart = (times.requests - done - besides).abs();
        let counted = times.requests;
        println!("counted {counted} of {done} and {besides}");
        assert!(apart <= done / 1e3, "{counted} of {done} and {besides}");
        assert!(times.pipelined < 0.02 * counted, "{times:?}");
    }
}

#[test]
fn requests_are_pgbenchs_statements_and_their_times_those_of_its_own_clock() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    let ways = [
        (Way::Tcp, "simple"),
        (Way::Unix, "simple"),
        (Way::Tcp, "extended"),
        (Way::Unix, "prepared"),
    ];
    for (way, protocol) in ways {
        let mut said = Vec::new();
        let agree = (0..TRIES).any(|_| {
            let load =
                format!("pgbench -n -l --log-prefix=each -c 4 -j 2 -T 2 -S -M {protocol} bench");
            let Some(recorded) = record(postgres, way, &load) else {
                return true;
            };
            // Each client prepares its statement once.
            let prepared = if protocol == "prepared" { CLIENTS } else { 0.0 };
            let done = recorded.transactions();
            assert_counts(&recorded, done, way.start_up() + prepared);
            let both = beside_the_log(&recorded);
            println!("{way:?} {protocol}: {both:?}");
            said.push(both.clone());
            both.is_ok()
        });
        assert!(agree, "{way:?} {protocol}: {said:#?}");
    }
}

/// Of values in rising order, by no function under test; no numbers of none, which agree with nothing.
fn mean_and_p99(sorted: &[f64]) -> [f64; 2] {
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let p99 = sorted.get(sorted.len() * 99 / 100);
    [mean, p99.map_or(f64::NAN, |it| *it)]
}

/// Mean and p99 in us. The generator's side is pgbench's own within 25 us and 2 %, of the p99 10 %, and the server's is
/// below it.
fn beside_the_log(recorded: &Recorded) -> Result<String, String> {
    let log = recorded.logged();
    let own = mean_and_p99(&log);
    let told = |times: RequestTimes| {
        let both = [times.mean_ns(), times.quantile_ns(0.99)];
        both.map(|it| it.expect("some were timed"))
    };
    let (calls, served) = (told(recorded.calls()), told(recorded.served()));
    // A quantile is known to half a bucket, of which there are four per octave.
    let near = [(0, 0.02), (1, 0.1)]
        .into_iter()
        .all(|(it, part)| (calls[it] - own[it]).abs() <= 25e3 + part * own[it]);
    let below = (0..2).all(|it| served[it] < calls[it]);
    let us = |both: [f64; 2]| both.map(|ns| (ns / 1e3).round());
    let words = format!(
        "pgbench {:?}, generator {:?}, server {:?}",
        us(own),
        us(calls),
        us(served)
    );
    if near && below { Ok(words) } else { Err(words) }
}

#[test]
fn what_takes_longer_at_the_generators_end_is_its_own_wait_for_a_cpu() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    for clients in [1, 4] {
        let mut said = Vec::new();
        let is_so = (0..TRIES).any(|_| {
            // A thread for each connection: else one's reply waits while the other's is read.
            let load = format!("pgbench -n -c {clients} -j {clients} -T 2 -S bench");
            let Some(recorded) = record(postgres, Way::Unix, &load) else {
                return true;
            };
            let (served, calls) = (recorded.served(), recorded.calls());
            let mean = |times: &RequestTimes| times.mean_ns().expect("some were timed");
            let between = mean(&calls) - mean(&served);
            let waited = recorded.of_the_generator("wait_ns") / calls.requests;
            said.push(format!(
                "{:.1} us of {:.1}, {:.1} waited",
                between / 1e3,
                mean(&calls) / 1e3,
                waited / 1e3
            ));
            // Sending and receiving takes some of its time on a CPU too, however slow that is, and not all of the wait
            // is for a reply.
            let ran = recorded.of_the_generator("run_ns") / calls.requests;
            let near = 10e3 + 0.05 * mean(&calls);
            between > 0.0 && between >= waited - near && between <= waited + ran + near
        });
        println!("{clients}: {said:?}");
        assert!(is_so, "{clients}: {said:#?}");
    }
}

#[test]
fn statements_connections_and_pipelines_are_counted_as_they_come() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    let Some(recorded) = record(postgres, Way::Tcp, "pgbench -n -c 4 -j 2 -T 2 bench") else {
        return;
    };
    assert_counts(
        &recorded,
        7.0 * recorded.transactions(),
        Way::Tcp.start_up(),
    );

    let load = "pgbench -n -c 2 -t 100 -C -S bench";
    let recorded = record(postgres, Way::Unix, load).expect("as before");
    let each = Way::Unix.to_connect() + 1.0;
    assert_counts(&recorded, each * recorded.transactions(), each + 1.0);

    // What is sent in one go and answered in one go is one.
    let script = "\\startpipeline\\nselect 1;\\nselect 2;\\nselect 3;\\n\\endpipeline\\n";
    let load = format!(
        "printf '{}' > pipeline; pgbench -n -c 4 -j 2 -T 2 -M extended -f pipeline bench",
        script.replace('\\', "\\\\").replace("\\\\n", "\\n")
    );
    let recorded = record(postgres, Way::Tcp, &load).expect("as before");
    assert_counts(&recorded, recorded.transactions(), Way::Tcp.start_up());
}

/// What the others below ask for: who listens 2 things, the copies 2 and 4, the news 3 each, a new file of the
/// log 2, and the replica 6 before it is one.
const OTHERS: f64 = 2.0 + 2.0 + 4.0 + 3.0 * 3.0 + 2.0 + 6.0;

/// What others than pgbench have the server do: a replica that every commit waits for, who waits for news,
/// and copies in both ways. The last are done when this returns.
fn others(postgres: &Postgres, place: &Place) -> [Running; 2] {
    let start = |line: &str| {
        let mut shell = postgres.as_owner("sh");
        postgres.serve(&mut shell);
        shell.current_dir(postgres.folder());
        shell.args(["-c", line]);
        Running::start(shell)
    };
    let all = [
        // In its place, so that it ends with this. A replica begins with what the file of the log already has, and
        // says what it wrote of it before it is known for one: from a new file there is nothing to say.
        start(
            "psql -q -c 'select pg_switch_wal()' bench > switched; mkdir -p wal; \
             exec pg_receivewal -D wal --synchronous",
        ),
        start("(echo 'listen news;'; sleep 4) | psql -q bench"),
    ];
    let copies = start(
        "sleep 1.5; psql -q -c 'copy pgbench_accounts to stdout' bench > copied; \
         psql -q -c 'create temp table t (like pgbench_accounts); copy t from stdin' bench < copied; \
         rm copied; for i in 1 2 3; do psql -q -c 'notify news' -c '' bench; done",
    );
    copies.end().status(0);
    place.write("copied", "yes");
    all
}

#[test]
fn replication_copies_and_notifications_spoil_no_request_times() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    // The replica is to be one before.
    let load =
        "sleep 1; pgbench -n -c 4 -j 2 -t 600 bench; until [ -e copied ]; do sleep 0.1; done";
    let mut said = Vec::new();
    let is_so = (0..TRIES).any(|_| {
        let mut recorded = None;
        postgres.with_setting("synchronous_standby_names = '*'", || {
            recorded = record_beside(postgres, Way::Unix, load, |it| others(postgres, it));
        });
        let Some(recorded) = recorded else {
            return true;
        };
        let done = 7.0 * recorded.transactions();
        let (served, calls) = (recorded.served(), recorded.calls());
        let besides = served.requests - done - Way::Unix.start_up() - OTHERS;
        assert!(besides.abs() <= done / 1e3, "{besides} of {done}");
        // At the other end only pgbench's are seen, and take longer than here; the copies, a few among the
        // longest, may hide that at p99.
        [(0.5, 1.0), (0.9, 1.0), (0.99, 1.2)]
            .iter()
            .all(|(q, more)| {
                let [served, calls] = [&served, &calls].map(|it| it.quantile_ns(*q));
                let [served, calls] = [served, calls].map(|it| it.expect("some were timed"));
                said.push(format!("{q}: {served} and {calls}"));
                served < more * calls
            })
    });
    println!("{said:?}");
    assert!(is_so, "{said:#?}");
}

#[test]
fn a_service_that_nobody_speaks_for_has_throughput_and_latency() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    let place = Place::new();
    let mut load = postgres.client("pgbench");
    // Longer than it is recorded, also where that takes long to begin.
    load.args(["-n", "-c", "4", "-j", "2", "-S", "-T", "6", "bench"]);
    let load = Running::start(load);
    let target = format!("port:{}", postgres.port());
    let ended = place.run(&["record", "--for", "3s", "--json", JSON, "--target", &target]);
    ended.status(0);
    let report = place.report();
    if let Some(why) = &report.cost.programs["requests"] {
        return needs::skip(&format!("programs in the kernel: {why}"));
    }
    ended.says("measured in the kernel");
    let signal = |name: &str| report.signals.iter().find(|it| it.name == name);
    let throughput = signal("throughput").expect("it is known");
    assert_eq!(throughput.provenance, Provenance::Kernel);
    let tps = throughput.mean.expect("there were requests");
    let own = load.end().out_text();
    let own = own.lines().find_map(|line| line.strip_prefix("tps = "));
    let own: f64 = own
        .and_then(|it| it.split(' ').next()?.parse().ok())
        .expect("pgbench says so");
    assert!((0.5..2.0).contains(&(tps / own)), "{tps} and {own}");
    let latency = signal("latency").expect("it is known");
    let quantiles: Vec<f64> = latency.quantiles.iter().map(|it| it.value).collect();
    assert!(quantiles.len() >= 4 && quantiles.is_sorted(), "{latency:?}");
    assert!(latency.mean.is_some_and(|it| it > 0.0), "{latency:?}");
}
