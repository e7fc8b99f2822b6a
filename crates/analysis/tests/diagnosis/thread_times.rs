//! Threads whose every nanosecond was counted at the scheduler's events: what is exact then, and what is
//! said where it was not.

use expect_test::expect;
use model::{
    Confidence, CrossCheck, EntityEvent, EntityId, EntityKind, LedgerClass, PartKind, Quality,
    Report, ThreadsAccount,
};

use crate::drawing::{Drawn, drawn, headline, part, said, told};
use crate::locks::{DATABASE, FUTEX, SYNC};
use crate::memory;
use crate::quota::LIMITED;
use crate::saturated::SATURATED;

fn quality(report: &Report, class: LedgerClass) -> Quality {
    let account = report.verdict.account.as_ref().expect("a target");
    let mut items = account.items.iter();
    let item = items.find(|item| item.class == class);
    item.expect("there is some of it").quality
}

fn target(report: &Report) -> &ThreadsAccount {
    report.subjects[0].threads.as_ref().expect("it was watched")
}

/// Half of the target's time in the queue: 2 of 5 behind its own, 2 behind the generator, 1 behind nobody.
pub fn saturated() -> String {
    format!(
        "{SATURATED}
    thread_time.queued_target_ns *1e9 22222222222222222222
    thread_time.queued_generator_ns *1e9 22222222222222222222
    thread_time.queued_nobody_ns *1e9 11111111111111111111
    thread_time.queued_target_ns loader1 *1e9 11111111111111111111
    thread_time.hidden_ns *1e8 01234567898765432101
"
    )
}

/// Of the 60 % a half was the quota's, and for the other half they waited for each other.
pub fn limited() -> String {
    format!(
        "{LIMITED}
    thread_time.throttled_ns *1e9 33333333333333333333
    thread_time.queued_target_ns *1e9 33333333333333333333
"
    )
}

/// Eight tenths of each server's time in futex.
pub fn locked() -> String {
    format!("{FUTEX}\n    thread_time.futex_ns *1e9 88888888888888888888\n")
}

/// A tenth of each second in on-windows.
const SAMPLED: &str = "    coverage.thread_time_ns *1e9 11111111111111111111\n";

#[test]
fn what_on_windows_stand_for_is_sampled_and_what_the_scheduler_counts_is_exact() {
    let report = drawn(&(locked() + SAMPLED)).diagnose();
    assert_eq!(quality(&report, LedgerClass::OnCpu), Quality::Exact);
    assert_eq!(quality(&report, LedgerClass::Futex), Quality::Sampled);
    let not_collected = report.verdict.not_collected.join("; ");
    assert!(
        not_collected.contains("10 % of the time"),
        "{not_collected}"
    );
    let report = drawn(&(saturated() + SAMPLED)).diagnose();
    let account = report.verdict.account.as_ref().expect("a target");
    let mut wait = account.items.iter();
    let wait = wait.find(|it| it.class == LedgerClass::CpuWait);
    let wait = wait.expect("it waited");
    assert_eq!(wait.quality, Quality::Exact);
    assert!(!wait.parts.is_empty());
    let sampled = |part: &model::AccountPart| part.quality == Quality::Sampled;
    assert!(wait.parts.iter().all(sampled), "who had it: {wait:?}");
}

