//! What the data do not carry is refused, with what is missing.

use proptest::prelude::*;

use super::{Drawn, sweep, wanted};
use crate::sizing::{Wanted, size};

fn drawn(values: &[&str], rate: f64, clients: u32) -> Drawn {
    Drawn {
        values: values.iter().map(|it| (*it).to_owned()).collect(),
        throughputs: [0.99, 1.0, 1.01].map(|it| it * rate).to_vec(),
        latency_ns: f64::from(clients) / rate * 1e9,
        p99_ns: f64::from(clients) / rate * 3e9,
        cpus: 4.0,
        busy: 0.9,
        clients,
    }
}

/// What is said of a value that was not measured.
fn refused(names: &[&str], rows: &[Drawn], at: &[&str]) -> (String, Vec<String>) {
    let wanted = Wanted {
        at: vec![at.iter().map(|it| (*it).to_owned()).collect()],
        ..wanted()
    };
    let report = size(&sweep("load {cpus}", names, rows, 0.01), &wanted);
    let last = report.configurations.last().expect("asked for").clone();
    assert!(last.throughput.is_none());
    (last.refused.expect("it is refused"), report.next)
}

fn cpus(rates: &[(&str, f64)]) -> Vec<Drawn> {
    rates
        .iter()
        .map(|(it, rate)| drawn(&[it], *rate, 32))
        .collect()
}

#[test]
fn too_few_configurations_predict_nothing() {
    let rows = cpus(&[("1", 1_000.0), ("2", 2_000.0), ("4", 4_000.0)]);
    let (said, next) = refused(&["cpus"], &rows, &["8"]);
    assert!(said.contains("3 configurations were measured"), "{said}");
    assert_eq!(next, ["stallscope sweep --set cpus=8 -- load {cpus}"]);
}

#[test]
fn nothing_is_predicted_far_from_what_was_measured() {
    let rows = cpus(&[
        ("1", 1_000.0),
        ("2", 2_000.0),
        ("3", 3_000.0),
        ("4", 4_000.0),
        ("5", 5_000.0),
    ]);
    let (said, _) = refused(&["cpus"], &rows, &["11"]);
    assert!(said.contains("more than twice"), "{said}");
    let (said, _) = refused(&["cpus"], &rows, &["many"]);
    assert!(said.contains("no number"), "{said}");
}

#[test]
fn what_no_model_describes_is_not_predicted() {
    let rows = cpus(&[
        ("1", 1_000.0),
        ("2", 5_000.0),
        ("3", 700.0),
        ("4", 9_000.0),
        ("5", 800.0),
        ("6", 7_000.0),
    ]);
    let (said, _) = refused(&["cpus"], &rows, &["7"]);
    assert!(said.contains("held back"), "{said}");
}

#[test]
fn four_corners_that_depend_on_each_other_predict_nothing_beside_them() {
    let rows = [
        drawn(&["3", "2"], 3_661.0, 10),
        drawn(&["6", "2"], 4_535.0, 10),
        drawn(&["6", "4"], 12_906.0, 10),
        drawn(&["3", "4"], 13_119.0, 10),
    ];
    let (said, _) = refused(&["nodes", "cpus"], &rows, &["4", "4"]);
    assert!(said.contains("nodes=4, cpus=4 is not predicted"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sweep_makes_sizes_panic_or_be_no_number(
        rows in prop::collection::vec((0..6u8, 0..6u8, prop::collection::vec(-1.0..1e5f64, 1..3), 0.0..1.2f64), 0..7),
        at in prop::collection::vec((0..9u8, 0..9u8), 0..3),
        rate in prop::option::of(-1.0..1e5f64),
    ) {
        let rows: Vec<Drawn> = rows.iter().map(|(one, other, throughputs, busy)| Drawn {
            throughputs: throughputs.clone(),
            busy: *busy,
            ..drawn(&[&one.to_string(), &other.to_string()], 100.0, u32::from(*one))
        }).collect();
        let mut wanted = wanted();
        wanted.at = at.iter().map(|(one, other)| vec![one.to_string(), other.to_string()]).collect();
        wanted.asked.rate = rate;
        let report = size(&sweep("load", &["nodes", "clients"], &rows, 0.02), &wanted);
        let predicted = report.configurations.iter().filter(|it| it.runs == 0);
        for it in predicted.filter_map(|it| it.throughput) {
            let interval = it.interval.expect("a prediction has one");
            prop_assert!(interval.low <= it.value && it.value <= interval.high && interval.low > 0.0);
        }
        prop_assert!(report.configurations.len() >= rows.len());
    }
}
