//! Compared with stealmeter: an event loop that accounts for its own time, beside an equal one on the same
//! CPU.

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use rustix::event::epoll;
use stealmeter::{Counters, Meter};

use super::*;

const MEASURED: Duration = Duration::from_millis(1_500);

/// An event loop that polls, sleeps if there is nothing to do, works, and writes to a disk.
fn run(meter: &mut Meter, file: &Path) {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set");
    let file = std::fs::File::options().write(true).open(file);
    let file = file.expect("it opens");
    let block = vec![1; 4 << 20];
    let mut events = [const { std::mem::MaybeUninit::uninit() }; 1];
    let mut wait = |ms: i64| {
        let long = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: ms * 1_000_000,
        };
        epoll::wait(&set, &mut events, Some(&long)).expect("nothing comes");
    };
    let end = Instant::now() + MEASURED;
    while Instant::now() < end {
        let polls_until = Instant::now() + Duration::from_millis(1);
        while Instant::now() < polls_until {
            wait(0);
            meter.tick();
        }
        meter.before_wait();
        wait(8);
        meter.after_wait();
        waits::burn(Duration::from_millis(5));
        file.write_all_at(&block, 0).expect("room");
        file.sync_data().expect("it reaches the disk");
    }
    meter.update();
}

/// Compared classes: on CPU, waiting for one, asleep in the loop's wait, asleep elsewhere.
const CLASSES: [&str; 4] = ["cpu", "run queue", "sleep", "blocked"];

fn by_the_loop(counters: &Counters) -> [i64; 4] {
    let [cpu, queue, sleep, blocked] = [
        counters.cpu_ns,
        counters.run_queue_ns,
        counters.sleep_ns,
        // Blocked or hidden time; thread-time accounting counts the latter as on CPU, with its share in
        // `hidden_ns`.
        counters.blocked_ns + counters.hidden_ns,
    ];
    [cpu, queue, sleep, blocked].map(u64::cast_signed)
}

fn by_thread_time(counted: &Counted) -> [i64; 4] {
    let on_cpu = counted.of(&["on_cpu"]);
    let queue = counted.queued() + counted.of(&["throttled"]);
    let sleep = counted.of(&["input"]);
    [on_cpu, queue, sleep, counted.all() - on_cpu - queue - sleep]
}

/// Each class agrees within 1 % of the wall time.
#[test]
fn an_event_loops_own_accounting_agrees_with_thread_time() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let file = OnDisk::new("loops", 4);
    let _equal = hog(1);
    let metered = Mutex::new(Counters::default());
    let (_, counted) = in_one_window(|| {
        by_itself(&mut thread_time, || {
            to_cpu(None, 1);
            let mut meter = Meter::new();
            run(&mut meter, file.path());
            let wall_ns = meter.counters().wall_ns().cast_signed();
            *metered.lock().expect("no other holds it") = meter.counters();
            Own {
                wall_ns,
                ..Own::default()
            }
        })
    });
    let counters = metered.into_inner().expect("nobody holds it");
    let (own, found) = (by_the_loop(&counters), by_thread_time(&counted));
    println!("{CLASSES:?}: {own:?} by the loop, {found:?} by thread-time accounting");
    println!("{}", counted.shown());
    let wall = counters.wall_ns().cast_signed();
    for (class, (own, found)) in CLASSES.iter().zip(own.into_iter().zip(found)) {
        assert!(own * 100 > wall, "{class}: there was some: {own} of {wall}");
        assert!(
            (own - found).abs() * 100 < wall,
            "{class}: {own} by the loop, {found} by thread-time accounting, of {wall}"
        );
    }
}
