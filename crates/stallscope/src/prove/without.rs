//! Processes stopped for every second cycle: does the target do better without them?

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use analysis::proof;
use anyhow::Result;
use capacity::Entry;
use model::WithoutTrial;
use regex::Regex;

use super::blocks::{Block, Blocks, Lowering, pair};
use super::{Target, processes};

/// How often it is looked for processes that were started meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Stops them; `None` where it is interrupted.
///
/// # Errors
/// Something cannot be put back, or the recorder ended.
pub(super) fn attempt(
    blocks: &mut Blocks<'_>,
    target: &Target,
    pattern: &Regex,
    cycle: Duration,
    cycles: u32,
) -> Result<Option<WithoutTrial>> {
    let mut left_out = processes::with_ancestors(std::process::id());
    left_out.extend(blocks.own());
    left_out.extend(&target.processes);
    let (mut programs, mut most) = (BTreeSet::new(), 0);
    let mut pairs = Vec::new();
    let Some(mut before) = blocks.as_it_is(cycle)? else {
        return Ok(None);
    };
    for _ in 0..cycles {
        if !blocks.has_time(None, 2 * cycle) {
            break;
        }
        blocks.compare_with(&before)?;
        let mut next = Instant::now();
        let mut look = |entry: &mut Entry| {
            if Instant::now() < next {
                return false;
            }
            next = Instant::now() + LOOK_EVERY;
            let found = processes::matching(pattern, &left_out);
            let known = entry.stopped.len();
            for it in found {
                if !entry.stopped.contains(&it.process) {
                    entry.stopped.push(it.process);
                    programs.insert(it.name);
                }
            }
            most = most.max(entry.stopped.len());
            entry.stopped.len() > known
        };
        let mut entry = Entry::default();
        look(&mut entry);
        let lowering = Lowering {
            entry,
            meanwhile: &mut look,
        };
        let Some(changed) = blocks.changed(lowering, cycle)? else {
            return Ok(None);
        };
        let Some(after) = blocks.as_it_is(cycle)? else {
            return Ok(None);
        };
        pairs.extend(of_cycle(blocks, &before, &changed, &after)?);
        if changed.is_cut_short {
            // The target needs what was stopped.
            break;
        }
        before = after;
    }
    let processes = u32::try_from(most).unwrap_or(u32::MAX);
    Ok(Some(proof::without(
        pattern.as_str(),
        programs.into_iter().collect(),
        processes,
        pairs,
    )))
}

fn of_cycle(
    blocks: &mut Blocks<'_>,
    before: &Block,
    changed: &Block,
    after: &Block,
) -> Result<Option<model::ProofPair>> {
    let signals = blocks.signals(&[before.window, changed.window, after.window])?;
    Ok(match <[_; 3]>::try_from(signals) {
        Ok(signals) if changed.says_something() => pair(changed, signals, 0.0, 1.0),
        _ => None,
    })
}
