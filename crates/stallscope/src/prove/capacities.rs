//! A capacity lowered in turns with leaving it as it is, until it is known whether throughput follows it.
//!
//! What is nearly used up is lowered below what is used. What is not is lowered to a little above that: where the target
//! does not notice, more of it would not help either, and nobody is harmed (`docs/decisions/proof.md`).

use std::time::{Duration, Instant};

use analysis::proof::{self, Tried};
use anyhow::Result;
use capacity::{Disk, Entry, Lowered, Machine, Stopped, disk_name};
use model::{Capacity, CapacityTrial, ProofPair};
use regex::Regex;

use super::blocks::{Block, Blocks, LENGTH, Lowering, pair};
use super::{Target, controller, processes};

/// What is left at first of what is used, and then, where the target bears it.
const FIRST_CUT: f64 = 0.75;
const DEEPER_CUT: f64 = 0.65;
/// A share of what the guard allows from which on no deeper cut is made.
const NEAR_GUARD: f64 = 0.7;
/// So often a cut is made gentler when the target suffers.
const MOST_GENTLER: u32 = 2;
/// From this share on a capacity is nearly used up.
const NEARLY_ALL: f64 = 0.85;
/// Threads that are in line for a CPU for less than this of the time that they run are hardly ever kept waiting.
const IN_LINE: f64 = 0.15;
/// What is not used up is lowered to so much of what is used, and to neither more nor less of what is there.
const ABOVE_USE: f64 = 1.15;
const MOST_LEFT: f64 = 0.7;
const LEAST_LEFT: f64 = 0.2;
/// Fewer requests of a disk cannot be lowered.
const LEAST_REQUESTS: f64 = 2.0;
/// Blocks with less memory: it is lowered once.
const MEMORY_BLOCKS: usize = 5;
/// How long memory is waited for to be taken and filled again.
const REFILL: Duration = Duration::from_secs(5);

/// Lowers it; `None` where it is interrupted.
///
/// # Errors
/// Something cannot be put back, or the recorder ended.
pub(super) fn attempt(
    blocks: &mut Blocks<'_>,
    target: &Target,
    capacity: Capacity,
    clients: Option<&Regex>,
    share: Duration,
) -> Result<Option<CapacityTrial>> {
    let until = Instant::now() + share;
    let Some(first) = Measured::block(blocks, target)? else {
        return Ok(None);
    };
    let subject = match Subject::of(target, capacity, clients, &first) {
        Ok(subject) => subject,
        Err(why) => return Ok(Some(proof::not_tried(capacity, &why))),
    };
    let mut attempt = Attempt {
        blocks,
        target,
        subject,
        capacity,
        until,
        pairs: Vec::new(),
        ended: None,
    };
    let (used, available) = attempt.subject.amount(&first);
    let is_whole = match capacity {
        Capacity::Memory => attempt.once(&first)?,
        _ => attempt.in_turns(first)?,
    };
    Ok(is_whole.then(|| {
        proof::trial(Tried {
            capacity,
            of: attempt.subject.name(target, capacity),
            used,
            available,
            pairs: attempt.pairs,
            ended: attempt.ended,
        })
    }))
}

/// What is lowered.
enum Subject {
    Cpu {
        quota: Option<f64>,
    },
    /// `MAJOR:MINOR`.
    Disk(String),
    Memory,
    Clients(Vec<Stopped>),
}

