//! Drawn runs, judged by the three rules.

use super::*;
use crate::score::tests::report;
use model::{Entity, Pressure};

fn pressing(kind: EntityKind, resource: Resource, share: f64) -> Pressure {
    Pressure {
        entity: Entity::new(kind, "", ""),
        resource,
        kind: StallKind::Some,
        share,
        fold_ns: 2_000_000_000,
    }
}

fn metrics(values: &[(&str, f64, f64)]) -> Metrics {
    let metric = |(name, mean, deviation): &(&str, f64, f64)| {
        let (mean, deviation) = (*mean, *deviation);
        ((*name).to_owned(), Metric { mean, deviation })
    };
    values.iter().map(metric).collect()
}

#[test]
fn the_highest_pressure_of_the_machine_wins() {
    let mut report = report(&[]);
    assert_eq!(pressure(&report), Claim::Silent);
    report.pressure = vec![
        pressing(EntityKind::Machine, Resource::Memory, 0.0),
        pressing(EntityKind::Machine, Resource::Cpu, 0.2),
        pressing(EntityKind::Machine, Resource::Io, 0.7),
        pressing(EntityKind::Cgroup, Resource::Memory, 0.9),
    ];
    assert_eq!(pressure(&report), Claim::Family("io"));
    report.pressure[2].kind = StallKind::Full;
    assert_eq!(pressure(&report), Claim::Family("cpu"));
    report.pressure.truncate(1);
    assert_eq!(pressure(&report), Claim::Silent, "no pressure is no claim");
}

#[test]
fn the_busiest_of_what_is_utilised_wins() {
    let cases = [
        (
            vec![("cpu busy", 0.9, 0.0), ("disk busy", 0.95, 0.0)],
            Claim::Family("io"),
        ),
        (
            vec![("cpu busy", 0.8, 0.0), ("disk busy", 0.1, 0.0)],
            Claim::Family("cpu"),
        ),
        (vec![("cpu busy", 0.79, 0.0)], Claim::Healthy),
        (vec![], Claim::Silent),
    ];
    for (values, claim) in cases {
        assert_eq!(utilisation(&metrics(&values)), claim, "{values:?}");
    }
}

#[test]
fn the_furthest_metric_wins_if_it_is_unusual() {
    let healthy = metrics(&[("cpu busy", 0.1, 0.02), ("refaults", 0.0, 0.0)]);
    let run = |values| deviation(&metrics(values), &healthy);
    assert_eq!(run(&[("cpu busy", 0.9, 0.0)]), Claim::Family("cpu"));
    assert_eq!(
        run(&[("cpu busy", 0.9, 0.0), ("refaults", 4e4, 0.0)]),
        Claim::Family("memory")
    );
    assert_eq!(run(&[("cpu busy", 0.15, 0.0)]), Claim::Healthy);
    assert_eq!(run(&[("unheard of", 1.0, 0.0)]), Claim::Silent);
}

#[test]
fn the_usual_is_the_mean_and_the_larger_deviation() {
    let (one, two) = (metrics(&[("a", 1.0, 0.1)]), metrics(&[("a", 3.0, 0.2)]));
    let found = usual(&[&one, &two]);
    assert_eq!(found["a"].mean, 2.0);
    assert!((found["a"].deviation - 2.0_f64.sqrt()).abs() < 1e-12);
    assert!(usual(&[]).is_empty());
}

#[test]
fn a_rule_blames_the_server_only() {
    let right = |family, cause, who| Claim::Family(family).is_right(Expect::one(cause, who));
    assert!(right("cpu", "cpu.saturated", Who::Target));
    assert!(!right("cpu", "cpu.quota", Who::LimitedGroup));
    assert!(!right("cpu", "cpu.neighbour", Who::NeighbourGroup));
    assert!(right("io", "io.sync", Who::Target));
    assert!(right("memory", "memory.limit", Who::LimitedGroup));
    assert!(!right("io", "io.neighbour", Who::NeighbourGroup));
    assert!(!right("cpu", "healthy", Who::Target));
    assert!(Claim::Healthy.is_right(Expect::healthy()));
    assert!(!Claim::Silent.is_right(Expect::healthy()));
}
