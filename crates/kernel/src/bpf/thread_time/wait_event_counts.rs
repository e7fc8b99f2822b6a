//! Waits by the application's wait event, as the programs count them (`bpf/lib/wait_event.bpf.h`).

use std::os::fd::AsFd as _;

use libbpf_rs::MapCore as _;

use super::batch::read_batch;
use super::{ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::{thread_time_event, thread_time_event_sum};

/// Entries per system call.
const BATCH: usize = 256;

/// Reusable buffers for a reading.
pub struct WaitEventBuffer((Vec<thread_time_event>, Vec<thread_time_event_sum>));

/// Waits of one pool in one wait event since the programs were loaded: number and total duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitEventSum {
    /// The pool's number in the programs.
    pub pool: u64,
    pub wait_event: u32,
    pub waits: u64,
    pub ns: u64,
}

impl Default for WaitEventBuffer {
    fn default() -> Self {
        let sums = vec![thread_time_event_sum::default(); BATCH];
        Self((vec![thread_time_event::default(); BATCH], sums))
    }
}

impl ThreadTime {
    /// Calls `each` for every wait event with its sums; returns how many additions found no room so far.
    pub fn wait_events(
        &self,
        buffer: &mut WaitEventBuffer,
        found: &mut Vec<WaitEventSum>,
    ) -> Result<u64, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref();
        let drops = variables.ok_or_else(no_variables)?.event_drops;
        let map = self.programs.maps.sum_by_event.as_fd();
        let (keys, sums) = &mut buffer.0;
        let mut place = None;
        loop {
            let (count, next) = read_batch(map, place, keys, sums)?;
            let batch = keys.iter().zip(sums.iter()).take(count);
            found.extend(batch.map(|(key, sum)| WaitEventSum {
                pool: key.pool,
                wait_event: key.wait_event,
                waits: sum.waits,
                ns: sum.ns,
            }));
            if next.is_none() {
                return Ok(drops);
            }
            place = next;
        }
    }

    /// Removes the entry of a pool that no longer exists.
    pub fn forget_wait_event(&self, sum: &WaitEventSum) -> Result<(), Refusal> {
        let mut key = [0; size_of::<thread_time_event>()];
        key[..8].copy_from_slice(&sum.pool.to_ne_bytes());
        key[8..12].copy_from_slice(&sum.wait_event.to_ne_bytes());
        self.programs.maps.sum_by_event.delete(&key)?;
        Ok(())
    }
}
