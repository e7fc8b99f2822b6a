//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::databases::session;
use super::programs::{JAVA, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// More rounds than any run is long.
const ROUNDS: usize = 1000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "postgres-lock-and-commits",
                "table lock of an idle session and fsync",
                "Eight pgbench clients with 2 ms to think insert a row per transaction, each commit \
                 waits until the log is on a disk that takes its time, and another session keeps the table locked for \
                 200 of every 300 ms, idle inside its transaction.",
            ],
            Expect::one("lock.database", Who::Holder).and("io.sync", Who::Target),
            lock_and_commits,
        ),
        both(
            [
                "java-collections-and-service",
                "collections that stop all threads and a slow service",
                "Four connections ask a Java service that waits 4 ms for a service behind it and \
                 makes garbage in a heap that is nearly full of objects that stay.",
            ],
            Expect::one("lock.runtime", Who::Target).and("net.remote", Who::Peer),
            collections_and_service,
        ),
    ]
}

fn lock_and_commits(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let wait = match cause {
        Cause::Made => "synchronous_commit=on",
        Cause::Removed => "synchronous_commit=off",
    };
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let server = stage.postgres_with_log_on(&disk, &[wait])?;
    server.execute("DROP TABLE IF EXISTS lab_log")?;
    server.execute("CREATE TABLE lab_log (client int)")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let holder = session(stage, "hold.sql", &holding())?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
    }
    let insert = "INSERT INTO lab_log VALUES (:client_id);\n\\sleep 2 ms\n";
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], insert)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's; the lock lets others read, and write nothing.
fn holding() -> String {
    let round = "BEGIN;\nLOCK TABLE lab_log IN EXCLUSIVE MODE;\n\\! sleep 0.2\nCOMMIT;\n\
                 \\! sleep 0.1\n";
    round.repeat(ROUNDS)
}

fn collections_and_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let (sleep_us, heap) = match cause {
        Cause::Made => (4_000, "-Xmx64m"),
        Cause::Removed => (0, "-Xmx1g"),
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let options = ["-XX:+UseSerialGC", "-Xms64m", heap];
    let words = ["8", "8", &address, "768", "48000"];
    let (_, port) = servers::pooled(stage, &options, words)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
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
