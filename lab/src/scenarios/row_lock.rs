//! One session holds a row lock most of the time and does nothing; all others wait for it.

use std::process::Command;

use anyhow::{Context, Result};

use super::loads::pgbench_script;
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// More rounds of 250 ms than any run is long.
const ROUNDS: usize = 400;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "row-lock",
        about: "Eight pgbench clients update one row, which another session keeps locked for 200 of \
                every 250 ms, idle inside its transaction.",
        set: Set::Tuned,
        mechanism: "row lock held by an idle session",
        kind: Kind::Cause,
        expect: Expect::one("lock.database", Who::Holder),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_row")?;
    server.execute("CREATE TABLE lab_row AS SELECT 1 AS id, 0 AS value")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let pid = hold(stage)?;
        stage.cast.insert(Who::Holder, format!("pid:{pid}@"));
    }
    let update = "UPDATE lab_row SET value = value + 1 WHERE id = 1;\n";
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], update)?;
    load.with("--postgres", dsn).ready()
}

/// Starts the session that holds; the process that serves it.
fn hold(stage: &mut Stage) -> Result<u32> {
    let path = stage.script("hold.sql", &script())?;
    let server = stage.started()?;
    let mut psql: Command = server.client("psql");
    psql.args(["-q", "-A", "-t", "-f"]).arg(path).arg(DATABASE);
    let (_, line) = stage.beside_that_speaks(psql)?;
    line.parse()
        .with_context(|| format!("psql said {line} for the process of its session"))
}

/// The sleeps are the client's: a transaction that is forgotten, not one that works.
fn script() -> String {
    let mut text = "SELECT pg_backend_pid();\n\\o /dev/null\n".to_owned();
    for _ in 0..ROUNDS {
        text.push_str("BEGIN;\nUPDATE lab_row SET value = 0 WHERE id = 1;\n\\! sleep 0.2\n");
        text.push_str("COMMIT;\n\\! sleep 0.05\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = script();
        assert_eq!(
            text.matches("BEGIN;").count(),
            text.matches("COMMIT;").count()
        );
        assert!(text.starts_with("SELECT pg_backend_pid();"));
    }
}
