//! Apache and memcached.

use anyhow::Result;

use super::programs::{MEMCACHED, missing};
use super::{cause, downstream, first, ninth, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// How long a slow service takes, us.
const SLOW_US: u32 = 20_000;
/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-slow-external-call",
                "slow service behind the server",
                "Four visitors ask Apache for a page in PHP, one of whose plugins asks a service that takes 20 ms each time.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_external_call,
        ),
        cause(
            [
                "memcached-noisy-neighbour",
                "CPUs taken by many threads of the same weight",
                "Two connections ask memcached for a key, while a job of another tenant of the machine, which nothing \
                 limits, computes with eight threads.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            noisy_neighbour,
        ),
    ]
}

/// From <https://tweakswp.com/reduce-external-http-requests-wordpress/> and <https://dustinrue.com/tag/performance/>: WordPress is
/// slow since a plugin asks a service of its maker's with each page, and "your page waits"; often that is half of the time.
fn slow_external_call(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => SLOW_US,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let page = ["plugin.php", include_str!("../../../programs/plugin.php")];
    let (pid, port) = ninth::apache_with_php(stage, page, ["LICENCES", &address])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/plugin.php"];
    // The service was started before it.
    unknown(stage, &[&words[..], &["--connections", "4"]].concat())?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://corecode.pro/infra-devops/resource-isolation-noisy-neighbor>, a runbook as nearly every operator of shared
/// machines has one: services get slow while a workload without limits takes the CPUs, and the first step is to find it.
fn noisy_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        let job = stage.beside(stage.own(&["burn", "--threads", "8"])?)?;
        stage.cast.insert(Who::Holder, format!("pid:{job}@"));
    }
    let address = here(&port);
    let words = [&["load", &address, "--connections", "2"][..], &GET].concat();
    unknown(stage, &words)?.ready()
}
