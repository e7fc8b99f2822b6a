//! Sizes by what a store of metrics has of a cluster.

use std::collections::BTreeMap;

use model::{
    CLUSTER_SCHEMA, ClusterConfiguration, ClusterReport, Interval, OverTime, SizingAsk, Span,
};

use super::super::of_cluster;
use super::wanted;
use crate::compare::used;
use crate::sizing::{Wanted, size};

/// The published experiment.
fn published() -> Vec<ClusterConfiguration> {
    vec![
        configuration(3, 2.0, 3_661.0, [0.80, 0.71]),
        configuration(6, 2.0, 4_535.0, [0.81, 0.30]),
        configuration(6, 4.0, 12_906.0, [0.25, 0.05]),
        configuration(3, 4.0, 13_119.0, [0.29, 0.05]),
    ]
}

fn configuration(
    nodes: u32,
    cpus_each: f64,
    throughput: f64,
    [cpu_some, io_some]: [f64; 2],
) -> ClusterConfiguration {
    let busy = if cpus_each > 2.0 { 0.55 } else { 0.93 };
    let means = [
        ("cpu_some", cpu_some),
        ("io_some", io_some),
        ("cpu_busy", busy),
        ("cpus_used", busy * f64::from(nodes) * cpus_each),
        ("waiting_tasks", 1.5),
    ];
    ClusterConfiguration {
        name: format!("{nodes} x {cpus_each} CPUs"),
        nodes,
        cpus_each,
        seconds: 3_600.0,
        throughput,
        interval: Some(Interval {
            low: throughput * 0.99,
            high: throughput * 1.01,
        }),
        means: means.map(|(name, it)| (name.to_owned(), it)).into(),
        limits: match cpu_some > 0.5 {
            true => vec!["cpu".to_owned(), "io".to_owned()],
            false => vec!["none".to_owned()],
        },
        sentence: String::new(),
    }
}

fn report(configurations: Vec<ClusterConfiguration>) -> ClusterReport {
    ClusterReport {
        schema: CLUSTER_SCHEMA.to_owned(),
        source: "http://db7:9090".to_owned(),
        span: Span {
            from_ns: 0,
            to_ns: 14_400_000_000_000,
        },
        resolution_ns: 15_000_000_000,
        sentence: String::new(),
        nodes: Vec::new(),
        phases: Vec::new(),
        events: Vec::new(),
        calls: Vec::new(),
        clocks: Vec::new(),
        spikes: None,
        configurations,
        not_collected: Vec::new(),
        over_time: OverTime {
            start_ns: 0,
            step_ns: 0,
            nodes: vec![BTreeMap::new()],
            throughput: Vec::new(),
        },
    }
}

#[test]
fn the_smallest_that_gives_most_is_advised_by_what_a_store_has() {
    let report = report(published());
    let sweep = of_cluster(&report).expect("its throughput is known");
    let parameters = sweep.parameters.iter().map(|it| it.values.join(" "));
    assert_eq!(parameters.collect::<Vec<_>>(), ["3 6", "2 4"]);
    let asked = |rate| Wanted {
        asked: SizingAsk { rate, goal: None },
        ..wanted()
    };
    let sized = size(&sweep, &asked(None));
    let chosen = &sized.configurations[sized.chosen.expect("one is advised")];
    assert_eq!(chosen.values, ["3", "4"], "{:?}", sized.answers);
    assert_eq!(chosen.tested, Some(false), "its CPUs were half idle");
    // 4,535 of 6 x 2 are enough for 4,000; 3 x 2 is smaller, and is not.
    let sized = size(&sweep, &asked(Some(4_000.0)));
    let chosen = &sized.configurations[sized.chosen.expect("one is enough")];
    assert_ne!(chosen.values, ["3", "2"]);
    assert_eq!(chosen.units, Some(12.0));
    // Most with 6 x 2: 0.93 of 12 CPUs for 4,535 requests/s.
    let cpu = sized
        .demands
        .iter()
        .find(|it| it.key == used::CPU_OF_MACHINE);
    let most = cpu.expect("CPUs are needed").most.value;
    assert!((most - 0.93 * 12.0 / 4_535.0 * 1e9).abs() < 1.0, "{most}");
}

#[test]
fn without_throughput_the_query_that_asks_for_it_is_named() {
    let said = of_cluster(&report(Vec::new())).expect_err("nothing is known");
    assert!(said.contains("--metric"), "{said}");
    let idle = configuration(3, 2.0, 0.0, [0.1, 0.1]);
    assert!(of_cluster(&report(vec![idle])).is_err());
}
