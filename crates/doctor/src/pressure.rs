//! Pressure stall information of the machine and of control groups.

use model::Fix;
use rustix::io::Errno;

use super::answer::{Answer, counted};
use super::groups;
use super::host_facts::HostFacts;
use super::tree::name_of;

const FILES: [&str; 3] = ["cpu", "memory", "io"];

const COSTS: &str = "The pressure lines of every report; memory.refault loses a witness, and where the kernel function of a \
    wait is hidden too, memory.reclaim cannot be ruled out. Verdicts still come, from run-queue delay, CPU times and disks.";

/// Whether the machine's pressure is available.
pub(super) fn machine(host: &HostFacts<'_>) -> Answer {
    for file in FILES {
        let read = host.text(&format!("proc/pressure/{file}"));
        match read {
            Ok(text) if text.contains("total=") => {}
            // In captured files, a file that could not be read is empty.
            Ok(text) if text.is_empty() && host.probes.is_none() => {
                return switched_off(host, file).costs(COSTS);
            }
            Ok(_) => {
                let what = format!(
                    "/proc/pressure/{file} is there and holds no `total=`: it is not what a kernel writes."
                );
                return Answer::missing(what).costs(COSTS);
            }
            Err(Errno::NOENT) => return absent(host, file).costs(COSTS),
            Err(Errno::OPNOTSUPP) => return switched_off(host, file).costs(COSTS),
            Err(errno) => {
                let name = name_of(errno);
                let what = format!(
                    "/proc/pressure/{file} may not be read ({name}): a sandbox or a security policy hides it."
                );
                return Answer::missing(what)
                    .costs(COSTS)
                    .fixed_by(without_sandbox(host));
            }
        }
    }
    let cpu = host.text("proc/pressure/cpu").unwrap_or_default();
    let full = match cpu.contains("full") {
        true => "the machine's cpu `full`, which means nothing, is left out",
        false => "cpu has no `full` line, as before Linux 5.13, which costs nothing",
    };
    let irq = match host.tree.read("proc/pressure/irq") {
        Ok(_) => "irq as well",
        Err(_) => "no irq, as on kernels before 6.1 or without interrupt time accounting",
    };
    Answer::fine(format!(
        "/proc/pressure has cpu, memory and io ({irq}; {full})."
    ))
}

fn switched_off(host: &HostFacts<'_>, file: &str) -> Answer {
    let seen = match host.probes {
        Some(_) => format!("reading /proc/pressure/{file} gives EOPNOTSUPP"),
        None => format!("/proc/pressure/{file} is there and could not be read"),
    };
    Answer::missing(format!(
        "Pressure is switched off: the kernel has it and was not booted with psi=1 ({seen})."
    ))
    .fixed_by(host.boot_parameter("psi=1"))
}

/// The answer when there is no file: PSI not built, disabled on a newer kernel, or the file hidden.
fn absent(host: &HostFacts<'_>, file: &str) -> Answer {
    let place = host.config.place();
    let built = host.config.has("CONFIG_PSI");
    let off_by_default = host.config.has("CONFIG_PSI_DEFAULT_DISABLED") == Some(true);
    let asked_for = host.was_booted_with("psi=1");
    let off = host.was_booted_with("psi=0") || (off_by_default && !asked_for);
    match built {
        _ if host.kernel().is_some_and(|it| it < (4, 18)) => Answer::missing(format!(
            "There is no /proc/pressure/{file}: Linux {} is older than pressure, which came with 4.20 (4.18 on RHEL 8).",
            host.release
        ))
        .fixed_by(only_words("a kernel of 4.20 or later")),
        Some(false) => Answer::missing(format!(
            "This kernel was built without pressure: {place} has no CONFIG_PSI=y, and there is no /proc/pressure/{file}."
        ))
        .fixed_by(only_words("a kernel built with CONFIG_PSI=y: no boot parameter helps")),
        Some(true) if off => {
            let refused = host.was_booted_with("psi=0");
            let why = match refused {
                true => "it was booted with psi=0".to_owned(),
                false => format!(
                    "{place} has CONFIG_PSI_DEFAULT_DISABLED=y, and it was not booted with psi=1"
                ),
            };
            let mut fix = host.boot_parameter("psi=1");
            if refused {
                fix.how = format!("{}; take psi=0 out where it stands", fix.how);
                fix.how = fix.how.trim_start_matches("; ").to_owned();
            }
            Answer::missing(format!(
                "Pressure is switched off: the kernel has it, but {why}."
            ))
            .fixed_by(fix)
        }
        Some(true) => Answer::missing(format!(
            "The kernel has pressure and it is on, but there is no /proc/pressure/{file}: a sandbox hides it."
        ))
        .fixed_by(without_sandbox(host)),
        None => Answer::missing(format!(
            "There is no /proc/pressure/{file}: pressure is switched off, not built in, or hidden by a sandbox, and no kernel configuration tells which."
        ))
        .fixed_by(host.boot_parameter("psi=1")),
    }
}