#[test]
fn every_class_is_exact_and_says_who_had_the_cpu() {
    let report = drawn(&saturated()).diagnose();
    expect![[r#"
        cpu.saturated | process server | measured | 0.500 (0.500 to 0.500)
        CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was server waiting for one.
        helps: a third CPU: +14 % to +35 % by CPU law, one thread
        helps: loadgen on another machine: +14 % to +35 % by CPU law, one thread (it takes 40 % of the CPU)
        helps: the machine to itself: +2 % to +21 % by CPU law (others take 10 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    let account = report.verdict.account.as_ref().expect("a target");
    let mut text = String::new();
    for item in &account.items {
        text += &format!(
            "{:.2} {} {:?} ({})\n",
            item.share, item.label, item.quality, item.note
        );
        for part in &item.parts {
            let kind = serde_json::to_string(&part.kind).expect("a word");
            text += &format!(
                "    {:.3} {kind} {} {:?}\n",
                part.share, part.label, part.quality
            );
        }
        let parts: i64 = item.parts.iter().map(|part| part.ns).sum();
        assert!(
            item.parts.is_empty() || (parts - item.ns).abs() < 100,
            "{item:?}"
        );
    }
    expect![[r#"
        0.50 server: waiting for a CPU Exact (CPUs held by server 40 %, loadgen 40 %, nobody 20 %; 5.0 threads runnable on average)
            0.200 "own" server Exact
            0.200 "partner" loadgen Exact
            0.100 "nobody" nobody Exact
        0.10 server: on CPU Exact (0.5 % of it hidden (interrupts, steal: what the kernel takes out))
        0.40 client and network Estimated (loadgen's 1 thread: 10 % of its time waiting for a CPU, 80 % on CPU, 10 % waiting for input)
            0.040 "generator_cpu_wait" while loadgen waited for a CPU Estimated
            0.320 "generator_on_cpu" while loadgen was on CPU Estimated
            0.040 "generator_input" while loadgen waited for input Estimated
    "#]].assert_eq(&text);
    let all = target(&report).items.iter();
    assert!(all.clone().all(|item| item.quality == Quality::Exact));
    assert_eq!(
        all.map(|item| item.ns).sum::<i64>(),
        target(&report).wall_ns
    );
    let own = report.verdict.generator.as_ref().expect("it was watched");
    let wait = own
        .items
        .iter()
        .find(|item| item.class == LedgerClass::CpuWait);
    let wait = wait.expect("it waited");
    assert_eq!(wait.parts.len(), 1);
    assert_eq!(wait.parts[0].kind, PartKind::Partner);
}

#[test]
fn the_generator_that_holds_the_cpus_is_measured() {
    let report = drawn(&saturated()).diagnose();
    let mut others = report.verdict.findings.iter();
    let shares = others.find(|finding| finding.cause == "load.shares_cpu");
    assert_eq!(
        shares.expect("it is there").confidence,
        Confidence::Measured
    );
    expect!["present: loadgen had the CPUs for 40 % of the time that server waited for one."]
        .assert_eq(&said(&report, "load.shares_cpu"));
    let text = saturated()
        .replace("queued_target_ns *1e9 22", "queued_target_ns *1e9 44")
        .replace("44222222222222222222", "44444444444444444444")
        .replace(
            "thread_time.queued_generator_ns *1e9 22222222222222222222",
            "",
        );
    let report = drawn(&text).diagnose();
    expect!["absent: loadgen had the CPUs for only 0 of the time that they were waited for"]
        .assert_eq(&said(&report, "load.shares_cpu"));
}

#[test]
fn what_is_hidden_is_signed_and_said_of_long_enough_only() {
    let run = drawn(&saturated());
    let hidden = |report: &Report| target(report).hidden.as_ref().map(|hidden| hidden.ns);
    let rising = run.diagnose_over(crate::drawing::seconds(2.0, 8.0));
    assert_eq!(hidden(&rising), Some(600_000_000));
    let falling = run.diagnose_over(crate::drawing::seconds(11.0, 17.0));
    assert!(hidden(&falling).is_some_and(|ns| ns < -500_000_000));
    let silent = saturated().replace("tps       99999999999999999999", "");
    let short = drawn(&silent).diagnose_over(crate::drawing::seconds(2.0, 2.9));
    assert_eq!(hidden(&short), None);
    assert_eq!(hidden(&drawn(SATURATED).diagnose()), None);
}

#[test]
fn a_quota_is_told_apart_from_contention_under_it() {
    let text = limited();
    let report = drawn(&text).diagnose();
    expect![[r#"
        cpu.quota | cgroup limited | measured | 0.300 (0.300 to 0.300)
        A CPU quota is the bottleneck: /limited ran out of its limit of 0.4 CPUs in 60 % of the periods, and 30 % of each request was server held back by it, while the machine was 70 % idle.
        helps: a quota of 1.8 CPUs: +42 % to +332 % by waits removed, closed loop
        not: more clients, a larger machine with the same quota, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    assert!((part(&report, LedgerClass::Throttled) - 0.3).abs() < 0.01);
    assert!((part(&report, LedgerClass::CpuWait) - 0.3).abs() < 0.01);
    assert_eq!(quality(&report, LedgerClass::Throttled), Quality::Exact);
    assert_eq!(quality(&report, LedgerClass::CpuWait), Quality::Exact);
    // A kernel that does not tell leaves it in the wait, and the group's own account divides it.
    let untold = text.replace("thread_time.throttled_ns", "thread_time.queued_rest_ns");
    let report = drawn(&untold).diagnose();
    assert!((part(&report, LedgerClass::Throttled) - 0.36).abs() < 0.01);
    assert_eq!(quality(&report, LedgerClass::Throttled), Quality::Estimated);
    assert_eq!(quality(&report, LedgerClass::CpuWait), Quality::Estimated);
}

#[test]
fn a_lock_that_was_counted_is_measured() {
    let text = locked();
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(
        (&*finding.cause, finding.confidence),
        ("lock.futex", Confidence::Measured)
    );
    expect!["thread_time.futex_ns + event_lwlock_ns + event_buffer_ns"]
        .assert_eq(&finding.evidence[0].column);
    // Sampled, the same is consistent with a lock and no more.
    let sampled = drawn(FUTEX).diagnose();
    assert_eq!(headline(&sampled).confidence, Confidence::Consistent);
}

#[test]
fn the_applications_own_word_divides_what_was_counted() {
    let text = format!("{DATABASE}\n    thread_time.sleep_ns *1e9 11111111111111111111\n");
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).cause, "lock.database");
    // All of the input was a lock's, by its wait event; the timer was never met with one.
    assert!((part(&report, LedgerClass::DatabaseLock) - 0.9).abs() < 0.01);
    assert!((part(&report, LedgerClass::Sleep) - 0.1).abs() < 0.01);
    assert_eq!(
        quality(&report, LedgerClass::DatabaseLock),
        Quality::Sampled
    );
    assert_eq!(quality(&report, LedgerClass::Sleep), Quality::Exact);
}

#[test]
fn what_the_application_says_at_each_sleep_is_not_divided_once_more() {
    let text = format!("{DATABASE}\n    thread_time.event_lock_ns *1e9 55555555555555555555\n");
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "lock.database");
    assert_eq!(finding.confidence, Confidence::Measured);
    assert_eq!(finding.evidence[0].column, "thread_time.event_lock_ns");
    assert!((part(&report, LedgerClass::DatabaseLock) - 0.5).abs() < 0.01);
    assert_eq!(quality(&report, LedgerClass::DatabaseLock), Quality::Exact);
}

#[test]
fn accounts_that_do_not_agree_are_a_doubt() {
    let mut run = drawn(&saturated());
    let mut doubts = |agreement| {
        run.meta.cost.cross_check = Some(agreement);
        let report = run.diagnose();
        let caveats = report.verdict.caveats.iter();
        let of_it = caveats.filter(|caveat| caveat.gate == "gate.ledger");
        of_it
            .map(|caveat| caveat.sentence.clone())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let fine = CrossCheck {
        compared: 10_000,
        diff: 10,
        worst_ns: 2_000_000,
        switches_missed: 700,
        drops: 0,
    };
    assert_eq!(doubts(fine.clone()), "");
    let apart = CrossCheck {
        diff: 11,
        ..fine.clone()
    };
    expect!["the ledger of threads and the scheduler's own counts were apart in 0.1 % of 10,000 comparisons, by up to 2.00 ms"].assert_eq(&doubts(apart));
    let dropped = CrossCheck { drops: 1, ..fine };
    expect!["1 of 1 events of the scheduler's were not counted, for want of memory"]
        .assert_eq(&doubts(dropped));
}

#[test]
fn a_ledger_that_was_refused_is_not_seen() {
    let mut run = drawn(SATURATED);
    let programs = &mut run.meta.cost.programs;
    programs.insert(
        "thread_time".to_owned(),
        Some("not permitted: run as root".into()),
    );
    let report = run.diagnose();
    expect![[r#"
        call stacks, who holds which lock, single waits: not recorded
        who had the CPUs that were waited for, and every wait of every thread: not permitted: run as root"#]].assert_eq(&report.verdict.not_collected.join("\n"));
}

#[test]
fn waits_for_memory_and_for_syncs_are_measured() {
    // Nobody needs to see in which function of the kernel they wait.
    let text = memory::reclaim().replace("blocked  D-1@600", "blocked  D-1");
    let text = format!("{text}\n    thread_time.memory_other_ns *1e9 88888888888888888888\n");
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(
        (&*finding.cause, finding.confidence),
        ("memory.reclaim", Confidence::Measured)
    );
    assert_eq!(finding.evidence[0].column, "thread_time.memory_other_ns");
    // What waits for a disk and for other things of the kernel's is none of memory's.
    let text = text.replace("memory_other_ns", "kernel_other_ns");
    expect!["absent: server was not seen direct reclaim"]
        .assert_eq(&said(&drawn(&text).diagnose(), "memory.reclaim"));

    let text = format!("{SYNC}\n    thread_time.io_sync_ns hot1 *1e9 99999999999999999999\n");
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "io.sync");
    // One of eight in the sync, the others in line by an estimate: that alone is not enough.
    assert_eq!(finding.confidence, Confidence::Consistent);
    let text = format!(
        "{}
    thread_time.io_sync_ns hot1 *1e9 99999999999999999999
    thread_time.io_sync_ns *1e9 66666666666666666666
    thread_time.kernel_sync_ns *1e9 33333333333333333333
",
        SYNC.replace("S202", "D75")
    );
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).confidence, Confidence::Measured);
    expect!["thread_time.memory_sync_ns + io_sync_ns + kernel_sync_ns + event_log_ns"]
        .assert_eq(&headline(&report).evidence[0].column);
}

/// The same run, with threads of the first server that ended before they were listed: each second half a
/// second of them on a CPU, and 0.2 s in fsync.
fn with_short_lived(mut run: Drawn) -> Drawn {
    const NS: i64 = 1_000_000_000;
    let threads = run.timeline.entities.of_kind(EntityKind::Thread);
    let mut threads: Vec<_> = threads.cloned().collect();
    let highest = run.timeline.entities.iter().map(|it| it.id.0).max();
    let mut record = threads.swap_remove(0);
    record.id = EntityId(highest.expect("somebody is there") + 1);
    record.entity.name = "(short-lived)".to_owned();
    record.entity.path = format!("{}/tid:0", record.entity.path);
    let window = run.timeline.window;
    let (id, time) = (record.id, window.start);
    run.timeline.entities.apply(EntityEvent { time, record });
    let table = &sensors::thread_time::THREAD_TIME;
    let place = |name| table.position(name).expect("it is a column");
    let data = run.timeline.table_mut(table);
    for second in 0..=window.len_ns() / NS {
        let mut row = vec![0; table.columns.len()];
        row[place("known_since_ns")..].fill(model::MISSING);
        row[place("on_cpu_ns")] = second * NS / 2;
        row[place("io_sync_ns")] = second * NS / 5;
        data.push(window.start + second * NS, id, &row);
    }
    run
}

#[test]
fn what_threads_had_that_nobody_listed_is_their_processes() {
    let alone = drawn(FUTEX).diagnose();
    let report = with_short_lived(drawn(FUTEX)).diagnose();
    let (before, after) = (target(&alone), target(&report));
    let of = |account: &ThreadsAccount, class| {
        let item = account.items.iter().find(|item| item.class == class);
        item.map_or(0, |item| item.ns)
    };
    let more = |class| of(after, class) - of(before, class);
    let seconds = report.window.len_ns() / 1_000_000_000;
    assert_eq!(more(LedgerClass::OnCpu), seconds * 500_000_000);
    assert_eq!(more(LedgerClass::Sync), seconds * 200_000_000);
    assert_eq!(after.wall_ns - before.wall_ns, seconds * 700_000_000);
    assert_eq!(after.threads, before.threads + 1);
    // One after the other they had half a CPU, and none of them was that busy.
    let each = |report: &Report| report.threads.len();
    assert_eq!(each(&alone), each(&report));
    let shares = [&alone, &report].map(|it| part(it, LedgerClass::Sync));
    assert!(shares[0] == 0.0 && shares[1] > 0.0, "{shares:?}");
}

/// What a pool of the first server says that it waits for: each word for so many tenths of each second.
fn saying(mut run: Drawn, waits: &[(u32, i64)]) -> Drawn {
    const TENTH_NS: i64 = 100_000_000;
    let window = run.timeline.window;
    let highest = run.timeline.entities.iter().map(|it| it.id.0).max();
    let first = highest.expect("somebody is there") + 1;
    let mut pool = {
        let mut servers = run.timeline.entities.of_kind(EntityKind::Process);
        servers.find(|it| it.serving).expect("it serves").clone()
    };
    pool.parent = Some(pool.id);
    for (number, (word, tenths)) in std::iter::once(&(0, 0)).chain(waits).enumerate() {
        let mut record = pool.clone();
        record.id = EntityId(first + number as u32);
        record.serving = false;
        record.entity.kind = [EntityKind::Pool, EntityKind::WaitEvent][number.min(1)];
        record.entity.path = format!("{}/{number}", record.entity.path);
        if number == 0 {
            pool = record.clone();
            pool.parent = Some(record.id);
        }
        let (id, time) = (record.id, window.start);
        run.timeline.entities.apply(EntityEvent { time, record });
        let data = run.timeline.table_mut(&sensors::wait_event::WAIT_EVENT);
        for second in (0..=window.len_ns() / TENTH_NS / 10).filter(|_| number > 0) {
            let row = [second * tenths * TENTH_NS, second, i64::from(*word)];
            data.push(window.start + second * 10 * TENTH_NS, id, &row);
        }
    }
    run
}

#[test]
fn time_in_locks_of_the_database_has_their_names() {
    let waits = [
        (0x0300_0005, 6),
        (0x0300_0004, 3),
        (0x0100_0004, 1),
        (0x0a00_0046, 5),
    ];
    let report = saying(drawn(DATABASE), &waits).diagnose();
    let account = report.verdict.account.as_ref().expect("a target");
    let notes = account.items.iter().map(|it| (it.class.word(), &*it.note));
    let notes: String = notes
        .map(|(class, note)| format!("{class}: {note}\n"))
        .collect();
    expect![[r#"
        database_lock: Lock: transactionid 67 %, Lock: tuple 33 %
        outside: loadgen's 1 thread: on CPU for 10 % of its time
    "#]]
    .assert_eq(&notes);
}
