//! Real load generators beside pgbench: what they say while they run and at their end, and by label.

use std::process::Command;

use model::{EntityKind, LabelReport, Report, Summary};

use crate::brought;
use crate::needs;
use crate::other_servers::{free_port, nginx, started};
use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::{Ended, Running};

/// A server with a file of 100 bytes, and the folder of the run.
fn server() -> Option<(Running, Place, u16)> {
    if !needs::program("nginx") {
        return None;
    }
    let (place, port) = (Place::new(), free_port());
    place.write("100", "x".repeat(100));
    let server = nginx(&place, port, "");
    Some((server, place, port))
}

fn summary(place: &Place) -> Summary {
    let workload = place.opened().meta.workload.expect("there is a workload");
    let outcome = workload.outcome.expect("it ended");
    outcome.summary.expect("it printed a report")
}

fn label<'a>(report: &'a Report, name: &str) -> &'a LabelReport {
    let found = report.labels.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("{name}: {:?}", report.labels))
}

/// Intervals of all operations, and of labels.
fn intervals(place: &Place) -> (usize, usize) {
    let timeline = place.opened().timeline;
    let rows = |name| timeline.table(name).map_or(0, model::TableData::len);
    (rows("signal"), rows("signal_by_label"))
}

fn run(place: &Place, words: &[&str]) -> Ended {
    let words = [&["run", "--json", JSON, "--"], words].concat();
    place.run(&words)
}

#[test]
fn vegeta_in_a_pipe_is_understood() {
    let Some(vegeta) = brought::tool("load-generators.sh", "load-generators/bin/vegeta") else {
        return;
    };
    let Some((_server, _files, port)) = server() else {
        return;
    };
    let _alone = postgres::alone();
    let place = Place::new();
    let vegeta = vegeta.display();
    place.write(
        "targets",
        format!("GET http://127.0.0.1:{port}/100\nGET http://127.0.0.1:{port}/none\n"),
    );
    let script =
        format!("cat targets | {vegeta} attack -rate=100 -duration=4s | {vegeta} report -every=1s");
    let ended = run(&place, &["sh", "-c", &script]);
    ended.status(0);
    let summary = summary(&place);
    assert_eq!(
        (summary.completed, summary.failed),
        (Some(200), Some(200)),
        "{ended}"
    );
    assert!(summary.latency_quantiles.iter().any(|it| it.q == 0.99));
    let (of_all, _) = intervals(&place);
    assert!((3..=5).contains(&of_all), "{of_all} intervals\n{ended}");
    assert_eq!(
        place.report().workload.expect("it has one").load.rate,
        Some(100.0)
    );
}

#[test]
fn locust_tells_endpoints_apart_while_it_runs() {
    let Some(locust) = brought::tool("load-generators.sh", "load-generators/bin/locust") else {
        return;
    };
    let Some((_server, _files, port)) = server() else {
        return;
    };
    let _alone = postgres::alone();
    let place = Place::new();
    place.write(
        "users.py",
        "from locust import HttpUser, task, constant\nclass U(HttpUser):\n    wait_time = constant(0.01)\n\
         \x20   @task\n    def page(self):\n        self.client.get('/100')\n\
         \x20       self.client.get('/none', name='missing page')\n",
    );
    let host = format!("http://127.0.0.1:{port}");
    let locust = locust.display().to_string();
    let words = [
        &locust,
        "--headless",
        "-u",
        "2",
        "-r",
        "2",
        "-t",
        "9s",
        "-f",
        "users.py",
        "--host",
        &host,
    ];
    let ended = run(&place, &words);
    // Locust's own status where a request failed.
    ended.status(1);
    let summary = summary(&place);
    let (completed, failed) = (summary.completed.unwrap_or(0), summary.failed.unwrap_or(0));
    assert!(
        completed > 50 && failed > 50 && completed.abs_diff(failed) <= 2,
        "{ended}"
    );
    let report = place.report();
    let missing = label(&report, "GET missing page");
    assert_eq!(
        (missing.completed, missing.of_whole_run),
        (Some(0), false),
        "{ended}"
    );
    let page = label(&report, "GET /100");
    assert_eq!(page.failed, Some(0));
    let (of_all, by_label) = intervals(&place);
    assert!(
        of_all >= 2 && by_label == 2 * of_all,
        "{of_all} {by_label}\n{ended}"
    );
    let entities = place.opened().timeline.entities;
    assert_eq!(entities.of_kind(EntityKind::Workload).count(), 3);
}

