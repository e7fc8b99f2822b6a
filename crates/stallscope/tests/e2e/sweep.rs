//! `sweep`: a real load over its clients, gone on with after an interrupt, what is given up, and the search for a goal.

use std::process::Command;

use capacity::{Kind, Limit};
use model::{SizingReport, Sweep};
use rustix::process::Signal;
use serde_json::Value;

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::Running;
use crate::prove;

const LOAD: [&str; 9] = [
    "--",
    "pgbench",
    "-n",
    "-S",
    "-c",
    "{clients}",
    "-T",
    "3",
    "bench",
];
const FOLDER: &str = "trial";

fn command(postgres: &Postgres, place: &Place, options: &[&str]) -> Command {
    let words = [
        "sweep",
        "--folder",
        FOLDER,
        "--json",
        JSON,
        "--cool-down",
        "100ms",
    ];
    postgres.stallscope(place, &[&words, options, &LOAD].concat())
}

fn sweep(place: &Place) -> Sweep {
    serde_json::from_str(&place.read(JSON)).expect("it is a sweep")
}

/// The runs that were begun: the value, and why it does not count.
fn runs(place: &Place) -> Vec<(String, Option<String>)> {
    let state: Value =
        serde_json::from_str(&place.read("trial/experiment.json")).expect("it is JSON");
    let runs = state["runs"].as_array().expect("a list").iter();
    runs.map(|run| {
        let value = run["values"][0].as_str().expect("a text").to_owned();
        (value, run["voided"].as_str().map(str::to_owned))
    })
    .collect()
}

/// Two runs of each of three points, one of them made before an interrupt.
fn every_point_is_known(swept: &Sweep) {
    let values: Vec<&str> = swept
        .points
        .iter()
        .map(|it| it.values[0].as_str())
        .collect();
    assert_eq!(values, ["1", "2", "4"]);
    for point in &swept.points {
        assert_eq!(point.runs.len(), 2);
        let throughput = point.figure("throughput").expect("it is known");
        let interval = throughput.interval.expect("there are repeats");
        assert!(interval.low < throughput.value && throughput.value < interval.high);
        assert!(point.limit.is_some() && point.agreeing >= 1);
    }
    assert_eq!(swept.voided.len(), 1, "{:?}", swept.voided);
    assert_eq!(swept.curves.len(), 1);
    assert!(!swept.answers.is_empty());
}

/// Both have the same runs, and the folder knows more of how they were made.
fn it_is_sized_from_its_folder_and_from_its_json(place: &Place) {
    let sized = |words: &[&str]| -> SizingReport {
        let ended = place.run(&[&["size", "--json", "size.json"], words].concat());
        ended.status(0);
        assert!(ended.out_text().contains("What a request needs"));
        serde_json::from_str(&place.read("size.json")).expect("it is a report")
    };
    let folder = sized(&[FOLDER]);
    assert_eq!(folder, sized(&[JSON]));
    assert_eq!(folder.load.as_deref(), Some("clients"));
    for it in &folder.configurations {
        let nearest = it
            .nearest
            .as_ref()
            .expect("how full the CPUs were is known");
        assert!(nearest.busy.value > 0.0 && nearest.busy.value <= 1.0);
        assert!(it.throughput.is_some_and(|it| it.interval.is_some()));
        assert!(it.waiting.is_some() && it.memory_in_use.is_some());
    }
    assert!(folder.demands.iter().any(|it| it.key == "cpu.target"));
    let asked = sized(&[FOLDER, "--at", "clients=8", "--rate", "1"]);
    assert_eq!(asked.configurations[0].meets, Some(true));
    // Three are too few to hold one back.
    let last = asked.configurations.last().expect("asked for");
    assert!(last.refused.is_some() && last.throughput.is_none());
    assert!(asked.next.iter().any(|it| it.contains("--set clients=8 ")));
    let state: Value =
        serde_json::from_str(&place.read("trial/experiment.json")).expect("it is JSON");
    let mut all = state["runs"].as_array().expect("a list").iter();
    let counts = all.find(|it| it["voided"].is_null()).expect("one counts");
    let name = counts["name"].as_str().expect("a text");
    let one = sized(&[&format!("{FOLDER}/{name}")]);
    assert_eq!(
        (one.configurations.len(), one.configurations[0].runs),
        (1, 1)
    );
}

