//! Duty cycle: only on-windows are counted.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::clock::boottime;

/// When an on-window begins, all threads are read one after the other; bound of that time.
const LOOK_NS: i64 = 2_000_000;
const WINDOWS: i64 = 3;

/// The work that a thread repeats.
type Does = fn();

fn hops() {
    let until = Instant::now() + Duration::from_micros(300);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    std::thread::sleep(Duration::from_micros(200));
}

fn sleeps() {
    std::thread::sleep(Duration::from_secs(1));
}

fn runs() {
    std::hint::spin_loop();
}

#[test]
fn only_on_windows_are_counted() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let (tids, over) = ([const { AtomicU32::new(0) }; 3], AtomicBool::new(false));
    let all: [Does; 3] = [hops, sleeps, runs];
    std::thread::scope(|scope| {
        for (tid, does) in tids.iter().zip(all) {
            let over = &over;
            scope.spawn(move || {
                let own = rustix::thread::gettid().as_raw_nonzero().get();
                std::thread::sleep(Duration::from_millis(1));
                tid.store(own as u32, Ordering::SeqCst);
                while !over.load(Ordering::SeqCst) {
                    does();
                }
            });
        }
        while tids.iter().any(|it| it.load(Ordering::SeqCst) == 0) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        let read = |thread_time: &mut ThreadTime| {
            let each = tids
                .iter()
                .map(|it| read(thread_time, it.load(Ordering::SeqCst)));
            each.collect::<Vec<_>>()
        };
        let stolen = stolen_ns();
        let before = read(&mut thread_time);
        let off_ns = off_for_a_while(&mut thread_time);
        let after = read(&mut thread_time);
        let stolen = stolen_ns() - stolen;
        over.store(true, Ordering::SeqCst);
        for ((name, before), after) in ["hops", "sleeps", "runs"].iter().zip(&before).zip(&after) {
            let counted = Counted::between(before, after);
            let passed = (after.until_ns - before.until_ns).cast_signed();
            let [most, least] = off_ns.map(|off| passed - off);
            assert!(
                (least - LOOK_NS..=most + LOOK_NS).contains(&counted.all()),
                "{name}: {least} to {most} of {passed} were on: {}",
                counted.shown()
            );
            does_what_it_is_called(name, &counted, stolen);
        }
    });
}

/// Detaches the programs now and then; lower and upper bound of the time in off-windows, ns.
fn off_for_a_while(thread_time: &mut ThreadTime) -> [i64; 2] {
    let mut off_ns = [0; 2];
    for _ in 0..WINDOWS {
        let ended = thread_time.end_on_window();
        thread_time.read(false).expect("the accounts stand still");
        thread_time.detach();
        std::thread::sleep(Duration::from_millis(150));
        while !thread_time.attach().expect("the hooks are there") {}
        off_ns[0] += boottime().ns_since(ended);
        thread_time.resume().expect("it goes on");
        off_ns[1] += boottime().ns_since(ended);
        std::thread::sleep(Duration::from_millis(60));
    }
    off_ns
}

/// That the time counted in on-windows is in the classes of a thread's work; `stolen` ns were the
/// hypervisor's.
fn does_what_it_is_called(name: &str, counted: &Counted, stolen: i64) {
    let shown = counted.shown();
    match name {
        "hops" => {
            let unknown = counted.of(&["unknown"]);
            assert!(unknown < WINDOWS * LOOK_NS, "it is traced: {shown}");
            assert!(counted.of(&["sleep"]) > 10_000_000, "it sleeps: {shown}");
        }
        "sleeps" => {
            let slept = counted.of(&["sleep"]);
            assert!(counted.all() - slept < LOOK_NS, "throughout: {shown}");
        }
        _ => {
            let wanted = counted.of(&["on_cpu"]) + counted.queued();
            assert!(
                wanted > counted.all() - WINDOWS * LOOK_NS - stolen / 2,
                "it wanted a CPU throughout, of which {stolen} ns were stolen: {shown}"
            );
        }
    }
}
