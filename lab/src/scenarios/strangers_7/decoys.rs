//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{LIGHTTPD, MEMCACHED, PYTHON, missing};
use super::{cause, first, second, servers, third_databases, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// So many processes have ended.
const ENDED: &str = "300";
/// More than any run is long, each 200 ms.
const WAITS: usize = 1000;
/// What is read meanwhile: some 1,000 rows of a table that nobody has locked.
const READ: &str = "SELECT count(*) FROM pgbench_accounts WHERE aid < 1000;\n\\sleep 4 ms\n";
/// Of the 1,024 connections that memcached admits.
const IDLE: &str = "900";
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
                "lighttpd-zombies",
                "processes that have ended and that nobody has waited for",
                "Three hundred processes of somebody else have ended and stay in the list of \
                 processes, while a connection with 4 ms to think asks lighttpd for a text that it \
                 compresses.",
            ],
            zombies,
        ),
        decoy(
            [
                "postgres-idle-in-transaction",
                "row locks of an idle session that nobody else wants",
                "A session of PostgreSQL has changed all rows of a table and is idle inside its \
                 transaction all the time, while two pgbench clients with 4 ms to think read another \
                 table.",
            ],
            idle_in_transaction,
        ),
        decoy(
            [
                "memcached-idle-connections",
                "connections that do nothing and nearly reach the limit",
                "Nine hundred connections to memcached, which admits 1,024, do nothing, while four \
                 others with 1 ms to think ask it for 300 keys at once.",
            ],
            idle_connections,
        ),
    ]
}

fn zombies(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    if cause == Cause::Made {
        let program = ["zombies.py", include_str!("../../../programs/zombies.py")];
        servers::staying(stage, program, &[ENDED])?;
    }
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", second::GZIP];
    let words = ["load", &address, "--connections", "1", "--think", "4000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn idle_in_transaction(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_other")?;
    server.execute("CREATE TABLE lab_other AS SELECT n FROM generate_series(1, 1000) AS n")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        third_databases::session(stage, "hold.sql", &holding())?;
    }
    let load = pgbench_script(stage, &["-c", "2", "-j", "1"], READ)?;
    load.with("--postgres", dsn).ready()
}

/// The waits are the client's, and short: the last one outlives it.
fn holding() -> String {
    let change = "BEGIN;\nUPDATE lab_other SET n = n + 1;\n";
    change.to_owned() + &"\\! sleep 0.2\n".repeat(WAITS)
}

fn idle_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        let program = [
            "connected.py",
            include_str!("../../../programs/connected.py"),
        ];
        servers::staying(stage, program, &[port.as_str(), IDLE])?;
    }
    let address = here(&port);
    let question = format!("get{}\r\n", " key".repeat(KEYS));
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    let asks = ["--text", &question, "--ends", "END\r\n"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}
