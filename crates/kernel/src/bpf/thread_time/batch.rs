//! Reads many entries of a BPF hash map by one system call.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use libbpf_rs::libbpf_sys::bpf_map_lookup_batch;
use rustix::io::Errno;

use crate::bpf::refusal::Refusal;

/// Reads as many entries as there is room for in both vectors. Returns their number and where to continue;
/// `None` at the end. The kernel refuses unless `K` and `V` are as large as the map's own types.
pub(super) fn read_batch<K, V>(
    map: BorrowedFd<'_>,
    place: Option<u32>,
    keys: &mut [K],
    values: &mut [V],
) -> Result<(usize, Option<u32>), Refusal> {
    let (mut from, mut to) = (place.unwrap_or(0), 0_u32);
    let mut count = keys.len().min(values.len()) as u32;
    let first = std::ptr::null_mut();
    let from = place.map_or(first, |_| (&raw mut from).cast());
    // SAFETY: there is room for `count` keys and values as large as the map's, and a position in a hash map
    // is four bytes long.
    let answer = unsafe {
        bpf_map_lookup_batch(
            map.as_raw_fd(),
            from,
            (&raw mut to).cast(),
            keys.as_mut_ptr().cast(),
            values.as_mut_ptr().cast(),
            &raw mut count,
            std::ptr::null(),
        )
    };
    if answer == 0 {
        return Ok((count as usize, Some(to)));
    }
    match Errno::from_raw_os_error(-answer) {
        // The last batch.
        Errno::NOENT => Ok((count as usize, None)),
        errno => Err(errno.into()),
    }
}
