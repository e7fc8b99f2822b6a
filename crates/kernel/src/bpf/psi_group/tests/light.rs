//! A load so light that most of it is lost if the kernel's file is read often: a CPU that was busy for less
//! than a jiffy between two readings has no weight (collect_percpu_times in kernel/sched/psi.c).

use super::*;

/// Makes this process the load.
const LIGHT: &str = "STALLSCOPE_TEST_LIGHT";

const PERIOD: Duration = Duration::from_millis(50);
/// How much earlier the first thread begins, how long it has the CPU that both want, and how long the second
/// one works then.
const AHEAD: Duration = Duration::from_micros(100);
const HOLDS: Duration = Duration::from_micros(1_100);
const WORKS: Duration = Duration::from_micros(200);

/// Two threads of which the second waits 1 ms for the CPU, 20 times a second.
fn load() {
    let rounds = |after: Duration, busy: Duration| {
        loop {
            let (now, period) = (boottime().as_ns() as u64, PERIOD.as_nanos() as u64);
            sleep(Duration::from_nanos(period - now % period) + after);
            let end = Instant::now() + busy;
            while Instant::now() < end {}
        }
    };
    // Above all other threads, if allowed, and in this order.
    let come_first = |before: i32| {
        let first = libc::sched_param {
            sched_priority: before,
        };
        // SAFETY: concerns this thread, with a parameter that lives through the call.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const first) };
    };
    std::thread::spawn(move || {
        come_first(2);
        rounds(AHEAD, WORKS)
    });
    come_first(3);
    rounds(Duration::ZERO, HOLDS)
}

/// Run-queue delay of two threads: their sum, and an upper bound of the time in which both waited.
struct Waited {
    sum: i64,
    both_at_most: i64,
}

fn waited(programs: &ThreadTime, pid: u32) -> Waited {
    let background = THREAD_TIME_BACKGROUND;
    let records = programs.records().filter(|it| it.tgid == pid);
    let mut by_background: Vec<_> = records
        .map(|it| it.account.queued_ns[background].cast_signed())
        .collect();
    by_background.sort_unstable();
    Waited {
        sum: queued_ns(programs, |it| it.tgid == pid),
        // The main thread of a test waits for nothing.
        both_at_most: by_background.iter().rev().nth(1).copied().unwrap_or(0),
    }
}

/// enum thread_time_role
const THREAD_TIME_BACKGROUND: usize = 0;

/// Whether the kernel's jiffy is so long that the load is lost.
fn loses_by_file() -> bool {
    let jiffy = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    jiffy.tv_nsec as u128 >= 2 * (HOLDS + WORKS).as_nanos()
}

#[test]
fn counted_pressure_agrees_with_thread_time_where_files_lose_most() {
    if std::env::var_os(LIGHT).is_some() {
        return load();
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    if !loses_by_file() {
        return skipped(
            "PSI groups",
            "this kernel's jiffies are so short that files lose nothing",
        );
    }
    let name = "counted_pressure_agrees_with_thread_time_where_files_lose_most";
    let program = std::env::current_exe().expect("this is a program");
    let mut group = Around::new();
    let pid = group.run(&format!(
        "{LIGHT}=1 exec taskset -c 1 {} --exact bpf::psi_group::tests::light::{name}",
        program.display()
    ));
    put(&mut programs, &[pid], alone(0));
    let mut kernels = Kernels::new(&group);
    sleep(Duration::from_millis(800));
    crate::limits::raise_priority();
    let mut psi_group = first_seen(&programs, 0);
    let mut read = || {
        programs.read(false).expect("it can be read");
        let kernels = kernels.read()[0] * kernels.programs.online() as i64;
        psi_group.take(&programs);
        let own = psi_group.density()[0] * programs.online() as i64;
        (waited(&programs, pid), [own, kernels, group.totals()[0]])
    };
    let mut tries = Vec::new();
    for _ in 0..TRIES {
        let (before, stalled_before) = read();
        for _ in 0..40 {
            sleep(Duration::from_millis(100));
            read();
        }
        let (after, stalled) = read();
        let [own, kernels, file] = [0, 1, 2].map(|it| stalled[it] - stalled_before[it]);
        let waited = after.sum - before.sum;
        let both_at_most = after.both_at_most - before.both_at_most;
        let summary = format!(
            "waited {waited} ns by thread-time accounting, {own} as a PSI group, {kernels} as a control group, {file} by its file; \
             {both_at_most} at most both at once"
        );
        println!("{summary}");
        assert!(waited > 40_000_000, "it waited: {summary}");
        tries.push(summary);
        // Other threads on the CPU, for which both wait at once.
        if both_at_most * 200 > waited {
            continue;
        }
        for stalled in [own, kernels] {
            assert!((stalled - waited).abs() * 100 < waited * 3, "{tries:?}");
        }
        assert!(file * 2 < waited, "{tries:?}");
        return;
    }
    panic!("others had the CPU too often: {tries:#?}");
}
