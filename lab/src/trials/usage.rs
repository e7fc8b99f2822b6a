//! The CPU time of a target by the kernel's own account of a control group around it, to hold the
//! report against.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use model::{Report, Timestamp};
use rustix::time::{ClockId, clock_gettime};

use super::claims;
use crate::groups::{Group, Hierarchies};

/// A group with nothing but a target in it.
pub(super) struct Monitored {
    group: Group,
    since: Timestamp,
    before_ns: i64,
    cpus: f64,
}

/// Why CPU time cannot be watched here.
pub(super) fn lack() -> Option<String> {
    match Hierarchies::find() {
        Err(error) => Some(format!("{error:#}")),
        Ok(found) if found.v1.contains_key("cpuacct") || found.v2.is_some() => {
            let root = rustix::process::geteuid().is_root();
            (!root).then(|| "only root may make control groups".to_owned())
        }
        Ok(_) => Some("no hierarchy of control groups counts CPU time".to_owned()),
    }
}

impl Monitored {
    /// Watches a process and its descendants from now on; they use this many CPUs at most.
    pub(super) fn over(pid: u32, cpus: f64) -> Result<Self> {
        let found = Hierarchies::find()?;
        let hierarchy = found.v1.get("cpuacct").or(found.v2.as_ref());
        let hierarchy = hierarchy.context("no hierarchy counts CPU time")?;
        let group = Group::create(hierarchy, "watched")?;
        group.take(pid)?;
        Ok(Self {
            since: now(),
            before_ns: usage(group.folder())?,
            group,
            cpus,
        })
    }

    /// The report's CPU time of the target is what the group had used, up to what it can have used
    /// outside the report's window, and up to a share that is missed.
    pub(super) fn agrees(&self, report: &Report, missed: f64) -> Result<()> {
        let used = (usage(self.group.folder())? - self.before_ns) as f64;
        let until = now();
        let seen = report.window.len_ns();
        let outside = (until.ns_since(self.since) - seen) as f64 * self.cpus;
        let said = claims::target(report)?.cpu_ns as f64;
        // Readings of one moment lie up to some ms apart.
        const SLACK_NS: f64 = 20e6;
        if said > used * 1.01 + SLACK_NS || said < (used - outside) * (1.0 - missed) - SLACK_NS {
            bail!(
                "the report says {:.0} ms of CPU time, the kernel {:.0}, of which {:.0} may lie outside the window",
                said / 1e6,
                used / 1e6,
                outside / 1e6
            );
        }
        Ok(())
    }
}

/// CPU time of a group since it was made, ns.
fn usage(folder: &Path) -> Result<i64> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let v1 = fs::read_to_string(folder.join("cpuacct.usage"));
    let ns = v1.ok().as_deref().and_then(number).or_else(|| {
        let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(number(line)? * 1_000)
    });
    ns.with_context(|| format!("cannot read the CPU time of {}", folder.display()))
}

/// Now, by the clock of recordings.
pub(super) fn now() -> Timestamp {
    let now = clock_gettime(ClockId::Boottime);
    Timestamp::from_ns(now.tv_sec * 1_000_000_000 + now.tv_nsec)
}
