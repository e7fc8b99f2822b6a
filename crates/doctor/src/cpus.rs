//! CPUs, and hardware threads of a core.

use super::answer::{Answer, counted};
use super::host_facts::HostFacts;

/// Number of CPUs online, from /proc/stat.
pub(super) fn online(host: &HostFacts<'_>) -> Option<usize> {
    let text = host.text("proc/stat").ok()?;
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    Some(text.lines().filter(is_cpu).count()).filter(|count| *count > 0)
}

/// Whether CPU times are available; without them there is next to no verdict.
pub(super) fn times(host: &HostFacts<'_>) -> Answer {
    match online(host) {
        Some(count) => Answer::fine(format!(
            "/proc/stat counts what {} did.",
            counted(count, "CPU", "CPUs")
        )),
        None => Answer::missing("/proc/stat does not say what the CPUs did.")
            .costs("Every verdict about CPUs, and the headroom of a healthy run.")
            .fixed_by(host.type_in("", &["{sudo}mount -t proc proc /proc"])),
    }
}

/// Whether each CPU is a core of its own.
pub(super) fn smt(host: &HostFacts<'_>) -> Answer {
    let file = "/sys/devices/system/cpu/smt/active";
    match host.line("sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => Answer::fine(format!(
            "Cores run two threads or more ({file} is 1): a CPU beside a busy one gives less than a whole one, and \
             what another CPU would bring is less than reports say."
        )),
        Some("0") => Answer::fine(format!(
            "Every CPU is a core of its own, as far as is seen from here ({file} is 0)."
        )),
        _ if host.probes.is_none() => Answer::not_probed(),
        _ => Answer::unknown(format!(
            "{file} is not there: whether CPUs share a core is not known."
        )),
    }
}
