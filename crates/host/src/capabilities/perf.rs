//! perf events: samples of stacks, and counters of the hardware.

use super::answer::Answer;
use super::patient::Patient;
use super::tree::name_of;
use super::trials::Privilege;

/// Whether a cpu-clock event can be had, and the hardware's cycles.
pub(super) fn check(patient: &Patient<'_>) -> Answer {
    let Some(trials) = &patient.trials else {
        return Answer::not_tried();
    };
    let paranoid = patient.line("proc/sys/kernel/perf_event_paranoid");
    let setting = paranoid.as_ref().map_or(String::new(), |level| {
        format!(" (kernel.perf_event_paranoid is {level})")
    });
    let cycles = match trials.cycles {
        Ok(()) => "hardware counters too".to_owned(),
        Err(errno) => format!("hardware counters cannot ({})", name_of(errno)),
    };
    let all = trials.may(Privilege::Perfmon) || trials.may(Privilege::SysAdmin);
    let level = paranoid.as_deref().and_then(|it| it.parse::<i32>().ok());
    match trials.cpu_clock {
        Ok(()) if all || level.is_some_and(|it| it <= 0) => Answer::fine(format!(
            "cpu-clock events can be opened for every process{setting}; {cycles}."
        )),
        Ok(()) => Answer::lacking(format!(
            "cpu-clock events can be opened for own processes only{setting}; {cycles}. No verdict of this version uses them."
        ))
        .mended_by(patient.setting("kernel.perf_event_paranoid=0")),
        Err(errno) => {
            let answer = Answer::lacking(format!(
                "perf_event_open(2) gives {}{setting}{}. No verdict of this version uses it.",
                name_of(errno),
                if trials.filtered { ", behind a seccomp filter" } else { "" }
            ));
            match level {
                Some(level) if level > 2 && !trials.filtered => {
                    answer.mended_by(patient.setting("kernel.perf_event_paranoid=2"))
                }
                _ => answer,
            }
        }
    }
}
