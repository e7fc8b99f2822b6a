//! Causes for which the diagnosis had no name when they were written. To say that it cannot tell is
//! right, and so is a name that it may have learned since; a wrong one and *healthy* are not.

use anyhow::{Context, Result};

use super::programs::{GO, HEY, JAVA, PYTHON, hey, missing};
use super::{cause, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Where names are asked for: on the port that is theirs, at an address that nobody else uses.
const NAMES: &str = "127.0.53.53:53";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let unnamed = |words, named, set_up| Scenario {
        kind: Kind::Unnamed,
        ..cause(words, Expect::undetermined_or(named), set_up)
    };
    vec![
        unnamed(
            [
                "go-mutex",
                "mutex of a runtime whose threads do not wait",
                "hey asks a Go service over sixteen connections, and each goroutine sleeps 2 ms while \
                 it holds the one mutex.",
            ],
            &[("lock.runtime", Who::Target)],
            go_mutex,
        ),
        unnamed(
            [
                "java-collections",
                "garbage collection that stops all threads",
                "An unknown generator asks a Java service whose heap is nearly full of objects that \
                 stay, so that it stops for collections most of the time.",
            ],
            &[
                ("lock.runtime", Who::Target),
                ("cpu.single_thread", Who::Thread),
            ],
            collections,
        ),
        unnamed(
            [
                "python-slow-names",
                "slow name server",
                "Eight connections ask a Python service, each of whose requests looks up a name at a \
                 name server that takes 30 ms.",
            ],
            &[("net.remote", Who::Peer)],
            slow_names,
        ),
        unnamed(
            [
                "python-sleeping-loop",
                "one thread that sleeps serves all",
                "Four connections ask a Python service of one thread, which sleeps 10 ms in each \
                 request.",
            ],
            &[("limit.pool", Who::Target)],
            sleeping_loop,
        ),
    ]
}

fn go_mutex(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let words = match cause {
        Cause::Made => ["2000", "0"],
        Cause::Removed => ["0", "2000"],
    };
    let (_, port) = servers::go(stage, words)?;
    hey(stage, &port, 16).ready()
}

fn collections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let heap = match cause {
        Cause::Made => "-Xmx64m",
        Cause::Removed => "-Xmx1g",
    };
    let options = ["-XX:+UseSerialGC", "-Xms64m", heap];
    let (pid, port) = servers::java(stage, &options, ["8", "0", "0", "256", "45000"])?;
    let collector = servers::thread_named(pid, "VM Thread")?;
    let collector = collector.context("the virtual machine collects in a thread of its own")?;
    stage.cast.insert(Who::Thread, format!("/tid:{collector}"));
    let address = format!("127.0.0.1:{port}");
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

fn slow_names(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => "30000",
        Cause::Removed => "0",
    };
    let words = [
        "serve",
        "downstream",
        "--names",
        "--listen",
        NAMES,
        "--sleep",
        sleep_us,
    ];
    let names = match stage.beside_that_speaks(stage.own(&words)?) {
        Ok((names, _)) => names,
        Err(error) => return Ok(SetUp::NotHere(format!("port 53 needs root: {error:#}"))),
    };
    let peer = format!("pid:{names}@ {NAMES}");
    stage.cast.insert(Who::Peer, peer);
    let (_, port) = servers::python(stage, &["--workers", "16", "--names", NAMES])?;
    let address = format!("127.0.0.1:{port}");
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn sleeping_loop(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => "10000",
        Cause::Removed => "0",
    };
    let words = ["--workers", "0", "--sleep-us", sleep_us];
    let (_, port) = servers::python(stage, &words)?;
    let address = format!("127.0.0.1:{port}");
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
