//! Many threads and one mutex, as around an embedded database: seen by `record` alone.

use anyhow::{Context, Result};

use super::{beside, cause};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::server::said;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![cause(
        [
            "threads-one-mutex",
            "one mutex among threads",
            "Twelve connections, each with a thread of the server, and every request sleeps 0.5 ms \
             while it holds the one mutex; recorded without its load.",
        ],
        Expect::one("lock.futex", Who::Target),
        one_mutex,
    )]
}

fn one_mutex(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let mut words = vec!["serve", "hot-mutex", "--sleep", "500"];
    if cause == Cause::Removed {
        words.push("--outside");
    }
    let (pid, line) = stage.beside_that_speaks(stage.own(&words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    beside(stage, pid, &["load", address, "--connections", "12"])?.ready()
}
