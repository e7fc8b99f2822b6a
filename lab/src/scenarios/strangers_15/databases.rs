//! PostgreSQL, PgBouncer, and stores of one's own.

use anyhow::{Context, Result};

use super::programs::{CC, GO, PGBOUNCER, missing};
use super::{cause, second, servers, third_databases, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, device_of};

/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// Articles of a shop.
const STOCK: &str = "CREATE TABLE lab_stock WITH (fillfactor = 50) AS \
    SELECT n AS id, 0 AS sold FROM generate_series(1, 200) AS n";
/// What a customer buys.
const SELL: &str =
    "\\set id random(1, 200)\nUPDATE lab_stock SET sold = sold + 1 WHERE id = :id;\n";
/// Clients that a pooler takes, and enough of them.
const CLIENTS: &str = "10";
const ENOUGH: &str = "200";
/// Bytes of a store's file, and reads per second that its volume gives.
const FILE: usize = 64 << 20;
const READS: u32 = 300;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-forgotten-transaction",
                "row lock held by an idle session",
                "Eight pgbench clients sell articles, and wait while a job that has changed all of them \
                 asks somebody else for their prices inside its transaction, for 200 of every 250 ms.",
            ],
            Expect {
                // Without asking the server, nobody knows who holds the lock.
                or: &[("lock.database", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            forgotten_transaction,
        ),
        cause(
            [
                "pgbouncer-too-many-clients",
                "clients that a pooler turns away by their number",
                "Forty workers without a pool open a session of PgBouncer, which takes ten clients, ask \
                 something, keep the session for 200 ms, and try again when they are turned away.",
            ],
            Expect::one("limit.connections", Who::Target),
            too_many_clients,
        ),
        cause(
            [
                "go-log-on-slow-disk",
                "fsync on a slow disk",
                "Four connections write keys to a store in Go, which syncs its log and its table before it \
                 answers, on a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            log_on_slow_disk,
        ),
        cause(
            [
                "c-volume-limit",
                "limited reads",
                "Eight connections ask a store in C, which reads four blocks for each answer past the page \
                 cache, and its group may read 300 times per second, as a small volume of a cloud.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            volume_limit,
        ),
    ]
}

/// From <https://rillence.com/scenarios/blocking-transaction/>, where a transaction that stayed open held the lock of a row and
/// all writes to it hung, with the CPUs idle, and GitLab's and every other runbook about `idle in transaction`; the remedy is
/// to end the session, and to ask nobody else inside a transaction.
fn forgotten_transaction(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_stock")?;
    server.execute(STOCK)?;
    server.execute("ALTER TABLE lab_stock ADD PRIMARY KEY (id)")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let job = third_databases::session(stage, "job.sql", &changing_prices())?;
        stage.cast.insert(Who::Holder, format!("pid:{job}@"));
    }
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], SELL)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's.
fn changing_prices() -> String {
    let change = "UPDATE lab_stock SET sold = sold";
    let round = format!("BEGIN;\n{change};\n\\! sleep 0.2\nCOMMIT;\n\\! sleep 0.05\n");
    round.repeat(ROUNDS)
}

/// From <https://dba.stackexchange.com/questions/216591/pgbouncer-no-more-connections-allowed-max-client-conn> and
/// <https://www.fixwikihub.com/articles/fix-pgbouncer-connection-pool-exhausted>: "no more connections allowed
/// (max_client_conn)", since the pooler takes fewer clients than there are.
fn too_many_clients(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    let clients = match cause {
        Cause::Made => CLIENTS,
        Cause::Removed => ENOUGH,
    };
    stage.postgres(&[])?;
    let user = stage.started()?.user().to_owned();
    let (pid, socket) = servers::pgbouncer_for(stage, clients)?;
    let socket = socket.to_str().context("a path of our own is text")?;
    let words = ["sessions", socket, "--user", &user, "--database", DATABASE];
    // PostgreSQL was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From etcd-io/etcd#11809 and <https://github.com/etcd-io/etcd/discussions/17305>: requests of etcd take too long or time out
/// since the disk takes its time to sync the log, which is what its makers ask after first.
fn log_on_slow_disk(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let (_, port) = servers::store(stage, &disk, cause == Cause::Made)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From <https://repost.aws/knowledge-center/rds-low-burst-balance> and
/// <https://www.mongodb.com/docs/atlas/reference/alert-resolutions/disk-io-utilization>: a volume of a cloud has used up its
/// credits, gives the few operations per second that belong to its size, and the database on it is slow.
fn volume_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let (pid, port) = second::reading(stage, &file.to_string_lossy(), "beside")?;
    if cause == Cause::Made {
        let device = device_of(stage.folder());
        let limit = device.map(|device| Limit::ReadsPerSecond(device, READS));
        match limit.and_then(|limit| stage.confine("limited", pid, &[limit])) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let address = here(&port);
    unknown(stage, &["load", &address, "--connections", "8"])?.ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = changing_prices();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
    }
}
