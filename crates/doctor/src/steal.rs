//! Whether the machine is a guest, and whether its hypervisor reports steal.

use model::Fix;

use super::answer::Answer;
use super::host_facts::HostFacts;

/// DMI names of hypervisors, as in systemd-detect-virt.
const VENDORS: [(&str, &str); 14] = [
    ("Amazon EC2", "Amazon EC2"),
    ("Google", "Google Compute Engine"),
    ("KVM", "KVM"),
    ("OpenStack", "OpenStack"),
    ("KubeVirt", "KubeVirt"),
    ("QEMU", "QEMU"),
    ("VMware", "VMware"),
    ("innotek GmbH", "VirtualBox"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("Bochs", "Bochs"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Apple Virtualization", "Apple Virtualization"),
];

/// Whether steal is counted.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let guest = hypervisor(host);
    let steal = steal(host);
    match (&guest, steal) {
        (_, None) => Answer::unknown("/proc/stat has no steal column."),
        (Guest::No(how), _) => {
            Answer::fine(format!("No hypervisor is below ({how}): nobody steals."))
        }
        (Guest::Unknown, Some(0.0)) => Answer::unknown(
            "Nothing tells whether a hypervisor is below, and steal in /proc/stat is 0 since boot.",
        )
        .costs(COSTS),
        (Guest::Yes(name), Some(0.0)) => {
            let answer = Answer::unknown(format!(
                "This is a guest of {name}, and steal in /proc/stat is 0 since boot: nothing was taken, or it is not told."
            ))
            .costs(COSTS);
            match name.as_str() {
                "VMware" => answer.fixed_by(only_words(
                    "VMware tells it to guests whose configuration has stealclock.enable = \"TRUE\" (hardware version 13 or newer, Linux 5.8 or later)",
                )),
                _ => answer,
            }
        }
        (Guest::Yes(_) | Guest::Unknown, Some(share)) => {
            let name = match &guest {
                Guest::Yes(name) => name.as_str(),
                _ => "a hypervisor",
            };
            Answer::fine(format!(
                "This is a guest of {name}, which tells what it takes: {} of the time since boot (steal in /proc/stat).",
                percent(share)
            ))
        }
    }
}

const COSTS: &str = "cpu.steal, if the hypervisor takes time and does not say so.";

fn only_words(how: &str) -> Fix {
    Fix {
        how: how.to_owned(),
        commands: Vec::new(),
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        little if little < 0.1 => "under 0.1 %".to_owned(),
        some => format!("{some:.1} %"),
    }
}

/// Steal as a share of all CPU time since boot; `None` if the column is missing.
fn steal(host: &HostFacts<'_>) -> Option<f64> {
    let text = host.text("proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal; the columns after these are included in user and nice.
    let times: Vec<f64> = line
        .split_ascii_whitespace()
        .take(8)
        .map_while(|it| it.parse().ok())
        .collect();
    let steal = times.get(7)?;
    Some(steal / times.iter().sum::<f64>().max(1.0))
}

enum Guest {
    /// With the hypervisor's name.
    Yes(String),
    /// With the reason why there is no hypervisor.
    No(&'static str),
    Unknown,
}

fn hypervisor(host: &HostFacts<'_>) -> Guest {
    let xen = host.line("sys/hypervisor/type");
    let dom0 = host.line("proc/xen/capabilities");
    match (xen.as_deref(), dom0.as_deref()) {
        (Some("xen"), Some("control_d")) => return Guest::No("the control domain of Xen"),
        (Some("xen"), _) => return Guest::Yes("Xen".to_owned()),
        _ => {}
    }
    let named = named(host);
    // On x86 a flag marks a guest (CPUID leaf 1, ecx bit 31). EC2's metal instances have the vendor's name
    // without the flag.
    let cpuinfo = host.text("proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    let flagged = flags.map(|line| line.split(' ').any(|flag| flag == "hypervisor"));
    match (flagged, named) {
        (Some(false), _) => Guest::No("no `hypervisor` among the flags of /proc/cpuinfo"),
        (_, Some(name)) => Guest::Yes(name),
        (Some(true), None) => Guest::Yes("a hypervisor without a name".to_owned()),
        (None, None) => Guest::Unknown,
    }
}

fn named(host: &HostFacts<'_>) -> Option<String> {
    let files = ["product_name", "sys_vendor", "board_vendor", "bios_vendor"];
    let texts: Vec<_> = files
        .iter()
        .filter_map(|file| host.line(&format!("sys/class/dmi/id/{file}")))
        .collect();
    if texts.first().is_some_and(|it| it.contains(".metal")) {
        return None;
    }
    // Microsoft makes physical machines as well.
    if texts.iter().any(|it| it == "Virtual Machine")
        && texts.iter().any(|it| it.contains("Microsoft"))
    {
        return Some("Hyper-V".to_owned());
    }
    let known = VENDORS
        .iter()
        .find(|(vendor, _)| texts.iter().any(|text| text.starts_with(vendor)));
    if let Some((_, name)) = known {
        return Some((*name).to_owned());
    }
    // Micro-VMs have no DMI; the clock sources that a hypervisor offers name it.
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = host.line(clocks).unwrap_or_default();
    let offers = |clock: &str| clocks.split(' ').any(|it| it.starts_with(clock));
    let named = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    let found = named.iter().find(|(clock, _)| offers(clock));
    found.map(|(_, name)| (*name).to_owned())
}
