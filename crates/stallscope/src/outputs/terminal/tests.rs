//! Golden files of what a person reads.

use expect_test::{ExpectFile, expect_file};

use super::*;

fn check(json: &str, width: usize, expected: &ExpectFile) {
    let report: Report = serde_json::from_str(json).expect("a report as it is written");
    let short = verdict(&report, width, Detail::Short);
    let full = verdict(&report, width, Detail::Full);
    for line in short.lines().chain(full.lines()) {
        assert!(line.chars().count() <= width, "{line}");
    }
    assert!(width < 100 || short.lines().count() < MOST_LINES, "{short}");
    expected.assert_eq(&format!("{short}\n--- all of it ---\n{full}"));
}

macro_rules! golden {
    ($test:ident, $name:literal, $width:literal, $golden:literal) => {
        #[test]
        fn $test() {
            let json = include_str!(concat!("../../../fixtures/reports/", $name, ".json"));
            let path = concat!("../../../fixtures/reports/", $golden, ".txt");
            check(json, $width, &expect_file![path]);
        }
    };
}

golden!(a_saturated_cpu, "cpu-saturated", 100, "cpu-saturated");
golden!(a_quota, "cpu-quota", 100, "cpu-quota");
golden!(
    a_generator_at_its_limit,
    "client-bound",
    100,
    "client-bound"
);
golden!(a_run_of_several_phases, "phases", 100, "phases");
golden!(phases_in_a_narrow_terminal, "phases", 72, "phases-narrow");
golden!(a_healthy_server, "rate-limited", 100, "rate-limited");
golden!(
    a_narrow_terminal,
    "cpu-saturated",
    72,
    "cpu-saturated-narrow"
);

#[test]
fn quantiles_stand_below_the_mean_and_the_option_for_them_where_there_are_none() {
    let json = include_str!("../../../fixtures/reports/cpu-saturated.json");
    let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
    let said = |report: &Report| {
        let text = verdict(report, 100, Detail::Full);
        let lines = text.lines().filter(|line| line.contains("p99"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(said(&report).ends_with("(pgbench; no p99)"));
    let workload = report.workload.as_mut().expect("there is a workload");
    workload.quantiles_option = Some("--quantiles".to_owned());
    assert!(said(&report).ends_with(" mean (pgbench; p99: add --quantiles)"));
    let quantiles = [
        (0.5, 1.01e5),
        (0.95, 3e5),
        (0.99, 3.5e5),
        (0.999, 4e6),
        (1.0, 1.2e7),
    ];
    let latency = report.signals.iter_mut().find(|it| it.name == "latency");
    latency.expect("there is a latency").quantiles = quantiles
        .map(|(q, value)| model::Quantile {
            q,
            value,
            sampled: Some(46_012),
            at_least: false,
            of_whole_run: false,
        })
        .to_vec();
    let said = said(&report);
    assert!(said.contains(" mean, p99 0.350 ms (pgbench)\n"), "{said}");
    assert!(
        said.ends_with(
            "\n  Quantiles   p50 0.101 ms, p99 0.350 ms, p99.9 4.00 ms, max 12.0 ms of 46,012 sampled"
        ),
        "{said}"
    );
}

#[test]
fn long_names_and_more_than_all_of_the_time_fit() {
    let json = include_str!("../../../fixtures/reports/cpu-saturated.json");
    let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
    report.verdict.findings[0].would_help[0].change = "spread over more CPUs ".repeat(4);
    let account = report
        .verdict
        .account
        .as_mut()
        .expect("there is an account");
    account.items[0].share = 4.8;
    account.items[0].label = "mariadbd in uninterruptible sleep (disk or kernel lock)".into();
    let text = verdict(&report, 100, Detail::Full);
    assert!(text.lines().all(|it| it.chars().count() <= 100), "{text}");
}

#[test]
fn a_gain_says_what_it_is_of_or_that_it_is_not_known() {
    let json = include_str!("../../../fixtures/reports/cpu-saturated.json");
    let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
    let remedies = &mut report.verdict.findings[0].would_help;
    remedies[0].gain_of = Some(model::GainOf::ResponseTime);
    (remedies[1].gain, remedies[1].gain_interval) = (None, None);
    let text = verdict(&report, 100, Detail::Full);
    assert!(
        text.contains("  response time -50 % (-44 % to -56 %)"),
        "{text}"
    );
    assert!(
        text.contains("pgbench on another machine  not known"),
        "{text}"
    );
}
