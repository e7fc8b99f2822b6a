//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{HAPROXY, JAVA, LIGHTTPD, PYTHON, missing};
use super::{cause, downstream, first, servers, third, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here};
use crate::stage::Stage;

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
                "haproxy-dead-spare",
                "spare server that refuses connections",
                "HAProxy finds two hundred times per second that its spare server refuses \
                 connections, while two connections with 3 ms to think are answered by the other one.",
            ],
            dead_spare,
        ),
        decoy(
            [
                "java-waiting-batch",
                "threads that wait for a lock that no request needs",
                "Twelve threads of a batch in a Java service wait for each other's lock, while two \
                 connections with 5 ms to think ask for 2 ms of CPU.",
            ],
            waiting_batch,
        ),
        decoy(
            [
                "lighttpd-full-disk-beside",
                "full disk that another service writes to",
                "Another service tries to write its log on a disk without room, two hundred times per \
                 second, while two connections with 3 ms to think ask lighttpd for a text that is on \
                 another one.",
            ],
            full_disk_beside,
        ),
    ]
}

fn dead_spare(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, service) = downstream(stage, 0)?;
    let spare = match cause {
        // Nobody listens there.
        Cause::Made => format!(
            "server spare 127.0.0.1:{} backup check inter 5ms",
            free_port()?
        ),
        Cause::Removed => String::new(),
    };
    let (_, port) = servers::haproxy_with_spare(stage, &service, &spare)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "3000"]].concat())?.ready()
}

fn waiting_batch(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let batch = match cause {
        Cause::Made => "12",
        Cause::Removed => "0",
    };
    let program = [
        "Contended",
        include_str!("../../../programs/Contended.java"),
    ];
    let (_, port) = first::java_class(stage, program, &[], &["8", "2000", batch])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

fn full_disk_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    if cause == Cause::Made {
        let disk = match stage.slow_disk() {
            Ok(disk) => disk,
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
        stage.fill_disk(&disk)?;
        stage.give_away(&disk)?;
        let program = ["full_log.py", include_str!("../../../programs/full_log.py")];
        let mut other = first::interpreted(stage, first::PYTHON, program)?;
        other.arg(disk.join("log"));
        stage.beside_that_speaks(other)?;
    }
    let (_, port) = third::lighttpd(stage, "")?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    let pace = ["--connections", "2", "--think", "3000"];
    unknown(stage, &[&words[..], &pace].concat())?.ready()
}
