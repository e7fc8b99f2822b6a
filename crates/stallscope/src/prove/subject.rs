//! What is lowered, how much of it the target uses, and how much there is.

use std::time::Instant;

use anyhow::Result;
use capacity::{Disk, Entry, Lowered, Machine, Stopped, disk_name};
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
    /// `MAJOR:MINOR`.
    Disk(String),
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
    /// How long its threads were in line for a CPU, per time that they ran.
    in_line: f64,
    /// Requests of the group per second, by disk, and for which share of the time the disk had one.
    disks: Vec<(String, [f64; 2], f64)>,
    /// Memory of the group, its limit, and what is free, bytes.
    memory: Option<(u64, Option<u64>, u64)>,
}

impl Measured {
    /// `None` where it is interrupted.
    pub(super) fn block(blocks: &mut Blocks<'_>, target: &Target) -> Result<Option<Self>> {
        let held = &target.held;
        let (began, machine) = (Instant::now(), Machine::read(&target.cpus)?);
        let cpu_ns = held.cpu_ns().ok();
        let waited = held.ran_and_waited_ns().unwrap_or_default();
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
                let busy = per_second(busy(&machine), busy(&machine_after)) / 1e9;
                let requests = [
                    per_second(before.reads, after.reads),
                    per_second(before.writes, after.writes),
                ];
                (disk, requests, busy)
            });
        Ok(Some(Self {
            block,
            cpus: cpus / 1e9,
            idle_cpus: idle / 1e9,
            all_cpus: machine.cpus.into(),
            in_line: in_line / ran.max(1.0),
            disks: disks.collect(),
            memory: held
                .memory()
                .ok()
                .map(|(used, limit)| (used, limit, machine_after.available)),
        }))
    }

    fn of_disk(&self, disk: &str) -> Option<&(String, [f64; 2], f64)> {
        self.disks.iter().find(|it| it.0 == disk)
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
                let total = |it: &&(String, [f64; 2], f64)| it.1[0] + it.1[1];
                let most = first
                    .disks
                    .iter()
                    .max_by(|a, b| total(a).total_cmp(&total(b)));
                match most.filter(|it| total(it) >= LEAST_REQUESTS) {
                    Some((disk, ..)) => Ok(Self::Disk(disk.clone())),
                    None => Err(format!(
                        "{} made {:.1} disk requests/s",
                        target.name,
                        most.as_ref().map_or(0.0, total)
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
                // Who is hardly ever in line has all CPUs that it wants, whoever else uses them.
                let free = match measured.in_line < IN_LINE {
                    true => measured.all_cpus,
                    false => measured.cpus + measured.idle_cpus,
                };
                let available = quota.map_or(free, |quota| quota.min(free));
                (measured.cpus, available.max(measured.cpus))
            }
            Self::Disk(disk) => {
                let (used, busy) = measured
                    .of_disk(disk)
                    .map_or((0.0, 1.0), |it| (it.1[0] + it.1[1], it.2));
                // While a disk has a request it is taken for fully used (the utilization law; `%util` of iostat(1)).
                (used, used / busy.clamp(0.01, 1.0))
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
            Self::Disk(disk) => {
                let [reads, writes] = measured.of_disk(disk).map_or([0.0; 2], |it| it.1);
                let share = to / (reads + writes).max(1e-9);
                // A kind that is hardly there is left alone: a limit near nothing would be none of throughput.
                let limit = |rate: f64| (rate >= 1.0).then(|| (rate * share).ceil() as u64);
                let lowered = Lowered::Disk {
                    disk: disk.clone(),
                    reads: limit(reads),
                    writes: limit(writes),
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
            Self::Disk(disk) => disk_name(disk),
            Self::Clients(_) => "the processes of the load".to_owned(),
            _ => group.map_or_else(String::new, |it| it.display().to_string()),
        }
    }
}
