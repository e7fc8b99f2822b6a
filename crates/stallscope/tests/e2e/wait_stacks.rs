//! In which functions programs in many languages wait, which know it themselves; and that these waits are all.

use std::collections::BTreeMap;

use analysis::stacks::{Stacks, WaitSample, wait_samples};
use model::{LedgerClass, MISSING, ThreadTimeClass};
use recording::Recording;

use crate::needs;
use crate::place::Place;
use crate::process::Running;
use crate::stacks::{Program, is_called, own_shares};

const PROGRAMS: [Program; 6] = [
    Program {
        name: "c",
        functions: ["heavy_c", "middle_c", "light_c"],
        needs: &["cc"],
        file: ("wait.c", include_str!("wait_stacks/wait.c")),
        build: "cc -O2 -fomit-frame-pointer -o wait-c wait.c -lpthread",
        start: "./wait-c",
    },
    Program {
        name: "cc",
        functions: ["heavy_cc", "middle_cc", "light_cc"],
        needs: &["c++"],
        file: ("wait.cc", include_str!("wait_stacks/wait.cc")),
        build: "c++ -O2 -fomit-frame-pointer -o wait-cc wait.cc -lpthread",
        start: "./wait-cc",
    },
    Program {
        name: "rs",
        functions: ["heavy_rs", "middle_rs", "light_rs"],
        needs: &["rustc"],
        file: ("wait.rs", include_str!("wait_stacks/wait.rs.txt")),
        build: "rustc --edition 2024 -O -o wait-rs wait.rs",
        start: "./wait-rs",
    },
    Program {
        name: "go",
        functions: ["heavyGo", "middleGo", "lightGo"],
        needs: &["go"],
        file: ("wait.go", include_str!("wait_stacks/wait.go")),
        build: "GOCACHE=$PWD/cache GOFLAGS=-mod=mod go build -o wait-go wait.go",
        start: "./wait-go",
    },
    Program {
        name: "js",
        functions: ["heavyJs", "middleJs", "lightJs"],
        needs: &["node"],
        file: ("wait.js", include_str!("wait_stacks/wait.js")),
        build: "true",
        start: "node --perf-basic-prof --interpreted-frames-native-stack wait.js",
    },
    Program {
        name: "java",
        functions: ["heavyJava", "middleJava", "lightJava"],
        needs: &["java", "javac"],
        file: ("Wait.java", include_str!("wait_stacks/Wait.java")),
        build: "javac Wait.java",
        // Code has a name once it is compiled, which such a program would not be in time.
        start: "java -Xcomp -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,Wait::* -XX:CompileCommand=dontinline,Wait::* -XX:+PreserveFramePointer \
                -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -Xmx64m Wait",
    },
];

/// For which parts of their time programs ask to wait in the three functions. What they measure themselves has the waits
/// for a CPU afterwards in it.
const ASKED: [f64; 3] = [0.6, 0.3, 0.1];

/// How long programs run, and how many waits that gives of each.
struct Extent {
    seconds: f64,
    waits: usize,
}

#[test]
fn functions_of_many_languages_have_their_share_of_the_waiting() {
    compare(&Extent {
        seconds: 2.0,
        waits: 400,
    });
}

/// Takes two minutes: `cargo test -p stallscope --test e2e -- --ignored wait_stacks`.
#[test]
#[ignore = "long; the shorter one is always run"]
fn of_20_000_waits_shares_are_right_within_two_points() {
    compare(&Extent {
        seconds: 90.0,
        waits: 20_000,
    });
}

fn compare(extent: &Extent) {
    const MOST_OFF: f64 = 0.02;
    let mut known = PROGRAMS.iter().flat_map(|it| it.needs);
    if !needs::root() || !known.all(|program| needs::program(program)) {
        return;
    }
    let place = Place::new();
    let mut script = String::new();
    for program in &PROGRAMS {
        let (file, text) = program.file;
        place.write(file, text);
        Running::start(place.shell(program.build)).end().status(0);
        script += &format!("{} {} &\n", program.start, extent.seconds);
    }
    place.write("all.sh", format!("{script}wait\n"));
    let words = [
        "run",
        "--min-wait",
        "0",
        "--trace-all",
        "--",
        "sh",
        "all.sh",
    ];
    let ended = Running::start(place.stallscope(&words)).end();
    ended.status(0);
    let recording = place.opened();
    for program in &PROGRAMS {
        let own = own_shares(&ended.out_text(), program.name);
        let (waits, shares, whole) = shares(&recording, program);
        let what = format!(
            "{}: {shares:?} of {waits}, with waits for a CPU {own:?}",
            program.name
        );
        println!("{what}, {:.1} % whole", whole * 100.0);
        assert!(waits >= extent.waits, "{what}");
        assert!(whole > 0.98, "{what}");
        for (share, expected) in shares.iter().zip(ASKED) {
            assert!((share - expected).abs() < MOST_OFF, "{what}");
        }
    }
    the_lock_is_found(&recording, &ended.out_text());
    they_add_up_to_the_accounts(&recording);
}

