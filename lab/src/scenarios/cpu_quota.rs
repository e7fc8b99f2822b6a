//! A CPU quota on the server's group, on a machine that is otherwise idle: the server waits although
//! CPUs are free.

use std::fs;

use anyhow::Result;

use crate::groups::{Group, Hierarchies, path_in};
use crate::postgres::DATABASE;
use crate::scenario::{Expect, SECONDS, Scenario, SetUp, Stage, Who, command};

/// The kernel's default period, and 0.4 of one CPU.
const PERIOD_US: &str = "100000";
const QUOTA_US: &str = "40000";
/// In v1 each task of the root group weighs as much as a whole default child group (1024): with the
/// default the group would also lose against everything else, a second cause.
const SHARES: &str = "8192";

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-quota",
        about: "Ten pgbench clients read from a server whose control group may use 0.4 of one CPU, \
                on a machine that is otherwise idle.",
        expect: Expect {
            cause: "cpu.quota",
            entity: Who::LimitedGroup,
            also: None,
        },
        set_up,
    }
}

fn set_up(stage: &mut Stage) -> Result<SetUp> {
    let hierarchies = Hierarchies::find()?;
    let limited = match &hierarchies.v1.get("cpu") {
        Some(_) => limit_v1(stage, &hierarchies).map(|()| "cpu"),
        None => limit_v2(stage, &hierarchies).map(|()| ""),
    };
    let controller = match limited {
        Ok(controller) => controller,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", stage.server.pid()))?;
    stage.limited_group = path_in(&groups, controller);
    Ok(SetUp::Ready(command(&[
        "pgbench", "-n", "-c", "10", "-j", "2", "-S", "-T", SECONDS, DATABASE,
    ])))
}

/// By the v1 controller; the v2 group of the same name beside it gives the server a pressure of its
/// own, where v2 is mounted.
fn limit_v1(stage: &mut Stage, hierarchies: &Hierarchies) -> Result<()> {
    let group = Group::create(&hierarchies.v1["cpu"])?;
    group.set("cpu.shares", SHARES)?;
    group.set("cpu.cfs_period_us", PERIOD_US)?;
    group.set("cpu.cfs_quota_us", QUOTA_US)?;
    group.take(stage.server.pid())?;
    stage.groups.push(group);
    if let Some(v2) = &hierarchies.v2 {
        let group = Group::create(v2)?;
        group.take(stage.server.pid())?;
        stage.groups.push(group);
    }
    Ok(())
}

fn limit_v2(stage: &mut Stage, hierarchies: &Hierarchies) -> Result<()> {
    let Some(v2) = &hierarchies.v2 else {
        anyhow::bail!("no cgroup hierarchy is mounted");
    };
    let enabled = v2.mount.join("cgroup.subtree_control");
    let controllers = fs::read_to_string(&enabled).unwrap_or_default();
    // Enabling it would change the machine for everything that runs on it.
    if !controllers
        .split_ascii_whitespace()
        .any(|name| name == "cpu")
    {
        anyhow::bail!(
            "the cpu controller is not enabled below {0}: echo +cpu > {0}",
            enabled.display()
        );
    }
    let group = Group::create(v2)?;
    group.set("cpu.max", &format!("{QUOTA_US} {PERIOD_US}"))?;
    group.take(stage.server.pid())?;
    stage.groups.push(group);
    Ok(())
}
