//! The two generators that most scenarios use, and what is said about the second.

use crate::postgres::DATABASE;
use crate::scenario::Load;
use crate::server::{LATENCY, THROUGHPUT};
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

/// One of this program's own generators. `stallscope run` is told how to read its lines.
pub fn own(stage: &Stage, words: &[&str]) -> anyhow::Result<Load> {
    let seconds = stage.seconds.to_string();
    let command = stage.own(&[words, &["--seconds", &seconds]].concat())?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    Ok(Load::new(words)
        .with("--metric", THROUGHPUT)
        .with("--metric", LATENCY))
}
