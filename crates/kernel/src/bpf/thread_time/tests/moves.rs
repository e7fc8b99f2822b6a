//! Threads that migrate while they wait, and processes that start during a measurement.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use super::*;

/// A CPU clock, ns.
fn cpu_ns(clock: rustix::time::ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Runs `act` on a thread while another migrates it to the other CPU every `diff`. Returns the number of
/// migrations and both accounts.
fn moved(
    thread_time: &mut ThreadTime,
    diff: Duration,
    act: impl Fn() + Sync,
) -> (u32, (Own, Counted)) {
    let mut moves = 0;
    let measured = in_one_window(|| {
        let (thread, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let mover = scope.spawn(|| {
                let mut moves = 0;
                while !is_over.load(Ordering::SeqCst) {
                    if let Some(thread) = Pid::from_raw(thread.load(Ordering::SeqCst) as i32) {
                        let mut cpu = CpuSet::new();
                        cpu.set(moves as usize % 2);
                        // The thread may have exited meanwhile.
                        moves += u32::from(sched_setaffinity(Some(thread), &cpu).is_ok());
                    }
                    std::thread::sleep(diff);
                }
                moves
            });
            let measured = by_itself(thread_time, || {
                let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
                thread.store(own, Ordering::SeqCst);
                waits::measured(|| {
                    act();
                    is_over.store(true, Ordering::SeqCst);
                    // No wait for a CPU between here and the reading.
                    crate::limits::raise_priority();
                })
            });
            moves = mover.join().expect("it moved it");
            measured
        })
    });
    (moves, measured)
}

#[test]
fn a_thread_that_migrates_while_ready_keeps_waiting() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    // Both CPUs are contended, so it waits on either.
    let _hogs = [hog(0), hog(0), hog(1), hog(1)];
    as_target(&mut thread_time, std::process::id());
    std::thread::sleep(Duration::from_millis(100));
    let (moves, (own, counted)) = moved(&mut thread_time, Duration::from_millis(2), || {
        waits::burn(Duration::from_millis(600));
    });
    println!("{moves} moves: {own:?}, {}", counted.shown());
    assert!(moves > 50 && own.delay_ns > 200_000_000, "{moves}: {own:?}");
    assert!(
        agree(own.delay_ns, counted.queued()),
        "{own:?}, {}",
        counted.shown()
    );
    // The kernel counts no delay between two run queues: by the thread's own clocks that is blocked time.
    let off_cpu = own.delay_ns + counted.blocked_by(&own);
    assert!(
        agree(off_cpu, counted.queued()) && agree(0, counted.blocked()),
        "{own:?}, {}",
        counted.shown()
    );
}

/// Forks a process that burns CPU 1 for `burns` and exits.
fn forked(burns: Duration) -> libc::pid_t {
    // SAFETY: the child calls only what needs no lock that another thread may have held.
    let child = unsafe { libc::fork() };
    if child == 0 {
        to_cpu(None, 1);
        let own = || cpu_ns(rustix::time::ClockId::ProcessCPUTime);
        while own() < burns.as_nanos() as i64 {}
        // SAFETY: ends the child, which has nothing to clean up.
        unsafe { libc::_exit(0) }
    }
    assert!(child > 0, "one more process is available");
    child
}

/// CPU time of an exited child by the kernel's count, ns.
fn used_ns(child: libc::pid_t) -> i64 {
    // SAFETY: all zeroes is a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours, the usage lives through the call, the status is not requested.
    let ended = unsafe { libc::wait4(child, std::ptr::null_mut(), 0, &raw mut usage) };
    assert_eq!(ended, child);
    let ns = |time: libc::timeval| (time.tv_sec * 1_000_000 + time.tv_usec) * 1_000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

#[test]
fn a_forked_process_is_counted_from_fork_to_exit() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let _equal = hog(1);
    as_target(&mut thread_time, std::process::id());
    for _ in 0..8 {
        let forked_at = crate::clock::boottime();
        let child = forked(Duration::from_millis(40));
        let forked_by = crate::clock::boottime();
        std::thread::sleep(Duration::from_millis(20));
        let meanwhile = read(&mut thread_time, child as u32);
        let used = used_ns(child);
        // `wait4` may return before the child's last switch.
        let last = (0..1_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            let mut last = None;
            thread_time.exited(|it| last = (it.tid == child as u32).then_some(*it).or(last));
            last
        });
        let last = last.expect("its end is told");
        let account = &last.account;
        let known_since = account.known_since_ns;
        let known_at = thread_time.time(known_since);
        let ran = account.ns[0].cast_signed() - account.hidden_ns;
        let all: u64 = account.ns.iter().chain(&account.queued_ns).sum();
        println!(
            "{ran} of {used} ns, forked at {forked_at:?} to {forked_by:?}, known at {known_at:?}"
        );
        assert_eq!(meanwhile.account.known_since_ns, known_since);
        assert_eq!(all, last.until_ns - known_since, "{account:?}");
        assert!((ran - used).abs() < 100_000, "{ran} of {used}");
        assert!(
            forked_at <= known_at && known_at <= forked_by,
            "{known_at:?}"
        );
    }
}

#[test]
fn a_thread_that_migrates_while_asleep_keeps_sleeping() {
    const SLEEPS: u32 = 40;
    const EACH: Duration = Duration::from_millis(20);
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let _hogs = [hog(0), hog(1)];
    as_target(&mut thread_time, std::process::id());
    std::thread::sleep(Duration::from_millis(100));
    // A sleep ends late if the hypervisor delays its timer: by the thread's own clock it lasts this long at most.
    let longest_ns = AtomicU64::new(0);
    let (moves, (own, counted)) = moved(&mut thread_time, Duration::from_millis(3), || {
        for _ in 0..SLEEPS {
            // Long enough that its dequeue is not delayed when it sleeps.
            waits::burn(Duration::from_millis(2));
            let since = Instant::now();
            std::thread::sleep(EACH);
            longest_ns.fetch_add(since.elapsed().as_nanos() as u64, Ordering::SeqCst);
        }
    });
    assert!(moves > SLEEPS, "{moves}");
    let least = (SLEEPS * EACH).as_nanos() as i64;
    let most = longest_ns.into_inner() as i64;
    let slept = counted.of(&["sleep"]);
    println!("{own:?}, {slept} of {least} to {most}, {}", counted.shown());
    // If it is preempted between the start of the timer and its sleep, it waits for a CPU while the timer runs: of
    // forty sleeps a few may be shorter for that.
    assert!(
        slept * 10 > least * 9 && slept < most,
        "{slept} of {least} to {most} ns: {own:?}, {}",
        counted.shown()
    );
    // What is left of those calls is the wait for a CPU after it.
    assert!(
        most - slept < counted.queued() + least / 50,
        "{slept} of {least} to {most} ns: {own:?}, {}",
        counted.shown()
    );
}
