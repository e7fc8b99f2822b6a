//! All threads of the server on one CPU, as after a wrong `taskset`, while another CPU is free.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::{said, two_cpus};
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-imbalance",
        about: "Eight connections to a server whose four threads may use one CPU only, while another \
                CPU has nothing but the light load generator.",
        set: Set::Tuned,
        mechanism: "threads pinned to one CPU",
        kind: Kind::Cause,
        expect: Expect::one("cpu.imbalance", Who::Cpu),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let Some((crowded, free)) = two_cpus()? else {
        return Ok(SetUp::NotHere("it needs a second CPU".to_owned()));
    };
    let (crowded, free) = (crowded.to_string(), free.to_string());
    let words = [
        "serve",
        "single-thread",
        "--loops",
        "4",
        "--cpu",
        crowded.as_str(),
    ];
    let words = match cause {
        Cause::Made => &words[..],
        Cause::Removed => &words[..4],
    };
    let (_, line) = stage.beside_that_speaks(stage.own(words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    stage.cast.insert(Who::Cpu, format!("cpu{crowded}"));
    own(
        stage,
        &["load", address, "--connections", "8", "--cpu", &free],
    )?
    .ready()
}
