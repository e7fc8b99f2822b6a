//! The whole machine, recorded without a target: who waits, for what, and who makes them wait.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use model::{LedgerClass, UnitKind};
use rustix::process::Signal;

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::Running;

/// A control group with a quota of a fifth of a CPU, which comes before others up to that; the same in each
/// hierarchy that counts or limits CPU time. Removed at the end, when nobody is in it any more.
struct Limited {
    name: String,
    folders: Vec<PathBuf>,
}

impl Limited {
    /// `None` where no group can be made, as in most containers.
    fn new() -> Option<Self> {
        let hierarchies = kernel::environment("/".as_ref()).hierarchies;
        let old = [
            ("cpu.shares", "262144"),
            ("cpu.cfs_period_us", "100000"),
            ("cpu.cfs_quota_us", "20000"),
        ];
        let new = [("cpu.weight", "10000"), ("cpu.max", "20000 100000")];
        let limits: &[(&str, &str)] = match hierarchies.v1.contains_key("cpu") {
            true => &old,
            false => &new,
        };
        let mounts = ["cpu", "cpuacct"].map(|controller| hierarchies.v1.get(controller));
        let mounts = mounts.into_iter().flatten().chain(&hierarchies.v2);
        let name = format!("stallscope-e2e-{}", std::process::id());
        let mut made = Self {
            folders: Vec::new(),
            name,
        };
        for mount in mounts {
            let folder = mount.point.join(&made.name);
            if fs::create_dir(&folder).is_ok() {
                made.folders.push(folder);
            }
        }
        let first = made.folders.first()?;
        let is_limited = |(file, limit): &(&str, &str)| fs::write(first.join(file), limit).is_ok();
        limits.iter().all(is_limited).then_some(made)
    }

    /// A shell command that moves the shell there.
    fn enter(&self) -> String {
        let enter = |folder: &PathBuf| format!("echo $$ > {}/cgroup.procs; ", folder.display());
        self.folders.iter().map(enter).collect()
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // Who was in it may take a moment to be gone.
        for _ in 0..100 {
            self.folders
                .retain(|folder| fs::remove_dir(folder).is_err());
            if self.folders.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

#[test]
fn nobody_is_named_and_the_server_that_its_quota_holds_back_is_found() {
    let has_programs = needs::program("redis-server") && needs::program("redis-benchmark");
    if !needs::root() || !has_programs {
        return;
    }
    let Some(group) = Limited::new() else {
        return needs::skip("no control group with a CPU quota can be made here");
    };
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    let server = place.shell(&format!(
        "{}exec redis-server --port {port} --save '' > redis.log",
        group.enter()
    ));
    let server = started(server, port);
    let mut load = Command::new("redis-benchmark");
    let port = port.to_string();
    load.args([
        "-p",
        &port,
        "-c",
        "8",
        "-t",
        "get",
        "-n",
        "1000000000",
        "-q",
    ]);
    let load = Running::start(load);
    let options = ["record", "--for", "8s", "--top", "8", "--json", JSON];
    let ended = place.run(&options);
    for it in [load, server] {
        it.signal(Signal::TERM);
        it.end();
    }
    let (name, report) = (&group.name, place.report());
    ended
        .status(0)
        .says("Lost per second")
        .says(&format!("{name} (group)"))
        .says("a CPU quota");
    let machine = report.machine.expect("the machine was recorded");
    let found = machine.units.iter().find(|unit| unit.name == *name);
    let unit = found.unwrap_or_else(|| panic!("{name} in {:?}", machine.units));
    assert_eq!(unit.kind, UnitKind::Group);
    assert_eq!(unit.target, format!("cgroup:/{name}"));
    let most = unit.waits.first().expect("it waits");
    assert_eq!(most.class, LedgerClass::Throttled, "{:?}", unit.waits);
    assert!(unit.lost_per_second > 0.3, "{}", unit.lost_per_second);
    let verdict = unit.verdict.as_ref().expect("it is among the first 8");
    assert_eq!(verdict.findings[0].cause, "cpu.quota", "{verdict:?}");
    let requests = unit.signals.iter().find(|it| it.name == "throughput");
    let rate = requests.and_then(|it| it.mean).expect("it answers");
    assert!(rate > 100.0, "{rate}");
    place.run(&["explain", "--top", "8"]).status(0);
}

#[test]
fn a_machine_on_which_nothing_was_followed_says_so() {
    let place = Place::new();
    // Too short for two looks.
    let ended = place.run(&["record", "--for", "300ms", "--no-report"]);
    ended.status(0).says("the recording was too short");
}
