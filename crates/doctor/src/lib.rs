//! What this machine allows, what each missing capability costs, and what fixes it.
//!
//! Facts are probed, never assumed: each check is a pure function over files of the machine and over the
//! results of `probes`, and has one line in `CHECKS`. Checks change nothing and need no privilege.

mod answer;
mod bpf;
mod clock;
mod container;
mod cpus;
mod distribution;
mod engine;
mod groups;
mod host_facts;
mod kernel_config;
mod limits;
mod perf;
mod pressure;
mod probes;
mod readers;
mod rights;
mod scheduler;
mod sockets;
mod steal;
mod storage;
mod tree;

use std::path::Path;

use model::{Availability, Capability, DOCTOR_SCHEMA, DoctorReport};

use answer::{Answer, counted};
use host_facts::HostFacts;
use kernel::Error;
use probes::Probes;
use tree::{Below, Tree};

/// One check.
type Check = fn(&HostFacts<'_>) -> Answer;

/// Every check by name, the most important first; reports keep this order.
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
    ("sockets", sockets::check),
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
    ("bpf_thread_time", bpf::thread_time),
    ("bpf_requests", bpf::requests),
    ("bpf_block", bpf::block),
    ("bpf_flow", bpf::flow),
    ("bpf_processes", bpf::processes),
    ("bpf_tasks", bpf::tasks),
    ("perf", perf::check),
];

/// Examines the machine whose files are below `root`; recordings would go to `folder`.
///
/// # Errors
/// When there is no machine below `root`.
pub fn doctor_report(root: &Path, folder: &Path) -> Result<DoctorReport, Error> {
    let tree = Below(root);
    tree.entries("proc").map_err(|errno| Error::Read {
        path: root.join("proc"),
        cause: errno.into(),
    })?;
    let probes = is_this_kernel(root).then(|| Probes::make(folder));
    let is_elsewhere = root != Path::new("/");
    Ok(examine(&HostFacts::new(&tree, probes, is_elsewhere), root))
}

/// A /proc made by the kernel is this kernel's own, wherever it is mounted.
fn is_this_kernel(root: &Path) -> bool {
    /// linux/magic.h
    const PROC_SUPER_MAGIC: u64 = 0x9fa0;
    rustix::fs::statfs(root.join("proc")).is_ok_and(|it| it.f_type as u64 == PROC_SUPER_MAGIC)
}

fn examine(host: &HostFacts<'_>, root: &Path) -> DoctorReport {
    let capabilities: Vec<_> = CHECKS
        .iter()
        .map(|(name, check)| check(host).named(name))
        .collect();
    DoctorReport {
        schema: DOCTOR_SCHEMA.to_owned(),
        summary: summary(&capabilities),
        machine: machine(host),
        root: root.display().to_string(),
        capabilities,
    }
}

/// Checks that verdicts depend on.
const BASIC_CHECKS: [&str; 6] = [
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
    let seen = titles(&|it| is_fine(it) && BASIC_CHECKS.contains(&it.check.as_str()));
    let missing = titles(&Capability::hurts);
    let unknown = titles(&|it| it.availability == Availability::CannotTell);
    let mut parts = vec![match seen.is_empty() {
        true => "Stallscope can record next to nothing here".to_owned(),
        false if missing.is_empty() => {
            "Stallscope works here: everything that it uses is there".to_owned()
        }
        false => format!("Stallscope works here, with {}", seen.join(", ")),
    }];
    if !missing.is_empty() {
        let count = counted(missing.len(), "thing is missing", "things are missing");
        parts.push(format!("{count}: {}", missing.join(", ")));
    }
    if !unknown.is_empty() {
        let count = counted(unknown.len(), "thing", "things");
        parts.push(format!("{count} not known"));
    }
    parts.join("; ") + "."
}

fn machine(host: &HostFacts<'_>) -> String {
    let mut parts = Vec::new();
    let of_image = host.has_container_files();
    let name = &host.distribution.name;
    if !name.is_empty() && of_image {
        parts.push(format!("a container of {name}"));
    } else if !name.is_empty() {
        parts.push(name.clone());
    }
    if !host.release.is_empty() {
        parts.push(format!("Linux {}", host.release));
    }
    if let Some(count) = cpus::online(host) {
        let word = if count == 1 { "CPU" } else { "CPUs" };
        parts.push(format!("{count} {word}"));
    }
    parts.push(match &host.probes {
        None => "captured files: what its kernel allows was not tried".to_owned(),
        Some(probes) if probes.euid == 0 => "asked as root".to_owned(),
        Some(probes) => format!("asked as user {}", probes.euid),
    });
    parts.join(", ")
}

#[cfg(test)]
mod tests;
