//! Apache and nginx.

use std::process::Command;

use anyhow::Result;

use super::programs::{NGINX, missing};
use super::{cause, ninth, twelfth, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// 0.2 of one CPU, in us per 100 ms.
const QUOTA: u32 = 20_000;
/// Threads of the compressor.
const THREADS: &str = "--threads=8";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-cpu-limit",
                "CPU quota",
                "Eight visitors ask Apache for a page in PHP that is kept in a file, and its container may \
                 use 0.2 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            cpu_limit,
        ),
        cause(
            [
                "nginx-old-logs-beside",
                "CPUs taken by a scheduled job that compresses old logs",
                "Two connections ask nginx for a list, while a scheduled job compresses old logs on the same \
                 machine with eight threads.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            old_logs_beside,
        ),
    ]
}

/// From <https://www.michal-drozd.com/en/blog/k8s-cpu-throttling/>, where the slowest requests took 16 times as long as before
/// since a container had used its limit up in a part of each period, and nobody saw it in the use of CPUs.
fn cpu_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("pages")?;
    let page = ["front.php", include_str!("../../../programs/front.php")];
    let kept = format!("\"{} kept\"", folder.display());
    let (pid, port) = ninth::apache_with_php(stage, page, ["FRONT", &kept])?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/front.php"];
    unknown(stage, &[&words[..], &["--connections", "8"]].concat())?.ready()
}

/// From <https://cr0x.net/en/cpu-spikes-scheduled-task-first/>, where logs are rotated and compressed by a job that nobody
/// thinks of, and <https://lonesysadmin.net/2010/12/01/spread-linuxs-default-scheduled-jobs-out/>: all machines were slow at
/// four in the morning.
fn old_logs_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    if let Some(why) = crate::scenarios::missing(&["xz"], "xz-utils") {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = twelfth::nginx_accepting(stage, "", "reuseport")?;
    if cause == Cause::Made {
        let mut xz = Command::new("xz");
        // It would not take a device.
        xz.args(["--force", "--stdout", "-6", THREADS, "/dev/zero"]);
        let compressor = stage.beside(xz)?;
        stage.cast.insert(Who::Holder, format!("pid:{compressor}@"));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    unknown(stage, &[&words[..], &["--connections", "2"]].concat())?.ready()
}
