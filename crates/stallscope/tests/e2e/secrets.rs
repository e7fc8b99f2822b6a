//! Secrets on command lines, in output and in titles: none is in anything that is written or shown.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Ended, Running};

/// What begins each secret: seen nowhere else.
const MARK: &str = "zq7Secret";

/// Command lines that hold a secret in the place of `@@`. None of the programs has to be there: a shell
/// that does nothing goes by their names.
const COMMANDS: &[(&str, &str)] = &[
    ("curl", "--user|u:@@"),
    ("valkey-benchmark", "-a|@@"),
    ("sqlplus", "u/@@@db"),
    ("wrk", "http://h/?sig=@@"),
    ("etcdctl", "--user|root:@@"),
    ("ldapsearch", "-w|@@"),
    ("x", "--key|@@"),
    ("mysql", "-p@@|db"),
    ("redis-cli", "-u|redis://:@@@127.0.0.1/0"),
    (
        "java",
        "-Dkey.store.password=@@|jdbc:mysql://h/db?user=u&password=@@",
    ),
    ("wrk", "-H|Authorization: Bearer @@|http://127.0.0.1/"),
    ("x", "A_TOKEN=@@|-z@@|--thing=@@"),
];

/// That a secret of this program's own command line or environment is in no file that was left, and was
/// not said.
#[track_caller]
pub fn keeps(secret: &str, place: &Place, ended: &Ended) {
    assert_eq!(holding(place.path(), secret), [""; 0]);
    ended.does_not_say(secret);
    assert!(!ended.out_text().contains(secret));
}

/// The files below a folder that hold the mark.
fn holding(folder: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("it can be read").path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(holding(&path, secret));
            continue;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let holds = bytes
            .windows(secret.len())
            .any(|it| it == secret.as_bytes());
        if holds {
            found.push(name);
        }
    }
    found
}

/// A program by that name that prints its arguments as a careless tool does.
fn careless(place: &Place, name: &str) -> String {
    const BODY: &str = "echo \"FATAL: sorry, too many clients already: $*\"
echo \"$*: connection refused\" >&2
sleep 0.3";
    fs::create_dir_all(place.path().join("programs")).expect("the folder is ours");
    let file = format!("programs/{name}");
    place.script(&file, BODY);
    format!("./{file}")
}

/// Processes beside the workload that show secrets in their command line and in their title.
fn neighbours() -> Vec<Running> {
    let mut commands = vec![Command::new("sh")];
    let title = format!("n -a {MARK}");
    let key = format!("--key={MARK}");
    commands[0].args([
        "-c",
        "exec -a \"$0\" sh -c 'sleep 600; true' \"$1\"",
        &title,
        &key,
    ]);
    if needs::program("perl") {
        let mut titled = Command::new("perl");
        titled.args(["-e", "$0 = shift; sleep 600", &format!("n -a {MARK}")]);
        commands.push(titled);
    }
    commands.into_iter().map(Running::start).collect()
}

#[test]
fn no_secret_is_in_a_recording_its_page_its_json_its_tables_or_a_bundle() {
    let place = Place::new();
    let neighbours = neighbours();
    for (index, (name, words)) in COMMANDS.iter().enumerate() {
        let program = careless(&place, name);
        let recording = format!("r{index}.stall");
        let words = words.replace("@@", &format!("{MARK}{index}"));
        let mut command = place.stallscope(&["run", "-o", &recording, "--json", JSON]);
        command.args(["--metric", "throughput=tps ([0-9]+)", "--", &program]);
        command.args(words.split('|'));
        command.env("PGPASSWORD", format!("{MARK}p"));
        Running::start(command).end();
        let meta = place.read(&format!("{recording}/meta.json"));
        // What is left is worth reading, and the complaint was kept.
        assert!(
            meta.contains(name) && meta.contains("***"),
            "{name}: {meta}"
        );
        assert!(meta.contains("too many clients already"), "{name}: {meta}");
        assert!(!meta.contains(MARK), "{name}: {meta}");
        assert!(!place.read(JSON).contains(MARK), "{name}");
        // A page's words stand in it as they are; its blocks are numbers.
        let page = place.read(&format!("{recording}/report.html"));
        assert!(page.contains(name) && !page.contains(MARK), "{name}");
        let shown = place.run(&["explain", &recording]);
        assert!(!shown.to_string().contains(MARK), "{shown}");
    }
    // Tables are compressed: in plain text they are not. The neighbours' names are in all of them.
    let exports = [
        &["export", "r0.stall", "--format", "csv", "-o", "csv"][..],
        &["export", "r0.stall", "--format", "bundle", "-o", "b"],
        &["export", "b", "--format", "csv", "-o", "sent"],
        &["report", "b", "-o", "sent.html"],
    ];
    for words in exports {
        let ended = place.run(words);
        ended.status(0);
        assert!(!ended.to_string().contains(MARK), "{ended}");
    }
    let names = place.read("csv/entities.csv");
    assert!(
        names.contains(",n -a ***,") || neighbours.len() < 2,
        "{names}"
    );
    assert_eq!(holding(place.path(), MARK), [""; 0]);
}

