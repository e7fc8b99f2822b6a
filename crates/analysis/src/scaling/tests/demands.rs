//! Demands of servers whose demand is known.

use model::DemandCourse;
use proptest::prelude::*;

use super::{HELD, SEEDS, Tally, holds};
use crate::scaling::{BusyPoint, BusyRun, DemandRefusal, Refusal, per_request, service_demand};
use crate::stats::Xorshift;

const CPUS: f64 = 2.0;

/// Runs at these throughputs of a server that keeps so many units busy.
fn runs(seed: u64, throughputs: &[f64], noise: f64, busy: impl Fn(f64) -> f64) -> Vec<BusyPoint> {
    let mut random = Xorshift::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x3333);
    (0..9).for_each(|_| {
        random.draw();
    });
    let mut run = |throughput: f64| {
        let throughput = throughput * (1.0 + noise * random.normal());
        BusyRun {
            throughput,
            busy: (busy(throughput) * (1.0 + noise * random.normal())).min(CPUS),
        }
    };
    let numbered = throughputs.iter().zip(1..);
    numbered
        .map(|(throughput, load)| BusyPoint {
            load: f64::from(load),
            runs: (0..3).map(|_| run(*throughput)).collect(),
        })
        .collect()
}

#[test]
fn a_constant_demand_and_what_it_allows_lie_in_their_intervals() {
    let (mut demand, mut full, mut constant) = (Tally::default(), Tally::default(), 0);
    for seed in 1..=SEEDS {
        let points = runs(seed, &[500.0, 1000.0, 2000.0, 3500.0], 0.03, |it| {
            400e-6 * it
        });
        let report = service_demand(&points, CPUS).expect("a demand");
        constant += usize::from(report.course == DemandCourse::Constant);
        demand.add(report.demand_s.map(|it| it.interval), 400e-6);
        full.add(report.full_at.map(|it| it.interval), 5000.0);
    }
    println!(
        "demand {} held, {:.3}; full {} held, {:.3}; constant {constant}",
        demand.held,
        demand.width(),
        full.held,
        full.width()
    );
    assert!(demand.held >= HELD && full.held >= HELD && constant >= HELD);
    assert!(demand.width() <= 0.2 && full.width() <= 0.2);
}

#[test]
fn what_runs_without_requests_is_told_from_the_demand() {
    let (mut demand, mut full, mut background, mut seen) =
        (Tally::default(), Tally::default(), Tally::default(), 0);
    for seed in 1..=SEEDS {
        let points = runs(seed, &[250.0, 500.0, 1000.0, 2000.0, 3500.0], 0.03, |it| {
            0.2 + 400e-6 * it
        });
        let report = service_demand(&points, CPUS).expect("a demand");
        seen += usize::from(report.course == DemandCourse::Background);
        demand.add(report.demand_s.map(|it| it.interval), 400e-6);
        background.add(report.background.map(|it| it.interval), 0.2);
        full.add(report.full_at.map(|it| it.interval), 4500.0);
    }
    println!(
        "demand {} held, {:.3}; background {} held, {:.3}; full {} held, {:.3}; seen {seen}",
        demand.held,
        demand.width(),
        background.held,
        background.width(),
        full.held,
        full.width()
    );
    assert!(demand.held >= HELD && background.held >= HELD && full.held >= HELD && seen >= HELD);
    assert!(demand.width() <= 0.2 && background.width() <= 0.2 && full.width() <= 0.2);
}

#[test]
fn a_demand_that_varies_is_no_number_and_allows_what_the_fullest_load_says() {
    // Caches that fill up: a request takes less until half, and more beyond.
    let varying = |it: f64| it * 400e-6 * (1.0 + ((it / 1500.0).ln()).powi(2) / 4.0);
    let (mut none, mut full) = (0, Tally::default());
    for seed in 1..=SEEDS {
        let points = runs(seed, &[300.0, 700.0, 1500.0, 2500.0, 3500.0], 0.02, varying);
        let report = service_demand(&points, CPUS).expect("a report");
        none += usize::from(report.course == DemandCourse::Varying && report.demand_s.is_none());
        full.add(
            report.full_at.map(|it| it.interval),
            2.0 / (varying(3500.0) / 3500.0),
        );
    }
    assert!(none >= HELD, "{none}");
    assert!(full.held >= HELD, "{}", full.held);
}

#[test]
fn a_resource_that_was_hardly_used_predicts_nothing() {
    let points = runs(1, &[500.0, 1000.0, 2000.0], 0.02, |it| 20e-6 * it);
    let report = service_demand(&points, CPUS).expect("a demand");
    assert_eq!(report.full_at, None);
    assert!(report.demand_s.is_some_and(|it| holds(it.interval, 20e-6)));
    assert!(
        report.answer.ends_with("is not predicted."),
        "{}",
        report.answer
    );
}

#[test]
fn waits_follow_from_the_length_of_the_line() {
    // Three requests stand in line on average, and 1,000 are served a second: 3 ms.
    let points = runs(1, &[500.0, 1000.0, 2000.0], 0.02, |it| it * 3e-3 / 10.0);
    let waits = per_request(&points).expect("waits");
    assert!(waits.iter().all(|it| holds(it.interval, 3e-4)), "{waits:?}");
}

#[test]
fn what_tells_no_demand_is_refused_with_its_reason() {
    let good = runs(1, &[500.0, 1000.0, 2000.0], 0.02, |it| 400e-6 * it);
    assert_eq!(
        service_demand(&good, 0.0).err(),
        Some(DemandRefusal::NoUnits(0.0))
    );
    assert!(matches!(
        service_demand(&good, 0.5).err(),
        Some(DemandRefusal::BeyondFull { .. })
    ));
    let few = DemandRefusal::Points(Refusal::FewLoads(2));
    assert_eq!(service_demand(&good[..2], CPUS).err(), Some(few));
    let alike = runs(1, &[1000.0, 1010.0, 1020.0], 0.02, |it| 400e-6 * it);
    assert_eq!(
        service_demand(&alike, CPUS).err(),
        Some(DemandRefusal::SameThroughput)
    );
    let mut idle = good.clone();
    idle[1].runs[0].busy = 0.0;
    assert_eq!(
        service_demand(&idle, CPUS).err(),
        Some(DemandRefusal::Idle(2.0))
    );
    let mut once = good;
    once.iter_mut().for_each(|it| it.runs.truncate(1));
    assert_eq!(
        service_demand(&once, CPUS).err(),
        Some(DemandRefusal::Points(Refusal::FewRuns))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_runs_make_a_demand_panic_or_be_no_number(
        rows in prop::collection::vec((1..9u8, prop::collection::vec((-1.0..1e4f64, -0.01..2.0f64), 0..4)), 0..8),
        units in -1.0..4.0f64,
    ) {
        let points: Vec<BusyPoint> = rows.iter().map(|(load, runs)| BusyPoint {
            load: f64::from(*load),
            runs: runs.iter().map(|(throughput, busy)| BusyRun { throughput: *throughput, busy: *busy }).collect(),
        }).collect();
        match service_demand(&points, units) {
            Err(refusal) => prop_assert!(!refusal.to_string().is_empty()),
            Ok(report) => {
                let text = serde_json::to_string(&report).expect("JSON");
                prop_assert!(!text.contains("null"), "{text}");
            }
        }
    }
}
