//! CPUs and the threads of their cores.

use super::answer::{Answer, counted};
use super::patient::Patient;

/// How many CPUs are online, by /proc/stat.
pub(super) fn online(patient: &Patient<'_>) -> Option<usize> {
    let text = patient.text("proc/stat").ok()?;
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    Some(text.lines().filter(is_cpu).count()).filter(|count| *count > 0)
}

/// What the CPUs did: without it there is next to nothing to say.
pub(super) fn times(patient: &Patient<'_>) -> Answer {
    match online(patient) {
        Some(count) => Answer::fine(format!(
            "/proc/stat counts what {} did.",
            counted(count, "CPU", "CPUs")
        )),
        None => Answer::lacking("/proc/stat does not say what the CPUs did.")
            .costs("Every verdict about CPUs, and the headroom of a healthy run.")
            .mended_by(patient.type_in("", &["{sudo}mount -t proc proc /proc"])),
    }
}

/// Whether what counts as a CPU is one.
pub(super) fn smt(patient: &Patient<'_>) -> Answer {
    let file = "/sys/devices/system/cpu/smt/active";
    match patient.line("sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => Answer::fine(format!(
            "Cores run two threads or more ({file} is 1): a CPU beside a busy one gives less than a whole one, and \
             what another CPU would bring is less than reports say."
        )),
        Some("0") => Answer::fine(format!(
            "Every CPU is a core of its own, as far as is seen from here ({file} is 0)."
        )),
        _ if patient.trials.is_none() => Answer::not_tried(),
        _ => Answer::untold(format!(
            "{file} is not there: whether CPUs share a core is not known."
        )),
    }
}
