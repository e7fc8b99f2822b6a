//! Which configuration is named, and why not another.

use model::{Confidence, Entity, EntityKind, Goal, Latency, PhaseVerdict, SizingAsk, SizingReport};

use super::{Drawn, sweep, wanted};
use crate::sizing::{Made, Price, Prices, Wanted, size};

/// Ten clients on a database of several nodes, as a person measured it who then read the limit off pressure: the two with 4
/// CPUs did as much, and were never full.
fn story() -> Vec<Drawn> {
    let rows = [
        ("3", "2", 3_661.0, 2.731e6, 0.97),
        ("6", "2", 4_535.0, 2.205e6, 0.94),
        ("6", "4", 12_906.0, 0.775e6, 0.47),
        ("3", "4", 13_119.0, 0.762e6, 0.54),
    ];
    let drawn = rows.map(|(nodes, cpus, rate, latency_ns, busy)| Drawn {
        values: vec![nodes.to_owned(), cpus.to_owned()],
        throughputs: [0.99, 1.0, 1.01].map(|it| it * rate).to_vec(),
        latency_ns,
        p99_ns: 3.0 * latency_ns,
        cpus: cpus.parse().expect("a number"),
        busy,
        clients: 10,
    });
    drawn.to_vec()
}

fn asked(rate: Option<f64>, below_ns: Option<i64>) -> Wanted {
    let goal = below_ns.map(|below_ns| Goal {
        of: Latency::Quantile(0.99),
        below_ns,
    });
    Wanted {
        asked: SizingAsk { rate, goal },
        ..wanted()
    }
}

fn sized(wanted: &Wanted) -> SizingReport {
    let command = "pgbench -S -c 10 -T 30 bench";
    size(&sweep(command, &["nodes", "cpus"], &story(), 0.01), wanted)
}

fn chosen(report: &SizingReport) -> Option<Vec<&str>> {
    let values = &report.configurations[report.chosen?].values;
    Some(values.iter().map(String::as_str).collect())
}

#[test]
fn the_smallest_of_those_that_do_as_much_is_best() {
    let report = sized(&asked(None, None));
    assert_eq!(chosen(&report), Some(vec!["3", "4"]));
    let said = report.answers.join(" ");
    assert!(
        said.starts_with("nodes=3, cpus=4 is best: 13,119 tps"),
        "{said}"
    );
    assert!(
        said.contains("nodes=6, cpus=4 (12,906 tps) with nodes x cpus = 24 instead of 12"),
        "{said}"
    );
}

#[test]
fn what_a_closed_loop_cannot_show_is_said_with_the_sweep_that_can() {
    let mut wanted = asked(None, None);
    wanted.made.options = vec![("--apply".to_owned(), "./set {nodes} {cpus}".to_owned())];
    let report = sized(&wanted);
    let said = report.answers.join(" ");
    assert!(
        said.contains("What nodes=3, cpus=4 and nodes=6, cpus=4 can do was not tested: nothing was more than 54 % busy (CPUs)."),
        "{said}"
    );
    assert!(
        said.contains("10 clients that each wait 0.762 ms for an answer"),
        "{said}"
    );
    assert_eq!(
        report.next,
        [
            "stallscope sweep --set nodes=3,6 --set cpus=4 --set clients=10,20..80 --apply './set {nodes} {cpus}' -- pgbench -S -c {clients} -T 30 bench"
        ]
    );
    let tested: Vec<Option<bool>> = report.configurations.iter().map(|it| it.tested).collect();
    assert_eq!(tested, [Some(true), Some(true), Some(false), Some(false)]);
}

#[test]
fn what_was_set_together_is_swept_together_again_and_the_load_apart() {
    let mut wanted = asked(None, None);
    wanted.made.together = vec![["nodes", "cpus"].map(str::to_owned).to_vec()];
    let report = sized(&wanted);
    assert_eq!(
        report.next,
        [
            "stallscope sweep --set nodes+cpus=6/4,3/4 --set clients=10,20..80 -- pgbench -S -c {clients} -T 30 bench"
        ]
    );
    // Of a sweep's folder all options are known: what stands in no command is a capacity of its instances.
    let is_about_apply = |it: &String| it.contains("--apply");
    assert!(report.caveats.iter().any(is_about_apply));
    wanted.made.is_complete = true;
    assert!(!sized(&wanted).caveats.iter().any(is_about_apply));
}

#[test]
fn a_rate_and_a_goal_name_the_smallest_that_keeps_both() {
    let report = sized(&asked(Some(4_000.0), Some(10_000_000)));
    // Six nodes with 2 CPUs are as many CPUs as three with 4; they do it as well, with less to spare.
    assert_eq!(chosen(&report), Some(vec!["3", "4"]));
    let said = &report.answers[0];
    assert!(
        said.starts_with(
            "nodes=3, cpus=4 is the smallest that is enough for 4,000 tps with p99 < 10.0 ms"
        ),
        "{said}"
    );
    assert!(said.contains("Next is nodes=6, cpus=2"), "{said}");
    let meets: Vec<Option<bool>> = report.configurations.iter().map(|it| it.meets).collect();
    assert_eq!(meets, [Some(false), Some(true), Some(true), Some(true)]);
}

