//! Servers in Perl, Python and C, all seen by `record` alone.

use std::process::Command;

use anyhow::Result;

use super::programs::{CC, PERL, PYTHON, missing};
use super::{beside, cause, limited, second, servers, third};
use crate::scenario::{Cause, Costs, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage, device_of};

/// What the server in Python writes to.
const FILE: usize = 16 << 20;
/// So many writes per second.
const WRITES: u32 = 200;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario {
            // Who thinks asks as often; it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "perl-favoured-neighbour",
                    "CPUs taken by a process of a better nice value",
                    "A process with the best nice value computes on every CPU for 12 of every 20 ms, \
                     while three connections with 5 ms to think ask a Perl server for 2 ms of CPU; \
                     recorded without its load.",
                ],
                Expect::one("cpu.neighbour", Who::Holder),
                favoured_neighbour,
            )
        },
        cause(
            [
                "python-limited-writes",
                "limited writes",
                "Four connections ask a Python server, which writes a block past the page cache for \
                 each request, and its group may write 200 times per second; recorded without its \
                 load.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            limited_writes,
        ),
        cause(
            [
                "c-readers-and-writer",
                "readers that wait for a writer in the background",
                "Twelve connections, each with a thread of a server in C, whose requests read under a \
                 lock for readers and a writer, and a thread in the background has it for itself for \
                 16 of every 20 ms; recorded without its load.",
            ],
            Expect::one("lock.futex", Who::Target),
            readers_and_writer,
        ),
    ]
}

fn favoured_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::perl(stage, &["8", "2000"])?;
    if cause == Cause::Made {
        let neighbour = match favoured(stage) {
            Ok(neighbour) => neighbour,
            Err(error) => return Ok(SetUp::NotHere(format!("no better nice value: {error:#}"))),
        };
        stage.cast.insert(Who::Holder, format!("pid:{neighbour}@"));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "3"];
    beside(stage, pid, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

/// Starts what computes in bursts on all CPUs and gets nearly all of them meanwhile.
fn favoured(stage: &mut Stage) -> Result<u32> {
    let threads = std::thread::available_parallelism()?.to_string();
    let words = ["burn", "--threads", &threads];
    let own = stage.own(&[&words[..], &["--burst", "12", "--pause", "8"]].concat())?;
    let mut favoured = Command::new("nice");
    favoured.args(["-n", "-20"]);
    favoured.arg(own.get_program()).args(own.get_args());
    let (pid, _) = stage.beside_that_speaks(favoured)?;
    Ok(pid)
}

fn limited_writes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    stage.give_away(&file)?;
    let program = [
        "direct_writes.py",
        include_str!("../../../programs/direct_writes.py"),
    ];
    let (pid, port) = third::python(stage, program, &[&file.to_string_lossy()])?;
    if cause == Cause::Made {
        let limit = match device_of(stage.folder()) {
            Ok(device) => Limit::WritesPerSecond(device, WRITES),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
        if let Some(why) = limited(stage, pid, limit) {
            return Ok(SetUp::NotHere(why));
        }
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    beside(stage, pid, &words)?.ready()
}

fn readers_and_writer(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "locked",
        Cause::Removed => "beside",
    };
    let (pid, port) = servers::renewing(stage, word)?;
    let address = here(&port);
    beside(stage, pid, &["load", &address, "--connections", "12"])?.ready()
}
