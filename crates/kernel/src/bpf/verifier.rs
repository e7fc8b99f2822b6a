//! Verifier costs of each program, as a golden file: a change that makes a program ten times as expensive, or
//! brings it near the limit of a million instructions, shows when it is made.
//!
//! Constants have their values from the source; what user space sets before loading is not in the figures.

use std::collections::BTreeMap;
use std::ffi::c_char;

use crate::bpf::thread_time::wait_stacks::may_take_stacks;
use crate::requirement::needed;
use expect_test::expect_file;
use libbpf_rs::{AsRawLibbpf as _, ObjectBuilder, OpenObject};

/// Every program, compiled.
static OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));
/// Only the verifier's statistics (BPF_LOG_STATS).
const STATISTICS: u32 = 4;
/// Allowed ratio to the golden figures: another kernel or clang gives other numbers.
const SLACK: f64 = 1.5;

/// The golden files by kernel: each series counts in its own way. A kernel without one is held to the first.
const GOLDEN: [(&str, &str); 2] = [
    ("6.18.", "../../../../bpf/verifier/6.18.txt"),
    ("6.12.", "../../../../bpf/verifier/6.12.txt"),
];

/// By file and function: the numbers of the verifier's last line.
type Costs = BTreeMap<String, BTreeMap<String, u64>>;

#[test]
fn no_program_costs_the_verifier_more_than_it_did() {
    let Some((mut costs, refused)) = needed("programs in the kernel", measured()) else {
        return;
    };
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy().into_owned();
    let head = format!("Linux {release}, clang {}", env!("CLANG_MAJOR"));
    let own = GOLDEN
        .iter()
        .find(|(series, _)| release.starts_with(series));
    let (_, golden) = own.unwrap_or(&GOLDEN[0]);
    let golden = expect_file![*golden];
    let before = golden.data();
    // What this kernel refuses is as it was where the golden file was made.
    for (program, numbers) in read(&before) {
        if let Some(instead) = refused.get(&program) {
            println!("{program} is refused here; {instead}");
            costs.insert(program, numbers);
        }
    }
    let before_head = before.lines().next().unwrap_or_default();
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    if before_head == head || updates {
        golden.assert_eq(&written(&head, &costs));
        return;
    }
    println!(
        "The golden file is of {before_head}, this is {head}: at most {SLACK} times as much is allowed."
    );
    assert_eq!(beyond(&read(&before), &costs), Vec::<String>::new());
}

#[test]
fn a_program_that_costs_too_much_elsewhere_is_seen() {
    let golden = "Linux 6.18, clang 14\na.read insns=100 peak_states=9\nb.on_switch insns=10\n";
    let costs = |insns| {
        let text = format!("\na.read insns={insns} peak_states=80\nb.on_switch insns=15\n");
        read(&text)
    };
    assert_eq!(beyond(&read(golden), &costs(150)), Vec::<String>::new());
    assert_eq!(
        beyond(&read(golden), &costs(151)),
        ["a.read: 151 instructions, and 100 where the golden file was made"]
    );
    assert_eq!(
        beyond(&read("\n"), &costs(1)),
        [
            "a.read: not in the golden file",
            "b.on_switch: not in the golden file"
        ]
    );
    assert_eq!(beyond(&costs(1), &read("\n")).len(), 2, "those that went");
}

/// By file and function: what comes instead of a program that this kernel refuses.
type Refused = BTreeMap<String, &'static str>;

/// The program of a file that some kernels refuse, and what comes instead: as the loaders have it.
fn replaced(file: &str) -> Option<(&'static str, &'static str)> {
    match file {
        "flow" => Some(("walk_sockets", "walk_open_files takes its place")),
        "processes" => Some(("on_exit", "on_thread_exit takes its place")),
        "thread_time" if may_take_stacks().is_err() => {
            Some(("on_return", "waits have no call stacks"))
        }
        _ => None,
    }
}

