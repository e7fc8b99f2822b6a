//! Programs that are started: each of 10,000 that live for a millisecond, against what the one who started them says.

use std::collections::BTreeMap;

use model::{EntityKind, MISSING, Timeline};
use recording::Recording;
use sensors::program_run::{End, PROGRAM_RUN};

use crate::needs;
use crate::place::Place;
use crate::process::Running;

const START: &str = include_str!("program_runs/start.c");
const SHORT: &str = include_str!("program_runs/short.c");

/// One row.
#[derive(Clone, Debug)]
struct Run {
    began: i64,
    ended: i64,
    parent_name: String,
    parent_pid: i64,
    exec: i64,
    command: String,
    parent_command: String,
    file: String,
    cpu_ns: i64,
    end: Option<End>,
    status: i64,
}

/// All rows by pid, of which each has one here unless it is listed more often.
fn runs(timeline: &Timeline) -> BTreeMap<i64, Vec<Run>> {
    let data = timeline.table(&PROGRAM_RUN.name).expect("it was recorded");
    let mut by_pid: BTreeMap<i64, Vec<Run>> = BTreeMap::new();
    for index in 0..data.len() {
        let (time, entity) = data.key(index);
        let value = |name| data.value(index, PROGRAM_RUN.position(name).expect("a column"));
        let text = |name| {
            let text = timeline.strings.of_value(value(name));
            text.map_or(String::new(), |text| text.text.to_string())
        };
        let parent = timeline.entities.get(entity).expect("it is known");
        let is_process = parent.entity.kind == EntityKind::Process;
        let run = Run {
            began: time.as_ns() - value("duration_ns"),
            ended: time.as_ns(),
            parent_name: if is_process {
                parent.entity.name.clone()
            } else {
                String::new()
            },
            parent_pid: value("parent_pid"),
            exec: value("exec"),
            command: text("command"),
            parent_command: text("parent_command"),
            file: text("file"),
            cpu_ns: value("cpu_ns"),
            end: End::of(value("end")),
            status: value("status"),
        };
        by_pid.entry(value("pid")).or_default().push(run);
    }
    by_pid
}

/// A recording of a script; `None` where programs are not recorded here.
fn recorded(place: &Place, words: &[&str]) -> Option<Recording> {
    let arguments = [&["run", "-q", "--no-report", "--"], words].concat();
    place.run(&arguments).status(0);
    let recording = place.opened();
    match &recording.meta.cost.programs["processes"] {
        Some(why) => {
            needs::skip(&format!("programs in the kernel: {why}"));
            None
        }
        None => Some(recording),
    }
}

/// What the program says of one that it started.
struct Said<'a> {
    is_fork: bool,
    pid: i64,
    before: i64,
    after: i64,
    cpu_us: i64,
    status: i64,
    line: &'a str,
}

impl<'a> Said<'a> {
    fn of(line: &'a str) -> Self {
        let (kind, rest) = line.split_once(' ').expect("a line of its own");
        let numbers = rest.split(' ').map(|it| it.parse().expect("a number"));
        let numbers: Vec<i64> = numbers.collect();
        let [pid, before, after, cpu_us, status] = numbers[..] else {
            panic!("five numbers: {line}");
        };
        Self {
            is_fork: kind == "fork",
            pid,
            before,
            after,
            cpu_us,
            status,
            line,
        }
    }

    fn assert_is(&self, run: &Run) {
        let what = format!("{}: {run:?}", self.line);
        assert!(
            self.before <= run.began && run.ended <= self.after,
            "{what}"
        );
        assert_eq!(run.parent_command, "./start 10000", "{what}");
        let ended = match self.status & 0x7f {
            0 => (Some(End::Exited), self.status >> 8 & 0xff),
            signal => (Some(End::Signalled), signal),
        };
        assert_eq!((run.end, run.status), ended, "{what}");
        if self.is_fork {
            let program = (run.exec, &*run.command, &*run.file);
            assert_eq!(program, (0, "./start 10000", ""), "{what}");
        } else {
            assert!(
                run.command.starts_with("short --password=*** job"),
                "{what}"
            );
            assert_eq!((run.exec, &*run.file), (1, "./short"), "{what}");
            assert!(run.ended - run.began > 1_000_000, "{what}");
        }
    }
}

