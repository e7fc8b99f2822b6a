//! The machine's counters from /proc, and what they say over a second.

use std::collections::BTreeMap;
use std::fs;

/// Counters at one moment, by name; what this kernel does not count is absent.
#[derive(Clone, Default, Debug)]
pub struct Counters {
    cpu: Vec<f64>,
    values: BTreeMap<&'static str, f64>,
    /// Milliseconds in which each disk was busy.
    disks: BTreeMap<String, f64>,
}

impl Counters {
    /// Reads them all.
    pub fn read() -> Self {
        let mut counters = Self::default();
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        counters.stat(&text("/proc/stat"));
        counters.disks(&text("/proc/diskstats"));
        counters.named(&text("/proc/vmstat"), &VMSTAT);
        counters.network(&text("/proc/net/dev"));
        counters.tcp(&text("/proc/net/snmp"));
        counters
    }

    fn add(&mut self, name: &'static str, value: f64) {
        *self.values.entry(name).or_default() += value;
    }

    fn stat(&mut self, text: &str) {
        for line in text.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let first = || fields.get(1).and_then(|field| field.parse().ok());
            match fields.first().copied() {
                Some("cpu") => {
                    self.cpu = fields[1..].iter().filter_map(|f| f.parse().ok()).collect();
                }
                Some("ctxt") => self.add("context switches", first().unwrap_or_default()),
                Some("procs_running") => self.add("running", first().unwrap_or_default()),
                Some("procs_blocked") => self.add("blocked", first().unwrap_or_default()),
                _ => {}
            }
        }
    }

    /// Fields as in the kernel's Documentation/admin-guide/iostats.rst.
    fn disks(&mut self, text: &str) {
        for line in text.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
            let (Some(name), Some(reads), Some(writes), Some(busy)) =
                (fields.get(2), number(3), number(7), number(12))
            else {
                continue;
            };
            self.add("disk reads", reads);
            self.add("disk writes", writes);
            self.disks.insert((*name).to_owned(), busy);
        }
    }

    fn named(&mut self, text: &str, names: &[(&str, &'static str)]) {
        for line in text.lines() {
            let Some((word, value)) = line.split_once(' ') else {
                continue;
            };
            if let Some((_, name)) = names.iter().find(|(known, _)| *known == word) {
                self.add(name, value.trim().parse().unwrap_or_default());
            }
        }
    }

    fn network(&mut self, text: &str) {
        for line in text.lines() {
            let Some((_, fields)) = line.split_once(':') else {
                continue;
            };
            let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
            for at in [0, 8] {
                let bytes = fields.get(at).and_then(|field| field.parse().ok());
                self.add("network bytes", bytes.unwrap_or_default());
            }
        }
    }

    /// Two lines that begin with `Tcp:`: names, then values.
    fn tcp(&mut self, text: &str) {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
        let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
            return;
        };
        let found = names
            .split(' ')
            .zip(values.split(' '))
            .find(|(name, _)| *name == "RetransSegs");
        if let Some((_, value)) = found {
            self.add("retransmits", value.parse().unwrap_or_default());
        }
    }
}

/// Names in /proc/vmstat, and ours.
const VMSTAT: [(&str, &str); 6] = [
    ("pgmajfault", "major faults"),
    ("workingset_refault_file", "refaults"),
    ("workingset_refault_anon", "refaults"),
    ("pgscan_direct", "direct reclaim"),
    ("pswpin", "swapping"),
    ("pswpout", "swapping"),
];

/// Those that are no counters: their latest value counts.
const GAUGES: [&str; 2] = ["running", "blocked"];

/// What happened between two readings: shares of 1, numbers, and rates per second.
pub fn metrics(before: &Counters, now: &Counters, seconds: f64) -> BTreeMap<&'static str, f64> {
    let mut found = BTreeMap::new();
    for (name, value) in &now.values {
        if GAUGES.contains(name) {
            found.insert(*name, *value);
        } else if let Some(earlier) = before.values.get(name) {
            found.insert(*name, (value - earlier).max(0.0) / seconds);
        }
    }
    let busiest = now
        .disks
        .iter()
        .filter_map(|(name, busy)| Some((busy - before.disks.get(name)?) / 1e3 / seconds))
        .reduce(f64::max);
    if let Some(busiest) = busiest {
        found.insert("disk busy", busiest.clamp(0.0, 1.0));
    }
    if let Some(busy) = cpu_busy(&before.cpu, &now.cpu) {
        found.insert("cpu busy", busy);
    }
    found
}

/// The share of CPU time that was neither idle nor waiting for a disk; guest time is in user time.
fn cpu_busy(before: &[f64], now: &[f64]) -> Option<f64> {
    let spent: Vec<f64> = now
        .iter()
        .zip(before)
        .map(|(a, b)| (a - b).max(0.0))
        .collect();
    let total: f64 = spent.iter().take(8).sum();
    let idle = spent.get(3)? + spent.get(4)?;
    (total > 0.0).then(|| 1.0 - idle / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(idle: u64, reads: u64, busy: u64, refaults: u64) -> Counters {
        let mut counters = Counters::default();
        counters.stat(&format!(
            "cpu  100 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 1\nctxt 50\nprocs_running 3\nprocs_blocked 1"
        ));
        counters.disks(&format!(
            "254 0 vda {reads} 0 0 0 7 0 0 0 0 {busy} 0\n7 0 loop0 0 0 0 0 0 0 0 0 0 0"
        ));
        counters.named(
            &format!("workingset_refault_file {refaults}\nnr_free 7"),
            &VMSTAT,
        );
        counters.tcp("Tcp: InSegs RetransSegs\nTcp: 9 4\n");
        counters.network("Inter-| x\n face |x\n lo: 5 0 0 0 0 0 0 0 6 0 0\n");
        counters
    }

    #[test]
    fn rates_shares_and_gauges() {
        let found = metrics(&counters(100, 10, 0, 0), &counters(300, 30, 1500, 8), 2.0);
        assert_eq!(found["cpu busy"], 0.0);
        assert_eq!(found["disk reads"], 10.0);
        assert_eq!(found["disk busy"], 0.75);
        assert_eq!(found["refaults"], 4.0);
        assert_eq!(found["running"], 3.0);
        assert_eq!(found["network bytes"], 0.0);
        assert_eq!(found["retransmits"], 0.0);
    }

    #[test]
    fn what_is_not_there_is_absent() {
        assert!(metrics(&Counters::default(), &Counters::default(), 1.0).is_empty());
    }
}
