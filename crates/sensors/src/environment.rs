//! Facts about the machine that are read once: where each stands, and how to read it.

/// A fact, where it stands below the root, and how its text is read.
pub struct Fact {
    /// Its name in a recording: `kernel.release`.
    pub name: &'static str,
    /// The file, relative to the root.
    pub path: &'static str,
    /// From the file's bytes to the fact.
    pub read: fn(&[u8]) -> Option<String>,
}

/// Every fact.
pub const FACTS: &[Fact] = &[
    Fact {
        name: "kernel.release",
        path: "proc/sys/kernel/osrelease",
        read: first_line,
    },
    Fact {
        name: "kernel.version",
        path: "proc/version",
        read: first_line,
    },
    Fact {
        name: "kernel.sched_autogroup",
        path: "proc/sys/kernel/sched_autogroup_enabled",
        read: first_line,
    },
    Fact {
        name: "kernel.task_delayacct",
        path: "proc/sys/kernel/task_delayacct",
        read: first_line,
    },
    Fact {
        name: "cpu.model",
        path: "proc/cpuinfo",
        read: cpu_model,
    },
    Fact {
        name: "cpu.online",
        path: "sys/devices/system/cpu/online",
        read: first_line,
    },
    Fact {
        name: "cpu.smt",
        path: "sys/devices/system/cpu/smt/active",
        read: first_line,
    },
    Fact {
        name: "cpu.governor",
        path: "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        read: first_line,
    },
    Fact {
        name: "machine.hypervisor",
        path: "proc/cpuinfo",
        read: hypervisor,
    },
    Fact {
        name: "machine.vendor",
        path: "sys/class/dmi/id/sys_vendor",
        read: first_line,
    },
    Fact {
        name: "machine.product",
        path: "sys/class/dmi/id/product_name",
        read: first_line,
    },
    Fact {
        name: "clock.source",
        path: "sys/devices/system/clocksource/clocksource0/current_clocksource",
        read: first_line,
    },
    Fact {
        name: "memory.total",
        path: "proc/meminfo",
        read: memory_total,
    },
    Fact {
        name: "memory.huge_pages",
        path: "sys/kernel/mm/transparent_hugepage/enabled",
        read: chosen,
    },
    Fact {
        name: "vm.swappiness",
        path: "proc/sys/vm/swappiness",
        read: first_line,
    },
    Fact {
        name: "vm.dirty_ratio",
        path: "proc/sys/vm/dirty_ratio",
        read: first_line,
    },
    Fact {
        name: "distribution",
        path: "etc/os-release",
        read: distribution,
    },
];

fn first_line(text: &[u8]) -> Option<String> {
    let line = text
        .split(|byte| *byte == b'\n')
        .find(|line| !line.is_empty())?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

fn value_of<'a>(text: &'a [u8], key: &str, separator: char) -> Option<&'a str> {
    let text = std::str::from_utf8(text).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then_some(value.trim())
    })
}

fn cpu_model(text: &[u8]) -> Option<String> {
    value_of(text, "model name", ':').map(str::to_owned)
}

/// The flag that CPUs show to guests (CPUID leaf 1, ecx bit 31).
fn hypervisor(text: &[u8]) -> Option<String> {
    let guest = value_of(text, "flags", ':')?
        .split_whitespace()
        .any(|flag| flag == "hypervisor");
    Some(if guest { "yes" } else { "no" }.to_owned())
}

fn memory_total(text: &[u8]) -> Option<String> {
    value_of(text, "MemTotal", ':').map(str::to_owned)
}

/// The word in brackets of `always [madvise] never`.
fn chosen(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let open = text.find('[')?;
    let close = text[open..].find(']')? + open;
    Some(text[open + 1..close].to_owned())
}

fn distribution(text: &[u8]) -> Option<String> {
    value_of(text, "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_and_absent_ones_are_none() {
        assert_eq!(
            chosen(b"always [madvise] never\n").as_deref(),
            Some("madvise")
        );
        assert_eq!(chosen(b"] ["), None);
        assert_eq!(
            hypervisor(b"flags\t\t: fpu hypervisor lahf\n").as_deref(),
            Some("yes")
        );
        assert_eq!(hypervisor(b"Features : fp asimd\n"), None);
        assert_eq!(
            distribution(b"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(),
            Some("Debian GNU/Linux 12")
        );
        assert_eq!(cpu_model(b"\xff\xfe"), None);
    }
}
