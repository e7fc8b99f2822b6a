//! What groups and the machine used so far: to be read twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::group::{line_of, read};
use crate::{Controller, Error, Held};

/// Ticks per second of /proc (proc(5): USER_HZ, which is 100 on every Linux).
const TICK_NS: u64 = 10_000_000;

/// Something of each kind of use that a group makes of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OfDisk<T> {
    /// Reads.
    pub reads: T,
    /// Writes.
    pub writes: T,
    /// Bytes read.
    pub read_bytes: T,
    /// Bytes written.
    pub written_bytes: T,
}

impl<T> OfDisk<T> {
    /// All four, in the order in which they stand.
    pub fn each(self) -> [T; 4] {
        [self.reads, self.writes, self.read_bytes, self.written_bytes]
    }

    fn from_each([reads, writes, read_bytes, written_bytes]: [T; 4]) -> Self {
        Self {
            reads,
            writes,
            read_bytes,
            written_bytes,
        }
    }
}

/// What a group made of a disk since it was made: requests and bytes.
pub type Disk = OfDisk<u64>;

/// What it may make of a disk in a second; `None` without a limit.
pub type DiskLimits = OfDisk<Option<u64>>;

/// The files of the limits in v1, and their words in io.max (kernel, Documentation/admin-guide/cgroup-v1/
/// blkio-controller.rst and cgroup-v2.rst).
const LIMITS_IN_V1: [&str; 4] = [
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
];
const LIMITS_IN_V2: [&str; 4] = ["riops=", "wiops=", "rbps=", "wbps="];

/// Counters of the machine since its start, and what is free now.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Machine {
    /// How many CPUs these are.
    pub cpus: u32,
    /// Idle time of these CPUs, those that wait for a disk among them, ns (/proc/stat).
    pub idle_ns: u64,
    /// Time in which each disk had a request, ns, by `MAJOR:MINOR` (field 13 of /proc/diskstats).
    pub disk_busy_ns: BTreeMap<String, u64>,
    /// Memory that is available without swapping, bytes (MemAvailable in /proc/meminfo).
    pub available: u64,
}

impl Machine {
    /// Now; idle time of the CPUs of this list, of all where it is empty.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn read(cpus: &[u32]) -> Result<Self, Error> {
        let stat = read(Path::new("/proc/stat"))?;
        let disks = read(Path::new("/proc/diskstats"))?;
        let memory = read(Path::new("/proc/meminfo"))?;
        let lines = stat.lines().filter(|line| line.starts_with("cpu"));
        // The first line is of all of them.
        let all = lines.count().saturating_sub(1);
        let named = if cpus.is_empty() { all } else { cpus.len() };
        Ok(Self {
            cpus: u32::try_from(named.min(all)).unwrap_or(u32::MAX),
            idle_ns: idle_ticks(&stat, cpus) * TICK_NS,
            disk_busy_ns: disks.lines().filter_map(busy).collect(),
            available: memory
                .lines()
                .find_map(|line| line.strip_prefix("MemAvailable:"))
                .and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok())
                .unwrap_or(0)
                .saturating_mul(1024),
        })
    }
}

/// CPU time of processes since their start, of those that live, ns, in steps of 10 ms.
pub fn cpu_ns_of(processes: &[u32]) -> u64 {
    processes.iter().map(|pid| ticks(*pid)).sum::<u64>() * TICK_NS
}

/// `vda` of `254:0`; the number where it has no name.
pub fn disk_name(disk: &str) -> String {
    let text = fs::read_to_string(format!("/sys/dev/block/{disk}/uevent")).unwrap_or_default();
    let name = text.lines().find_map(|it| it.strip_prefix("DEVNAME="));
    name.unwrap_or(disk).to_owned()
}

