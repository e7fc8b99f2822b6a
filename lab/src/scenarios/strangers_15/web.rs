//! Apache and HAProxy.

use anyhow::Result;

use super::programs::{HAPROXY, missing};
use super::{cause, first, ninth, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// 0.2 of one CPU, in us per 100 ms.
const QUOTA: u32 = 20_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-uncached-pages",
                "CPUs full of pages that are put together anew for each visitor",
                "Eight visitors ask Apache for a page in PHP, which is put together for some ms of CPU each \
                 time since nothing keeps it.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            uncached_pages,
        ),
        cause(
            [
                "haproxy-container-limit",
                "CPU quota",
                "Eight connections ask HAProxy, which answers by itself as at the edge of a cluster, and its \
                 container may use 0.2 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            container_limit,
        ),
    ]
}

/// From <https://www.trexhost.com/?p=177> and <https://themetry.com/high-cpu-load/>: hosters report a high CPU load of a
/// WordPress, each page of which is put together by PHP for each visitor, and the first thing to do is to install a cache.
fn uncached_pages(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "new",
        Cause::Removed => "kept",
    };
    let folder = stage.unprivileged_folder("pages")?;
    let page = ["front.php", include_str!("../../../programs/front.php")];
    let kept = format!("\"{} {word}\"", folder.display());
    let (_, port) = ninth::apache_with_php(stage, page, ["FRONT", &kept])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/front.php"];
    unknown(stage, &[&words[..], &["--connections", "8"]].concat())?.ready()
}

/// From <https://docs.temporal.io/blog/tuning-temporal-server-request-latency-on-kubernetes> and kubernetes/kubernetes#51135:
/// services in front of others are slow since the limit of their container throttles them, while the node has CPUs to spare.
fn container_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::haproxy(stage)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
