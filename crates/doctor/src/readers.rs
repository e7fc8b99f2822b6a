//! Other programs that read pressure: each reading triggers the kernel's fold of per-CPU times for all
//! readers.
//!
//! A descriptor open for writing holds a trigger, which the kernel keeps apart from what readers see
//! (PSI_POLL in kernel/sched/psi.c): it costs nothing. One that is open only for reading belongs to a reader,
//! and how often that reads is recorded nowhere. Programs that open and close the file each time are known
//! only by name.

use std::collections::BTreeMap;

use super::answer::{Answer, counted};
use super::host_facts::HostFacts;

/// Most processes that are examined, the oldest first: programs that read pressure start with the
/// machine.
const MOST_PROCESSES: usize = 4_000;
/// Most descriptors that are examined.
const MOST_DESCRIPTORS: usize = 40_000;

/// Programs that are known to read pressure, and their default period, s.
const KNOWN: [(&str, f64); 9] = [
    ("systemd-oomd", 1.0),
    ("netdata", 1.0),
    ("psi-notify", 5.0),
    ("below", 5.0),
    ("oomd", 5.0),
    ("atop", 10.0),
    ("kubelet", 10.0),
    ("cadvisor", 10.0),
    ("node_exporter", 15.0),
];

/// The kernel's own averaging period, at which Stallscope reads and nothing is lost.
const FOLD_S: f64 = 2.0;

const COSTS: &str = "A reader that reads more often than every 2 s makes pressure too low for all readers: of a lightly loaded group, \
    reading every 200 ms lost 5 % and every 100 ms 89 %.";

/// Which other programs read pressure here.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let found = Found::look(host);
    // Captured files rarely include descriptors.
    if host.probes.is_none() && found.denied == found.looked {
        return Answer::not_probed();
    }
    let seen = format!(
        "{}{}",
        counted(found.looked, "process", "processes"),
        found.limits()
    );
    // Another Stallscope reads at the kernel's own period.
    let strangers: Vec<_> = found
        .holders
        .iter()
        .filter(|(_, name)| name.as_str() != "stallscope" && period(name).is_none())
        .collect();
    if let Some((pid, _)) = strangers.first() {
        let names: Vec<_> = strangers
            .iter()
            .map(|(pid, name)| format!("{name} ({pid})"))
            .collect();
        let command = format!("{{sudo}}timeout 10 strace -f -y -e trace=read,pread64 -p {pid}");
        return Answer::unknown(format!(
            "Pressure files are held open by {}: how often they are read is not told.",
            names.join(", ")
        ))
        .costs(COSTS)
        .fixed_by(host.type_in("see how often", &[&command]));
    }
    let named: Vec<_> = found
        .names
        .iter()
        .filter_map(|(name, pid)| Some((name, pid, period(name)?)))
        .collect();
    let (fast, slow): (Vec<_>, Vec<_>) = named.into_iter().partition(|(.., every)| *every < FOLD_S);
    let list = |list: &[(&String, &u32, f64)]| {
        let names: Vec<_> = list
            .iter()
            .map(|(name, pid, every)| format!("{name} ({pid}, every {every} s)"))
            .collect();
        names.join(", ")
    };
    match (fast.is_empty(), slow.is_empty()) {
        (false, _) => Answer::fine(format!(
            "Pressure is also read by {}, as it comes: about 1 % of a light load's pressure is lost. ({seen} looked at.)",
            list(&fast)
        )),
        (true, false) => Answer::fine(format!(
            "Pressure is also read by {}, as it comes: too seldom to cost anything. ({seen} looked at.)",
            list(&slow)
        )),
        (true, true) if found.denied * 2 > found.looked => Answer::unknown(format!(
            "No other reader of pressure was met, but only {} of {seen} could be looked into.",
            found.looked - found.denied
        ))
        .costs(COSTS)
        .fixed_by(host.type_in("ask as root", &["{sudo}stallscope doctor"])),
        (true, true) => Answer::fine(format!("No other reader of pressure among {seen}.")),
    }
}

fn period(name: &str) -> Option<f64> {
    let known = KNOWN.iter().find(|(known, _)| *known == name);
    known.map(|(_, every)| *every)
}

/// Result of a look at all processes.
#[derive(Default)]
struct Found {
    /// Processes with a pressure file open for reading, by pid.
    holders: BTreeMap<u32, String>,
    /// One pid per name.
    names: BTreeMap<String, u32>,
    looked: usize,
    denied: usize,
    left: usize,
}

impl Found {
    fn look(host: &HostFacts<'_>) -> Self {
        let entries = host.tree.entries("proc").unwrap_or_default();
        let mut pids: Vec<u32> = entries
            .iter()
            .filter_map(|it| it.name.parse().ok())
            .collect();
        pids.sort_unstable();
        let mut found = Self::default();
        let mut descriptors = 0;
        for pid in &pids {
            if found.looked >= MOST_PROCESSES || descriptors >= MOST_DESCRIPTORS {
                break;
            }
            found.looked += 1;
            let name = host.line(&format!("proc/{pid}/comm")).unwrap_or_default();
            match host.tree.entries(&format!("proc/{pid}/fd")) {
                Ok(entries) => {
                    descriptors += entries.len();
                    if entries.iter().any(|it| reads(host, *pid, &it.name)) {
                        found.holders.insert(*pid, name.clone());
                    }
                }
                Err(_) => found.denied += 1,
            }
            found.names.entry(name).or_insert(*pid);
        }
        found.left = pids.len() - found.looked;
        found
    }

    /// Addition to the sentence if not everything was examined.
    fn limits(&self) -> String {
        match self.left {
            0 => String::new(),
            left => format!(" ({left} more were left out)"),
        }
    }
}

/// Whether a descriptor is a pressure file open only for reading.
fn reads(host: &HostFacts<'_>, pid: u32, descriptor: &str) -> bool {
    let link = host.tree.link(&format!("proc/{pid}/fd/{descriptor}"));
    let is_pressure =
        link.is_ok_and(|it| it.starts_with("/proc/pressure/") || it.ends_with(".pressure"));
    is_pressure && {
        let info = host.text(&format!("proc/{pid}/fdinfo/{descriptor}"));
        let info = info.unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|it| u32::from_str_radix(it.trim(), 8).ok());
        /// O_ACCMODE of open(2).
        const ACCESS: u32 = 3;
        flags.unwrap_or(0) & ACCESS == 0
    }
}