impl Held {
    /// CPU time of the group since it was made, ns; of v1 groups without an account, that of their processes that live.
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn cpu_ns(&self) -> Result<u64, Error> {
        let folder = self.folder(Controller::Cpu)?;
        if let Some(account) = &self.cpuacct {
            let text = read(&account.join("cpuacct.usage"))?;
            return Ok(text.trim().parse().unwrap_or(0));
        }
        if folder.is_v2 {
            let text = read(&folder.path.join("cpu.stat"))?;
            return Ok(value(&text, "usage_usec").unwrap_or(0) * 1_000);
        }
        Ok(cpu_ns_of(&self.members(Controller::Cpu)?))
    }

    /// How long the threads of the group's processes ran and how long they were in line for a CPU, ns, of those that live
    /// (schedstat of each thread: Documentation/scheduler/sched-stats.rst).
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn ran_and_waited_ns(&self) -> Result<[u64; 2], Error> {
        let mut sum = [0; 2];
        for pid in self.members(Controller::Cpu)? {
            let threads = fs::read_dir(format!("/proc/{pid}/task"));
            for thread in threads.into_iter().flatten().flatten() {
                let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
                let mut words = text.split_ascii_whitespace();
                for of in &mut sum {
                    *of += words
                        .next()
                        .and_then(|it| it.parse::<u64>().ok())
                        .unwrap_or(0);
                }
            }
        }
        Ok(sum)
    }

    /// The quota of the group, in CPUs; `None` without one. Groups around it limit it as well: the lowest counts.
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn quota(&self) -> Result<Option<f64>, Error> {
        let folder = self.folder(Controller::Cpu)?;
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let all: Vec<(Option<f64>, Option<f64>)> = match folder.is_v2 {
            true => {
                let texts = folder.with_those_around("cpu.max")?;
                let both = texts.iter().map(|text| {
                    let mut words = text.split_ascii_whitespace().map(number);
                    (words.next().flatten(), words.next().flatten())
                });
                both.collect()
            }
            false => {
                let quotas = folder.with_those_around("cpu.cfs_quota_us")?;
                let periods = folder.with_those_around("cpu.cfs_period_us")?;
                let both = quotas.iter().zip(&periods);
                both.map(|(quota, period)| (number(quota), number(period)))
                    .collect()
            }
        };
        // -1 stands for none.
        let cpus = all
            .into_iter()
            .filter_map(|(quota, period)| Some(quota.filter(|it| *it > 0.0)? / period?));
        Ok(cpus.reduce(f64::min))
    }

    /// What it made of disks, by `MAJOR:MINOR`.
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn disks(&self) -> Result<BTreeMap<String, Disk>, Error> {
        let folder = self.folder(Controller::Io)?;
        let mut disks: BTreeMap<String, [u64; 4]> = BTreeMap::new();
        let mut add = |file: &str, words: &[(usize, &str)]| -> Result<(), Error> {
            for line in read(&folder.path.join(file))?.lines() {
                let Some((disk, rest)) = line.split_once(' ') else {
                    continue;
                };
                if !disk.contains(':') {
                    continue;
                }
                let of = disks.entry(disk.to_owned()).or_default();
                for (place, word) in words {
                    of[*place] += behind(rest, word).unwrap_or(0);
                }
            }
            Ok(())
        };
        match folder.is_v2 {
            true => add(
                "io.stat",
                &[(0, "rios="), (1, "wios="), (2, "rbytes="), (3, "wbytes=")],
            )?,
            false => {
                let recursive = "blkio.throttle.io_serviced_recursive";
                add(recursive, &[(0, "Read "), (1, "Write ")])?;
                let recursive = "blkio.throttle.io_service_bytes_recursive";
                add(recursive, &[(2, "Read "), (3, "Write ")])?;
            }
        }
        let each = disks.into_iter();
        Ok(each.map(|(disk, it)| (disk, Disk::from_each(it))).collect())
    }

