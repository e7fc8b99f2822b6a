//! What a recorder may take of the machine: open files, priority, locked memory.

use sensors::{Place, Scope};

use super::answer::{Answer, counted};
use super::patient::Patient;
use super::rights::with_rights;
use super::trials::{Privilege, Trials};

/// Threads of target and generator, where nothing is known of them yet.
const THREADS: usize = 200;

/// How many files may be open, against what a recording of this machine keeps open.
pub(super) fn descriptors(patient: &Patient<'_>) -> Answer {
    let Some(trials) = &patient.trials else {
        return Answer::not_tried();
    };
    let entries = patient.tree.entries("proc").unwrap_or_default();
    let numbered = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = entries.iter().filter(|it| numbered(&it.name)).count();
    let (groups, of_groups) = super::groups::kept(patient);
    let needed =
        processes * files_of(Scope::Process) + of_groups + THREADS * files_of(Scope::Thread);
    let what = format!(
        "{}, {} and {THREADS} threads of a target",
        counted(processes, "process", "processes"),
        counted(groups, "group", "groups")
    );
    match trials.most_files {
        Some(most) if most < needed as u64 => {
            let raised = needed.next_power_of_two().max(65_536);
            let how = match patient.is_shut_in() {
                true => format!("start the container with --ulimit nofile={raised}"),
                false => "for this shell and what it starts".to_owned(),
            };
            let command = format!("{{sudo}}prlimit --pid $$ --nofile={raised}");
            let commands: &[&str] = if patient.is_shut_in() {
                &[]
            } else {
                &[&command]
            };
            Answer::lacking(format!(
                "{needed} files would be open for {what}, and the hard limit is {most} (ulimit -Hn)."
            ))
            .costs("Groups and processes beyond the limit are not measured, which the recording says as gaps.")
            .mended_by(patient.type_in(&how, commands))
        }
        Some(most) => Answer::fine(format!(
            "{needed} files at most would be open for {what}; {most} are allowed (ulimit -Hn)."
        )),
        None => Answer::fine(format!(
            "{needed} files at most would be open for {what}, without a limit."
        )),
    }
}

/// Files that sensors of a scope keep open for each thing.
fn files_of(scope: Scope) -> usize {
    let of_scope = sensors::all().iter().filter(|it| it.scope == scope);
    let sources = of_scope.flat_map(|sensor| sensor.sources);
    sources.filter(|it| it.place == Place::File).count()
}

/// Whether the sampler may be put above the load.
pub(super) fn priority(patient: &Patient<'_>) -> Answer {
    let costs = "On a machine without a free CPU samples come late; reports say how late.";
    right(
        patient,
        |it| it.may(Privilege::SysNice) || it.may_rise,
        "The sampler may take the lowest real-time priority.",
        "The sampler stays at normal priority: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0.",
        costs,
    )
}

/// Whether the sampler's memory may be kept from being swapped out.
pub(super) fn memory_lock(patient: &Patient<'_>) -> Answer {
    let costs = "On a machine that thrashes samples come late; reports say how late.";
    right(
        patient,
        |it| it.may(Privilege::IpcLock) || it.lockable.is_none(),
        "The sampler may lock its memory.",
        "The sampler may not lock its memory: no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is limited.",
        costs,
    )
}

fn right(
    patient: &Patient<'_>,
    has: fn(&Trials) -> bool,
    with: &str,
    without: &str,
    costs: &str,
) -> Answer {
    match &patient.trials {
        None => Answer::not_tried(),
        Some(trials) if has(trials) => Answer::fine(with),
        Some(trials) => Answer::lacking(without)
            .costs(costs)
            .mended_by(with_rights(patient, trials)),
    }
}
