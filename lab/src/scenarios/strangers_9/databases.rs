//! PostgreSQL, MariaDB and Redis.

use std::process::Command;

use anyhow::Result;

use super::programs::{REDIS, missing};
use super::{cause, servers, third_databases, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_server, sysbench_load, wait_for,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{DELAYED_SERVER, Stage, disk_name_of};

/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// What others want to insert, where it is missing.
const WANTED: &str = "\\set code random(1, 8)\nINSERT INTO lab_voucher VALUES (:code, now()) ON CONFLICT DO NOTHING;\n";
/// An order in one step, and one that is prepared first, as by a coordinator of several databases.
const AT_ONCE: &str = "BEGIN;\nINSERT INTO lab_order VALUES (:client_id);\nCOMMIT;\n";
const PREPARED: &str = "BEGIN;\nINSERT INTO lab_order VALUES (:client_id);\nPREPARE TRANSACTION \
    'order :client_id';\nCOMMIT PREPARED 'order :client_id';\n";
/// One packet of so many is lost.
const LOST: u32 = 50;
/// What Redis is asked for: a key that is not there.
pub const GET: [&str; 4] = ["--text", "GET key\r\n", "--ends", "\r\n"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-import-of-keys",
                "keys that an open transaction has inserted and others want to insert",
                "Eight pgbench clients insert vouchers into a table of PostgreSQL unless they are \
                 there, and an import takes all of them out and puts them in again, in a transaction \
                 that it keeps open for 200 of every 250 ms.",
            ],
            Expect::one("lock.database", Who::Holder),
            import_of_keys,
        ),
        cause(
            [
                "postgres-prepared-transactions",
                "transactions that are prepared first, with a sync of either step",
                "Four pgbench clients insert a row into PostgreSQL, which need not sync its log at a \
                 commit, but they prepare each transaction first and commit it then, each of which \
                 is synced, on a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            prepared_transactions,
        ),
        cause(
            [
                "mariadb-small-buffer-pool",
                "buffer pool of a database that is far smaller than its table",
                "Two sysbench threads read single rows of 50 MB from MariaDB, which by its settings \
                 keeps 8 MB in memory and reads the others from the disk, past the page cache.",
            ],
            Expect::one("io.latency", Who::Disk),
            small_buffer_pool,
        ),
        cause(
            [
                "redis-lossy-way",
                "way to the server on which packets are lost",
                "Eight connections ask Redis for a key over a short way that loses one packet of 50 \
                 in each direction.",
            ],
            Expect {
                or: &[("net.loss", Who::Machine)],
                ..Expect::one("net.loss", Who::Peer)
            },
            lossy_way,
        ),
    ]
}

fn import_of_keys(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_voucher")?;
    server.execute("CREATE TABLE lab_voucher (code int PRIMARY KEY, since timestamptz)")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let holder = third_databases::session(stage, "import.sql", &importing())?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
    }
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], WANTED)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's: an import that reads its file meanwhile.
fn importing() -> String {
    let round = "BEGIN;\nDELETE FROM lab_voucher;\nINSERT INTO lab_voucher SELECT n, now() FROM \
                 generate_series(1, 8) AS n;\n\\! sleep 0.2\nCOMMIT;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn prepared_transactions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let script = match cause {
        Cause::Made => PREPARED,
        Cause::Removed => AT_ONCE,
    };
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let settings = ["synchronous_commit=off", "max_prepared_transactions=16"];
    let server = stage.postgres_with_log_on(&disk, &settings)?;
    server.execute("DROP TABLE IF EXISTS lab_order")?;
    server.execute("CREATE TABLE lab_order (client int)")?;
    pgbench_script(stage, &["-c", "4", "-j", "1"], script)?.ready()
}

fn small_buffer_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let pool = match cause {
        Cause::Made => "--innodb-buffer-pool-size=8M",
        Cause::Removed => "--innodb-buffer-pool-size=256M",
    };
    let disk = disk_name_of(stage.folder())?;
    stage.cast.insert(Who::Disk, disk);
    // It reads past the page cache, and writes nothing that waits.
    let settings = [pool, "--innodb-flush-method=O_DIRECT"];
    let settings = [&settings[..], &["--innodb-flush-log-at-trx-commit=0"]].concat();
    let (_, port) = mariadb_server(stage, &settings, None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(third_databases::rows(&port, "1", "prepare"));
    stage.step(prepare)?;
    let words = third_databases::rows(&port, "2", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

fn lossy_way(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let lost = match cause {
        Cause::Made => LOST,
        Cause::Removed => 0,
    };
    let redis = servers::redis_for_all(stage)?;
    let server = match stage.server_behind_losses(&redis, lost) {
        Ok(server) => server,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    wait_for(&address)?;
    stage.cast.insert(Who::Peer, address.clone());
    let words = [&["load", &address, "--connections", "8"][..], &GET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = importing();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
    }
}
