//! Chains of sessions of which each waits for the next.

use std::collections::HashMap;
use std::hash::Hash;

/// Follows the chain of blockers of a session to its end. Number 0 stands for a prepared transaction
/// without a session: a chain ends before it. In a circle, a deadlock not yet found, there is no end: then
/// the direct blocker stands. `None` for a session that nothing blocks.
pub(crate) fn root<N>(session: N, blockers: &HashMap<N, N>) -> Option<N>
where
    N: Copy + Default + Eq + Hash,
{
    let direct = *blockers.get(&session)?;
    let mut at = direct;
    for _ in 0..blockers.len() {
        match blockers.get(&at) {
            Some(next) if *next != N::default() => at = *next,
            _ => return Some(at),
        }
    }
    Some(direct)
}