/// The costs, and the programs that not every kernel has.
fn measured() -> Result<(Costs, Refused), String> {
    let (mut costs, mut refused) = (Costs::new(), Refused::new());
    for (file, bytes) in OBJECTS {
        let open = || {
            let object = ObjectBuilder::default().open_memory(bytes);
            object.map_err(|error| format!("{file}: {error:#}"))
        };
        let of_file = match (load(file, open()?, ""), replaced(file)) {
            (Err(_), Some((program, instead))) => {
                refused.insert(format!("{file}.{program}"), instead);
                load(file, open()?, program)
            }
            (loaded, _) => loaded,
        };
        costs.extend(of_file?);
    }
    Ok((costs, refused))
}

/// Loads all programs of a file but one.
fn load(file: &str, mut object: OpenObject, without: &str) -> Result<Costs, String> {
    let mut logs = Vec::new();
    for mut program in object.progs_mut() {
        if program.name() == without {
            program.set_autoload(false);
            continue;
        }
        program.set_log_level(STATISTICS);
        let name = program.name().to_string_lossy().into_owned();
        let mut log = vec![0_u8; 65_536];
        // SAFETY: the program belongs to `object`, which is loaded and dropped below, before the buffer is.
        let set = unsafe {
            libbpf_rs::libbpf_sys::bpf_program__set_log_buf(
                program.as_libbpf_object().as_ptr(),
                log.as_mut_ptr().cast::<c_char>(),
                log.len() as u64,
            )
        };
        assert_eq!(set, 0, "{file}.{name}");
        logs.push((format!("{file}.{name}"), log));
    }
    drop(
        object
            .load()
            .map_err(|error| format!("{file}: {error:#}"))?,
    );
    let read = logs.into_iter().map(|(name, log)| {
        let log = String::from_utf8_lossy(&log).into_owned();
        (name, statistics(&log))
    });
    Ok(read.collect())
}

/// Parses "processed 536 insns (limit 1000000) max_states_per_insn 2 total_states 30 ...".
fn statistics(log: &str) -> BTreeMap<String, u64> {
    let line = log.lines().find_map(|line| line.strip_prefix("processed "));
    let line = line.unwrap_or_else(|| panic!("no statistics in {log:?}"));
    let (insns, states) = line
        .split_once(" insns (limit 1000000) ")
        .expect("as in 6.18");
    let fields: Vec<&str> = states.split_whitespace().collect();
    let named = fields.chunks_exact(2).map(|it| (it[0], it[1]));
    let all = std::iter::once(("insns", insns)).chain(named);
    all.map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

fn written(head: &str, costs: &Costs) -> String {
    let mut text = format!("{head}\n");
    for (program, numbers) in costs {
        text += program;
        for (name, value) in numbers {
            text += &format!(" {name}={value}");
        }
        text += "\n";
    }
    text
}

fn read(text: &str) -> Costs {
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            let mut fields = line.split(' ');
            let program = fields.next().expect("a line has words").to_owned();
            let numbers = fields.filter_map(|word| word.split_once('='));
            let numbers =
                numbers.map(|(name, value)| (name.to_owned(), value.parse().expect("a number")));
            (program, numbers.collect())
        })
        .collect()
}

/// Programs that cost more than allowed, are new, or are gone.
fn beyond(before: &Costs, now: &Costs) -> Vec<String> {
    let mut found = Vec::new();
    for (program, numbers) in now {
        let Some(before) = before.get(program) else {
            found.push(format!("{program}: not in the golden file"));
            continue;
        };
        let (insns, before) = (numbers["insns"], before["insns"]);
        if insns as f64 > before as f64 * SLACK {
            found.push(format!(
                "{program}: {insns} instructions, and {before} where the golden file was made"
            ));
        }
    }
    let gone = before.keys().filter(|program| !now.contains_key(*program));
    found.extend(gone.map(|program| format!("{program}: is no more")));
    found
}
