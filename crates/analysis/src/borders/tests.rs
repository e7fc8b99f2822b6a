use model::{Column, Entity, EntityId, Table, Timeline, Timestamp, Unit};
use model::{Entities, EntityEvent, EntityKind, EntityRecord, MISSING, Mark, PhaseVerdict};
use proptest::prelude::*;

use super::choice::apart;
use super::settled::{held_from, holds_at_end};
use super::*;

const EFFECT: f64 = 0.05;

#[test]
fn what_varies_as_much_within_phases_is_no_difference() {
    let flat = [1.0; 6];
    assert_eq!(apart(&flat, &flat), None);
    let noisy = [1.0, 3.0, 2.0, 5.0, 1.0, 4.0];
    let shifted = noisy.map(|it| it + 0.5);
    assert_eq!(apart(&noisy, &shifted), None);
    let means = apart(&noisy, &noisy.map(|it| it + 9.0)).expect("apart");
    assert!((means.after - means.before - 9.0).abs() < 1e-9, "{means:?}");
}

#[test]
fn one_value_far_off_makes_no_difference_and_hides_none() {
    let before = [1.0, 1.1, 0.9, 1.0, 1.0, 1.1, 0.9, 1.0, 1.0, 1.0];
    let mut after = before;
    after[3] = 900.0;
    assert_eq!(apart(&before, &after), None);
    let mut after = before.map(|it| it + 5.0);
    after[3] = 0.0;
    assert!(apart(&before, &after).is_some());
}

#[test]
fn a_phase_that_was_hardly_seen_is_not_compared() {
    let (no, seen) = (f64::NAN, [1.0, 1.0, 1.0, 1.0]);
    assert_eq!(apart(&seen, &[]), None);
    assert_eq!(apart(&seen, &[9.0, 9.0]), None);
    assert_eq!(apart(&[no; 4], &seen), None);
    // Three of seven were seen, then three of six.
    assert_eq!(apart(&seen, &[9.0, 9.0, 9.0, no, no, no, no]), None);
    let means = apart(&seen, &[9.0, f64::INFINITY, 9.0, no, 9.0, no]).expect("apart");
    assert_eq!((means.before, means.after), (1.0, 9.0));
}

#[test]
fn a_ramp_that_is_flat_at_its_end_has_settled_there() {
    // The last 24 s of a database that warmed up.
    let warmed: Vec<f64> = (0..24)
        .map(|it| (57.0 + 2.4 * f64::from(it)).min(89.0) + f64::from(it % 2) * 0.5)
        .collect();
    assert_eq!(holds_at_end(&warmed, EFFECT), Some(12));
    let rises: Vec<f64> = (0..24).map(|it| 57.0 + 1.4 * f64::from(it)).collect();
    assert_eq!(holds_at_end(&rises, EFFECT), None);
    assert_eq!(holds_at_end(&[1.0], EFFECT), None);
    assert_eq!(holds_at_end(&[f64::NAN; 30], EFFECT), None);
}

#[test]
fn throughput_holds_from_where_it_stays_near_its_level() {
    let mut values = vec![10.0; 20];
    assert_eq!(held_from(&values, EFFECT), Some(0));
    values[..4].copy_from_slice(&[4.0, 6.0, 8.0, 9.0]);
    assert_eq!(held_from(&values, EFFECT), Some(4));
    // A single stall unsettles nothing, at the end neither.
    values[12] = 0.0;
    values[19] = 0.0;
    assert_eq!(held_from(&values, EFFECT), Some(4));
    // What swings holds when it swings no more, and what rises to the end never does.
    let swings: Vec<f64> = (0..40)
        .map(|i| if i / 8 % 2 == 0 { 1.0 } else { 9.0 })
        .collect();
    assert_eq!(held_from(&swings, EFFECT), Some(32));
    assert_eq!(held_from(&swings[..32], EFFECT), None);
    let rises: Vec<f64> = (10..40).map(f64::from).collect();
    assert_eq!(held_from(&rises, EFFECT), None);
    assert_eq!(held_from(&[], EFFECT), None);
    assert_eq!(held_from(&[f64::NAN; 5], EFFECT), None);
    assert_eq!(held_from(&[7.0], EFFECT), Some(0));
}

