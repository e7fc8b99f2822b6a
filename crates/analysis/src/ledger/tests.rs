use super::*;
use model::Timestamp;
use proptest::prelude::*;

fn second() -> Window {
    Window::new(Timestamp::from_seconds(0.0), Timestamp::from_seconds(1.0))
}

#[test]
fn quota_is_taken_out_of_run_queue_delay() {
    // One thread on one CPU: 7.86 s of delay against 7.85 s of throttling.
    let ten = Window::new(Timestamp::from_seconds(0.0), Timestamp::from_seconds(10.0));
    assert_eq!(throttled_part(7.86e9, 7.85e9, ten, 1.0), 7.85e9);
    // Ten threads on two CPUs, both held back for 0.8 s of a second.
    assert_eq!(throttled_part(9.0e9, 1.6e9, second(), 2.0), 7.2e9);
    assert_eq!(throttled_part(0.0, 1.6e9, second(), 2.0), 0.0);
    assert_eq!(throttled_part(1.0e9, 0.0, second(), 2.0), 0.0);
}

#[test]
fn threads_that_were_never_met_blocked_are_like_the_others_of_their_pool() {
    let mut pool = Ledger {
        threads: 2,
        wall_ns: 10.0,
        unsampled_ns: 2.0,
        ..Ledger::default()
    };
    pool.add(LedgerClass::Input, 6.0);
    pool.add(LedgerClass::Sync, 2.0);
    pool.add(LedgerClass::Unknown, 2.0);
    pool.spread_unsampled();
    let parts =
        [LedgerClass::Input, LedgerClass::Sync, LedgerClass::Unknown].map(|class| pool.get(class));
    assert_eq!(parts, [7.5, 2.5, 0.0]);
    let mut blind = Ledger {
        threads: 2,
        wall_ns: 10.0,
        unsampled_ns: 8.0,
        ..Ledger::default()
    };
    blind.add(LedgerClass::Input, 2.0);
    blind.add(LedgerClass::Unknown, 8.0);
    blind.spread_unsampled();
    assert_eq!(
        blind.get(LedgerClass::Unknown),
        8.0,
        "too little was seen to go by"
    );
}

#[test]
fn seconds_cover_whole_seconds_only() {
    let window = Window::new(Timestamp::from_seconds(1.0), Timestamp::from_seconds(3.7));
    assert_eq!(
        seconds(window).last().map(|slice| slice.end),
        Some(Timestamp::from_seconds(3.0))
    );
    assert_eq!(seconds(Window::new(window.start, window.start)).len(), 0);
}

#[test]
fn who_waits_to_write_through_a_file_that_others_write_through_waits_for_the_disk() {
    let mut pool = Ledger {
        behind_file_ns: 6.0,
        ..Ledger::default()
    };
    pool.add(LedgerClass::Uninterruptible, 8.0);
    pool.add(LedgerClass::Sync, 2.0);
    pool.write_through(0.5);
    let parts = [LedgerClass::Uninterruptible, LedgerClass::Sync].map(|class| pool.get(class));
    assert_eq!(parts, [5.0, 5.0]);
}

proptest! {
    #[test]
    fn the_quotas_part_is_never_more_than_the_delay(wait in 0.0..1e12f64, throttled in 0.0..1e12f64, cpus in 0.0..256.0f64) {
        let part = throttled_part(wait, throttled, second(), cpus);
        prop_assert!((0.0..=wait).contains(&part));
    }
}