#[test]
fn no_password_of_an_application_that_is_asked_is_in_anything_that_is_left() {
    let place = Place::new();
    let addresses = [
        ("--postgres", "postgresql://u:@@0@127.0.0.1:1/db"),
        ("--mysql", "mysql://u:@@1@127.0.0.1:1"),
        ("--pgbouncer", "host=127.0.0.1 port=1 user=u password=@@2"),
        ("--redis", "redis://u:@@3@127.0.0.1:1"),
        ("--scrape", "http://u:@@4@127.0.0.1:1/metrics?token=@@5"),
    ];
    let mut command = place.stallscope(&["run", "-o", "r.stall", "--json", JSON]);
    for (option, address) in addresses {
        command.args([option, &address.replace("@@", MARK)]);
    }
    command.args(["--", "sleep", "2"]);
    for name in [
        "PGPASSWORD",
        "MYSQL_PWD",
        "REDISCLI_AUTH",
        "STALLSCOPE_SCRAPE_TOKEN",
    ] {
        command.env(name, format!("{MARK}{name}"));
    }
    let ended = Running::start(command).end();
    ended.status(0);
    keeps(MARK, &place, &ended);
    // Each was asked: it is a gap that the server is not there.
    let meta = place.read("r.stall/meta.json");
    let asked = [
        "PostgreSQL",
        "MySQL",
        "PgBouncer",
        "Redis",
        "Prometheus endpoint",
    ];
    for name in asked {
        assert!(
            meta.contains(&format!("{name} (")) || meta.contains(&format!("{name}'s own word (")),
            "{name}: {meta}"
        );
    }
    for words in [
        &["explain", "r.stall"][..],
        &["export", "r.stall", "--format", "csv", "-o", "csv"],
        &["export", "r.stall", "--format", "bundle", "-o", "b"],
        &["export", "b", "--format", "csv", "-o", "sent"],
    ] {
        let ended = place.run(words);
        ended.status(0);
        keeps(MARK, &place, &ended);
    }
}

#[test]
fn what_an_older_version_left_in_a_recording_is_not_shown() {
    let place = Place::new();
    place
        .run(&[
            "run",
            "-q",
            "--no-report",
            "-o",
            "new.stall",
            "--",
            "sleep",
            "0.3",
        ])
        .status(0);
    let mut meta = place.opened().meta;
    let old = ["curl", "--user", &format!("u:{MARK}")].map(str::to_owned);
    meta.workload.as_mut().expect("there was one").command = old.to_vec();
    meta.plan.typed.extend(old);
    let old = place.path().join("old.stall");
    recording::Writer::create(&old, &meta)
        .and_then(|writer| writer.close(&meta))
        .expect("the folder is ours");
    assert!(place.read("old.stall/meta.json").contains(MARK));
    place
        .run(&["explain", "old.stall", "--json", JSON])
        .status(0);
    place.run(&["report", "old.stall"]).status(0);
    assert!(!place.read(JSON).contains(MARK));
    assert!(!place.read("old.stall/report.html").contains(MARK));
    let json = place.report().workload.expect("there was one");
    assert_eq!(json.command, ["curl", "--user", "***"]);
}
