//! `--log`: what a log says becomes counts, and calls in it have a period where nothing else gives a signal.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use model::{EntityKind, Provenance};

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Running, wait_until};

const NOBODY: u32 = 65_534;

/// Writes heartbeats all the time, and each 2 s 200 calls of another method after a line that holds a password.
const WRITER: &str = r#"
call() { echo "I1128 10:00:00.000123 master.c:61] Call yb.master.MasterService.$1 10.1.0.$2:4$3 => 10.1.0.29:7100 (request call id $3) took 2ms"; }
next=$(($(date +%s%N) + 1000000000))
i=1000
while :; do
    i=$((i + 1)); [ $i -gt 9000 ] && i=1000
    call TSHeartbeat 21 $i
    if [ $(date +%s%N) -ge $next ]; then
        next=$((next + 2000000000))
        echo "the cache of user carol is invalid, password swordfish"
        n=0
        while [ $n -lt 200 ]; do n=$((n + 1)); call GetTableSchema $((20 + n % 3)) $((i + n)); done
    fi
    sleep 0.1
done >> rpc.log
"#;

#[test]
fn calls_in_a_log_alone_have_a_period_and_the_method_that_bursts() {
    let place = Place::new();
    place.script("writer.sh", WRITER);
    place.write("rpc.log", "what was there before\n");
    let writer = Running::start({
        let mut command = place.shell("exec ./writer.sh");
        command.arg("");
        command
    });
    let words = [
        "--log",
        "rpc.log",
        "--for",
        "24s",
        "--json",
        JSON,
        "--no-report",
    ];
    let target = format!("pid:{}", writer.pid());
    let mut command = unprivileged(&place);
    command.args(["record", "--target", &target]).args(words);
    Running::start(command)
        .end()
        .status(0)
        .says("bursts of calls in the log");

    let spikes = place.report().spikes.expect("there are bursts");
    assert_eq!(spikes.provenance, Provenance::Log);
    let train = spikes.trains.first().expect("they have a period");
    let period = train.period_ns / 1e9;
    assert!((1.9..=2.1).contains(&period), "{period} s");
    let [method] = &spikes.methods[..] else {
        panic!("one method bursts: {:?}", spikes.methods)
    };
    assert_eq!(method.method, "yb.master.MasterService.GetTableSchema");
    assert_eq!((&*method.callee, method.callers), ("10.1.0.29:7100", 3));
    assert!(
        method.calls >= 150.0 && method.usual_calls < 20.0,
        "{method:?}"
    );

    let opened = place.opened();
    let names = |kind| {
        let all = opened.timeline.entities.of_kind(kind);
        all.map(|it| it.entity.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(EntityKind::Log), ["rpc.log"]);
    assert_eq!(
        names(EntityKind::LogTemplate),
        ["the cache of user carol is invalid, password <*>"]
    );
    assert_eq!(
        names(EntityKind::LoggedCall).len(),
        4,
        "no port makes another"
    );
    assert!(!holds(&place.recording(), b"swordfish"));
    drop(writer);
}

/// The program as a user without rights: no programs in the kernel count requests then.
fn unprivileged(place: &Place) -> Command {
    if !rustix::process::geteuid().is_root() || !needs::program("setpriv") {
        return place.stallscope::<&str>(&[]);
    }
    chown(place.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
    let copy = place.path().join("copy");
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), &copy).expect("it is a file");
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = Command::new("setpriv");
    command.current_dir(place.path());
    command.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--",
        "./copy",
    ]);
    command
}

/// Whether any file of a recording has these bytes.
fn holds(recording: &std::path::Path, wanted: &[u8]) -> bool {
    let files = fs::read_dir(recording).expect("it is there").flatten();
    let mut files = files.filter(|it| it.path().is_file());
    files.any(|it| {
        let bytes = fs::read(it.path()).expect("it can be read");
        bytes.windows(wanted.len()).any(|it| it == wanted)
    })
}

