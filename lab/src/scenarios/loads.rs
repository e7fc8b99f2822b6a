//! The two generators that most scenarios use, and what is said about the second.

use anyhow::Context;

use crate::postgres::DATABASE;
use crate::scenario::{Cause, Load, SetUp};
use crate::server::{LATENCY, THROUGHPUT, said};
use crate::stage::Stage;

/// pgbench on the database `bench`, for as long as the stage says.
pub fn pgbench(stage: &Stage, words: &[&str]) -> Load {
    let seconds = stage.seconds.to_string();
    let words = ["pgbench", "-n"].iter().chain(words).copied();
    Load::new(words.chain(["-T", &seconds, DATABASE]))
}

/// pgbench with a script of our own.
pub fn pgbench_script(stage: &Stage, words: &[&str], script: &str) -> anyhow::Result<Load> {
    let mut load = pgbench(stage, words);
    let path = stage.script("load.sql", script)?;
    let database = load.command.pop();
    load.command.extend(["-f".into(), path]);
    load.command.extend(database);
    Ok(load)
}

/// Eight connections to one of this program's own servers with one lock, which works outside of it where the cause is
/// removed.
pub fn of_one_lock(stage: &mut Stage, cause: Cause, server: &str) -> anyhow::Result<SetUp> {
    let words = ["serve", server, "--outside"];
    let words = match cause {
        Cause::Made => &words[..2],
        Cause::Removed => &words[..],
    };
    let (_, line) = stage.beside_that_speaks(stage.own(words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    own(stage, &["load", address, "--connections", "8"])?.ready()
}

/// One of this program's own generators. `stallscope run` is told how to read its lines.
pub fn own(stage: &Stage, words: &[&str]) -> anyhow::Result<Load> {
    let seconds = stage.seconds.to_string();
    let command = stage.own(&[words, &["--seconds", &seconds]].concat())?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    Ok(Load::new(words)
        .with("--metric", THROUGHPUT)
        .with("--metric", LATENCY))
}
