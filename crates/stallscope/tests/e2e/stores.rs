//! `explain --prometheus`: several nodes from real stores, of a made-up hour whose numbers are known.

mod exporters;
mod history;
mod store;

use model::{ClusterPhase, ClusterReport};

use crate::brought;
use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Ended, one_line};
use history::{MINUTES, START_S, Variant, does, made, renamed};
use store::{PROMETHEUS, Store, VICTORIA};

const METRIC: &str = "sum(rate(bench_transactions_total[1m]))";

/// A minute of the hour, as a user writes it.
fn at(minute: i64) -> String {
    let at = jiff::Timestamp::from_second(START_S + minute * 60);
    at.expect("a time").to_string()
}

/// What is said of the hour.
fn explained(place: &Place, store: &Store, further: &[&str]) -> (ClusterReport, String) {
    asked(place, store, METRIC, further)
}

/// The same of a store in which this is the throughput.
fn asked(
    place: &Place,
    store: &Store,
    throughput: &str,
    further: &[&str],
) -> (ClusterReport, String) {
    let (url, from, to) = (store.url(), at(0), at(MINUTES));
    let words = [
        "explain",
        "--prometheus",
        &url,
        "--instance",
        "n.*",
        "--from",
        &from,
        "--to",
        &to,
    ];
    let words = [
        &words[..],
        &["--metric", throughput, "--json", JSON],
        further,
    ]
    .concat();
    let ended = place.run(&words);
    ended.status(0);
    let report = serde_json::from_str(&place.read(JSON)).expect("a report as it is documented");
    (report, ended.out_text())
}

fn minutes(phase: &ClusterPhase) -> (i64, i64) {
    let at = |ns: i64| ((ns as f64 / 1e9 - START_S as f64) / 60.0).round() as i64;
    (at(phase.span.from_ns), at(phase.span.to_ns))
}

/// The four configurations, whatever is different of the rest: each is one phase, with its limit.
fn check_configurations(report: &ClusterReport, within: i64) {
    // Where a border lies between two readings, one of them belongs to both.
    let apart = report.resolution_ns as f64 / 1e9 / (12.0 * 60.0);
    let shapes = [(3, 2.0), (6, 2.0), (6, 4.0), (3, 4.0)];
    let firsts: [&[&str]; 4] = [&["io", "cpu", "memory"], &["cpu"], &["cpu"], &["cpu"]];
    for (number, (shape, limits)) in (0..).zip(shapes.iter().zip(firsts)) {
        let phase = &report.phases[number as usize];
        assert_eq!(
            (phase.nodes_present, phase.cpus_each),
            (shape.0, Some(shape.1)),
            "{phase:?}"
        );
        assert_eq!(phase.limits, limits, "{phase:?}");
        let (from, to) = minutes(phase);
        assert!(
            (from - 12 * number).abs() <= within && (to - 12 * (number + 1)).abs() <= within,
            "{from} {to}"
        );
        let expected = does((12 * number + 6) as f64);
        for (quantity, is) in [
            ("cpu_some", expected.cpu_some),
            ("io_some", expected.io_some),
        ] {
            let hot = if number == 2 && quantity == "cpu_some" {
                0.35 / 6.0
            } else {
                0.0
            };
            let said = phase.means[quantity];
            assert!(
                (said - is - hot).abs() < 0.02 + apart,
                "{quantity} of phase {number}: {said}"
            );
        }
    }
    assert_eq!(report.configurations[0].name, "3 x 4 CPUs");
    assert_eq!(report.configurations[1].name, "6 x 4 CPUs");
}

/// Asserts that these words stand on standard output, wherever lines are broken.
#[track_caller]
fn prints(ended: &Ended, words: &str) {
    let text = one_line(&ended.out_text());
    assert!(text.contains(words), "no {words:?} in\n{ended}");
}

fn has(report: &ClusterReport, kind: &str, nodes: &[&str]) -> bool {
    report
        .events
        .iter()
        .any(|it| it.kind == kind && it.nodes == nodes)
}

#[test]
fn the_story_of_an_hour_is_told_from_prometheus() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    let place = Place::new();
    let variant = Variant::every(15);
    let store = Store::prometheus(&place, &made(variant), &[]);
    let (report, text) = explained(&place, &store, &["-o", "page.html"]);
    check_configurations(&report, 0);
    assert_eq!(report.resolution_ns, 15_000_000_000);
    let hot: Vec<&str> = report
        .phases
        .iter()
        .flat_map(|it| &it.skew)
        .map(|it| &*it.node)
        .collect();
    assert_eq!(hot, ["n3"]);
    assert!(
        has(&report, "rolling_restart", &["n1", "n2", "n3"]),
        "{:?}",
        report.events
    );
    for node in ["n4", "n5", "n6"] {
        assert!(has(&report, "left", &[node]), "{:?}", report.events);
    }
    let backwards = report.events.iter().find(|it| it.kind == "runs_backwards");
    let said = &backwards.expect("steal ran backwards").sentence;
    assert!(
        said.starts_with("node_cpu_seconds_total of n1 ran backwards once, by 3.00 at most"),
        "{said}"
    );
    // No spike is drawn of it.
    assert!(
        report.over_time.nodes[0]["steal"]
            .iter()
            .flatten()
            .all(|it| *it < 0.01)
    );
    assert!(
        text.starts_with("CPU is the limit for 36 min of 60 min"),
        "{text}"
    );
    assert!(
        place
            .read("page.html")
            .contains("3 x 4 CPUs is the best of")
    );
    means_are_the_stores_own(&report, &store);
}

