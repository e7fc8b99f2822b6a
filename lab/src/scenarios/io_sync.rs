//! Tiny transactions, each of which must be on the disk before it is answered. One backend waits for
//! the disk and the others for it: the crowd looks like a lock, and is not.

use anyhow::Result;

use super::loads::pgbench_script;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "io-sync",
        about: "Eight pgbench clients insert one row per transaction, and each commit waits until \
                the log is on a disk that takes its time.",
        set: Set::Tuned,
        mechanism: "fsync on a slow disk",
        kind: Kind::Cause,
        expect: Expect::one("io.sync", Who::Target),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
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
    let insert = "INSERT INTO lab_log VALUES (:client_id);\n";
    pgbench_script(stage, &["-c", "8", "-j", "1"], insert)?.ready()
}
