//! The generator is the limit: pgbench computes so much per transaction that its only thread is
//! always busy, while the server has little to do.

use std::fmt::Write;

use anyhow::Result;

use super::loads::pgbench_script;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// Expressions per transaction: about 2 ms of pgbench's CPU, against some 0.05 ms of the server's
/// for the SELECT. With eight clients there is always one whose answer has come, so that the thread
/// never waits.
const EXPRESSIONS: usize = 1600;
/// Variables that they set, by turns; more would only make pgbench look longer for each.
const VARIABLES: usize = 40;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "client-bound",
        about: "One pgbench thread evaluates 1,600 expressions between two cheap reads and uses a \
                whole CPU, while the server is mostly idle.",
        set: Set::Tuned,
        mechanism: "generator without time left",
        kind: Kind::Cause,
        expect: Expect::one("load.client", Who::Generator),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    let script = match cause {
        Cause::Made => script(EXPRESSIONS),
        Cause::Removed => script(1),
    };
    pgbench_script(stage, &["-c", "8", "-j", "1"], &script)?.ready()
}

fn script(expressions: usize) -> String {
    let mut text = String::new();
    for expression in 0..expressions {
        let variable = expression % VARIABLES;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\\set v{variable} random(1, 100000) * 3 + :scale % 7");
    }
    text.push_str("SELECT abalance FROM pgbench_accounts WHERE aid = :v0;\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_ends_with_its_only_statement() {
        let text = script(EXPRESSIONS);
        assert_eq!(text.lines().count(), EXPRESSIONS + 1);
        assert_eq!(text.matches(';').count(), 1);
        assert!(text.starts_with("\\set v0 random("));
    }
}