/// The published queries, asked of the store for each phase and node: within a point of what the report says.
fn means_are_the_stores_own(report: &ClusterReport, store: &Store) {
    let queries = [
        ("cpu_some", "node_pressure_cpu_waiting_seconds_total"),
        ("io_some", "node_pressure_io_waiting_seconds_total"),
        ("memory_some", "node_pressure_memory_waiting_seconds_total"),
    ];
    // irate() stands for what lies between the two newest scrapes: it lags by half a scrape interval to one and a half.
    const LAG_S: i64 = 15;
    let mut compared = 0;
    for phase in &report.phases {
        let seconds = phase.span.seconds() as i64;
        for node in &phase.nodes {
            for (quantity, metric) in queries {
                let series = format!(
                    "irate({metric}{{instance=\"{}:9100\"}}[30s])*100",
                    node.node
                );
                let query = format!("avg_over_time(({series})[{seconds}s:1s])");
                let asked = store.says(&query, phase.span.to_ns / 1_000_000_000 + LAG_S);
                let said = node.means[quantity] * 100.0;
                let (of, when) = (&node.node, minutes(phase));
                assert!(
                    (asked - said).abs() < 1.0,
                    "{quantity} of {of} in {when:?}: {said}, the store says {asked}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn victoria_metrics_tells_the_same() {
    if !needs::program(PROMETHEUS) || !needs::program(VICTORIA) {
        return;
    }
    let place = Place::new();
    let text = made(Variant::every(15));
    let (first, _) = explained(&place, &Store::prometheus(&place, &text, &[]), &[]);
    let (second, _) = explained(&place, &Store::victoria(&place, &text), &[]);
    tell_the_same(&first, &second);
}

#[test]
fn prometheus_3_tells_the_same() {
    let Some(third) = brought::tool("stores.sh", "stores/bin/prometheus") else {
        return;
    };
    if !needs::program(PROMETHEUS) {
        return;
    }
    let place = Place::new();
    let text = made(Variant::every(15));
    // It reads what the older one wrote, and writes what that does not read: so it comes second.
    let (first, _) = explained(&place, &Store::prometheus(&place, &text, &[]), &[]);
    let (second, _) = explained(&place, &Store::started(&place, &third, &[]), &[]);
    tell_the_same(&first, &second);
}

/// Of the hour whose configurations are known.
fn tell_the_same(first: &ClusterReport, second: &ClusterReport) {
    check_configurations(second, 0);
    assert_eq!(first.phases.len(), second.phases.len());
    for (one, other) in first.phases.iter().zip(&second.phases) {
        assert_eq!((minutes(one), &one.limits), (minutes(other), &other.limits));
        for (quantity, mean) in &one.means {
            let other = other.means[quantity];
            assert!(
                (mean - other).abs() <= 0.01 * mean.abs().max(1.0),
                "{quantity}: {mean} and {other}"
            );
        }
    }
    let kinds = |report: &ClusterReport| -> Vec<String> {
        report.events.iter().map(|it| it.kind.clone()).collect()
    };
    assert_eq!(kinds(first), kinds(second));
}

#[test]
fn scrapes_may_be_rare_missing_or_of_another_machine() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    for scrape_s in [30, 60] {
        let place = Place::new();
        let variant = Variant {
            scrape_s,
            gap: Some((19, 22)),
            replaced: Some(15),
            booted: Some(30),
            ..Variant::default()
        };
        let store = Store::prometheus(&place, &made(variant), &[]);
        let (report, _) = explained(&place, &store, &[]);
        assert_eq!(report.resolution_ns, scrape_s * 1_000_000_000);
        check_configurations(&report, 1);
        assert!(has(&report, "replaced", &["n2"]), "{:?}", report.events);
        assert!(has(&report, "restarted", &["n1"]), "{:?}", report.events);
    }
}

#[test]
fn a_store_with_names_of_its_own_tells_the_same() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    let text = made(Variant::every(15));
    let place = Place::new();
    let (first, _) = explained(&place, &Store::prometheus(&place, &text, &[]), &[]);
    let place = Place::new();
    let names =
        "node = 'exported_instance'\nname = 'saved_name'\nmatch = ['node_prefix=\"yb-1\"']\n";
    place.write("names.toml", names);
    let store = Store::prometheus(&place, &renamed(&text), &[]);
    let throughput = METRIC.replace(
        "bench_transactions_total",
        "kept{saved_name=\"bench_transactions_total\"}",
    );
    let (second, _) = asked(&place, &store, &throughput, &["--names", "names.toml"]);
    tell_the_same(&first, &second);
}

#[test]
fn clocks_that_are_apart_are_said_and_change_nothing() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    let place = Place::new();
    let ask = |variant| explained(&place, &Store::prometheus(&place, &made(variant), &[]), &[]);
    let (right, text) = ask(Variant::every(15));
    assert!(right.clocks.is_empty() && !text.contains("clock"), "{text}");
    let (apart, text) = ask(Variant {
        apart_s: 0.3,
        ..Variant::every(15)
    });
    tell_the_same(&right, &apart);
    let clocks: Vec<&str> = apart.clocks.iter().map(|it| &*it.node).collect();
    assert_eq!(clocks, ["n2"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("n2's clock is 304 ms ahead of the store's, within"),
        "{text}"
    );
}

#[test]
fn a_gap_of_ten_minutes_is_said_and_nothing_is_made_up_for_it() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    let place = Place::new();
    let variant = Variant {
        scrape_s: 15,
        gap: Some((37, 47)),
        ..Variant::default()
    };
    let store = Store::prometheus(&place, &made(variant), &[]);
    let (report, _) = explained(&place, &store, &[]);
    let gap = report
        .events
        .iter()
        .find(|it| it.kind == "gap" && it.nodes == ["n1", "n2", "n3"]);
    assert!(gap.is_some(), "{:?}", report.events);
    let of_first = &report.over_time.nodes[0]["cpu_some"];
    let unknown = of_first.iter().filter(|it| it.is_none()).count();
    assert!((38..=42).contains(&unknown), "{unknown}");
    for value in of_first.iter().flatten() {
        assert!(*value < 0.9, "{value}");
    }
}

#[test]
fn what_matches_nothing_is_said_with_what_there_is() {
    if !needs::program(PROMETHEUS) {
        return;
    }
    let place = Place::new();
    let variant = Variant::every(60);
    let store = Store::prometheus(&place, &made(variant), &[]);
    let (url, from, to) = (store.url(), at(0), at(MINUTES));
    let range = ["--from", &from, "--to", &to];
    let ask = |url: &str, instance: &str| {
        let words = ["explain", "--prometheus", url, "--instance", instance];
        place.run(&[&words[..], &range].concat())
    };
    ask(&url, "db-.*")
        .status(2)
        .says("There are n1:9100, n2:9100");
    ask(&url, "n(").status(2).says("the store http://127.0.0.1");
    ask("http://127.0.0.1:1", "n.*")
        .status(2)
        .says("--prometheus http://HOST:PORT");
    place
        .run(&[
            "explain",
            "--prometheus",
            &url,
            "--instance",
            "n.*",
            "--from",
            "10s",
        ])
        .status(2)
        .says("--last 2h");
    let words = [
        "import",
        "--prometheus",
        &url,
        "--instance",
        "n[12].*",
        "-o",
        "nodes",
    ];
    place.run(&[&words[..], &range].concat()).status(0);
    let ended = place.run(&["explain", "nodes/n2.stall"]);
    prints(ended.status(0), "the store says");
}

#[test]
fn a_store_that_asks_who_it_is_is_told_and_nobody_else() {
    const SECRET: &str = "Pw7Xk2NeverToBeSeen";
    if !needs::program(PROMETHEUS) || !needs::program("openssl") || !needs::program("htpasswd") {
        return;
    }
    let place = Place::new();
    let made_it = place.shell(&format!(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority 2>/dev/null && openssl req -newkey rsa:2048 -nodes -keyout key.pem -out asked.pem -subj /CN=localhost 2>/dev/null && echo subjectAltName=DNS:localhost > names && openssl x509 -req -in asked.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem 2>/dev/null && htpasswd -nbB mon {SECRET} > account"
    )).output().expect("a shell");
    assert!(made_it.status.success());
    let account = place.read("account");
    let hash = account.trim().split_once(':').expect("a hash").1.to_owned();
    place.write("web.yml", format!("tls_server_config: {{cert_file: cert.pem, key_file: key.pem}}\nbasic_auth_users: {{mon: '{hash}'}}\n"));
    let variant = Variant::every(60);
    let store = Store::prometheus(&place, &made(variant), &["--web.config.file=web.yml"]);
    let (port, from, to) = (store.port, at(0), at(MINUTES));
    let ask = |url: &str, further: &[&str]| {
        let words = [
            "explain",
            "--prometheus",
            url,
            "--instance",
            "n.*",
            "--from",
            &from,
            "--to",
            &to,
        ];
        let ended = place.run(&[&words[..], further].concat());
        ended.does_not_say(SECRET);
        ended
    };
    let with = format!("https://mon:{SECRET}@localhost:{port}");
    let ended = ask(&with, &["--ca", "ca.pem"]);
    prints(ended.status(0), "CPU is the limit");
    ask(&with, &[]).status(2).says("--ca FILE");
    ask(&format!("https://localhost:{port}"), &["--ca", "ca.pem"])
        .status(2)
        .says("STALLSCOPE_PROMETHEUS_TOKEN");
    ask(
        &format!("https://mon:{SECRET}x@localhost:{port}"),
        &["--ca", "ca.pem"],
    )
    .status(2)
    .says("status 401");
}
