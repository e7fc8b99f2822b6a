//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::databases::GET;
use super::programs::{REDIS, missing};
use super::{cause, eighth, far, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{MARIADB, MARIADB_PACKAGES, sysbench, sysbench_load};
use crate::stage::{DELAYED_SERVER, Stage};

/// More rounds than any run is long.
const ROUNDS: usize = 2000;
/// The two sets: names, so that they are tables of these.
const FILL: &str = "for i = 1, 26000 do redis.call('SADD', 'first', 'f' .. i) \
    redis.call('SADD', 'second', 's' .. i) end";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "redis-far-and-unions",
                "long way to the client and a thread that somebody else's command keeps busy",
                "Four connections get a key from Redis, 3 ms away in each direction, and another \
                 client beside Redis has it unite two sets, again and again, in its one thread.",
            ],
            Expect::one("net.rtt", Who::Peer).and("cpu.single_thread", Who::Thread),
            far_and_unions,
        ),
        both(
            [
                "mariadb-far-and-locked-range",
                "long way to the client and a range without rows that a transaction has locked",
                "Four sysbench threads insert rows into MariaDB, 3 ms away in each direction, and a \
                 session has locked the end of the table, where there are no rows, for 20 of every \
                 30 ms, and does nothing.",
            ],
            Expect {
                // What can be seen from outside: without asking the server, nobody knows of its locks.
                or: &[("lock.database", Who::Target), ("lock.futex", Who::Target)],
                ..Expect::one("lock.database", Who::Holder).and("net.rtt", Who::Peer)
            },
            far_and_locked_range,
        ),
    ]
}

fn far_and_unions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let redis = servers::redis_for_all(stage)?;
    let (server, address) = match far(stage, &redis, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{server}"));
    let mut fill = Command::new("redis-cli");
    fill.args(["-h", DELAYED_SERVER, "-p", "7000", "EVAL", FILL, "0"]);
    stage.step(fill)?;
    if cause == Cause::Made {
        let mut other = near(stage, server, "redis-cli")?;
        // It complains when the server is gone.
        other.stderr(Stdio::null());
        stage.beside({
            other.args(["-h", DELAYED_SERVER, "-p", "7000", "-r", "-1", "-i"]);
            other.args(["0.001", "SUNIONSTORE", "both", "first", "second"]);
            other
        })?;
    }
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// A client that is beside a server in another network namespace.
fn near(stage: &Stage, server: u32, program: &str) -> Result<Command> {
    let inside = || {
        let mut command = Command::new("nsenter");
        command.args(["-t", &server.to_string(), "-n", "--"]);
        command
    };
    // What is asked for from inside goes this way.
    let mut up = inside();
    up.args(["ip", "link", "set", "lo", "up"]);
    stage.step(up)?;
    let mut client = inside();
    client.arg(program);
    Ok(client)
}

fn far_and_locked_range(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let mut mariadb = eighth::mariadb_for_all(stage)?;
    // Waits for the disk would be a third cause.
    mariadb.arg("--innodb-flush-log-at-trx-commit=0");
    let (server, _) = match far(stage, &mariadb, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let root = ["--no-defaults", "-h", DELAYED_SERVER, "-P", "7000"];
    let root = [&root[..], &["-u", "root"]].concat();
    let mut create = Command::new("mariadb");
    create.args(&root);
    create.args(["-e", "CREATE DATABASE sbtest"]);
    stage.step(create)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(inserts("1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        let path = stage.script("hold.sql", &holding())?;
        let mut holder = near(stage, server, "mariadb")?;
        holder.args(&root);
        holder.stderr(Stdio::null());
        holder.args(["sbtest", "-e"]);
        holder.arg(format!("source {}", path.display()));
        let pid = stage.beside(holder)?;
        stage.cast.insert(Who::Holder, format!("pid:{pid}@"));
    }
    sysbench_load(stage, inserts("4", "run"))
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// The words of a sysbench test on that server.
fn inserts(threads: &str, verb: &str) -> Vec<String> {
    let mut words = sysbench("oltp_insert", "7000", threads, verb);
    words.push(format!("--mysql-host={DELAYED_SERVER}"));
    words
}

/// The sleeps are the client's: a session that has looked whether there are newer rows, so that none may come.
fn holding() -> String {
    let round = "BEGIN;\nSELECT id FROM sbtest1 WHERE id > 100000000 FOR UPDATE;\n\\! sleep \
                 0.02\nCOMMIT;\n\\! sleep 0.01\n";
    round.repeat(ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = holding();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
    }
}
