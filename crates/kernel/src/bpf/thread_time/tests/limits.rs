//! Throttling by CPU quotas and memory limits, compared with the clocks of the limited threads.

use std::sync::atomic::AtomicU64;

use super::*;

/// A wait this long is throttling; run-queue delays in this test are shorter.
const LEAST_WITHHELD: Duration = Duration::from_millis(12);

#[test]
fn throttling_is_distinct_from_run_queue_delay() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    // With high shares it hardly waits for a CPU.
    let limits = [
        ("cpu.shares", "262144"),
        ("cpu.cfs_period_us", "100000"),
        ("cpu.cfs_quota_us", "20000"),
    ];
    let Some(group) = Group::new("cpu", &limits) else {
        return skipped(
            "thread-time accounting",
            "there is no v1 hierarchy with the cpu controller that groups can be made in",
        );
    };
    as_target(&mut thread_time, std::process::id());
    let mut held = || {
        let withheld_ns = [0, 0].map(AtomicU64::new);
        let measured = in_one_window(|| {
            monitored(&mut thread_time, || {
                waits::measured(|| {
                    group.enter();
                    let gaps = waits::burn_withheld(Duration::from_millis(600), LEAST_WITHHELD);
                    for (to, gap) in withheld_ns.iter().zip(gaps) {
                        to.store(gap.as_nanos() as u64, Ordering::SeqCst);
                    }
                    group.leave();
                    // No wait for a CPU between here and the reading.
                    crate::limits::raise_priority();
                })
            })
        });
        let [withheld, unclear] = withheld_ns.map(|it| it.into_inner().cast_signed());
        println!("quota: {withheld}, quota or others: {unclear}");
        // Where the thread's own clock cannot distinguish the two, this try says nothing.
        (unclear < 2_000_000).then_some((withheld, measured))
    };
    let clear = (0..20).find_map(|_| held());
    let (withheld, (own, counted)) =
        clear.expect("in some try it is either held for long or hardly");
    println!("quota: {withheld} of {own:?}, {}", counted.shown());
    assert!(withheld > 200_000_000, "it was held: {own:?}");
    let throttled = counted.of(&["throttled"]);
    assert!(
        agree(withheld, throttled) && agree(own.delay_ns, throttled + counted.queued()),
        "{withheld} of {own:?}, {}",
        counted.shown()
    );
    assert!(
        agree(counted.blocked_by(&own), counted.blocked()),
        "{}",
        counted.shown()
    );
}

/// Names the file that the child process of this test reads over and over.
const REFAULTS: &str = "STALLSCOPE_TEST_REFAULTS";

/// A child process reads pages that its memory limit evicts; returns its accounted waits for memory, ns.
fn refaulted(thread_time: &mut ThreadTime, group: &Group) -> i64 {
    let file = OnDisk::new("refaults", 40);
    let name = std::thread::current()
        .name()
        .expect("tests have names")
        .to_owned();
    let mut again = Command::new(std::env::current_exe().expect("this is a program"));
    let child = Started::new(again.args(["--exact", &name]).env(REFAULTS, file.path()));
    group.take(child.0.id());
    waits::post(&file, "limited", &[]);
    as_target(thread_time, child.0.id());
    let tid = waits::await_numbers(&file, "tid");
    let before = read(thread_time, tid[0] as u32);
    waits::post(&file, "go", &[]);
    let own = waits::await_numbers(&file, "own");
    let after = read(thread_time, tid[0] as u32);
    drop(child);
    let counted = Counted::between(&before, &after);
    println!("refaults: {own:?} of its own, {}", counted.shown());
    let (by_read, by_fault) = (
        counted.of(&["memory_read_write", "io_read_write"]),
        counted.of(&["memory_fault", "io_fault"]),
    );
    assert!(own.iter().all(|it| *it > 20_000_000), "it waited: {own:?}");
    // What is hidden from both clocks (interrupts, the hypervisor) makes its own waits longer, of reads or of faults.
    let hidden = counted.hidden_ns.max(0);
    let of = |own: i64, counted: i64| agree(counted.clamp(own - hidden, own), counted);
    let both = agree(own[0] + own[1] - hidden, by_read + by_fault);
    assert!(
        both && of(own[0], by_read) && of(own[1], by_fault),
        "{own:?}, {}",
        counted.shown()
    );
    let elsewhere = counted.blocked() - by_read - by_fault;
    assert!(agree(0, elsewhere), "{}", counted.shown());
    counted.of(&["memory_fault", "memory_read_write"])
}

#[test]
fn refaults_under_a_memory_limit_are_waits_for_memory() {
    /// The kernel only estimates whether a page was evicted recently enough to count as a refault.
    const TRIES: usize = 5;
    if let Some(file) = std::env::var_os(REFAULTS) {
        return waits::refault(file.as_ref());
    }
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let limits = [("memory.limit_in_bytes", "25165824")];
    let Some(group) = Group::new("memory", &limits) else {
        return skipped(
            "thread-time accounting",
            "there is no v1 hierarchy with the memory controller that groups can be made in",
        );
    };
    let mut for_memory = (0..TRIES).map(|_| refaulted(&mut thread_time, &group));
    assert!(for_memory.any(|ns| ns > 1_000_000), "none was waited for");
}
