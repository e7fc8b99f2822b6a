//! What is lowered, how much of it the target uses, and how much there is.

use std::time::Instant;

use anyhow::Result;
use capacity::{Disk, DiskLimits, Entry, Lowered, Machine, OfDisk, Stopped, cpu_ns_of, disk_name};
use model::Capacity;
use regex::Regex;

use super::blocks::{Block, Blocks, LENGTH};
use super::{Target, controller, processes};

/// Threads that are in line for a CPU for less than this of the time that they run are hardly ever kept waiting.
const IN_LINE: f64 = 0.15;
/// Fewer requests of a disk cannot be lowered.
const LEAST_REQUESTS: f64 = 2.0;

/// What is lowered.
pub(super) enum Subject {
    Cpu {
        quota: Option<f64>,
    },
    Disk {
        /// `MAJOR:MINOR`.
        number: String,
        /// What the group may make of it.
        limits: DiskLimits,
    },
    Memory,
    Clients(Vec<Stopped>),
}

/// A block as it is, with what was used in it.
pub(super) struct Measured {
    pub(super) block: Block,
    cpus: f64,
    idle_cpus: f64,
    /// All that it may use.
    all_cpus: f64,
    /// What its load used.
    load_cpus: f64,
    /// How long its threads were in line for a CPU, per time that they ran.
    in_line: f64,
    disks: Vec<DiskUse>,
    /// Memory of the group, its limit, and what is free, bytes.
    memory: Option<(u64, Option<u64>, u64)>,
}

/// What the group made of a disk.
struct DiskUse {
    /// `MAJOR:MINOR`.
    number: String,
    /// In a second.
    rates: OfDisk<f64>,
    /// For which share of the time the disk had a request, anybody's.
    busy: f64,
}

impl DiskUse {
    /// Requests per second.
    fn requests(&self) -> f64 {
        self.rates.reads + self.rates.writes
    }

    /// How many times as much it could make. While a disk has a request it is taken for fully used (the utilization law;
    /// `%util` of iostat(1)); what is limited can grow up to its limit.
    fn room(&self, limits: DiskLimits) -> f64 {
        let limited = self.rates.each().into_iter().zip(limits.each());
        let limited = limited.filter_map(|(rate, limit)| Some(limit? as f64 / rate.max(1e-9)));
        limited
            .fold(1.0 / self.busy.clamp(0.01, 1.0), f64::min)
            .max(1.0)
    }
}

impl Measured {
    /// `None` where it is interrupted.
    pub(super) fn block(blocks: &mut Blocks<'_>, target: &Target) -> Result<Option<Self>> {
        let held = &target.held;
        let (began, machine) = (Instant::now(), Machine::read(&target.cpus)?);
        let cpu_ns = held.cpu_ns().ok();
        let waited = held.ran_and_waited_ns().unwrap_or_default();
        let load_ns = cpu_ns_of(&target.generator);
        let disks = held.disks().unwrap_or_default();
        let Some(block) = blocks.as_it_is(LENGTH)? else {
            return Ok(None);
        };
        let seconds = began.elapsed().as_secs_f64();
        let machine_after = Machine::read(&target.cpus)?;
        let per_second = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let cpu_after = held.cpu_ns().ok();
        let cpus = cpu_ns.zip(cpu_after).map_or(0.0, |(a, b)| per_second(a, b));
        let waited_after = held.ran_and_waited_ns().unwrap_or_default();
        let [ran, in_line] = [0, 1].map(|at| per_second(waited[at], waited_after[at]));
        let idle = per_second(machine.idle_ns, machine_after.idle_ns);
        let disks = held
            .disks()
            .unwrap_or_default()
            .into_iter()
            .map(|(disk, after)| {
                let before: Disk = disks.get(&disk).copied().unwrap_or_default();
                let busy = |of: &Machine| of.disk_busy_ns.get(&disk).copied().unwrap_or(0);
                DiskUse {
                    busy: per_second(busy(&machine), busy(&machine_after)) / 1e9,
                    rates: OfDisk {
                        reads: per_second(before.reads, after.reads),
                        writes: per_second(before.writes, after.writes),
                        read_bytes: per_second(before.read_bytes, after.read_bytes),
                        written_bytes: per_second(before.written_bytes, after.written_bytes),
                    },
                    number: disk,
                }
            });
        Ok(Some(Self {
            block,
            cpus: cpus / 1e9,
            idle_cpus: idle / 1e9,
            all_cpus: machine.cpus.into(),
            load_cpus: per_second(load_ns, cpu_ns_of(&target.generator)) / 1e9,
            in_line: in_line / ran.max(1.0),
            disks: disks.collect(),
            memory: held
                .memory()
                .ok()
                .map(|(used, limit)| (used, limit, machine_after.available)),
        }))
    }

    fn of_disk(&self, number: &str) -> Option<&DiskUse> {
        self.disks.iter().find(|it| it.number == number)
    }
}

