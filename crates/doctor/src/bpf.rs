//! BPF: the kernel's BTF, and whether it accepts programs.

use rustix::io::Errno;

use super::answer::Answer;
use super::host_facts::HostFacts;
use kernel::trials::Taken;

use super::probes::{Privilege, Probes};
use super::tree::name_of;

/// What happens without BPF.
const OTHERWISE: &str = "No verdict of this version needs it: pressure is read from files instead.";

/// Whether the kernel has BTF, the description of its types.
pub(super) fn types(host: &HostFacts<'_>) -> Answer {
    let file = "/sys/kernel/btf/vmlinux";
    match host.tree.entries("sys/kernel/btf") {
        Ok(entries) if entries.iter().any(|it| it.name == "vmlinux") => {
            Answer::fine(format!("The kernel describes its types ({file})."))
        }
        _ if host.probes.is_none() && host.tree.entries("sys/kernel").is_err() => {
            Answer::not_probed()
        }
        _ => Answer::missing(format!(
            "There is no {file}: the kernel was built without CONFIG_DEBUG_INFO_BTF. {OTHERWISE}"
        )),
    }
}

/// Whether the kernel accepts a map and a program that does nothing.
pub(super) fn programs(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let lockdown = host.line("sys/kernel/security/lockdown");
    let locked = lockdown
        .as_deref()
        .is_some_and(|it| it.contains("[confidentiality]"));
    let (what, errno) = match (probes.bpf_map, probes.bpf_program) {
        (Ok(()), Ok(())) if locked => {
            return Answer::missing(format!(
                "Maps and programs are taken, but the kernel is locked down for confidentiality \
                 (/sys/kernel/security/lockdown): programs may not read its memory. {OTHERWISE}"
            ));
        }
        (Ok(()), Ok(())) => {
            return Answer::fine("bpf(2) takes maps and programs (tried, and given back).");
        }
        (Err(errno), _) => ("map", errno),
        (_, Err(errno)) => ("program", errno),
    };
    let answer = Answer::missing(format!(
        "bpf(2) takes no {what} here ({}): {}. {OTHERWISE}",
        name_of(errno),
        reason(host, probes, errno)
    ));
    if errno == Errno::PERM && probes.euid != 0 && !probes.filtered {
        return answer.fixed_by(host.type_in("run as root", &[]));
    }
    answer
}

/// Whether the program that reads pressure loads.
pub(super) fn pressure(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.pressure_program {
        Ok(taken) => Answer::fine(format!(
            "Pressure is read where the kernel counts it, every 100 ms ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The program that reads pressure where the kernel counts it does not load: {refusal}. Its files \
             are read instead, every 2 s, as every verdict of this version wants it: what is shorter \
             is not seen, and other readers bend it."
        )),
    }
}

/// Whether the thread-time programs load.
pub(super) fn thread_time(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.thread_time_programs {
        Ok(taken) => Answer::fine(format!(
            "Where the time of threads goes is counted at every switch ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The programs that count at every switch where the time of threads goes do not load: {refusal}. \
             Files are read instead, every 100 ms, as every verdict of this version wants it: times on a \
             CPU and waiting for one are exact in them, what blocked threads wait for is a sample, and \
             who had the CPU meanwhile is guessed."
        )),
    }
}

/// Whether the programs that time requests load.
pub(super) fn requests(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.request_programs {
        Ok(taken) => Answer::fine(format!(
            "Requests are counted and timed at the sockets of servers, whatever they speak ({}, beside what is \
             kept of each connection).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The programs that time requests at the sockets of servers do not load: {refusal}. Verdicts of this \
             version can do without: throughput and latency are then known as far as the load generator \
             tells them."
        )),
    }
}

/// Whether the programs at block devices load.
pub(super) fn block(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.block_programs {
        Ok(taken) => Answer::fine(format!(
            "Requests of block devices are counted by process, control group and file ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The programs that count requests of block devices by process, control group and file do not load: \
             {refusal}. Verdicts of this version can do without: of disks /proc/diskstats tells how many \
             operations there were and how long they took on average, but not whose, how large, in which \
             order and how far apart they were."
        )),
    }
}

/// Whether the programs that count who talks to whom load.
pub(super) fn flow(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.flow_programs {
        Ok(taken) => Answer::fine(format!(
            "What processes exchange with each peer is counted by port: TCP, UDP and unix sockets ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The programs that count what processes exchange with each peer do not load: {refusal}. Verdicts of \
             this version can do without: TCP connections of target, generator and dependencies are read \
             once a second, without short ones; UDP, unix sockets and other processes are not seen."
        )),
    }
}

/// Whether the programs that report starts and ends of processes load.
pub(super) fn processes(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.process_programs {
        Ok(taken) => Answer::fine(format!(
            "Every program that is started is recorded, however short its life ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The programs that report starts and ends of processes do not load: {refusal}. Verdicts of this version \
             can do without: processes are looked for every 200 ms, so that those of shorter lives are not seen, \
             nor what was started, by whom and how it ended."
        )),
    }
}

/// Whether the program that walks over all threads loads.
pub(super) fn tasks(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    match &probes.tasks_program {
        Ok(taken) => Answer::fine(format!(
            "What all processes have used is read by one walk in the kernel ({}).",
            tried(*taken)
        )),
        Err(refusal) => Answer::missing(format!(
            "The program that reads in one walk what all processes have used does not load: {refusal}. Two \
             files of each are read instead, which tell as much to 10 ms, and cost more; no verdict of \
             this version needs it."
        )),
    }
}

/// How the attempt went, and the kernel memory that the programs take during a recording.
fn tried(taken: Taken) -> String {
    let tried = "tried, and given back";
    taken.map_or(tried.to_owned(), |bytes| {
        let mib = bytes as f64 / f64::from(1 << 20);
        format!("{tried}: {mib:.1} MiB of the kernel's memory")
    })
}

fn reason(host: &HostFacts<'_>, probes: &Probes, errno: Errno) -> String {
    let closed = host.line("proc/sys/kernel/unprivileged_bpf_disabled");
    let privileged = probes.may(Privilege::Bpf) || probes.may(Privilege::SysAdmin);
    match errno {
        Errno::NOSYS => "the kernel was built without CONFIG_BPF_SYSCALL".to_owned(),
        _ if probes.filtered => "a seccomp filter watches over this process".to_owned(),
        _ if !probes.initial_user_ns => {
            "this is a user namespace, whose root is nobody to the kernel".to_owned()
        }
        _ if !privileged => match closed.as_deref() {
            Some(level @ ("1" | "2")) => {
                format!("no CAP_BPF, and kernel.unprivileged_bpf_disabled is {level}")
            }
            _ => "no CAP_BPF".to_owned(),
        },
        _ => "a security policy refuses it".to_owned(),
    }
}