/// A block as it is, with what was used in it.
struct Measured {
    block: Block,
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
    fn block(blocks: &mut Blocks<'_>, target: &Target) -> Result<Option<Self>> {
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
    fn of(
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
                        "{} is one process, and cannot be a fewer",
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
    fn amount(&self, measured: &Measured) -> (f64, f64) {
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
    fn lowered(&self, target: &Target, measured: &Measured, to: f64) -> Result<(Entry, f64)> {
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

    fn name(&self, target: &Target, capacity: Capacity) -> String {
        let group = controller(capacity).and_then(|it| target.held.group(it).ok());
        match self {
            Self::Disk(disk) => disk_name(disk),
            Self::Clients(_) => "the processes of the load".to_owned(),
            _ => group.map_or_else(String::new, |it| it.display().to_string()),
        }
    }
}

/// A capacity that is being lowered.
struct Attempt<'b, 'a> {
    blocks: &'b mut Blocks<'a>,
    target: &'b Target,
    subject: Subject,
    capacity: Capacity,
    until: Instant,
    pairs: Vec<ProofPair>,
    ended: Option<String>,
}

impl Attempt<'_, '_> {
    /// Blocks in turns until it is decided; whether it went on to that end.
    fn in_turns(&mut self, mut before: Measured) -> Result<bool> {
        let (mut cut, mut gentler) = (FIRST_CUT, 0);
        while !proof::is_decided(&self.pairs) {
            if !self.blocks.has_time(Some(self.until), 2 * LENGTH) {
                self.ended.get_or_insert("the time was over".to_owned());
                break;
            }
            let (used, available) = self.subject.amount(&before);
            let to = self.lowered_to(used, available, cut);
            let lowered = self.subject.lowered(self.target, &before, to);
            let (entry, to) = match lowered {
                Ok(it) => it,
                Err(error) => {
                    self.ended = Some(crate::outputs::sentence(&error));
                    break;
                }
            };
            self.learn(&before)?;
            let lowering = Lowering {
                entry,
                meanwhile: &mut |_| false,
            };
            let Some(changed) = self.blocks.changed(lowering, LENGTH)? else {
                return Ok(false);
            };
            let Some(after) = Measured::block(self.blocks, self.target)? else {
                return Ok(false);
            };
            let latest = self.add(&before, &changed, &after, to, available)?;
            before = after;
            if changed.is_cut_short {
                gentler += 1;
                if gentler > MOST_GENTLER {
                    self.ended = Some(format!(
                        "{} was more than {:.1} times slower each time",
                        self.target.name,
                        self.blocks.at_most()
                    ));
                    break;
                }
                cut = f64::midpoint(1.0, cut);
            } else if gentler == 0 && latest.is_some_and(|it| self.is_borne(&it)) {
                cut = DEEPER_CUT;
            }
        }
        Ok(true)
    }

    /// Whether the target bears more than this.
    fn is_borne(&self, pair: &ProofPair) -> bool {
        let slower = pair.throughput / pair.throughput_changed;
        let latency = pair.latency_changed_ns.zip(pair.latency_ns);
        let slower = latency.map_or(slower, |(during, before)| slower.max(during / before));
        slower < NEAR_GUARD * self.blocks.at_most()
    }

    fn lowered_to(&self, used: f64, available: f64, cut: f64) -> f64 {
        if self.capacity == Capacity::Clients || used >= NEARLY_ALL * available {
            return cut * used;
        }
        (ABOVE_USE * used)
            .min(MOST_LEFT * available)
            .max(LEAST_LEFT * available)
    }

    /// What the guard compares with.
    fn learn(&mut self, before: &Measured) -> Result<()> {
        let signals = self.blocks.signals(&[before.block.window])?;
        if let Some(usual) = signals.first().copied().flatten() {
            self.blocks.is_usual(usual);
        }
        Ok(())
    }

    /// Adds a pair, if its blocks say something.
    fn add(
        &mut self,
        before: &Measured,
        changed: &Block,
        after: &Measured,
        to: f64,
        available: f64,
    ) -> Result<Option<ProofPair>> {
        let windows = [before.block.window, changed.window, after.block.window];
        let signals = self.blocks.signals(&windows)?;
        if !changed.says_something() {
            return Ok(None);
        }
        let Ok(signals) = <[_; 3]>::try_from(signals) else {
            return Ok(None);
        };
        let (_, available_after) = self.subject.amount(after);
        let available = f64::midpoint(available, available_after).max(to);
        let found = pair(changed, signals, to, available);
        self.pairs.extend(found.clone());
        Ok(found)
    }

    /// Memory is lowered once: it comes back more slowly than it is taken.
    fn once(&mut self, before: &Measured) -> Result<bool> {
        let (used, available) = self.subject.amount(before);
        let needed = REFILL * 2 + LENGTH * u32::try_from(MEMORY_BLOCKS + 1).unwrap_or(0);
        if !self.blocks.has_time(Some(self.until), needed) {
            self.ended = Some(format!("it takes {} s", needed.as_secs()));
            return Ok(true);
        }
        let (entry, to) = match self.subject.lowered(self.target, before, FIRST_CUT * used) {
            Ok(it) => it,
            Err(error) => {
                self.ended = Some(crate::outputs::sentence(&error));
                return Ok(true);
            }
        };
        self.learn(before)?;
        if let Err(error) = self.blocks.lower(entry) {
            self.ended = Some(crate::outputs::sentence(&error));
            return Ok(true);
        }
        let mut parts = Vec::new();
        for place in 0..=MEMORY_BLOCKS {
            let Some(part) = self.blocks.part(LENGTH)? else {
                self.blocks.restore()?;
                return Ok(false);
            };
            // In the first it is taken.
            if place > 0 || part.is_cut_short {
                parts.push(part);
            }
            if part.is_cut_short {
                break;
            }
        }
        self.blocks.restore()?;
        if self.blocks.as_it_is(REFILL)?.is_none() {
            return Ok(false);
        }
        let Some(after) = Measured::block(self.blocks, self.target)? else {
            return Ok(false);
        };
        for part in parts {
            self.add(before, &part, &after, to, available)?;
        }
        Ok(true)
    }
}