#[test]
fn a_sweep_is_gone_on_with_and_each_point_has_figures_and_a_limit() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let options = |repeat| {
        [
            "--set",
            "clients=1,2,4",
            "--repeat",
            repeat,
            "-o",
            "page.html",
        ]
    };
    let running = Running::start(command(postgres, &place, &options("2")));
    place.wait_for("trial/experiment.json");
    while runs(&place).len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal(Signal::INT);
    running
        .end()
        .status(130)
        .says("The same command with --folder trial goes on");
    let ended = Running::start(command(postgres, &place, &options("2"))).end();
    ended.status(0).says("1 of before count").says("(6 of 6)");
    every_point_is_known(&sweep(&place));
    it_is_sized_from_its_folder_and_from_its_json(&place);
    // Each once before any a second time.
    let counted = runs(&place).into_iter().filter(|it| it.1.is_none());
    let mut first: Vec<String> = counted.take(3).map(|it| it.0).collect();
    first.sort();
    assert_eq!(first, ["1", "2", "4"]);
    assert!(place.read("page.html").contains("<svg"));
    // Nothing is left to run, and a value more is no other sweep.
    let again = ["--set", "clients=1,2,4,0", "--repeat", "2"];
    let ended = Running::start(command(postgres, &place, &again)).end();
    ended
        .status(0)
        .says("clients=0 does not count")
        .says("It is given up");
    let failed = runs(&place).into_iter().filter(|it| it.0 == "0");
    assert_eq!(failed.count(), 3);
    assert_eq!(sweep(&place).points.len(), 3);
    let other = ["--set", "clients=1", "--prepare", "true"];
    let ended = Running::start(command(postgres, &place, &other)).end();
    ended
        .status(2)
        .says("its --prepare: `none`, and not `true`");
}

#[test]
fn shell_commands_are_run_when_the_configuration_changes_and_around_each_run() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let options = [
        "--set",
        "clients=2",
        "--repeat",
        "2",
        "--apply",
        "echo a{clients} >> did",
        "--prepare",
        "echo p{clients} >> did",
        "--cleanup",
        "echo c{clients} >> did",
    ];
    Running::start(command(postgres, &place, &options))
        .end()
        .status(0);
    let did = place.read("did");
    let did: Vec<&str> = did.lines().collect();
    assert_eq!(did, ["a2", "p2", "c2", "p2", "c2"]);
}

#[test]
fn the_highest_value_that_keeps_a_goal_is_searched_for() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let found = |goal: &str| {
        let place = Place::new();
        let options = ["--set", "clients=1,3", "--repeat", "1", "--slo", goal];
        Running::start(command(postgres, &place, &options))
            .end()
            .status(0);
        let goal = sweep(&place).goal.expect("one was searched for");
        (goal.kept, goal.missed)
    };
    assert_eq!(found("mean<10s"), (Some("3".to_owned()), None));
    assert_eq!(found("mean<1us"), (None, Some("1".to_owned())));
}

#[test]
fn what_makes_no_sweep_is_told() {
    let place = Place::new();
    for (words, said) in [
        (
            vec!["--set", "n=1", "--", "true"],
            "{n} stands in no command",
        ),
        (
            vec!["--set", "n=3..1", "--", "true", "{n}"],
            "does not go up",
        ),
        (vec!["--plan", "missing.toml"], "cannot open the plan"),
        (
            vec!["--set", "n=1", "--repeat", "1", "--", "true", "{n}"],
            "no run counts",
        ),
    ] {
        let words = [vec!["sweep"], words].concat();
        place.run(&words).status(2).says(said);
    }
}

/// The rounds per second that a loop of a shell makes, told as a load generator tells them.
const COUNTING: &str = "for round in 1 2 3 4; do n=0; end=$(($(date +%s) + 1)); \
    while [ $(date +%s) -lt $end ]; do n=$((n + 1)); done; echo \"$n per second\"; done";

const SWEEP_OF_INSTANCES: [&str; 19] = [
    "sweep",
    "--folder",
    FOLDER,
    "--json",
    JSON,
    "--cool-down",
    "100ms",
    "--repeat",
    "1",
    "--set",
    "instances=1,2",
    "--set",
    "quota+word=0.25/hello,none/bye",
    "--prepare",
    "cat /proc/self/cgroup > group-{instance}
    find /sys/fs/cgroup -path '*/stallscope-*/instance-{instance}/cpu.cfs_quota_us' \
        -o -path '*/stallscope-*/instance-{instance}/cpu.max' | xargs cat > quota-{instance}-{word}",
    "--cleanup",
    "echo {word} >> cleaned",
    "--metric",
    "throughput=([0-9]+) per second",
];

