//! Experiments with known answers.

use model::{Capacity, ProofOutcome, ProofPair, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::stats::Xorshift;

/// Pairs of a system whose throughput follows a capacity so much, with so much noise in each block.
fn pairs(elasticity: f64, noise: f64, seed: u64, most: usize) -> Vec<ProofPair> {
    let mut random = Xorshift::new(seed);
    let mut pairs: Vec<ProofPair> = Vec::new();
    while pairs.len() < most && !is_decided(&pairs) {
        let share: f64 = if pairs.is_empty() { 0.75 } else { 0.6 };
        let mut block = |mean: f64| mean * (noise * random.normal()).exp();
        let (before, after) = (block(1_000.0), block(1_000.0));
        let changed = block(1_000.0 * share.powf(elasticity));
        pairs.push(pair(2.0, 2.0 * share, (before + after) / 2.0, changed));
    }
    pairs
}

fn pair(available: f64, lowered_to: f64, throughput: f64, throughput_changed: f64) -> ProofPair {
    ProofPair {
        at: Timestamp::from_ns(0),
        lowered_to,
        available,
        throughput,
        throughput_changed,
        latency_ns: Some(1e9 / throughput),
        latency_changed_ns: Some(1e9 / throughput_changed),
    }
}

fn outcomes(elasticity: f64, noise: f64) -> [usize; 3] {
    let mut found = [0; 3];
    for seed in 0..200 {
        let pairs = pairs(elasticity, noise, seed, 12);
        match outcome(Elasticity::of(&pairs).as_ref()) {
            ProofOutcome::Proved => found[0] += 1,
            ProofOutcome::RuledOut => found[1] += 1,
            _ => found[2] += 1,
        }
    }
    found
}

#[test]
fn what_limits_is_proved_and_what_does_not_is_ruled_out() {
    let [proved, ruled_out, _] = outcomes(1.0, 0.06);
    assert!(proved >= 190 && ruled_out == 0, "{proved} {ruled_out}");
    let [proved, ruled_out, _] = outcomes(0.0, 0.06);
    assert!(proved == 0 && ruled_out >= 160, "{proved} {ruled_out}");
    // Half and half is neither.
    let [proved, ruled_out, _] = outcomes(0.35, 0.03);
    assert!(proved <= 4 && ruled_out <= 4, "{proved} {ruled_out}");
    // Much noise is told as what it is.
    let [proved, ruled_out, unsure] = outcomes(0.0, 0.5);
    assert!(proved <= 4 && unsure >= 100, "{proved} {ruled_out}");
}

#[test]
fn few_pairs_decide_nothing() {
    let three = pairs(1.0, 0.0001, 1, 3);
    assert!(!is_decided(&three));
    assert_eq!(
        outcome(Elasticity::of(&three).as_ref()),
        ProofOutcome::Inconclusive
    );
    assert!(is_decided(&pairs(1.0, 0.0001, 1, 4)));
    assert_eq!(Elasticity::of(&[]), None);
    // A capacity that was not lowered says nothing.
    assert_eq!(Elasticity::of(&vec![pair(1.0, 1.0, 9.0, 9.0); 5]), None);
}

#[test]
fn a_target_that_stands_still_counts() {
    let stands = vec![pair(1.0, 0.5, 1_000.0, 0.0); 4];
    let known = Elasticity::of(&stands).expect("four pairs");
    assert!(known.estimate.value > 5.0);
    assert_eq!(outcome(Some(&known)), ProofOutcome::Proved);
}

#[test]
fn a_trial_is_told_in_a_sentence() {
    let tried = |elasticity, ended: Option<&str>| Tried {
        capacity: Capacity::Cpu,
        of: "/bench".to_owned(),
        used: 1.9,
        available: 2.0,
        pairs: pairs(elasticity, 0.01, 3, 6),
        ended: ended.map(str::to_owned),
    };
    let proved = trial(tried(1.0, None));
    assert_eq!(proved.outcome, ProofOutcome::Proved);
    expect_test::expect!["CPU time limits: with 1.27 CPUs instead of 2.00 CPUs throughput fell by 36 % (elasticity 1.00, 0.96 to 1.03, 4 pairs of blocks)."]
        .assert_eq(&proved.sentence);
    let refuted = trial(tried(0.0, None));
    assert_eq!(refuted.outcome, ProofOutcome::RuledOut);
    expect_test::expect!["CPU time does not limit: with 1.27 CPUs instead of 2.00 CPUs throughput stayed the same (elasticity -0.00, -0.04 to 0.03, 4 pairs of blocks)."]
        .assert_eq(&refuted.sentence);
    let unsure = trial(Tried {
        pairs: Vec::new(),
        ..tried(0.0, Some("the kernel refused it"))
    });
    expect_test::expect!["CPU time was not lowered: the kernel refused it."]
        .assert_eq(&unsure.sentence);
}

#[test]
fn what_makes_operations_slower_is_not_ruled_out() {
    let late: Vec<ProofPair> = pairs(0.0, 0.01, 3, 6)
        .into_iter()
        .map(|it| ProofPair {
            latency_changed_ns: it.latency_ns.map(|ns| 4.0 * ns),
            ..it
        })
        .collect();
    let made = trial(Tried {
        capacity: Capacity::Cpu,
        of: "/bench".to_owned(),
        used: 0.1,
        available: 2.0,
        pairs: late,
        ended: None,
    });
    assert_eq!(made.outcome, ProofOutcome::Inconclusive);
    assert!(
        made.sentence.contains("operations took 4.0 times as long"),
        "{}",
        made.sentence
    );
}

#[test]
fn without_processes_the_target_is_better_off_or_not() {
    let of = |factor: f64| {
        let pairs: Vec<ProofPair> = pairs(0.0, 0.01, 5, 6)
            .into_iter()
            .map(|it| ProofPair {
                throughput_changed: it.throughput_changed * factor,
                latency_changed_ns: it.latency_changed_ns.map(|ns| ns / factor),
                ..it
            })
            .collect();
        without("^backup$", vec!["backup".to_owned()], 2, pairs)
    };
    let slows = of(1.3);
    assert_eq!(slows.outcome, ProofOutcome::Proved);
    assert!(
        slows.sentence.starts_with(
            "Backup slows the target down: while 2 processes were stopped, throughput grew by"
        ),
        "{}",
        slows.sentence
    );
    assert_eq!(of(1.0).outcome, ProofOutcome::RuledOut);
    // Stopping what the target needs proves nothing against it.
    assert_eq!(of(0.5).outcome, ProofOutcome::Inconclusive);
}

proptest! {
    #[test]
    fn no_figures_panic(
        figures in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..8),
    ) {
        let pairs: Vec<ProofPair> = figures
            .into_iter()
            .map(|(available, lowered, before, changed)| pair(available, lowered, before, changed))
            .collect();
        let _ = is_decided(&pairs);
        let _ = without("x", vec!["x".to_owned()], 1, pairs.clone());
        let made = trial(Tried {
            capacity: Capacity::Disk,
            of: "vda".to_owned(),
            used: 1.0,
            available: 2.0,
            pairs,
            ended: None,
        });
        prop_assert!(made.elasticity.is_none_or(|it| it.value.is_finite()));
    }
}
