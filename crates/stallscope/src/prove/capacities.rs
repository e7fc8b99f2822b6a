//! A capacity lowered in turns with leaving it as it is, until it is known whether throughput follows it.
//!
//! What is nearly used up is lowered below what is used. What is not is lowered to a little above that: where the target
//! does not notice, more of it would not help either, and nobody is harmed (`docs/decisions/proof.md`).

use std::time::{Duration, Instant};

use analysis::proof::{self, Tried};
use anyhow::Result;
use model::{Capacity, CapacityTrial, ProofPair};
use regex::Regex;

use super::Target;
use super::blocks::{Block, Blocks, LENGTH, Lowering, pair};
use super::subject::{Measured, Subject};

/// What is left at first of what is used, and then, where the target bears it.
const FIRST_CUT: f64 = 0.75;
const DEEPER_CUT: f64 = 0.65;
/// A share of what the guard allows from which on no deeper cut is made.
const NEAR_GUARD: f64 = 0.7;
/// So often a cut is made gentler when the target suffers.
const MOST_GENTLER: u32 = 2;
/// From this share on a capacity is nearly used up.
const NEARLY_ALL: f64 = 0.85;
/// What is not used up is lowered to so much of what is used, and to neither more nor less of what is there.
const ABOVE_USE: f64 = 1.15;
const MOST_LEFT: f64 = 0.7;
const LEAST_LEFT: f64 = 0.2;
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
            self.blocks.compare_with(&before.block)?;
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
        self.blocks.compare_with(&before.block)?;
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
