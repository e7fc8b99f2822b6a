//! What is experimented on: situations of the lab whose limit is a capacity, and situations whose limit is none.

use anyhow::{Context, Result, bail};
use model::Capacity;

use crate::postgres::DATABASE;
use crate::scenario::{Cause, Load, SetUp};
use crate::scenarios;
use crate::server::said;
use crate::stage::{Limit, Stage, device_of};

/// A server under load.
pub struct Situation {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The capacity that limits it; `None` where none does that can be lowered.
    pub limit: Option<Capacity>,
    /// What `stallscope prove` is told beside the target.
    pub words: &'static [&'static str],
    /// Makes it.
    pub set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
}

/// Both that are tried where nothing is said.
const USUAL: &[&str] = &["--capacity", "cpu,disk"];

/// Situations of the lab, by what limits them. They last: of those that warm a cache until nothing limits them none is here.
const OF_CPU: [&str; 6] = [
    "cpu-saturated",
    "cpu-quota",
    "nginx-quota",
    "mariadb-saturated",
    "redis-quota",
    "apache-password-hashes",
];
const OF_DISK: [&str; 3] = [
    "mariadb-reads-limited",
    "python-limited-writes",
    "redis-limited-journal",
];
const OF_NEITHER: [&str; 7] = [
    "hot-mutex",
    "row-lock",
    "single-thread",
    "rate-limited",
    "neighbour-io",
    "nice-batch",
    "throttled-neighbour",
];

/// All, in the order in which they are made.
pub fn all() -> Result<Vec<Situation>> {
    let mut all = of_the_lab(&OF_CPU, Some(Capacity::Cpu))?;
    all.extend(of_the_lab(&OF_DISK, Some(Capacity::Disk))?);
    all.push(throttled_reads());
    all.extend(memory()?);
    all.push(few_clients());
    all.extend(of_the_lab(&OF_NEITHER, None)?);
    Ok(all)
}

/// Those that were named, all where none was.
pub fn chosen(names: &[String]) -> Result<Vec<Situation>> {
    let mut all = all()?;
    let unknown = names
        .iter()
        .find(|name| !all.iter().any(|it| it.name == name.as_str()));
    if let Some(name) = unknown {
        let known: Vec<&str> = all.iter().map(|it| it.name).collect();
        bail!(
            "there is no situation {name}; there are {}",
            known.join(", ")
        );
    }
    if !names.is_empty() {
        all.retain(|it| names.iter().any(|name| name == it.name));
    }
    Ok(all)
}

fn of_the_lab(names: &[&str], limit: Option<Capacity>) -> Result<Vec<Situation>> {
    let all = scenarios::all();
    let of_name = |name: &&str| {
        let found = all.iter().find(|it| it.name == *name);
        let found = found.with_context(|| format!("the lab has no situation {name}"))?;
        Ok(Situation {
            name: found.name,
            about: found.about,
            limit,
            words: USUAL,
            set_up: found.set_up,
        })
    };
    names.iter().map(of_name).collect()
}

/// Of a group that reads what it had to forget, the disk is what it waits for, and memory what it lacks: only that is
/// asked for.
fn memory() -> Result<Vec<Situation>> {
    let mut found = of_the_lab(&["memory-thrash"], Some(Capacity::Memory))?;
    for it in &mut found {
        it.words = &["--capacity", "memory"];
    }
    Ok(found)
}

/// Reads per second of a server whose every request is one.
const READS: u32 = 300;

fn throttled_reads() -> Situation {
    Situation {
        name: "throttled-reads",
        about: "Four connections ask a server that reads a block past the page cache for each request, and its group may \
                read 300 times per second.",
        limit: Some(Capacity::Disk),
        words: USUAL,
        set_up: set_up_throttled_reads,
    }
}

fn set_up_throttled_reads(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    let mut server = stage.own(&["serve", "disk-reads", "--file"])?;
    server.arg(stage.folder().join("data"));
    let (pid, line) = stage.beside_that_speaks(server)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    let limit = device_of(stage.folder()).map(|device| Limit::ReadsPerSecond(device, READS));
    if let Err(error) = limit.and_then(|limit| stage.confine("limited", pid, &[limit])) {
        return Ok(SetUp::NotHere(format!("{error:#}")));
    }
    let seconds = stage.seconds.to_string();
    let load = stage.own(&["load", address, "--connections", "4", "--seconds", &seconds])?;
    let words = std::iter::once(load.get_program()).chain(load.get_args());
    Load::new(words).ready()
}

/// Processes of the load; each asks for one thing at a time.
const CLIENTS: u32 = 6;

fn few_clients() -> Situation {
    Situation {
        name: "few-clients",
        about: "Six processes of pgbench with a session each read a row, and then sleep for 4 ms.",
        limit: Some(Capacity::Clients),
        words: &["--capacity", "cpu,clients", "--clients", "^pgbench"],
        set_up: set_up_few_clients,
    }
}

fn set_up_few_clients(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    let text = "\\set a random(1, 1000000)\n\
                SELECT abalance FROM pgbench_accounts WHERE aid = :a;\n\
                \\sleep 4 ms\n";
    let script = stage.script("few.sql", text)?;
    let seconds = stage.seconds.to_string();
    let mut load = Load::new(["pgbench", "-n", "-c", "1", "-T", &seconds, "-f"]);
    load.command.extend([script, DATABASE.into()]);
    for _ in 1..CLIENTS {
        let other = load.beside(stage)?;
        stage.beside(other)?;
    }
    load.ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twelve_with_a_limit_and_seven_without() {
        let all = all().expect("the lab has each of them");
        let limited = all.iter().filter(|it| it.limit.is_some()).count();
        assert_eq!((limited, all.len()), (12, 19));
    }

    #[test]
    fn a_name_that_is_not_known_is_refused() {
        assert!(chosen(&["cpu-quote".to_owned()]).is_err());
        let found = chosen(&["cpu-quota".to_owned()]).expect("known");
        assert_eq!(found.len(), 1);
    }
}
