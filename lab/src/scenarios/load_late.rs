//! A rate that the generator cannot keep: its few clients think inside their transactions, and the
//! next one is due before any of them is free. The server has nothing to do with it.

use anyhow::Result;

use super::loads::pgbench_script;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// 20 ms of thinking make 50 transactions per second of a client: four make 200 of the 400.
const SCRIPT: &str = "\\set aid random(1, 100000)\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
    \\sleep 20 ms\n";

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "load-late",
        about: "Four pgbench clients that think for 20 ms in each transaction are asked for 400 per \
                second, and make half of them.",
        set: Set::Tuned,
        mechanism: "generator behind its schedule",
        kind: Kind::Cause,
        expect: Expect::one("load.late", Who::Generator),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    let clients = match cause {
        Cause::Made => "4",
        Cause::Removed => "40",
    };
    pgbench_script(stage, &["-c", clients, "-j", "2", "-R", "400"], SCRIPT)?.ready()
}
