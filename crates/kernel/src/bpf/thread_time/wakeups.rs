//! Wakers, as the programs count them (`bpf/lib/wakeup.bpf.h`), read in batches.

use std::os::fd::{AsFd as _, AsRawFd as _};

use libbpf_rs::libbpf_sys::bpf_map_delete_batch;
use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};
use rustix::io::Errno;

use super::batch::read_batch;
use super::{ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::{wakeup_pair, wakeup_sum};

/// Key of waits that are counted together.
pub type Pair = wakeup_pair;
/// Number and duration of the waits, and the waker's time by state.
pub type Sum = wakeup_sum;

/// Pairs per system call.
const BATCH: usize = 1_024;
/// Length of a thread's name (WAKEUP_NAME).
const NAME: usize = 16;

/// Reusable buffers for a reading.
pub struct WakeupBuffer {
    batch: (Vec<Pair>, Vec<Sum>),
    pairs: Vec<Pair>,
    sums: Vec<Sum>,
}

impl Default for WakeupBuffer {
    fn default() -> Self {
        Self {
            batch: (vec![Pair::default(); BATCH], vec![Sum::default(); BATCH]),
            pairs: Vec::with_capacity(BATCH),
            sums: Vec::with_capacity(BATCH),
        }
    }
}

impl WakeupBuffer {
    /// One entry of the last reading; `None` beyond the last.
    pub fn get(&self, place: usize) -> Option<(Pair, Sum)> {
        Some((*self.pairs.get(place)?, *self.sums.get(place)?))
    }
}

impl ThreadTime {
    /// Reads the sums since the last call and deletes them. A wait that ends in the same moment may be lost.
    /// Returns how many waits found no room so far.
    pub fn take_wakeups(&mut self, buffer: &mut WakeupBuffer) -> Result<u64, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        let variables = variables.ok_or_else(no_variables)?;
        let period = variables.wakeup_period;
        variables.wakeup_period = period ^ 1;
        let drops = variables.wakeup_drops;
        buffer.pairs.clear();
        buffer.sums.clear();
        let (pairs, sums) = &mut buffer.batch;
        let mut place = None;
        loop {
            let map = self.programs.maps.sum_by_pair.as_fd();
            let (count, next) = read_batch(map, place, pairs, sums)?;
            let found = pairs.iter().zip(sums.iter()).take(count);
            for (pair, sum) in found.filter(|(pair, _)| pair.period == period) {
                buffer.pairs.push(*pair);
                buffer.sums.push(*sum);
            }
            if next.is_none() {
                break;
            }
            place = next;
        }
        self.forget_pairs(&buffer.pairs)?;
        Ok(drops)
    }

    fn forget_pairs(&self, pairs: &[Pair]) -> Result<(), Refusal> {
        if pairs.is_empty() {
            return Ok(());
        }
        let map = self.programs.maps.sum_by_pair.as_fd().as_raw_fd();
        let mut count = pairs.len() as u32;
        // SAFETY: `count` keys as large as the map's, which the kernel only reads.
        let answer = unsafe {
            bpf_map_delete_batch(map, pairs.as_ptr().cast(), &raw mut count, std::ptr::null())
        };
        if answer < 0 {
            return Err(Errno::from_raw_os_error(-answer).into());
        }
        Ok(())
    }

    /// Finds the pool of threads that have woken no other thread yet.
    pub fn find_pools(&self) -> Result<(), Refusal> {
        let input = ProgramInput::default();
        self.programs.progs.find_pools.test_run(input)?;
        Ok(())
    }

    /// The pool of a number: its topmost process, and its threads' name with each number as `#`; `None` if
    /// the pool was evicted.
    pub fn pool(&self, number: u64) -> Option<(u32, String)> {
        let map = &self.programs.maps.pool_by_number;
        let value = map.lookup(&number.to_ne_bytes(), MapFlags::ANY).ok()??;
        let name = value.get(4..4 + NAME)?;
        let mut name = name.split(|byte| *byte == 0).next()?.to_vec();
        // The program writes one `#` per digit.
        name.dedup_by(|one, other| *one == b'#' && *other == b'#');
        let tgid = u32::from_ne_bytes(*value.first_chunk()?);
        Some((tgid, model::name_of(&name).into_owned()))
    }
}
