//! PgBouncer before PostgreSQL, and MariaDB.

use anyhow::Result;

use super::programs::{PGBOUNCER, PYTHON, missing};
use super::{cause, first, second, third_databases};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{MARIADB, MARIADB_PACKAGES, sysbench_load};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, device_of};

/// So few connections has PgBouncer to PostgreSQL.
const POOL: u32 = 2;
/// The sleep is the client's, who keeps its session meanwhile.
const SCRIPT: &str = "SELECT 1;\n\\sleep 10 ms\n";

/// What the backup reads.
const FILE: usize = 256 << 20;
/// More than any disk can do: the group is there to have a name, and limits nothing.
const READS: u32 = 100_000_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "pgbouncer-idle-in-session",
                "pool of connections that idle sessions hold",
                "Twelve pgbench clients ask PgBouncer in a session of their own for each transaction, \
                 and keep it for 10 ms in which they do nothing, and PgBouncer gives each session one \
                 of its two connections to PostgreSQL.",
            ],
            Expect::one("limit.pool", Who::Target),
            idle_in_session,
        ),
        cause(
            [
                "mariadb-backup",
                "disk taken by large reads of a backup",
                "Eight sysbench threads read single rows of 50 MB from MariaDB, which keeps 8 MB of \
                 them, while a backup in another group reads the same disk in pieces of 4 MB.",
            ],
            Expect::one("io.neighbour", Who::NeighbourGroup),
            backup,
        ),
    ]
}

fn idle_in_session(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    stage.postgres(&[])?;
    let mode = match cause {
        Cause::Made => "session",
        Cause::Removed => "transaction",
    };
    let (_, port) = first::pgbouncer_in_mode(stage, mode, POOL)?;
    let user = stage.started()?.user().to_owned();
    let server = ["-h", "127.0.0.1", "-p", &port, "-U", &user];
    // -C: a connection for each transaction.
    let words = [&server[..], &["-C", "-c", "12", "-j", "2"]].concat();
    pgbench_script(stage, &words, SCRIPT)?.ready()
}

fn backup(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let (_, port) = third_databases::large_table(stage)?;
    if cause == Cause::Made {
        let program = ["backup.py", include_str!("../../../programs/backup.py")];
        let mut backup = first::interpreted(stage, first::PYTHON, program)?;
        backup.arg(file);
        let (backup, _) = stage.beside_that_speaks(backup)?;
        let limit = device_of(stage.folder()).map(|device| Limit::ReadsPerSecond(device, READS));
        match limit.and_then(|limit| stage.confine("backup", backup, &[limit])) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let words = third_databases::rows(&port, "8", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}