#[test]
fn a_log_that_cannot_be_read_is_refused_before_anything_is_done() {
    let place = Place::new();
    place.write("log", "");
    for (log, said) in [
        (".", "--log . is a folder. Name the file in it"),
        ("/dev/null", "--log /dev/null is no file"),
        ("log/x", "--log log/x: cannot read it"),
    ] {
        let ended = place.run(&["run", "--log", log, "--", "touch", "done"]);
        ended.status(125).says(said);
    }
    assert!(place.recordings().is_empty() && !place.path().join("done").exists());
}

#[test]
fn a_log_that_is_awaited_and_turned_is_counted_whole() {
    let place = Place::new();
    place.script(
        "load.sh",
        "sleep 1; echo one >> late.log; sleep 0.5; mv late.log late.log.1; echo two >> late.log.1; sleep 0.5; \
         echo three >> late.log; sleep 0.5; : > late.log; sleep 0.5; echo 4 >> late.log; sleep 0.5",
    );
    let ended = place.run(&[
        "run",
        "--log",
        "late.log",
        "--target",
        "pid:1",
        "--",
        "./load.sh",
    ]);
    ended.status(0);
    let opened = place.opened();
    let log = opened.timeline.entities.of_kind(EntityKind::Log).next();
    let log = log.expect("it came to be").id;
    let last = |column| {
        let series = opened.timeline.series("log", log, column).expect(column);
        series
            .values_in(opened.timeline.window)
            .last()
            .map(|(_, value)| value)
    };
    assert_eq!(last("lines"), Some(4), "{ended}");
    assert_eq!(last("rotations"), Some(2), "moved once, cut off once");
    let gap = opened.meta.gaps.iter().find(|it| it.table == "log");
    let gap = gap.expect("it was not there").reason.to_string();
    assert!(
        gap.contains("did not exist when the recording began"),
        "{gap}"
    );
}

/// What takes messages for the journal, where it runs.
const JOURNAL: &str = "/run/systemd/journal/stdout";
/// Where systemd keeps the program that does.
const JOURNALD: [&str; 2] = [
    "/usr/lib/systemd/systemd-journald",
    "/lib/systemd/systemd-journald",
];

/// The machine's journal; where nobody keeps one, systemd's own program does while the test runs. The error says why
/// there is none.
fn journal() -> Result<Option<Running>, &'static str> {
    if UnixStream::connect(JOURNAL).is_ok() {
        return Ok(None);
    }
    let Some(program) = JOURNALD.into_iter().find(|it| Path::new(it).is_file()) else {
        return Err("there is no journal, and no systemd-journald to keep one");
    };
    if !needs::is_root() {
        return Err("there is no journal, and only root may start one");
    }
    let running = Running::start(Command::new(program));
    wait_until("systemd-journald takes no messages", || {
        UnixStream::connect(JOURNAL).is_ok()
    });
    Ok(Some(running))
}

#[test]
fn messages_of_the_journal_are_counted_by_their_template() {
    if !needs::root() || !needs::program("systemd-cat") || !needs::program("journalctl") {
        return;
    }
    let journal = match journal() {
        Ok(journal) => journal,
        Err(why) => return needs::skip(why),
    };
    let place = Place::new();
    place.script(
        "app.sh",
        "sleep 1; for n in $(seq 11 50); do echo \"worker $n took the slot of carol, password swordfish\"; done | \
         systemd-cat -t app; sleep 2",
    );
    let ended = place.run(&["run", "--log", "journal", "--", "./app.sh"]);
    ended.status(0);
    drop(journal);

    let opened = place.opened();
    let entities = &opened.timeline.entities;
    let log = entities.of_kind(EntityKind::Log).next();
    assert_eq!(log.expect("it is read").entity.name, "journal");
    let template = entities
        .of_kind(EntityKind::LogTemplate)
        .find(|it| it.entity.name.starts_with("worker"))
        .expect("its messages have one");
    assert_eq!(
        template.entity.name,
        "worker <*> took the slot of carol, password <*>"
    );
    let lines = opened
        .timeline
        .series("log_template", template.id, "lines")
        .expect("they are counted")
        .values_in(opened.timeline.window)
        .last();
    assert_eq!(lines.map(|(_, count)| count), Some(40), "{ended}");
    assert!(!holds(&place.recording(), b"swordfish"));
}