fn only_words(how: &str) -> Fix {
    Fix {
        how: how.to_owned(),
        commands: Vec::new(),
    }
}

/// The fix for a file that a sandbox hides.
fn without_sandbox(host: &HostFacts<'_>) -> Fix {
    let how = match host.has_container_files() {
        true => {
            "start the container with the host's tree at /host, and give --root /host (see: container)"
        }
        false => {
            "run outside of the sandbox (of systemd: a unit without ProcSubset=pid and InaccessiblePaths=)"
        }
    };
    only_words(how)
}

const COSTS_OF_GROUPS: &str = "The pressure of the target's own group, which tells its waits from its neighbours'; the \
    machine's stays, and quotas and limits are seen all the same.";

/// Whether control groups have pressure: cgroup v2 only.
pub(super) fn groups(host: &HostFacts<'_>) -> Answer {
    let Some(mount) = &host.hierarchies.v2 else {
        return unmounted(host);
    };
    let point = mount.point.display();
    let found = groups::below(host, &mount.point);
    let inner = found.groups.iter().skip(1);
    let (with, without): (Vec<_>, Vec<_>) = inner.partition(|group| group.has("cpu.pressure"));
    let switch = |group: &groups::Group| format!("{}/cgroup.pressure", group.folder);
    let off: Vec<_> = without
        .iter()
        .map(|group| switch(group))
        .filter(|switch| host.line(switch).as_deref() == Some("0"))
        .collect();
    if let Some(first) = off.first() {
        let how = if off.len() > 1 {
            "and so for the others"
        } else {
            ""
        };
        let fix = host.type_in(how, &[&format!("echo 1 | {{sudo}}tee /{first}")]);
        let many = counted(off.len(), "group has", "groups have");
        return Answer::missing(format!("{many} pressure switched off: /{first} is 0."))
            .costs(COSTS_OF_GROUPS)
            .fixed_by(fix);
    }
    // Older kernels create the files although PSI is disabled; only reading one shows it.
    let refused = with.first().and_then(|group| {
        let read = host.text(&format!("{}/cpu.pressure", group.folder));
        read.err()
    });
    if let Some(errno) = refused {
        let what = format!(
            "The pressure files of groups below /{point} cannot be read ({}).",
            name_of(errno)
        );
        return Answer::missing(what)
            .costs(COSTS_OF_GROUPS)
            .fixed_by(as_the_machine());
    }
    match (with.len(), without.len()) {
        (0, 0) => Answer::fine(format!(
            "/{point} is a v2 hierarchy, with no groups below it yet."
        )),
        (0, some) => Answer::missing(format!(
            "{} below /{point}, none with pressure files.",
            counted(some, "group is", "groups are")
        ))
        .costs(COSTS_OF_GROUPS)
        .fixed_by(as_the_machine()),
        (some, _) => Answer::fine(format!(
            "{} pressure files{}.",
            counted(
                some,
                &format!("group below /{point} has"),
                &format!("groups below /{point} have")
            ),
            found.beyond()
        )),
    }
}

fn unmounted(host: &HostFacts<'_>) -> Answer {
    let layout = host.hierarchies.layout();
    let mut fix = host.boot_parameter("systemd.unified_cgroup_hierarchy=1");
    if !fix.commands.is_empty() {
        fix.how = "with systemd; all groups then are v2, those of containers too".to_owned();
    }
    Answer::missing(format!(
        "No v2 hierarchy is mounted (layout by /proc/self/mountinfo: {layout}), and only v2 groups have pressure."
    ))
    .costs(COSTS_OF_GROUPS)
    .fixed_by(fix)
}

fn as_the_machine() -> Fix {
    only_words("what mends `pressure` mends this too")
}
