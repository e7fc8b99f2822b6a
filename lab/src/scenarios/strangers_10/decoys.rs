//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::programs::{APACHE, MEMCACHED, PYTHON, missing};
use super::{cause, first, second, seventh, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{here, wait_for};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{DELAYED_SERVER, Stage};

/// Connections that were closed a moment ago.
const CLOSED: &str = "8000";
/// One packet of so many is lost, on others' way.
const LOST: u32 = 10;
/// So many keys, none of which is there, are asked for at once: an answer that takes longer than the machine's noise.
const KEYS: usize = 300;
/// More than any run is long, each some 20 ms.
const STATEMENTS: usize = 10_000;
/// What is read meanwhile.
const READ: &str = "SELECT count(*) FROM pgbench_accounts WHERE aid < 1000;\n\\sleep 4 ms\n";

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
                "apache-time-wait",
                "thousands of connections that are closed and kept for a minute",
                "Eight thousand connections to Apache were opened and closed a moment ago, and the \
                 kernel keeps them for a minute, while a connection with 4 ms to think asks Apache for \
                 a text that it compresses.",
            ],
            time_wait,
        ),
        decoy(
            [
                "memcached-losses-elsewhere",
                "segments of others that are lost and sent again",
                "Eight connections of somebody else ask another memcached over a way that loses one \
                 packet of ten, 200 times per second, while four connections with 1 ms to think ask \
                 the one here for 300 keys at once.",
            ],
            losses_elsewhere,
        ),
        decoy(
            [
                "postgres-failing-statements",
                "transactions of others that all fail and are rolled back",
                "Another client of PostgreSQL divides by zero in each of its transactions, fifty times \
                 per second, and rolls it back, while two pgbench clients with 4 ms to think read a \
                 table.",
            ],
            failing_statements,
        ),
    ]
}

fn time_wait(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 8\nMaxRequestWorkers 8\nDocumentRoot {}\n\
         TypesConfig /dev/null\nAddType text/plain .txt\n\
         AddOutputFilterByType DEFLATE text/plain\n",
        second::site(stage)?.display()
    );
    let modules = ["mpm_event", "mime", "filter", "deflate"];
    let (_, port) = second::apache(stage, &modules, &directives)?;
    let closed = match cause {
        Cause::Made => CLOSED,
        Cause::Removed => "0",
    };
    let program = ["closing.py", include_str!("../../../programs/closing.py")];
    seventh::staying(stage, program, &[port.as_str(), closed])?;
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", second::GZIP];
    let words = ["load", &address, "--connections", "1", "--think", "4000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn losses_elsewhere(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let lost = match cause {
        Cause::Made => LOST,
        Cause::Removed => 0,
    };
    let (_, port) = first::memcached(stage)?;
    let mut other = Command::new("memcached");
    other.args(["-u", "nobody", "-l", "0.0.0.0", "-t", "1", "-p", "7000"]);
    if let Err(error) = stage.server_behind_losses(&other, lost) {
        return Ok(SetUp::NotHere(format!("{error:#}")));
    }
    let far = format!("{DELAYED_SERVER}:7000");
    wait_for(&far)?;
    let one = ["--text", "get key\r\n", "--ends", "END\r\n"];
    let words = ["load", &far, "--rate", "200", "--seconds", "600"];
    stage.beside(stage.own_as("users", &[&words[..], &one].concat())?)?;
    let address = here(&port);
    let question = format!("get{}\r\n", " key".repeat(KEYS));
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    let asks = ["--text", &question, "--ends", "END\r\n"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn failing_statements(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    let divisor = match cause {
        Cause::Made => 0,
        Cause::Removed => 1,
    };
    let path = stage.script("failing.sql", &dividing(divisor))?;
    let mut other: Command = stage.started()?.client("psql");
    other.args(["-q", "-A", "-t", "-f"]).arg(path).arg(DATABASE);
    // What fails is said there.
    other.stderr(Stdio::null());
    stage.beside(other)?;
    pgbench_script(stage, &["-c", "2", "-j", "1"], READ)?.ready()
}

/// The waits are the client's.
fn dividing(divisor: u32) -> String {
    let round = format!("BEGIN;\nSELECT 1 / {divisor};\nROLLBACK;\n\\! sleep 0.018\n");
    round.repeat(STATEMENTS)
}
