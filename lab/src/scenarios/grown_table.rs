//! A table without an index that grows while the load runs: one function takes more and more of each request.

use std::time::Duration;

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Later, Scenario, Set, SetUp, Who};
use crate::server::said;
use crate::stage::Stage;

/// Two halves that are each long enough for a phase.
const SECONDS: u32 = 20;
/// Rows at first, and later.
const ROWS: [&str; 2] = ["100000", "1000000"];

/// The scenario.
pub fn scenario() -> Scenario {
    let names = [
        "grown-table",
        "a function that takes longer",
        "Six connections fill the CPUs; each request looks through a table without an index, which after ten seconds has \
         ten times as many rows.",
    ];
    let expect = Expect {
        also: Some("cpu.hot_code"),
        ..Expect::one("cpu.saturated", Who::Target)
    };
    Scenario {
        seconds: SECONDS,
        costs: Costs::NotAsked("both halves have the same cause"),
        ..Scenario::of_one_cause(Set::Tuned, names, expect, set_up)
    }
}

fn set_up(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    let rows = stage.script("rows", ROWS[0])?;
    let mut server = stage.own(&["serve", "growing-table", "--rows"])?;
    server.arg(&rows);
    let (_, line) = stage.beside_that_speaks(server)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    let mut load = own(stage, &["load", address, "--connections", "6"])?;
    load.later = Some(Later {
        after: Duration::from_secs(u64::from(stage.seconds) / 2),
        file: rows.into(),
        value: ROWS[1].to_owned(),
    });
    load.ready()
}
