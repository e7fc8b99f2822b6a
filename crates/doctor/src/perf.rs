//! perf events: call stacks of what runs, and hardware counters.

use super::answer::Answer;
use super::host_facts::HostFacts;
use super::probes::Privilege;
use super::tree::name_of;

/// Whether the cpu-clock event and the hardware's cycle counter are available.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let paranoid = host.line("proc/sys/kernel/perf_event_paranoid");
    let setting = paranoid.as_ref().map_or(String::new(), |level| {
        format!(" (kernel.perf_event_paranoid is {level})")
    });
    let cycles = match probes.cycles {
        Ok(()) => "hardware counters too".to_owned(),
        Err(errno) => format!("hardware counters cannot ({})", name_of(errno)),
    };
    let all = probes.may(Privilege::Perfmon) || probes.may(Privilege::SysAdmin);
    let level = paranoid.as_deref().and_then(|it| it.parse::<i32>().ok());
    match probes.cpu_clock {
        Ok(()) if all || level.is_some_and(|it| it <= 0) => Answer::fine(format!(
            "cpu-clock events can be opened for every process{setting}; {cycles}."
        )),
        Ok(()) => Answer::missing(format!(
            "cpu-clock events can be opened for own processes only{setting}; {cycles}. No verdict of this version uses them; without those of all processes no call stacks are recorded."
        ))
        .fixed_by(host.setting("kernel.perf_event_paranoid=0")),
        Err(errno) => {
            let answer = Answer::missing(format!(
                "perf_event_open(2) gives {}{setting}{}. No verdict of this version uses it; without it no call stacks are recorded.",
                name_of(errno),
                if probes.filtered { ", behind a seccomp filter" } else { "" }
            ));
            match level {
                Some(level) if level > 2 && !probes.filtered => {
                    answer.fixed_by(host.setting("kernel.perf_event_paranoid=2"))
                }
                _ => answer,
            }
        }
    }
}