impl Subject {
    /// What there is to lower, or why it cannot be: a clause.
    pub(super) fn of(
        target: &Target,
        capacity: Capacity,
        clients: Option<&Regex>,
        first: &Measured,
    ) -> Result<Self, String> {
        let held = &target.held;
        if let Some(controller) = controller(capacity) {
            held.group(controller).map_err(|error| error.to_string())?;
        }
        match capacity {
            Capacity::Cpu => Ok(Self::Cpu {
                quota: held.quota().map_err(|error| error.to_string())?,
            }),
            Capacity::Memory => Ok(Self::Memory),
            Capacity::Disk => {
                let all = first.disks.iter();
                let most = all.max_by(|a, b| a.requests().total_cmp(&b.requests()));
                match most.filter(|it| it.requests() >= LEAST_REQUESTS) {
                    Some(it) => Ok(Self::Disk {
                        number: it.number.clone(),
                        limits: held
                            .disk_limits(&it.number)
                            .map_err(|error| error.to_string())?,
                    }),
                    None => Err(format!(
                        "{} made {:.1} disk requests/s",
                        target.name,
                        most.map_or(0.0, DiskUse::requests)
                    )),
                }
            }
            Capacity::Clients => {
                let Some(pattern) = clients else {
                    return Err("no processes of the load were named".to_owned());
                };
                let mut left_out = processes::with_ancestors(std::process::id());
                left_out.extend(&target.processes);
                let found = processes::matching(pattern, &left_out);
                match found.len() {
                    0 => Err(format!("no process matches {pattern}")),
                    1 => Err(format!(
                        "{} is one process: there cannot be fewer",
                        found[0].name
                    )),
                    _ => Ok(Self::Clients(
                        found.into_iter().map(|it| it.process).collect(),
                    )),
                }
            }
        }
    }

    /// What the target used in a block as it is, and what it could have had.
    pub(super) fn amount(&self, measured: &Measured) -> (f64, f64) {
        match self {
            Self::Cpu { quota } => {
                // Who is hardly ever in line has all CPUs that it wants, whoever else uses them: but its own load, which
                // computes before there is anything to do for it.
                let idle = measured.cpus + measured.idle_cpus;
                let free = match measured.in_line < IN_LINE {
                    true => idle.max(measured.all_cpus - measured.load_cpus),
                    false => idle,
                };
                let available = quota.map_or(free, |quota| quota.min(free));
                (measured.cpus, available.max(measured.cpus))
            }
            Self::Disk { number, limits } => {
                let known = measured.of_disk(number);
                known.map_or((0.0, 0.0), |it| {
                    (it.requests(), it.requests() * it.room(*limits))
                })
            }
            Self::Memory => {
                let (used, limit, free) = measured.memory.unwrap_or_default();
                let available = used.saturating_add(free);
                let available = limit.map_or(available, |limit| limit.min(available));
                (used as f64, available.max(used) as f64)
            }
            Self::Clients(all) => (all.len() as f64, all.len() as f64),
        }
    }

    /// The change that leaves so much, and how much that is.
    pub(super) fn lowered(
        &self,
        target: &Target,
        measured: &Measured,
        to: f64,
    ) -> Result<(Entry, f64)> {
        let change = |lowered: &Lowered| -> Result<Entry> {
            Ok(Entry {
                changes: vec![target.held.change(lowered)?],
                stopped: Vec::new(),
            })
        };
        Ok(match self {
            Self::Cpu { .. } => (change(&Lowered::Cpu(to))?, to),
            Self::Memory => (change(&Lowered::Memory(to as u64))?, to),
            Self::Disk { number, .. } => {
                let known = measured.of_disk(number);
                let rates = known.map(|it| it.rates).unwrap_or_default();
                let share = to / (rates.reads + rates.writes).max(1e-9);
                // A kind that is hardly there is left alone: a limit near nothing would be none of throughput.
                let limit = |rate: f64| (rate >= 1.0).then(|| (rate * share).ceil() as u64);
                let lowered = Lowered::Disk {
                    disk: number.clone(),
                    reads: limit(rates.reads),
                    writes: limit(rates.writes),
                };
                (change(&lowered)?, to)
            }
            Self::Clients(all) => {
                let stopped = (all.len() as f64 - to).round().max(1.0) as usize;
                let stopped = &all[..stopped.min(all.len() - 1)];
                let entry = Entry {
                    changes: Vec::new(),
                    stopped: stopped.to_vec(),
                };
                (entry, (all.len() - stopped.len()) as f64)
            }
        })
    }

    pub(super) fn name(&self, target: &Target, capacity: Capacity) -> String {
        let group = controller(capacity).and_then(|it| target.held.group(it).ok());
        match self {
            Self::Disk { number, .. } => disk_name(number),
            Self::Clients(_) => "the processes of the load".to_owned(),
            _ => group.map_or_else(String::new, |it| it.display().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_limited_can_grow_up_to_its_limit() {
        let used = |busy| DiskUse {
            number: "254:0".to_owned(),
            rates: OfDisk {
                reads: 300.0,
                writes: 20.0,
                read_bytes: 4.8e6,
                written_bytes: 1e5,
            },
            busy,
        };
        let none = DiskLimits::default();
        assert!((used(0.25).room(none) - 4.0).abs() < 1e-9);
        assert!((used(2.0).room(none) - 1.0).abs() < 1e-9);
        let reads = |most| DiskLimits {
            reads: Some(most),
            ..none
        };
        assert!((used(0.02).room(reads(300)) - 1.0).abs() < 1e-9);
        assert!((used(0.02).room(reads(600)) - 2.0).abs() < 1e-9);
        assert!((used(0.5).room(reads(6_000)) - 2.0).abs() < 1e-9);
        let bytes = DiskLimits {
            read_bytes: Some(5_000_000),
            ..none
        };
        assert!(used(0.02).room(bytes) < 1.05);
    }
}
