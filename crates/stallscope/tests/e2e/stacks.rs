//! Which functions CPU time goes to, of programs in many languages that know it themselves.

use std::collections::BTreeMap;

use analysis::stacks::{Stacks, cpu_samples, process_of};
use recording::Recording;

use crate::needs;
use crate::place::Place;
use crate::process::Running;

/// A program: what its output and its functions end in, the files it is made of, how it is built and started.
pub struct Program {
    pub name: &'static str,
    pub functions: [&'static str; 3],
    pub needs: &'static [&'static str],
    pub file: (&'static str, &'static str),
    pub build: &'static str,
    pub start: &'static str,
}

const PROGRAMS: [Program; 6] = [
    Program {
        name: "c",
        functions: ["heavy_c", "middle_c", "light_c"],
        needs: &["cc"],
        file: ("heavy.c", include_str!("stacks/heavy.c")),
        build: "cc -O2 -fomit-frame-pointer -o heavy-c heavy.c",
        start: "./heavy-c",
    },
    Program {
        name: "cc",
        functions: ["heavy_cc", "middle_cc", "light_cc"],
        needs: &["c++"],
        file: ("heavy.cc", include_str!("stacks/heavy.cc")),
        build: "c++ -O2 -fomit-frame-pointer -o heavy-cc heavy.cc",
        start: "./heavy-cc",
    },
    Program {
        name: "rs",
        functions: ["heavy_rs", "middle_rs", "light_rs"],
        needs: &["rustc"],
        file: ("heavy.rs", include_str!("stacks/heavy.rs.txt")),
        build: "rustc --edition 2024 -O -o heavy-rs heavy.rs",
        start: "./heavy-rs",
    },
    Program {
        name: "go",
        functions: ["heavyGo", "middleGo", "lightGo"],
        needs: &["go"],
        file: ("heavy.go", include_str!("stacks/heavy.go")),
        build: "GOCACHE=$PWD/cache GOFLAGS=-mod=mod go build -o heavy-go heavy.go",
        start: "./heavy-go",
    },
    Program {
        name: "js",
        functions: ["heavyJs", "middleJs", "lightJs"],
        needs: &["node"],
        file: ("heavy.js", include_str!("stacks/heavy.js")),
        build: "true",
        start: "node --perf-basic-prof --interpreted-frames-native-stack heavy.js",
    },
    Program {
        name: "java",
        functions: ["heavyJava", "middleJava", "lightJava"],
        needs: &["java", "javac"],
        file: ("Heavy.java", include_str!("stacks/Heavy.java")),
        build: "javac Heavy.java",
        // Compiled before they are called first, and once: what is interpreted has no name.
        start: "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -Xmx64m -Xcomp -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,Heavy.*Java -XX:CompileCommand=compileonly,Heavy.rounds Heavy",
    },
];

/// How long programs run, how many samples that gives, and by how much a share may differ: by over four standard
/// deviations of so many samples.
struct Extent {
    /// CPU time of each program, s.
    seconds: f64,
    samples: usize,
    difference: f64,
}

#[test]
fn functions_of_many_languages_have_their_share_of_the_cpu_time() {
    compare(&Extent {
        seconds: 1.4,
        samples: 4_000,
        difference: 0.035,
    });
}

/// Takes half a minute: `cargo test -p stallscope --test e2e -- --ignored stacks`.
#[test]
#[ignore = "long; the shorter one is always run"]
fn of_20_000_samples_shares_are_right_within_two_points() {
    compare(&Extent {
        seconds: 4.4,
        samples: 20_000,
        difference: 0.02,
    });
}

fn compare(extent: &Extent) {
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
    let words = ["run", "--stacks", "4999", "--", "sh", "all.sh"];
    let ended = Running::start(place.stallscope(&words)).end();
    ended.status(0);
    let recording = place.opened();
    for program in &PROGRAMS {
        let expected = own_shares(&ended.out_text(), program.name);
        let (samples, shares, whole) = sampled_shares(&recording, program);
        let what = format!(
            "{}: {shares:?} of {samples}, itself {expected:?}",
            program.name
        );
        println!("{what}, {:.1} % whole", whole * 100.0);
        assert!(samples >= extent.samples, "{what}");
        assert!(whole > 0.98, "{what}");
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < extent.difference, "{what}");
        }
    }
}

/// What a program says of itself: `NAME HEAVY MIDDLE LIGHT`, s.
pub fn own_shares(output: &str, name: &str) -> [f64; 3] {
    let start = format!("{name} ");
    let line = output.lines().find_map(|line| line.strip_prefix(&start));
    let line = line.unwrap_or_else(|| panic!("{name} says nothing in {output}"));
    let spent: Vec<f64> = line.split(' ').filter_map(|it| it.parse().ok()).collect();
    let sum: f64 = spent.iter().sum();
    [spent[0] / sum, spent[1] / sum, spent[2] / sum]
}

/// Whether a function is that one: `work::Worker<..>::heavy_cc`, `LazyCompile:*heavyJs heavy.js:13:17`.
pub fn is_called(name: &str, function: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.split(|letter| !is_letter(letter))
        .any(|word| word == function)
}

/// Of the samples in these functions or what they call: how many, each one's share, and how many stacks are whole.
fn sampled_shares(recording: &Recording, program: &Program) -> (usize, [f64; 3], f64) {
    let timeline = &recording.timeline;
    let stacks = Stacks::of(timeline).expect("stacks were recorded");
    let mut known: BTreeMap<i64, Option<usize>> = BTreeMap::new();
    let (mut counts, mut whole) = ([0_usize; 3], 0);
    for sample in cpu_samples(timeline, timeline.window) {
        let Some(stack) = sample.stack else {
            continue;
        };
        let function = known.entry(stack).or_insert_with(|| {
            let frames = stacks.frames(stack);
            program.functions.iter().position(|function| {
                let mut names = frames.iter().filter_map(|frame| frame.function);
                names.any(|name| is_called(name, function))
            })
        });
        if let Some(function) = function {
            assert!(process_of(timeline, sample.entity).is_some());
            counts[*function] += 1;
            whole += usize::from(sample.end == Some(0));
        }
    }
    let samples: usize = counts.iter().sum();
    let share = |count: usize| count as f64 / samples.max(1) as f64;
    (samples, counts.map(share), share(whole))
}
