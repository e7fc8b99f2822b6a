//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{GO, HEY, hey, missing};
use super::{cause, downstream, second, servers, third_databases};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, disk_name_of};

/// What the service reads from, past the page cache.
const FILE: usize = 64 << 20;
/// Blocks of a request: with so few clients, half of what the disk can do.
const READS: &str = "48";
/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;
/// All clients may have the lock at once, but not beside the session that wants it alone.
const SCRIPT: &str = "BEGIN;\nSELECT pg_advisory_xact_lock_shared(7);\n\
    SELECT count(*) FROM pgbench_accounts WHERE aid < 2000;\nCOMMIT;\n\\sleep 3 ms\n";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "go-reads-and-service",
                "reads from the disk and a slow service",
                "hey asks a Go service over two connections, and each request reads 48 blocks, one \
                 after the other, past the page cache and then asks a service behind it that takes 4 \
                 ms.",
            ],
            Expect::one("io.latency", Who::Disk).and("net.remote", Who::Peer),
            reads_and_service,
        ),
        both(
            [
                "postgres-advisory-lock-and-neighbour",
                "advisory lock of an idle session and a neighbour on the CPUs",
                "Four pgbench clients with 3 ms to think share an advisory lock of PostgreSQL, which \
                 another session keeps for itself for 150 of every 250 ms and does nothing, and \
                 another group with a far higher weight computes on every CPU for 12 of every 20 ms.",
            ],
            Expect::one("lock.database", Who::Holder).and("cpu.neighbour", Who::NeighbourGroup),
            advisory_lock_and_neighbour,
        ),
    ]
}

fn reads_and_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 4_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let file = second::large_file(stage, FILE)?;
    let disk = disk_name_of(&file)?;
    stage.cast.insert(Who::Disk, disk);
    let file = file.to_string_lossy();
    let mut words = vec!["-file", &file, "-reads", READS, "-service", &address];
    if cause == Cause::Made {
        words.push("-direct");
    }
    let (_, port) = servers::reader(stage, &words)?;
    hey(stage, &port, 2).ready()
}

fn advisory_lock_and_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let dsn = stage.postgres(&[])?.dsn();
    if cause == Cause::Made {
        let holder = third_databases::session(stage, "hold.sql", &holding())?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
        if let Err(error) = bursts(stage) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    let load = pgbench_script(stage, &["-c", "4", "-j", "1"], SCRIPT)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's.
fn holding() -> String {
    let round = "SELECT pg_advisory_lock(7);\n\\! sleep 0.15\nSELECT pg_advisory_unlock(7);\n\
                 \\! sleep 0.1\n";
    round.repeat(ROUNDS)
}

/// Starts somebody else with a far higher weight, who computes on every CPU in bursts.
fn bursts(stage: &mut Stage) -> Result<()> {
    let threads = std::thread::available_parallelism()?.to_string();
    let words = ["burn", "--threads", &threads];
    let words = [&words[..], &["--burst", "12", "--pause", "8"]].concat();
    let neighbour = stage.beside(stage.own(&words)?)?;
    let group = stage.confine("neighbour", neighbour, &[Limit::CpuShares(SHARES)])?;
    stage.cast.insert(Who::NeighbourGroup, group.path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_gives_the_lock_back() {
        let text = holding();
        assert_eq!(text.matches("pg_advisory_lock(7)").count(), ROUNDS);
        assert_eq!(text.matches("pg_advisory_unlock(7)").count(), ROUNDS);
    }
}
