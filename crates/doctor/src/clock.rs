//! The clock source behind every row's timestamp.

use model::Fix;

use super::answer::Answer;
use super::host_facts::HostFacts;

/// Sources that are read through a device or an exit to the hypervisor: about a microsecond each.
const SLOW: [&str; 7] = [
    "hpet",
    "acpi_pm",
    "jiffies",
    "refined-jiffies",
    "pit",
    "hyperv_clocksource_msr",
    "clocksource_msr",
];

/// A reading that takes this long made a system call or more, ns.
const SLOW_NS: i64 = 500;

const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";

/// Which clock source is in use, and how long a reading takes.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let current = host.line(&format!("{FOLDER}/current_clocksource"));
    let cost = host.probes.as_ref().map(|it| it.clock_ns);
    let taking = cost.map_or(String::new(), |ns| format!("; a reading takes {ns} ns"));
    let Some(current) = current else {
        return match cost {
            Some(ns) if ns < SLOW_NS => {
                Answer::fine(format!("A reading of the clock takes {ns} ns."))
            }
            None => Answer::not_probed(),
            _ => Answer::unknown(format!("/{FOLDER} does not name the clock source{taking}.")),
        };
    };
    let slow = SLOW.contains(&current.as_str()) || cost.is_some_and(|ns| ns >= SLOW_NS);
    if !slow {
        return Answer::fine(format!("The clock source is {current}{taking}."));
    }
    let available = host.line(&format!("{FOLDER}/available_clocksource"));
    let available = available.unwrap_or_default();
    let offers_tsc = current != "tsc" && available.split(' ').any(|it| it == "tsc");
    let fix = if offers_tsc {
        let command = format!("echo tsc | {{sudo}}tee /{FOLDER}/current_clocksource");
        host.type_in(
            "until the next boot; clocksource=tsc as a boot parameter keeps it",
            &[&command],
        )
    } else {
        Fix {
            how: "the kernel offers no faster one here: `dmesg | grep -i -e tsc -e clocksource` says why".to_owned(),
            commands: Vec::new(),
        }
    };
    Answer::missing(format!("The clock source is {current}, which is slow{taking}."))
        .costs("Recording costs more CPU, and so does every program here that asks for the time often, as databases do.")
        .fixed_by(fix)
}
