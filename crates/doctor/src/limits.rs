//! Resource limits of the recorder: open files, priority, locked memory.

use sensors::{Place, Scope};

use super::answer::{Answer, counted};
use super::host_facts::HostFacts;
use super::probes::{Privilege, Probes};
use super::rights::with_rights;

/// Assumed number of target and generator threads: before a recording it is unknown.
const THREADS: usize = 200;

/// Whether the limit of open files is enough for what a recording of this machine keeps open.
pub(super) fn descriptors(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let entries = host.tree.entries("proc").unwrap_or_default();
    let numbered = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = entries.iter().filter(|it| numbered(&it.name)).count();
    let (groups, of_groups) = super::groups::group_files(host);
    let needed =
        processes * files_of(Scope::Process) + of_groups + THREADS * files_of(Scope::Thread);
    let what = format!(
        "{}, {} and {THREADS} threads of a target",
        counted(processes, "process", "processes"),
        counted(groups, "group", "groups")
    );
    match probes.most_files {
        Some(most) if most < needed as u64 => {
            let raised = needed.next_power_of_two().max(65_536);
            let how = match host.is_in_container() {
                true => format!("start the container with --ulimit nofile={raised}"),
                false => "for this shell and what it starts".to_owned(),
            };
            let command = format!("{{sudo}}prlimit --pid $$ --nofile={raised}");
            let commands: &[&str] = if host.is_in_container() {
                &[]
            } else {
                &[&command]
            };
            Answer::missing(format!(
                "{needed} files would be open for {what}, and the hard limit is {most} (ulimit -Hn)."
            ))
            .costs("Groups and processes beyond the limit are not measured, which the recording says as gaps.")
            .fixed_by(host.type_in(&how, commands))
        }
        Some(most) => Answer::fine(format!(
            "{needed} files at most would be open for {what}; {most} are allowed (ulimit -Hn)."
        )),
        None => Answer::fine(format!(
            "{needed} files at most would be open for {what}, without a limit."
        )),
    }
}

/// Files that the sensors of a scope keep open per entity.
fn files_of(scope: Scope) -> usize {
    let of_scope = sensors::all().iter().filter(|it| it.scope == scope);
    let sources = of_scope.flat_map(|sensor| sensor.sources);
    sources.filter(|it| it.place == Place::File).count()
}

/// Whether the sampler may run at a higher priority than the load.
pub(super) fn priority(host: &HostFacts<'_>) -> Answer {
    let costs = "On a machine without a free CPU samples come late; reports say how late.";
    right(
        host,
        |it| it.may(Privilege::SysNice) || it.may_rise,
        "The sampler may take the lowest real-time priority.",
        "The sampler stays at normal priority: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0.",
        costs,
    )
}

/// Whether the sampler's memory may be locked against swapping.
pub(super) fn memory_lock(host: &HostFacts<'_>) -> Answer {
    let costs = "On a machine that thrashes samples come late; reports say how late.";
    right(
        host,
        |it| it.may(Privilege::IpcLock) || it.lockable.is_none(),
        "The sampler may lock its memory.",
        "The sampler may not lock its memory: no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is limited.",
        costs,
    )
}

fn right(
    host: &HostFacts<'_>,
    has: fn(&Probes) -> bool,
    with: &str,
    without: &str,
    costs: &str,
) -> Answer {
    match &host.probes {
        None => Answer::not_probed(),
        Some(probes) if has(probes) => Answer::fine(with),
        Some(probes) => Answer::missing(without)
            .costs(costs)
            .fixed_by(with_rights(host, probes)),
    }
}