#[test]
fn instances_run_at_once_each_in_its_cgroup_with_its_limits() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    let words = [&SWEEP_OF_INSTANCES[..], &["--", "sh", "-c", COUNTING]].concat();
    let ended = Running::start(place.stallscope(&words)).end();
    ended.status(0);
    let swept = sweep(&place);
    assert_eq!(swept.points.len(), 4, "{ended}");
    let of = |instances: &str, setting: &str| {
        let mut points = swept.points.iter();
        let point = points.find(|it| it.values == [instances, setting]);
        let figure = |key: &str| {
            let figure = point.expect("it was run").figure(key);
            figure.expect("it is known").value
        };
        (figure("throughput"), figure("throughput.each"))
    };
    for instance in [1, 2] {
        let quota = |word: &str| place.read(&format!("quota-{instance}-{word}"));
        assert!(quota("hello").starts_with("25000"), "{}", quota("hello"));
        let free = quota("bye");
        assert!(free.starts_with("-1") || free.starts_with("max"), "{free}");
    }
    let two = of("2", "0.25/hello");
    assert!((two.0 / two.1 - 2.0).abs() < 1e-6, "{two:?}");
    // Each has its own group, which goes with the run.
    for instance in [1, 2] {
        let own = place.read(&format!("group-{instance}"));
        assert!(own.contains(&format!("/instance-{instance}\n")), "{own}");
    }
    let group = place.read("group-2");
    let name = group.split('/').find(|it| it.starts_with("stallscope-"));
    let name = name.expect("it is the program's own").to_owned();
    let left = std::fs::read_dir("/sys/fs/cgroup")
        .into_iter()
        .flatten()
        .flatten();
    assert!(left.map(|it| it.path().join(&name)).all(|it| !it.exists()));
    let cleaned = place.read("cleaned");
    assert_eq!(
        cleaned.matches("hello").count(),
        3,
        "once for each instance"
    );
    // The lines of each are marked in the log.
    let logs = std::fs::read_dir(place.path().join(FOLDER)).expect("the folder is there");
    let logs = logs.flatten().map(|it| it.path());
    let mut texts = logs
        .filter(|it| it.extension().is_some_and(|it| it == "log"))
        .map(|it| std::fs::read_to_string(it).expect("a log"));
    assert!(texts.any(|it| it.contains("[1] ") && it.contains("[2] ")));
}

#[test]
fn a_server_that_runs_has_less_for_a_run_and_its_own_limits_afterwards() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let Some((group, held)) = prove::grouped(postgres) else {
        return;
    };
    let own = Limit::parse(Kind::Quota, "0.6").expect("a quota");
    group.set(&own).expect("it is ours");
    let place = Place::new();
    let target = format!("pid:{}", postgres.pid());
    let sweep_quota = |list: &str, further: &[&str]| {
        let set = format!("quota={list}");
        let words = ["sweep", "--json", JSON, "--repeat", "1", "--set", &set];
        let words = [&words[..], &["--target", &target], further].concat();
        let load = ["--", "pgbench", "-n", "-S", "-c", "4", "-T", "5", "bench"];
        Running::start(postgres.stallscope(&place, &[&words[..], &load].concat())).end()
    };
    sweep_quota("0.2,0.5", &[])
        .status(2)
        .says("Nothing was changed: add --yes to begin.");
    sweep_quota("0.8", &["--yes"])
        .status(2)
        .says("no limit is raised");
    sweep_quota("0.2,0.5", &["--yes"]).status(0);
    assert_eq!(held.quota().expect("a group"), Some(0.6));
    let swept = sweep(&place);
    let of = |point: &model::SweepPoint| {
        let setting = point.setting.as_ref().expect("it is known");
        let throughput = point.figure("throughput").expect("it is known");
        (setting.cpus, throughput.value)
    };
    let [(low, few), (high, many)] = [&swept.points[0], &swept.points[1]].map(of);
    assert_eq!((low, high), (0.2, 0.5));
    assert!(many > 1.5 * few, "{few} and {many}");
}
