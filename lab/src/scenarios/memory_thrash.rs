//! A memory limit far below what the load touches: pages are evicted and read again all the time.

use anyhow::Result;

use super::loads::pgbench_script;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage, forget_cached};

/// The server's own memory and a small part of the 150 MB that the load reads.
const LIMIT: u64 = 40 << 20;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "memory-thrash",
        about: "Four pgbench clients read twenty rows at a time of 150 MB, and the server's control \
                group may keep 40 MB in memory, page cache included.",
        set: Set::Tuned,
        mechanism: "memory limit with refaults",
        kind: Kind::Cause,
        expect: Expect::one("memory.limit", Who::LimitedGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&["shared_buffers=8MB"])?;
    let (pid, data) = (server.pid(), server.data());
    if cause == Cause::Made {
        // Pages that others have read would be charged to nobody here.
        forget_cached(&data)?;
        match stage.confine("limited", pid, &[Limit::Memory(LIMIT)]) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    pgbench_script(stage, &["-c", "4", "-j", "1"], &script())?.ready()
}

/// Many pages per transaction: the time goes into reading them, and not into transactions.
fn script() -> String {
    let rows = 1..=20;
    let mut text: String = rows
        .clone()
        .map(|row| format!("\\set r{row} random(1, 1000000)\n"))
        .collect();
    let all: Vec<String> = rows.map(|row| format!(":r{row}")).collect();
    text.push_str("SELECT sum(abalance) FROM pgbench_accounts WHERE aid IN (");
    text.push_str(&all.join(", "));
    text.push_str(");\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_drawn_and_asked_for() {
        let text = script();
        assert_eq!(text.matches("random(").count(), 20);
        assert!(text.ends_with(":r19, :r20);\n"));
    }
}
