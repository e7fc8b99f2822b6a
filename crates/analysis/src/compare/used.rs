//! What a run used of what could become full, and what was asked of it.

use std::collections::BTreeMap;

use model::{LedgerClass, PointSetting};

use crate::facts::Facts;

/// The part of the CPUs that the server may use which was busy, whoever had them.
pub(crate) const CPUS: &str = "busy.cpus";
/// The part of its CPU quota that the server's group used.
pub(crate) const QUOTA: &str = "busy.quota";
/// The part of the time for which the server's busiest thread was on a CPU, where clients share threads.
pub(crate) const THREAD: &str = "busy.thread";
/// The part of the time for which the busiest disk had I/O in progress.
pub(crate) const DISK: &str = "busy.disk";
/// The part of the machine's memory that was in use at most.
pub(crate) const MEMORY: &str = "used.memory";
/// Threads of the server that waited for a CPU, on average: run-queue delay per second.
pub(crate) const WAITING: &str = "waiting.cpu";
/// CPU time of everybody on the machine.
pub(crate) const CPU_OF_MACHINE: &str = "cpu.machine";

/// What was used of each, as parts of it.
pub(super) fn shares(facts: &Facts<'_>) -> BTreeMap<String, f64> {
    let quota = facts.quota.as_ref();
    let quota = quota.and_then(|it| Some(it.used_cpus? / it.cpus.filter(|it| *it > 0.0)?));
    let disks = facts.io.disks.iter().map(|it| it.busy);
    let ns = facts.window.len_ns() as f64;
    let target = facts.target.as_ref();
    let waiting = target.map(|it| it.ledger.get(LedgerClass::CpuWait) / ns);
    let rows = [
        (CPUS, facts.effective_busy),
        (QUOTA, quota),
        (THREAD, busiest_thread(facts)),
        (DISK, disks.reduce(f64::max)),
        (MEMORY, facts.memory.available.map(|it| 1.0 - it)),
        (WAITING, waiting),
    ];
    let known = rows.into_iter();
    known
        .filter_map(|(key, value)| Some((key.to_owned(), value.filter(|it| it.is_finite())?)))
        .collect()
}

/// Where each client has a thread of its own, a busy thread is a busy client, and no limit.
fn busiest_thread(facts: &Facts<'_>) -> Option<f64> {
    let target = facts.target.as_ref()?;
    let clients = facts.closed_loop()?;
    (clients > target.active_threads.max(1)).then_some(target.busiest)
}

pub(super) fn cpu_of_machine(facts: &Facts<'_>) -> Option<(&'static str, f64)> {
    Some((CPU_OF_MACHINE, facts.machine?.busy_ns))
}

pub(super) fn setting(facts: &Facts<'_>) -> PointSetting {
    let load = facts.meta.workload.as_ref().map(|it| &it.load);
    let cpus = f64::from(facts.effective_cpus);
    let quota = facts.quota.as_ref().and_then(|it| it.cpus);
    PointSetting {
        machine_cpus: facts.meta.cpus,
        cpus: quota.map_or(cpus, |it| it.min(cpus)),
        clients: facts.closed_loop(),
        rate: facts.asked_rate(),
        clients_option: load.and_then(|it| it.clients_option.clone()),
    }
}
