//! A server with one thread that computes: it fills one CPU and cannot use another.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::said;
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "single-thread",
        about: "Four connections to a server whose one thread computes 0.4 ms for each request, \
                while another CPU is free.",
        set: Set::Tuned,
        mechanism: "one thread serves all",
        kind: Kind::Cause,
        expect: Expect::one("cpu.single_thread", Who::Thread),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if std::thread::available_parallelism()?.get() < 2 {
        return Ok(SetUp::NotHere("it needs a second CPU".to_owned()));
    }
    let loops = match cause {
        Cause::Made => "1",
        Cause::Removed => "2",
    };
    let server = stage.own(&["serve", "single-thread", "--loops", loops])?;
    let (_, line) = stage.beside_that_speaks(server)?;
    let (address, thread) = said(&line).context("the server says where it is")?;
    stage.cast.insert(Who::Thread, format!("/tid:{thread}"));
    own(stage, &["load", address, "--connections", "4"])?.ready()
}