proptest! {
    #[test]
    fn a_difference_is_between_the_samples_and_turns_with_them(
        before in prop::collection::vec(prop::num::f64::ANY, 0..70),
        after in prop::collection::vec(prop::num::f64::ANY, 0..70),
    ) {
        let found = apart(&before, &after);
        let back = apart(&after, &before);
        prop_assert_eq!(found.is_some(), back.is_some());
        if let Some(means) = found {
            prop_assert!(means.before != means.after && !means.before.is_nan());
        }
    }

    #[test]
    fn a_plain_shift_is_found_however_large_the_values_are(
        noise in prop::collection::vec(0.0..1.0f64, 3..60),
        scale in 1e-6..1e9f64,
    ) {
        let before: Vec<f64> = noise.iter().map(|it| it * scale).collect();
        let after: Vec<f64> = noise.iter().map(|it| (it + 2.0) * scale).collect();
        let means = apart(&before, &after).expect("each is above all of the others");
        prop_assert!((means.after - means.before - 2.0 * scale).abs() < 1e-6 * scale);
    }

    #[test]
    fn shuffled_values_of_one_sample_are_no_difference(
        mut values in prop::collection::vec(0.0..1.0f64, 24..60),
        by in 1..23usize,
    ) {
        // Every second value: both halves are spread over the same range.
        values.sort_by(f64::total_cmp);
        let side = |odd: usize| -> Vec<f64> {
            let mut side: Vec<f64> = values.iter().skip(odd).step_by(2).copied().collect();
            let many = side.len();
            side.rotate_left(by % many);
            side
        };
        prop_assert_eq!(apart(&side(0), &side(1)), None);
    }

    #[test]
    fn where_it_holds_lies_within_and_most_of_the_rest_is_near(
        values in prop::collection::vec(prop::num::f64::ANY, 0..80),
    ) {
        if let Some(at) = held_from(&values, EFFECT) {
            prop_assert!(at < values.len());
        }
    }

    #[test]
    fn a_rise_to_a_level_holds_when_it_is_there(
        rise in 1..15usize,
        level in 1.0..1e6f64,
    ) {
        let rising = (0..rise).map(|at| level * 0.5 * at as f64 / rise as f64);
        let values: Vec<f64> = rising.chain([level; 40]).collect();
        let at = held_from(&values, EFFECT).expect("it holds");
        prop_assert!(at + 1 >= rise && at <= rise, "{at} of {rise}");
    }
}

const GROUP: EntityId = EntityId(1);

fn at(second: f64) -> Timestamp {
    Timestamp::from_seconds(second)
}

/// A group whose quota, in tenths of a CPU, is read at seconds.
fn limited(rows: &[(f64, Option<i64>)], throttled: bool) -> Timeline {
    static LIMIT: &[Column] = &[
        Column::gauge("quota_ns", Unit::Nanoseconds, "", ""),
        Column::gauge("period_ns", Unit::Nanoseconds, "", ""),
    ];
    static CPU: &[Column] = &[Column::counter("throttled_ns", Unit::Nanoseconds, "", "")];
    let mut timeline = Timeline::new(Window::new(at(0.0), at(40.0)));
    let entity = Entity::new(EntityKind::Cgroup, "db", "/db");
    let mut entities = Entities::default();
    entities.apply(EntityEvent {
        time: at(0.0),
        record: EntityRecord::new(GROUP, entity, at(0.0)),
    });
    timeline.entities = entities;
    let data = timeline.table_mut(&Table::new("cgroup_limit", EntityKind::Cgroup, "", LIMIT));
    for (second, tenths) in rows {
        let quota = tenths.map_or(MISSING, |it| it * 10_000_000);
        data.push(at(*second), GROUP, &[quota, 100_000_000]);
    }
    let data = timeline.table_mut(&Table::new("cgroup_cpu", EntityKind::Cgroup, "", CPU));
    let held = if throttled { 10_000_000_000 } else { 0 };
    for (second, ns) in [(0.0, 0), (20.0, held), (40.0, held)] {
        data.push(at(second), GROUP, &[ns]);
    }
    timeline
}

fn limits(timeline: &Timeline) -> Vec<String> {
    let groups = Limited {
        cpu: &[GROUP],
        io: &[],
    };
    let windows = [(0.0, 20.0), (20.0, 40.0)].map(|(from, to)| Window::new(at(from), at(to)));
    let found = events::limits(timeline, groups, windows, 2.0);
    found.into_iter().map(|it| it.sentence).collect()
}

#[test]
fn a_quota_that_was_felt_is_told_when_it_is_lifted_set_or_changed() {
    let told = |rows: &[(f64, Option<i64>)]| limits(&limited(rows, true));
    assert_eq!(
        told(&[(0.0, Some(4)), (19.0, Some(4)), (20.5, None)]),
        ["The CPU quota of /db (0.400 CPUs) was lifted."]
    );
    assert_eq!(
        told(&[(0.0, None), (20.5, Some(5))]),
        ["/db got a CPU quota of 0.500 CPUs."]
    );
    assert_eq!(
        told(&[(0.0, Some(4)), (20.5, Some(15))]),
        ["The CPU quota of /db was changed from 0.400 to 1.50 CPUs."]
    );
    assert!(told(&[(0.0, Some(4))]).is_empty());
    // Before the first row nothing is known of it.
    assert!(told(&[(20.5, Some(4))]).is_empty());
    // A quota that nobody ran into is no reason.
    assert!(limits(&limited(&[(0.0, Some(4)), (20.5, None)], false)).is_empty());
}

