//! A server in C with a process for each connection.

use anyhow::Result;

use super::programs::{AB, CC, ab, missing};
use super::{cause, servers};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Descriptors that a process may have: all that a usual container lets it, and what was usual before.
const MANY: &str = "20000";
const USUAL: &str = "256";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![cause(
        [
            "c-closed-descriptors",
            "processes that close every descriptor which they might have before they begin",
            "ab opens a connection for each request, two at a time, and a server in C starts a process \
             for each, which first closes all 20,000 descriptors that its limit allows, though nearly \
             none of them is open.",
        ],
        Expect {
            // With two at a time it has both CPUs.
            or: &[("cpu.saturated", Who::Target)],
            ..Expect::one("cpu.kernel", Who::Target)
        },
        closed_descriptors,
    )]
}

/// From USTC-Hackergame/hackergame-challenge-docker#4, where xinetd was of no use for minutes in a container whose limit
/// was infinite, since it closed each descriptor up to that, and containerd/containerd#7566, netdata/netdata#14062 and
/// facebook/watchman#1130, which met the same.
fn closed_descriptors(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let limit = match cause {
        Cause::Made => MANY,
        Cause::Removed => USUAL,
    };
    let (_, port) = servers::starting_processes(stage, limit)?;
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "2"], &url).ready()
}
