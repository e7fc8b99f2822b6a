//! Many entries of a hash by one system call.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use libbpf_rs::libbpf_sys::bpf_map_lookup_batch;
use rustix::io::Errno;

use crate::bpf::Refusal;

/// Reads as many entries of a hash as there is room for in both vectors; how many those were, and where to go
/// on. `K` and `V` are the map's own types (made from its header), or it is refused.
pub(super) fn read_batch<K, V>(
    map: BorrowedFd<'_>,
    place: Option<u32>,
    (keys, values): &mut (Vec<K>, Vec<V>),
) -> Result<(usize, Option<u32>), Refusal> {
    let (mut from, mut to) = (place.unwrap_or(0), 0_u32);
    let mut count = keys.len().min(values.len()) as u32;
    let first = std::ptr::null_mut();
    let from = place.map_or(first, |_| (&raw mut from).cast());
    // SAFETY: there is room for `count` keys and values as long as the map's, and a place of the hash is
    // four bytes long.
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
        // That was the last.
        Errno::NOENT => Ok((count as usize, None)),
        errno => Err(errno.into()),
    }
}