#[test]
fn a_felt_limit_is_set_where_it_became_another_one() {
    let groups = Limited {
        cpu: &[GROUP],
        io: &[],
    };
    let set = |rows: &[(f64, Option<i64>)], throttled| {
        let set = events::set_at(&limited(rows, throttled), groups, 2.0);
        let seconds = set.iter().map(|it| it.ns_since(at(0.0)) as f64 / 1e9);
        seconds.collect::<Vec<f64>>()
    };
    let lifted = [(0.0, Some(4)), (10.0, Some(4)), (20.5, None), (30.0, None)];
    assert_eq!(set(&lifted, true), [20.5]);
    assert!(set(&lifted, false).is_empty(), "nobody ran into it");
    // The first row is no change, and what follows within seconds belongs to it.
    assert_eq!(
        set(&[(1.0, Some(4)), (20.5, Some(9)), (21.0, None)], true),
        [20.5]
    );
    let policy: Vec<_> = (0..9)
        .map(|it| (4.0 * f64::from(it), Some(4 + i64::from(it))))
        .collect();
    assert!(set(&policy, true).is_empty(), "a policy, and no phases");
}

#[test]
fn throughput_that_stays_is_not_said_to_rise() {
    let steady = |throughput| phase(PhaseKind::Steady, 0.0, 9.0, Some(throughput));
    assert_eq!(
        sentence(&steady(1_400.0), &steady(1_420.0), "tps", 0.05),
        "Throughput hardly changed: 1,400 and 1,420 tps."
    );
}

#[test]
fn marks_near_a_border_are_told_and_others_are_not() {
    let mut timeline = Timeline::new(Window::new(at(0.0), at(90.0)));
    timeline.marks = [5.0, 28.0, 30.5, 41.0]
        .into_iter()
        .filter_map(|second| Mark::new(at(second), &format!("at {second}")))
        .collect();
    let near = events::marks(&timeline, at(30.0));
    let texts: Vec<&str> = near.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["at 28", "at 30.5"]);
}

/// A phase of a run that has a verdict.
fn phase(kind: PhaseKind, from: f64, to: f64, throughput: Option<f64>) -> Phase {
    Phase {
        kind,
        window: Window::new(at(from), at(to)),
        throughput,
        latency_ns: None,
        verdict: None::<PhaseVerdict>,
        change: None,
        disks: Vec::new(),
    }
}

fn bins(throughput: impl Fn(f64) -> f64, until: u32) -> Vec<Bin> {
    let bin = |second| {
        Bin::new(
            Window::new(at(second), at(second + 1.0)),
            throughput(second),
        )
    };
    (0..until).map(f64::from).map(bin).collect()
}

#[test]
fn a_ramp_takes_its_whole_length_and_settles_if_something_follows() {
    let bins = bins(|second| 100.0 + 10.0 * second, 30);
    let ramp = phase(PhaseKind::Ramp, 0.0, 20.0, Some(195.0));
    let level = phase(PhaseKind::Steady, 20.0, 30.0, Some(350.0));
    let of = |followed| settled::of(&ramp, followed, &bins, "tps", &Thresholds::default());
    let settled = of(Some(&level));
    assert_eq!(settled.after_ns, Some(20_000_000_000));
    assert_eq!(
        settled.sentence,
        "Throughput rose for 20.0 s, from 110 to 280 tps, then settled."
    );
    for followed in [None, Some(&ramp)] {
        let settled = of(followed);
        assert_eq!(settled.after_ns, None);
        assert_eq!(
            settled.sentence,
            "Throughput rose for 20.0 s, from 110 to 280 tps, and had not settled by then."
        );
    }
}

#[test]
fn the_change_is_of_throughput_or_where_that_stayed_of_latency() {
    let said = |before: (f64, i64), after: (f64, i64)| {
        let of = |(throughput, ns): (f64, i64)| Phase {
            latency_ns: Some(ns),
            ..phase(PhaseKind::Steady, 0.0, 9.0, Some(throughput))
        };
        sentence(&of(before), &of(after), "tps", EFFECT)
    };
    assert_eq!(
        said((15_000.0, 2_000_000), (20_000.0, 1_500_000)),
        "Throughput rose from 15,000 to 20,000 tps (+33 %)."
    );
    assert_eq!(
        said((900.0, 1_000_000), (900.0, 3_000_000)),
        "Latency rose from 1.00 ms to 3.00 ms."
    );
    assert_eq!(
        said((0.0, 1_000_000), (900.0, 1_000_000)),
        "Throughput rose from 0.000 to 900 tps."
    );
    let unknown = phase(PhaseKind::Steady, 0.0, 9.0, Some(f64::NAN));
    assert_eq!(
        sentence(&unknown, &unknown, "tps", EFFECT),
        "How throughput changed is not known."
    );
}
