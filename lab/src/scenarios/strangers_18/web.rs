//! lighttpd and Apache.

use anyhow::Result;

use super::programs::{APACHE, LIGHTTPD, missing};
use super::{cause, downstream, servers, thirteenth, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// How long the application takes, us.
const APPLICATION_US: u32 = 20_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "lighttpd-slow-application",
                "slow service behind the server",
                "Four connections ask lighttpd, which asks an application behind it that takes 20 ms.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_application,
        ),
        cause(
            [
                "apache-virus-scan-beside",
                "CPUs taken by many threads of the same weight",
                "Two connections ask Apache for a list, while a virus scanner looks through the machine with \
                 eight threads, without being any nicer than the server.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            virus_scan_beside,
        ),
    ]
}

/// From <https://www.netdata.cloud/guides/nginx/nginx-slow-requests/> and
/// <https://schema.ai/technologies/nginx/scenarios/slow-response-time-diagnosis>: the first question of every guide to a slow
/// proxy is whether it is the application behind it, and mostly it is.
fn slow_application(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => APPLICATION_US,
        Cause::Removed => 0,
    };
    let (application, behind) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{application}@ {behind}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::lighttpd_before(stage, &behind)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // The application was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://git.majorshouse.com/majorlinux/majorwiki/src/branch/main/05-troubleshooting/security/clamscan-cpu-spike-nice-ionice.md>,
/// where a scan from cron, at the usual priority, took the CPUs from the web server for an hour, and
/// <https://anset.org/2019/08/30/fixing-clamd-stuck-at-100-cpu/>: several scanners had a CPU each, and a mail took minutes.
fn virus_scan_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = thirteenth::apache_with_list(stage)?;
    if cause == Cause::Made {
        let scanner = stage.own_as("virus-scan", &["burn", "--threads", "8"])?;
        let scanner = stage.beside(scanner)?;
        stage.cast.insert(Who::Holder, format!("pid:{scanner}@"));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    unknown(stage, &[&words[..], &["--connections", "2"]].concat())?.ready()
}
