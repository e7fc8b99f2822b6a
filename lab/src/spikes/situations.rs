//! The situations: ten that recur, five that do not.

mod databases;
mod disks;
mod neighbours;
mod servers;

use std::process::Command;

use anyhow::{Result, bail};

use super::situation::Situation;
use crate::postgres::DATABASE;
use crate::stage::Stage;

/// All, in the order in which they are made.
pub fn all() -> Vec<Situation> {
    let mut all = vec![
        disks::issued_checkpoints(),
        disks::timed_checkpoints(),
        databases::grants(),
        neighbours::cpu(),
        disks::rotated_log(),
        servers::paused(),
        servers::collected(),
        databases::batch(),
        databases::connections(),
        disks::neighbour(),
    ];
    all.extend([
        neighbours::random_cpu(),
        disks::random_checkpoints(),
        databases::random_connections(),
        disks::random_mix(),
        neighbours::none(),
    ]);
    all
}

/// Those that were named, of all runs `NAME` and `NAME.VARIANT`; all where none was.
pub fn chosen(names: &[String]) -> Result<Vec<(Situation, Vec<super::situation::Variant>)>> {
    let mut found = Vec::new();
    let mut unknown: Vec<&String> = names.iter().collect();
    for situation in all() {
        let mut variants = situation.variants().to_vec();
        let is_named = |text: &str, word: &str| {
            text == situation.name || text.strip_prefix(situation.name) == Some(&format!(".{word}"))
        };
        if !names.is_empty() {
            variants.retain(|it| names.iter().any(|name| is_named(name, it.word())));
        }
        let own = situation.variants();
        unknown.retain(|name| !own.iter().any(|it| is_named(name, it.word())));
        if !variants.is_empty() {
            found.push((situation, variants));
        }
    }
    if let Some(name) = unknown.first() {
        let known: Vec<&str> = all().iter().map(|it| it.name).collect();
        bail!(
            "there is no situation {name}; there are {}",
            known.join(", ")
        );
    }
    Ok(found)
}

/// Sessions of pgbench.
const CLIENTS: &str = "8";

/// pgbench at a fixed rate, over TCP, for longer than anything is recorded.
fn pgbench(stage: &Stage, words: &[&str]) -> Result<Command> {
    let mut command = client(stage, "pgbench")?;
    let seconds = stage.seconds.to_string();
    command.args(["-n", "-c", CLIENTS, "-j", "1", "-T", &seconds]);
    command.args(words).arg(DATABASE);
    Ok(command)
}

/// One of PostgreSQL's programs, led to the server by TCP.
fn client(stage: &Stage, program: &str) -> Result<Command> {
    let mut command = stage.started()?.client(program);
    command.env("PGHOST", "127.0.0.1");
    Ok(command)
}

/// Where it is measured.
fn target(stage: &Stage) -> Result<String> {
    Ok(format!("port:{}", stage.started()?.port()))
}

/// Writes a script that a shell will run; what is done to start it.
fn script(stage: &Stage, name: &str, text: &str) -> Result<String> {
    stage.script(name, &format!("#!/bin/sh\n{text}"))?;
    Ok(format!("run sh {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spikes::situation::Variant;

    #[test]
    fn there_are_ten_that_recur_and_five_that_do_not() {
        let all = all();
        let recurring = all.iter().filter(|it| it.period().is_some()).count();
        assert_eq!((recurring, all.len()), (10, 15));
        let mut names: Vec<&str> = all.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 15);
    }

    #[test]
    fn situations_are_named_with_and_without_their_variant() {
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
            chosen(&names).map(|found| {
                let runs = found.into_iter().flat_map(|(situation, variants)| {
                    variants.into_iter().map(move |it| (situation.name, it))
                });
                runs.collect::<Vec<_>>()
            })
        };
        assert_eq!(
            named(&["batch-lock", "grants.missed"]).expect("both are known"),
            [
                ("grants", Variant::Missed),
                ("batch-lock", Variant::Jitter),
                ("batch-lock", Variant::Missed),
            ]
        );
        assert!(named(&["batch-lock.never"]).is_err());
        assert_eq!(named(&[]).expect("all").len(), 25);
    }
}
