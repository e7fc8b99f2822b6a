//! What this machine allows, what each lack costs, and what mends it.
//!
//! Facts are probed when asked, never assumed: each check is a judgement over files of the machine and
//! over what this process was allowed (`trials`), and has one line in `CHECKS`. Nothing is changed,
//! no privilege is needed.

mod answer;
mod bpf;
mod clock;
mod container;
mod cpus;
mod distribution;
mod groups;
mod kernel_config;
mod limits;
mod patient;
mod perf;
mod pressure;
mod readers;
mod rights;
mod scheduler;
mod steal;
mod storage;
mod tree;
mod trials;

use std::path::Path;

use model::{Availability, Capability, SURVEY_SCHEMA, Survey};

use crate::Error;
use answer::{Answer, counted};
use patient::Patient;
use tree::{Below, Tree};
use trials::Trials;

pub(crate) use pressure::lack as pressure_lack;
pub(crate) use trials::has_first_pids;

/// Looks at one thing.
type Check = fn(&Patient<'_>) -> Answer;

/// Every check by its name, the weightiest first: in this order people read them.
const CHECKS: &[(&str, Check)] = &[
    ("kernel", scheduler::kernel),
    ("cpu_times", cpus::times),
    ("pressure", pressure::machine),
    ("group_pressure", pressure::groups),
    ("pressure_readers", readers::check),
    ("run_queue_delay", scheduler::run_queue_delay),
    ("control_groups", groups::check),
    ("container", container::check),
    ("processes", rights::processes),
    ("other_users", rights::other_users),
    ("descriptors", limits::descriptors),
    ("priority", limits::priority),
    ("memory_lock", limits::memory_lock),
    ("disks", storage::disks),
    ("recordings", storage::recordings),
    ("clock", clock::check),
    ("steal", steal::check),
    ("smt", cpus::smt),
    ("tick", scheduler::tick),
    ("interrupts", scheduler::interrupts),
    ("delay_accounting", scheduler::delay_accounting),
    ("btf", bpf::types),
    ("bpf", bpf::programs),
    ("bpf_pressure", bpf::pressure),
    ("bpf_ledger", bpf::ledger),
    ("bpf_requests", bpf::requests),
    ("perf", perf::check),
];

/// Examines the machine whose files stand below `root`; recordings would go to `folder`.
///
/// # Errors
/// When there is no machine below `root`.
pub fn survey(root: &Path, folder: &Path) -> Result<Survey, Error> {
    let tree = Below(root);
    tree.entries("proc").map_err(|errno| Error::Read {
        path: root.join("proc"),
        cause: errno.into(),
    })?;
    let trials = is_this_kernel(root).then(|| Trials::make(folder));
    let is_elsewhere = root != Path::new("/");
    Ok(examine(&Patient::new(&tree, trials, is_elsewhere), root))
}

/// A /proc that the kernel makes is this kernel's own, wherever it is mounted.
fn is_this_kernel(root: &Path) -> bool {
    /// linux/magic.h
    const PROC_SUPER_MAGIC: u64 = 0x9fa0;
    rustix::fs::statfs(root.join("proc")).is_ok_and(|it| it.f_type as u64 == PROC_SUPER_MAGIC)
}

fn examine(patient: &Patient<'_>, root: &Path) -> Survey {
    let capabilities: Vec<_> = CHECKS
        .iter()
        .map(|(name, check)| check(patient).named(name))
        .collect();
    Survey {
        schema: SURVEY_SCHEMA.to_owned(),
        summary: summary(&capabilities),
        machine: machine(patient),
        root: root.display().to_string(),
        capabilities,
    }
}

/// What verdicts rest on.
const SIGHTS: [&str; 6] = [
    "cpu_times",
    "pressure",
    "group_pressure",
    "run_queue_delay",
    "control_groups",
    "disks",
];

fn summary(capabilities: &[Capability]) -> String {
    let titles = |which: &dyn Fn(&Capability) -> bool| {
        let which = capabilities.iter().filter(|it| which(it));
        which.map(Capability::title).collect::<Vec<_>>()
    };
    let is_fine = |it: &Capability| it.availability == Availability::Fine;
    let seen = titles(&|it| is_fine(it) && SIGHTS.contains(&it.check.as_str()));
    let lacking = titles(&Capability::hurts);
    let untold = titles(&|it| it.availability == Availability::CannotTell);
    let mut parts = vec![match seen.is_empty() {
        true => "Stallscope can say next to nothing here".to_owned(),
        false if lacking.is_empty() => {
            "Stallscope works here, and nothing that it uses lacks".to_owned()
        }
        false => format!("Stallscope works here, with {}", seen.join(", ")),
    }];
    if !lacking.is_empty() {
        let count = counted(lacking.len(), "thing lacks", "things lack");
        parts.push(format!("{count}: {}", lacking.join(", ")));
    }
    if !untold.is_empty() {
        let count = counted(untold.len(), "thing", "things");
        parts.push(format!("{count} cannot be told"));
    }
    parts.join("; ") + "."
}

fn machine(patient: &Patient<'_>) -> String {
    let mut parts = Vec::new();
    let of_image = patient.is_of_container();
    let name = &patient.distribution.name;
    if !name.is_empty() && of_image {
        parts.push(format!("a container of {name}"));
    } else if !name.is_empty() {
        parts.push(name.clone());
    }
    if !patient.release.is_empty() {
        parts.push(format!("Linux {}", patient.release));
    }
    if let Some(count) = cpus::online(patient) {
        let word = if count == 1 { "CPU" } else { "CPUs" };
        parts.push(format!("{count} {word}"));
    }
    parts.push(match &patient.trials {
        None => "captured files: what its kernel allows was not tried".to_owned(),
        Some(trials) if trials.euid == 0 => "asked as root".to_owned(),
        Some(trials) => format!("asked as user {}", trials.euid),
    });
    parts.join(", ")
}

#[cfg(test)]
mod tests;
