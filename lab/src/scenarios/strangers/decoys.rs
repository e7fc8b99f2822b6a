//! What looks bad and costs nothing. The loads are closed loops, some with time to think, at 50 to 80 %
//! of what the server could do; whether a decoy costs something is told by the latency of the same
//! load alone, since a rate that is asked for does not move.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use anyhow::{Context, Result};

use super::super::held_out::{free_port, here, nginx, nginx_with};
use super::programs::{HAPROXY, JAVA, MEMCACHED, NGINX, NODE, REDIS, missing};
use super::stores::{GET, SET};
use super::{beside, cause, servers, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::server::two_cpus;
use crate::stage::{Limit, Stage};

/// What the group of nginx may use, with page cache.
const MEMORY: u64 = 64 << 20;
/// More than that.
const LARGE_FILE: u64 = 96 << 20;

const NOTHING_BESIDE: Costs =
    Costs::NotAsked("there is nothing beside the load that could be taken away");

/// Its situations.
#[expect(clippy::too_many_lines, reason = "a table of situations")]
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, costs, set_up| Scenario {
        kind: Kind::Decoy,
        costs,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "nginx-idle-class",
                "CPUs full of batch work",
                "A batch of the idle class fills the CPUs, while two connections with 2 ms to think \
                 ask nginx for a file.",
            ],
            Costs::Little,
            idle_class,
        ),
        decoy(
            [
                "redis-full-cpu-elsewhere",
                "full CPU that nobody here needs",
                "Redis and its two connections use one CPU for a part of the time, and another \
                 process fills the other.",
            ],
            Costs::Little,
            full_cpu_elsewhere,
        ),
        decoy(
            [
                "redis-busy-disk",
                "disk busy by others",
                "Another process reads and writes the disk as fast as it can, while two connections \
                 set a key in Redis, which keeps it in memory.",
            ],
            Costs::Little,
            busy_disk,
        ),
        decoy(
            [
                "nginx-full-memory",
                "memory full of page cache",
                "The group of nginx has used all of its memory for page cache that nobody needs \
                 again, while two connections ask for a small file.",
            ],
            Costs::Little,
            full_memory,
        ),
        decoy(
            [
                "java-idle-pool",
                "idle threads of a pool",
                "Two connections ask a Java service of whose 64 threads nearly all wait for work.",
            ],
            Costs::Little,
            idle_pool,
        ),
        decoy(
            [
                "memcached-think-time",
                "time to think",
                "Sixteen connections of an unknown generator ask memcached and sleep 30 ms before \
                 they ask again.",
            ],
            NOTHING_BESIDE,
            think_time,
        ),
        decoy(
            [
                "node-two-thirds",
                "closed loop below the capacity",
                "One connection asks Node.js for 4 ms of its event loop and sleeps 2 ms, so that the \
                 loop is busy for two thirds of the time and nothing ever waits for it.",
            ],
            NOTHING_BESIDE,
            two_thirds,
        ),
        decoy(
            [
                "haproxy-one-client",
                "one client",
                "One connection asks HAProxy, which answers at once; recorded without its load.",
            ],
            NOTHING_BESIDE,
            one_client,
        ),
    ]
}

fn idle_class(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = nginx(stage, 2)?;
    if cause == Cause::Made {
        let threads = std::thread::available_parallelism()?.to_string();
        let own = stage.own(&["burn", "--threads", &threads])?;
        let mut batch = Command::new("chrt");
        batch.args(["--idle", "0"]);
        batch.arg(own.get_program()).args(own.get_args());
        stage.beside_that_speaks(batch)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "2000"]].concat())?.ready()
}

fn full_cpu_elsewhere(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let Some((here_cpu, elsewhere)) = two_cpus()? else {
        return Ok(SetUp::NotHere("there is one CPU".to_owned()));
    };
    let (here_cpu, elsewhere) = (here_cpu.to_string(), elsewhere.to_string());
    let folder = stage.unprivileged_folder("redis")?;
    let below = ["taskset", "-c", &here_cpu];
    let (_, port) = servers::redis(stage, &below, &folder, &[])?;
    if cause == Cause::Made {
        let words = ["burn", "--threads", "1", "--cpu", &elsewhere];
        stage.beside_that_speaks(stage.own(&words)?)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "2", "--think", "1000"];
    let words = [&words[..], &["--cpu", &here_cpu], &SET].concat();
    unknown(stage, &words)?.ready()
}

fn busy_disk(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = servers::redis(stage, &[], &folder, &[])?;
    if cause == Cause::Made {
        let file = stage.folder().join("storage");
        let mut hammer = stage.own(&["storage", "--threads", "4", "--file"])?;
        hammer.arg(file);
        // Speaks once its file is there.
        stage.beside_that_speaks(hammer)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "2", "--think", "1000"];
    unknown(stage, &[&words[..], &SET].concat())?.ready()
}

fn full_memory(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("nginx")?;
    std::fs::write(folder.join("file"), "x".repeat(1000)).context("cannot write a file")?;
    let large = std::fs::File::create(folder.join("large")).context("cannot write a file")?;
    // Its pages are charged to whoever reads them first, which is nginx.
    large
        .set_len(LARGE_FILE)
        .context("cannot make a large file")?;
    let port = free_port()?.to_string();
    let places = format!("root {};", folder.display());
    let pid = nginx_with(stage, 2, &port, "", &places)?;
    if let Err(error) = stage.confine("limited", pid, &[Limit::Memory(MEMORY)]) {
        return Ok(SetUp::NotHere(format!("{error:#}")));
    }
    let address = here(&port);
    if cause == Cause::Made {
        fetch(&address, "/large")?;
    }
    let words = ["load", &address, "--http", "/file", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "1000"]].concat())?.ready()
}

/// Reads a file of a web server to its end.
fn fetch(address: &str, path: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address).context("the server was reached before")?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").context("cannot ask for a file")?;
    let read = std::io::copy(&mut stream.take(u64::MAX), &mut std::io::sink());
    let read = read.context("cannot read a file")?;
    anyhow::ensure!(
        read > LARGE_FILE,
        "{path} of {address} ended after {read} bytes"
    );
    Ok(())
}

fn idle_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let threads = match cause {
        Cause::Made => "64",
        Cause::Removed => "2",
    };
    let (_, port) = servers::java(stage, &[], [threads, "0", "0", "64", "0"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "3000"]].concat())?.ready()
}

fn think_time(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = servers::memcached(stage)?;
    let address = here(&port);
    let words = ["load", &address, "--connections", "16", "--think", "30000"];
    unknown(stage, &[&words[..], &GET].concat())?.ready()
}

fn two_thirds(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = servers::node(stage, ["4000", "1", "4000"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "1"];
    unknown(stage, &[&words[..], &["--think", "2000"]].concat())?.ready()
}

fn one_client(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::haproxy(stage)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "1"];
    beside(stage, pid, &words)?.ready()
}
