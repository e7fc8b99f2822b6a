//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::{Context, Result};

use super::programs::{APACHE, JAVA, NODE, PYTHON, missing};
use super::servers::{self, GZIP, large_file, site};
use super::{cause, first, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage};

/// What the group that thrashes may keep in memory.
const MEMORY: u64 = 48 << 20;
/// What it reads, again and again.
const FILE: usize = 192 << 20;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "node-report-thread",
                "full thread that serves nobody",
                "A worker thread of Node.js computes without an end at the lowest priority, beside \
                 the event loop, which one connection with 3 ms to think asks for 3 ms of CPU.",
            ],
            report_thread,
        ),
        decoy(
            [
                "postgres-idle-sessions",
                "idle sessions and time to think",
                "Eighty sessions of PostgreSQL do nothing, while two clients of pgbench sleep 4 ms \
                 between transactions of 2 ms by their own script.",
            ],
            idle_sessions,
        ),
        decoy(
            [
                "java-background-journal",
                "fsync that no request waits for",
                "A thread in the background of a Java service syncs a journal on a disk that takes its \
                 time, again and again, while two connections with 5 ms to think ask for 2 ms of CPU.",
            ],
            background_journal,
        ),
        decoy(
            [
                "apache-thrashing-beside",
                "memory and disk of others under pressure",
                "Another group reads four times as much as it may keep in memory, again and again, \
                 while a connection with 4 ms to think asks Apache for a text that it compresses.",
            ],
            thrashing_beside,
        ),
    ]
}

fn report_thread(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let background = match cause {
        Cause::Made => "1",
        Cause::Removed => "0",
    };
    let (_, port) = servers::node_with_thread(stage, ["3000", background])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "1"];
    unknown(stage, &[&words[..], &["--think", "3000"]].concat())?.ready()
}

fn idle_sessions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&["max_connections=100"])?;
    let (socket, user) = (server.socket(), server.user().to_owned());
    if cause == Cause::Made {
        let socket = socket.to_str().context("a path of our own is text")?;
        let words = ["sessions", socket, "--user", &user, "--database", DATABASE];
        let idle = ["--workers", "80", "--keep", "600000", "--seconds", "600"];
        stage.beside(stage.own(&[&words[..], &idle].concat())?)?;
    }
    let script = "SELECT count(*) FROM pgbench_accounts WHERE aid < 15000;\n\\sleep 4 ms\n";
    pgbench_script(stage, &["-c", "2", "-j", "1"], script)?.ready()
}

fn background_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let journal = disk.join("journal");
    let journal = journal.to_string_lossy();
    let words = ["8", "2000", &journal];
    let words = match cause {
        Cause::Made => &words[..],
        Cause::Removed => &words[..2],
    };
    let program = ["Service", include_str!("../../../programs/Service.java")];
    let (_, port) = first::java_class(stage, program, &[], words)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

fn thrashing_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 8\nMaxRequestWorkers 8\nDocumentRoot {}\n\
         TypesConfig /dev/null\nAddType text/plain .txt\n\
         AddOutputFilterByType DEFLATE text/plain\n",
        site(stage)?.display()
    );
    let modules = ["mpm_event", "mime", "filter", "deflate"];
    let (_, port) = servers::apache(stage, &modules, &directives)?;
    if cause == Cause::Made {
        let file = large_file(stage, FILE)?;
        let program = ["thrash.py", include_str!("../../../programs/thrash.py")];
        let mut reader = first::interpreted(stage, first::PYTHON, program)?;
        reader.arg(file);
        let reader = stage.beside(reader)?;
        if let Err(error) = stage.confine("neighbour", reader, &[Limit::Memory(MEMORY)]) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", GZIP];
    let words = ["load", &address, "--connections", "1", "--think", "4000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}