    /// The limits of the group for a disk, `MAJOR:MINOR`, the lowest of its own and of those of groups around it.
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn disk_limits(&self, disk: &str) -> Result<DiskLimits, Error> {
        let folder = self.folder(Controller::Io)?;
        let of_disk = |texts: Vec<String>, limit: &dyn Fn(&str) -> Option<u64>| {
            let lines = texts.iter().filter_map(|text| line_of(text, disk));
            lines.filter_map(limit).min()
        };
        let mut limits = [None; 4];
        for (place, most) in limits.iter_mut().enumerate() {
            *most = match folder.is_v2 {
                // `max` is no number.
                true => {
                    let texts = folder.with_those_around("io.max")?;
                    of_disk(texts, &|line| behind(line, LIMITS_IN_V2[place]))
                }
                // 0 stands for none.
                false => {
                    let texts = folder.with_those_around(LIMITS_IN_V1[place])?;
                    of_disk(texts, &|line| line.trim().parse().ok().filter(|it| *it > 0))
                }
            };
        }
        Ok(DiskLimits::from_each(limits))
    }

    /// Memory of the group now, and its limit, bytes, the lowest of its own and of those of groups around it; no limit
    /// where none has one.
    ///
    /// # Errors
    /// There is no group, or it cannot be read.
    pub fn memory(&self) -> Result<(u64, Option<u64>), Error> {
        let folder = self.folder(Controller::Memory)?;
        let (used, most): (_, &[&str]) = match folder.is_v2 {
            true => ("memory.current", &["memory.max", "memory.high"]),
            false => ("memory.usage_in_bytes", &["memory.limit_in_bytes"]),
        };
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let mut limit = None;
        for file in most {
            let texts = folder.with_those_around(file)?;
            let own = texts.iter().filter_map(|it| number(it));
            limit = own.chain(limit).min();
        }
        // Without a limit v1 says the largest number of pages (kernel, mm/page_counter.c, PAGE_COUNTER_MAX).
        const NONE: u64 = 1 << 60;
        let used = number(&read(&folder.path.join(used))?).unwrap_or(0);
        Ok((used, limit.filter(|it| *it < NONE)))
    }
}

/// The number behind a word, wherever that stands in a line.
fn behind(line: &str, word: &str) -> Option<u64> {
    let behind = line.split_once(word)?.1;
    behind.split(' ').next()?.trim().parse().ok()
}

/// The number behind a word at the beginning of a line.
fn value(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    line?.trim().parse().ok()
}

/// User and system time of a process, of threads that have ended too, in ticks.
fn ticks(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind = text.rsplit_once(')').map_or("", |it| it.1);
    let words = behind.split_ascii_whitespace().skip(11).take(2);
    words.filter_map(|it| it.parse::<u64>().ok()).sum()
}

fn idle_ticks(stat: &str, cpus: &[u32]) -> u64 {
    let lines = stat.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        let number = name.parse::<u32>().ok();
        let is_wanted = match number {
            None => cpus.is_empty(),
            Some(number) => cpus.contains(&number),
        };
        is_wanted.then_some(rest)
    });
    lines
        .map(|rest| {
            let idle = rest.split_ascii_whitespace().skip(3).take(2);
            idle.filter_map(|it| it.parse::<u64>().ok()).sum::<u64>()
        })
        .sum()
}

/// A line of /proc/diskstats.
fn busy(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let disk = format!("{}:{}", words.first()?, words.get(1)?);
    let ms: u64 = words.get(12)?.parse().ok()?;
    Some((disk, ms.saturating_mul(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_that_of_the_cpus_that_are_asked_for() {
        let stat = "cpu  1 2 3 30 4 0 0 0 0 0\ncpu0 1 1 1 10 1 0 0 0 0 0\ncpu1 0 1 2 20 3 0 0 0 0 0\nintr 5\n";
        assert_eq!(idle_ticks(stat, &[]), 34);
        assert_eq!(idle_ticks(stat, &[1]), 23);
        assert_eq!(idle_ticks("", &[]), 0);
    }

    #[test]
    fn a_disk_is_busy_while_it_has_a_request() {
        let line = " 254       0 vda 1 2 3 4 5 6 7 8 0 1234 99 0 0 0 0";
        assert_eq!(busy(line), Some(("254:0".to_owned(), 1_234_000_000)));
        assert_eq!(busy("254 0 vda"), None);
    }
}