#[test]
fn ten_thousand_processes_of_a_millisecond_are_all_listed() {
    if !needs::root() || !needs::program("cc") {
        return;
    }
    let place = Place::new();
    place.write("start.c", START);
    place.write("short.c", SHORT);
    let build = "cc -O2 -o start start.c && cc -O2 -static -o short short.c";
    Running::start(place.shell(build)).end().status(0);
    place.script("load", "./start 10000 >said");
    let Some(recording) = recorded(&place, &["./load"]) else {
        return;
    };
    let runs = runs(&recording.timeline);
    let said = place.read("said");
    let (mut listed, mut alike, mut own_ns, mut told_ns) = (0, 0, 0, 0);
    for said in said.lines().map(Said::of) {
        let own = runs.get(&said.pid);
        let [run] = own.map_or(&[][..], Vec::as_slice) else {
            panic!("{} is listed once: {own:?}", said.line);
        };
        said.assert_is(run);
        let told = said.cpu_us * 1_000;
        // A process that was waited for on one CPU may do its last steps on another.
        alike += usize::from((run.cpu_ns - told).abs() < 20_000);
        own_ns += run.cpu_ns;
        told_ns += told;
        listed += 1;
    }
    assert_eq!(listed, 10_000);
    let cpu = format!("CPU time of {alike} of {listed} alike, {own_ns} and {told_ns} ns in all");
    println!("{cpu}");
    let ratio = own_ns as f64 / told_ns as f64;
    assert!(alike > 9_800 && (ratio - 1.0).abs() < 0.01, "{cpu}");
    let mut texts = recording.timeline.strings.iter();
    assert!(texts.all(|it| !it.text.contains("hunter2")));
    let gaps = recording.timeline.gaps.iter();
    assert_eq!(
        gaps.filter(|it| it.table == PROGRAM_RUN.name).count(),
        0,
        "nothing was lost"
    );
}

#[test]
fn each_program_of_a_process_and_what_still_runs_is_listed_by_its_parent() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    // The shell becomes `env`, and that becomes `sleep`, which is ended by its parent; the last outlives the load.
    let script = "sh -c 'exec env A=b sleep 60' & chain=$!\n\
        sleep 1.5\nkill $chain\nwait $chain\n\
        setsid sleep 64 >/dev/null 2>&1 </dev/null & echo $! >last\nsleep 0.5\n";
    place.script("load", script);
    let recording = recorded(&place, &["sh", "./load"]);
    let last = place.read("last");
    crate::process::send(
        last.trim().parse().expect("a pid"),
        rustix::process::Signal::KILL,
    );
    let Some(recording) = recording else {
        return;
    };
    let all = runs(&recording.timeline);
    let of = |command: &str| -> Vec<(i64, Run)> {
        let runs = all
            .iter()
            .flat_map(|(pid, own)| own.iter().map(move |it| (*pid, it.clone())));
        runs.filter(|(_, run)| run.command == command).collect()
    };
    let [shell, env, sleep] = [
        "sh -c exec env A=*** sleep 60",
        "env A=*** sleep 60",
        "sleep 60",
    ]
    .map(|command| {
        let found = of(command);
        assert_eq!(found.len(), 1, "{command}: {all:?}");
        found[0].clone()
    });
    assert!(shell.0 == env.0 && env.0 == sleep.0, "one process");
    assert_eq!([shell.1.end, env.1.end], [Some(End::Replaced); 2]);
    assert_eq!((sleep.1.end, sleep.1.status), (Some(End::Signalled), 15));
    assert!(shell.1.ended == env.1.began && env.1.ended == sleep.1.began);
    assert_eq!(sleep.1.parent_command, "sh ./load");
    let still = of("sleep 64");
    assert_eq!(still.len(), 1, "{all:?}");
    assert_eq!(still[0].1.end, Some(End::Running));
    assert_eq!((still[0].1.cpu_ns, still[0].1.status), (MISSING, MISSING));
    let parent = of("sh ./load");
    assert_eq!(parent.len(), 1);
    assert_eq!(sleep.1.parent_pid, parent[0].0);
    assert_eq!(sleep.1.parent_name, "sh", "about its parent");
}