/// Of the waits in these functions or what they call: how many, each one's share of their time, and how many stacks are
/// whole.
fn shares(recording: &Recording, program: &Program) -> (usize, [f64; 3], f64) {
    let timeline = &recording.timeline;
    let stacks = Stacks::of(timeline).expect("stacks were recorded");
    let (mut count, mut ns, mut whole) = (0_usize, [0_i64; 3], 0_usize);
    for wait in wait_samples(timeline, timeline.window) {
        let function = wait.stack.and_then(|stack| {
            let mut functions = program.functions.iter();
            functions.position(|function| goes_through(&stacks, stack, function))
        });
        if let Some(function) = function {
            count += 1;
            ns[function] += wait.weight_ns;
            whole += usize::from(wait.end == Some(0));
        }
    }
    let all: i64 = ns.iter().sum();
    let shares = ns.map(|ns| ns as f64 / all.max(1) as f64);
    (count, shares, whole as f64 / count.max(1) as f64)
}

fn goes_through(stacks: &Stacks<'_>, stack: i64, function: &str) -> bool {
    let frames = stacks.frames(stack);
    let mut names = frames.iter().filter_map(|frame| frame.function);
    names.any(|name| is_called(name, function))
}

/// The C program's lock: its waits are in `take`, for that address, and end in `hand_on` of another thread.
fn the_lock_is_found(recording: &Recording, output: &str) {
    let timeline = &recording.timeline;
    let stacks = Stacks::of(timeline).expect("stacks were recorded");
    let address = output.lines().find_map(|line| line.strip_prefix("lock "));
    let address: i64 = address.and_then(|it| it.parse().ok()).expect("it says so");
    let is_in = |wait: &WaitSample, function| {
        wait.stack
            .is_some_and(|stack| goes_through(&stacks, stack, function))
    };
    let all = wait_samples(timeline, timeline.window);
    let waits: Vec<WaitSample> = all
        .filter(|wait| wait.class == LedgerClass::Futex && is_in(wait, "take"))
        .collect();
    assert!(waits.len() >= 50, "{}", waits.len());
    for wait in &waits {
        assert_eq!(wait.lock, Some(address));
    }
    // The name of the variable, of the process.
    let locks = timeline.table("lock").expect("it is a variable");
    let named = (0..locks.len()).filter(|row| locks.row(*row).next() == Some(address));
    let named: Vec<(&str, &str)> = named
        .map(|row| {
            let process = timeline.entities.get(locks.key(row).1);
            let text = timeline
                .strings
                .of_value(locks.row(row).nth(2).unwrap_or(MISSING));
            (
                &*process.expect("it is known").entity.name,
                &*text.expect("it is there").text,
            )
        })
        .collect();
    assert_eq!(named, [("wait-c", "the_lock")]);
    let hand_on = waits.iter().filter(|wait| {
        let stack = wait.waker_stack;
        stack.is_some_and(|stack| goes_through(&stacks, stack, "hand_on"))
            && wait.waker.is_some_and(|waker| waker != wait.entity)
    });
    let hand_on = hand_on.count();
    assert!(
        hand_on * 100 >= waits.len() * 98,
        "{hand_on} of {}",
        waits.len()
    );
}

/// The blocked time of all threads, by class, is that of their waits.
fn they_add_up_to_the_accounts(recording: &Recording) {
    let timeline = &recording.timeline;
    let mut sums: BTreeMap<LedgerClass, [i64; 2]> = BTreeMap::new();
    for wait in wait_samples(timeline, timeline.window) {
        assert_eq!(wait.wait_ns, wait.weight_ns, "every one was taken");
        sums.entry(wait.class).or_default()[0] += wait.wait_ns;
    }
    let data = timeline.table("thread_time").expect("it was counted");
    for entity in data.entities() {
        for class in ThreadTimeClass::ALL {
            let column = data.table.position(class.column());
            let (Some(column), Some(rows)) = (column, data.rows_of(entity)) else {
                continue;
            };
            let last = rows.last().map(|row| data.value(*row as usize, column));
            let ns = last.filter(|ns| *ns != MISSING).unwrap_or(0);
            sums.entry(class.ledger()).or_default()[1] += ns;
        }
    }
    let is_blocked = |class| !matches!(class, LedgerClass::OnCpu | LedgerClass::Throttled);
    for (class, [waits, account]) in sums.into_iter().filter(|(class, _)| is_blocked(*class)) {
        let off = (waits - account) as f64 / account.max(1) as f64;
        println!("{class:?}: {waits} ns in waits, {account} in the accounts, {off:+.4}");
        // A few waits of a class whose sum is nothing may lie across the first reading. And some are missing of whose
        // end the kernel tells no program: for some ms at a time it runs none on a CPU, as `switches_missed` counts.
        assert!(
            (waits - account).abs() <= account / 50 + 5_000_000,
            "{class:?}"
        );
    }
}