#[test]
fn redis_benchmark_is_heard_while_it_draws() {
    if !needs::program("redis-server") || !needs::program("redis-benchmark") {
        return;
    }
    let _alone = postgres::alone();
    let (files, port) = (Place::new(), free_port());
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--save", "", "--dir"]);
    let _server = started(
        {
            command.arg(files.path());
            command
        },
        port,
    );
    let place = Place::new();
    let port = port.to_string();
    let words = [
        "redis-benchmark",
        "-p",
        &port,
        "-c",
        "4",
        "-t",
        "get,set",
        "-n",
        "250000",
        "-q",
    ];
    let ended = run(&place, &words);
    ended.status(0);
    let (of_all, by_label) = intervals(&place);
    assert!(
        of_all >= 2 && by_label == of_all,
        "{of_all} {by_label}\n{ended}"
    );
    let report = place.report();
    let rate = report.signals.iter().find(|it| it.name == "throughput");
    let rate = rate.and_then(|it| it.mean).expect("it is known");
    // Between those that it printed of its two tests, or near them.
    let own: Vec<f64> = summary(&place)
        .scripts
        .iter()
        .filter_map(|it| it.throughput)
        .collect();
    let (least, most) = (own[0].min(own[1]), own[0].max(own[1]));
    assert!(
        (0.5 * least..2.0 * most).contains(&rate),
        "{rate} {own:?}\n{ended}"
    );
    let latency = report.signals.iter().find(|it| it.name == "latency");
    assert!(
        latency.is_some_and(|it| it.mean.is_some_and(|mean| mean > 0.0)),
        "{ended}"
    );
}

/// A sampler of JMeter.
fn sampler(name: &str, port: u16, path: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>
"#
    )
}

fn plan(port: u16) -> String {
    let samplers = sampler("page", port, "/100") + &sampler("missing page", port, "/none");
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="t"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
<stringProp name="ThreadGroup.num_threads">2</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">9</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">-1</stringProp>
</elementProp></ThreadGroup><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="pause">
<stringProp name="ConstantTimer.delay">4</stringProp></ConstantTimer><hashTree/>
{samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>
"#
    )
}

/// The summariser, the file of results and its samplers count the same.
#[track_caller]
fn counts_are_those_of_the_file(place: &Place, ended: &Ended) {
    let summary = summary(place);
    let written = place.read("results.jtl").lines().count() as u64 - 1;
    let (completed, failed) = (summary.completed.unwrap_or(0), summary.failed.unwrap_or(0));
    assert_eq!(completed + failed, written, "{ended}");
    assert!(
        completed > 100 && completed.abs_diff(failed) <= 2,
        "{ended}"
    );
    let kinds: Vec<_> = summary
        .scripts
        .iter()
        .map(|it| (&*it.name, it.completed, it.failed))
        .collect();
    let expected = [
        ("page", Some(completed), Some(0)),
        ("missing page", Some(0), Some(failed)),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn jmeter_tells_samplers_apart_and_how_long_each_took() {
    let Some(jar) = brought::tool("jmeter.sh", "jmeter/bin/ApacheJMeter.jar") else {
        return;
    };
    if !needs::program("java") {
        return;
    }
    let Some((_server, _files, port)) = server() else {
        return;
    };
    let _alone = postgres::alone();
    let place = Place::new();
    place.write("plan.jmx", plan(port));
    let jar = jar.display().to_string();
    let words = [
        "java",
        "-Xmx256m",
        "-jar",
        &jar,
        "-n",
        "-t",
        "plan.jmx",
        "-l",
        "results.jtl",
    ];
    let ended = run(&place, &words);
    ended
        .status(0)
        .says("jmeter: added -Jsummariser.interval=6");
    counts_are_those_of_the_file(&place, &ended);
    let report = place.report();
    let page = label(&report, "page");
    assert!(
        page.latency_mean_ns.is_some() && page.completed > Some(50),
        "{page:?}"
    );
    assert_eq!(label(&report, "missing page").completed, Some(0));
    let latency = report
        .signals
        .iter()
        .find(|it| it.name == "latency")
        .expect("it says it");
    assert!(
        latency
            .quantiles
            .iter()
            .any(|it| it.q == 0.5 && !it.of_whole_run),
        "{latency:?}"
    );
    let told = place.run(&["explain", &place.recording().display().to_string()]);
    assert!(told.out_text().contains("By label"), "{told}");
}
