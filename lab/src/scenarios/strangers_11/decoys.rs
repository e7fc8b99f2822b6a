//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{MEMCACHED, PYTHON, REDIS, missing};
use super::{cause, first, seventh, third_databases, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// More than any run is long, a second each.
const SWITCHES: usize = 600;
/// What is noted meanwhile.
const NOTE: &str =
    "INSERT INTO lab_note SELECT n, 'text' FROM generate_series(1, 200) AS n;\n\\sleep 4 ms\n";
/// Workers that wait for a job.
const WORKERS: &str = "400";
/// Datagrams that are sent for each that is taken, every 20 ms.
const DATAGRAMS: &str = "30";
/// So many keys, none of which is there, are asked for at once: an answer that takes longer than the machine's noise.
const KEYS: usize = 300;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "postgres-failing-archive",
                "archive of a database's log that takes nothing",
                "PostgreSQL is to archive each file of its log by a command that fails, says so again \
                 and again, and keeps the files, while two pgbench clients with 4 ms to think insert \
                 rows.",
            ],
            failing_archive,
        ),
        decoy(
            [
                "redis-waiting-workers",
                "hundreds of blocked clients, each of which waits for a job",
                "Four hundred workers of somebody else wait for a job in a list of Redis that is empty \
                 all the time, while four connections with 1 ms to think ask Redis for a range of \
                 another list.",
            ],
            waiting_workers,
        ),
        decoy(
            [
                "memcached-dropped-datagrams",
                "datagrams of others that the kernel drops since a buffer is full",
                "Somebody else's receiver takes one of 30 datagrams that are sent to it, and the \
                 kernel drops the others, while four connections with 1 ms to think ask memcached for \
                 300 keys at once.",
            ],
            dropped_datagrams,
        ),
    ]
}

/// After <https://github.com/CrunchyData/postgres-operator/issues/2115>: files of the log piled up, since the command that
/// archives them failed again and again.
fn failing_archive(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let command = match cause {
        Cause::Made => "archive_command=false",
        Cause::Removed => "archive_command=true",
    };
    // Waits for the disk would be a cause.
    let settings = ["archive_mode=on", command, "synchronous_commit=off"];
    let server = stage.postgres(&settings)?;
    server.execute("DROP TABLE IF EXISTS lab_note")?;
    server.execute("CREATE TABLE lab_note (id int, text text)")?;
    let switches = "SELECT pg_switch_wal();\n\\! sleep 1\n".repeat(SWITCHES);
    third_databases::session(stage, "switches.sql", &switches)?;
    pgbench_script(stage, &["-c", "2", "-j", "1"], NOTE)?.ready()
}

/// After <https://github.com/redis/redis/issues/82>: somebody saw 374 blocked clients and asked whether these make Redis
/// slow.
fn waiting_workers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    let fill = "for i = 1, 200 do redis.call('RPUSH', 'items', i) end";
    let mut client = std::process::Command::new("redis-cli");
    client.args(["-p", &port, "EVAL", fill, "0"]);
    stage.step(client)?;
    if cause == Cause::Made {
        let program = [
            "waiting_workers.py",
            include_str!("../../../programs/waiting_workers.py"),
        ];
        seventh::staying(stage, program, &[&port, WORKERS])?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    let asks = ["--text", "LRANGE items 0 -1\r\n", "--ends", "200\r\n"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

/// After <https://github.com/netdata/netdata/issues/1754>: a monitor raised an alarm for errors of receive buffers, of a
/// service that reads more slowly than others send.
fn dropped_datagrams(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    let datagrams = match cause {
        Cause::Made => DATAGRAMS,
        Cause::Removed => "1",
    };
    let program = ["unread.py", include_str!("../../../programs/unread.py")];
    seventh::staying(stage, program, &[datagrams])?;
    let address = here(&port);
    let question = format!("get{}\r\n", " key".repeat(KEYS));
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    let asks = ["--text", &question, "--ends", "END\r\n"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}
