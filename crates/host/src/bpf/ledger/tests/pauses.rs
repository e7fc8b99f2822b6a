//! Pauses, in which nobody tells of switches and wake-ups.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Both accounts agree to so much, or to 0.1 %.
const APART_NS: i64 = 20_000;

/// What a thread does over and over.
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
fn what_threads_do_in_a_pause_is_made_up_for_by_the_schedulers_notes() {
    let Some((mut ledger, _alone)) = loaded() else {
        return;
    };
    as_target(&mut ledger, std::process::id());
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
        let read = |ledger: &mut Ledger| {
            let each = tids
                .iter()
                .map(|it| read(ledger, it.load(Ordering::SeqCst)));
            each.collect::<Vec<_>>()
        };
        let stolen = stolen_ns();
        let before = read(&mut ledger);
        for _ in 0..3 {
            ledger.pause();
            ledger.read(false).expect("the books stand still");
            ledger.detach();
            std::thread::sleep(Duration::from_millis(150));
            ledger.attach().expect("the hooks are there");
            ledger.resume().expect("it goes on");
            std::thread::sleep(Duration::from_millis(30));
        }
        let after = read(&mut ledger);
        let stolen = stolen_ns() - stolen;
        over.store(true, Ordering::SeqCst);
        for ((name, before), after) in ["hops", "sleeps", "runs"].iter().zip(&before).zip(&after) {
            let counted = Counted::between(before, after);
            let passed = (after.until_ns - before.until_ns).cast_signed();
            let shown = counted.shown();
            assert!(
                (counted.all() - passed).abs() <= APART_NS,
                "{name}: {passed} passed: {shown}"
            );
            let most = APART_NS.max(passed / 1_000);
            let run = (after.run_apart_ns - before.run_apart_ns).abs();
            let wait = (after.wait_apart_ns - before.wait_apart_ns).abs();
            if before.compared == 1 && after.compared == 1 {
                assert!(
                    run <= most && wait <= most,
                    "{name}: {run} and {wait} apart: {shown}"
                );
            }
            // One is told of just before the kernel counts it.
            let slices = after.slices_apart - before.slices_apart;
            assert!(
                slices.abs() <= 1,
                "{name}: {slices} slices of {}",
                after.account.slices
            );
            match *name {
                "hops" => {
                    let unknown = counted.of(&["unknown"]);
                    assert!(
                        unknown > 50_000_000,
                        "in pauses nobody tells what it slept in: {shown}"
                    );
                    assert!(
                        counted.of(&["sleep"]) > 10_000_000,
                        "and else it is told: {shown}"
                    );
                }
                "sleeps" => {
                    let slept = counted.of(&["sleep"]);
                    assert!(
                        passed - slept < 2_000_000,
                        "it was asleep throughout: {shown}"
                    );
                }
                // What the hypervisor takes in a pause is its time on a CPU, as it is else; how much of it was
                // taken from others is told by how long it ran.
                _ => {
                    println!("{stolen} ns were stolen: {shown}");
                    assert!(
                        counted.of(&["on_cpu"]) + counted.queued()
                            > passed - 15_000_000 - stolen / 2,
                        "it wanted a CPU throughout, of which {stolen} ns were stolen: {shown}"
                    );
                }
            }
        }
    });
}
