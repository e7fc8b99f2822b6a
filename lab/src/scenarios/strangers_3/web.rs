//! HAProxy, and lighttpd.

use std::process::Command;

use anyhow::Result;

use super::programs::{HAPROXY, LIGHTTPD, WRK, missing, wrk};
use super::second::{self, GZIP};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Costs, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "haproxy-few-places",
                "queue before a service with few places",
                "wrk asks HAProxy over sixteen connections, which passes at most two requests at a \
                 time on to a service that takes 5 ms for each.",
            ],
            Expect::one("limit.pool", Who::Target),
            few_places,
        ),
        Scenario {
            // Who thinks asks as often; it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "lighttpd-real-time-neighbour",
                    "CPUs taken by a process of a real-time class",
                    "A process of a real-time class computes on every CPU for 12 of every 20 ms, \
                     while two connections with 5 ms to think ask lighttpd for a text that it \
                     compresses.",
                ],
                Expect::one("cpu.neighbour", Who::Holder),
                real_time_neighbour,
            )
        },
    ]
}

fn few_places(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let places = match cause {
        Cause::Made => 2,
        Cause::Removed => 64,
    };
    let (_, service) = downstream(stage, 5_000)?;
    let (_, port) = servers::haproxy(stage, &service, places)?;
    wrk(stage, &port, 16).ready()
}

fn real_time_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    if cause == Cause::Made {
        let neighbour = match real_time(stage) {
            Ok(neighbour) => neighbour,
            Err(error) => return Ok(SetUp::NotHere(format!("no real-time class: {error:#}"))),
        };
        stage.cast.insert(Who::Holder, format!("pid:{neighbour}@"));
    }
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", GZIP];
    let words = ["load", &address, "--connections", "2", "--think", "5000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

/// Starts what computes in bursts on all CPUs before everybody else.
fn real_time(stage: &mut Stage) -> Result<u32> {
    let threads = std::thread::available_parallelism()?.to_string();
    let words = ["burn", "--threads", &threads];
    let own = stage.own(&[&words[..], &["--burst", "12", "--pause", "8"]].concat())?;
    let mut before_all = Command::new("chrt");
    before_all.args(["--fifo", "10"]);
    before_all.arg(own.get_program()).args(own.get_args());
    let (pid, _) = stage.beside_that_speaks(before_all)?;
    Ok(pid)
}