#[test]
fn where_none_is_enough_each_has_its_reason() {
    let report = sized(&asked(Some(20_000.0), None));
    assert_eq!(report.chosen, None);
    let said = &report.answers[0];
    assert!(said.contains("nodes=3, cpus=2 gives 3,661 tps"), "{said}");
    assert!(
        said.contains("nodes=3, cpus=4 gave 13,119 tps to a load that did not fill it"),
        "{said}"
    );
    // What was not tested is not said to be too small.
    assert_eq!(report.configurations[3].meets, None);
    assert_eq!(report.configurations[0].meets, Some(false));
    let report = sized(&asked(Some(3_000.0), Some(1_000_000)));
    assert_eq!(report.chosen, None, "{:?}", report.answers);
}

#[test]
fn prices_decide_before_sizes() {
    let mut wanted = asked(Some(4_000.0), None);
    let both = vec!["nodes".to_owned(), "cpus".to_owned()];
    wanted.prices = Some(Prices {
        currency: "EUR".to_owned(),
        listed: vec![Price {
            values: [("cpus".to_owned(), "2".to_owned())].into(),
            per_hour: 0.1,
        }],
        per_unit: vec![(both, 0.05)],
    });
    let report = sized(&wanted);
    assert_eq!(chosen(&report), Some(vec!["6", "2"]));
    let said = &report.answers[0];
    assert!(said.contains("It costs 0.100 EUR an hour."), "{said}");
    assert!(
        said.contains("0.600 EUR an hour instead of 0.100 EUR"),
        "{said}"
    );
}

#[test]
fn the_latency_at_a_rate_lies_between_the_loads_beside_it() {
    let rows = [
        ("1", 1_000.0, 1e6),
        ("4", 3_000.0, 2e6),
        ("16", 6_000.0, 8e6),
    ];
    let drawn = rows.map(|(clients, rate, p99_ns)| Drawn {
        values: vec![clients.to_owned()],
        throughputs: [0.99, 1.0, 1.01].map(|it| it * rate).to_vec(),
        latency_ns: p99_ns / 3.0,
        p99_ns,
        cpus: 4.0,
        busy: rate / 7_000.0,
        clients: clients.parse().expect("a number"),
    });
    let sweep = sweep("load -c {clients}", &["clients"], &drawn, 0.01);
    let meets = |rate: f64, below_ns: i64| {
        let report = size(&sweep, &asked(Some(rate), Some(below_ns)));
        report.configurations[0].meets
    };
    // At 4,500 it is half-way: 5 ms.
    assert_eq!(meets(4_500.0, 6_000_000), Some(true));
    assert_eq!(meets(4_500.0, 4_000_000), Some(false));
    // Below the lowest load it is at most what that has.
    assert_eq!(meets(500.0, 2_000_000), Some(true));
    assert_eq!(meets(500.0, 900_000), None);
}

#[test]
fn recordings_are_configurations_by_their_names() {
    let mut wanted = asked(None, None);
    wanted.made = Made::default();
    let mut drawn = story();
    for (it, name) in drawn.iter_mut().zip(["small", "wide", "large", "tall"]) {
        it.values = vec![name.to_owned()];
    }
    let report = size(
        &sweep("pgbench -c 10 b", &["recording"], &drawn, 0.01),
        &wanted,
    );
    let said = report.answers.join(" ");
    assert!(
        said.starts_with("large is best") || said.starts_with("tall is best"),
        "{said}"
    );
    assert_eq!(
        report.next,
        ["stallscope sweep --set clients=10,20..80 -- pgbench -c {clients} b"]
    );
}

#[test]
fn what_waits_for_a_lock_is_not_sent_to_more_clients() {
    let mut sweep = sweep("pgbench -c 10 b", &["nodes", "cpus"], &story(), 0.01);
    for point in &mut sweep.points {
        point.limit = Some(PhaseVerdict {
            cause: "lock.database".to_owned(),
            entity: Entity::new(EntityKind::Process, "postgres", ""),
            share: None,
            confidence: Confidence::Measured,
            sentence: String::new(),
            at_peer: None,
        });
    }
    let report = size(&sweep, &asked(None, None));
    let said = report.answers.join(" ");
    assert!(!said.contains("was not tested"), "{said}");
    assert!(
        said.contains("where a wait limits: nodes=6, cpus=4 (lock.database, postgres) and nodes=3, cpus=4 (lock.database, postgres)."),
        "{said}"
    );
    assert!(report.next.is_empty());
    let headroom: Vec<bool> = report
        .configurations
        .iter()
        .map(|it| it.headroom.is_some())
        .collect();
    // Two are full all the same.
    assert_eq!(headroom, [true, true, false, false]);
}
