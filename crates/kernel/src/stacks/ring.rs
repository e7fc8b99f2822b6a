//! A ring in memory that the kernel fills with perf records, and this process empties.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::libbpf_sys::perf_event_mmap_page;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::records::HEAD_BYTES;

/// The ring of one perf event, and the event, which goes with it.
pub(super) struct Ring {
    /// The kernel's page with the positions, and behind it the ring.
    memory: NonNull<u8>,
    page_bytes: usize,
    ring_bytes: usize,
    /// Where this process has read to; it grows without end.
    tail: u64,
    _event: OwnedFd,
}

// SAFETY: the mapping belongs to this value alone, and is read through `&mut self` only.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of an event; `ring_bytes` is a power of two, and at least a page.
    pub(super) fn map(event: OwnedFd, ring_bytes: usize) -> Result<Self, Errno> {
        let page_bytes = rustix::param::page_size();
        let length = page_bytes + ring_bytes;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                event.as_fd(),
                0,
            )?
        };
        Ok(Self {
            memory: NonNull::new(memory.cast()).ok_or(Errno::NOMEM)?,
            page_bytes,
            ring_bytes,
            tail: 0,
            _event: event,
        })
    }

    /// Memory that it takes, bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.page_bytes + self.ring_bytes) as u64
    }

    /// Calls `each` for every record that is there, and gives their room back. `scratch` is for those that wrap
    /// around the ring's end.
    pub(super) fn drain(&mut self, scratch: &mut Vec<u8>, mut each: impl FnMut(&[u8])) {
        let head = self.position(std::mem::offset_of!(perf_event_mmap_page, data_head));
        // Pairs with the kernel's barrier before it moves the head (kernel/events/ring_buffer.c).
        let head = head.load(Ordering::Acquire);
        // SAFETY: the ring lies behind the first page, and the kernel writes only to what is behind `head` or before
        // `data_tail`, which is moved below.
        let ring = unsafe {
            std::slice::from_raw_parts(self.memory.as_ptr().add(self.page_bytes), self.ring_bytes)
        };
        let available = usize::try_from(head.wrapping_sub(self.tail)).unwrap_or(usize::MAX);
        let mut left = available.min(self.ring_bytes);
        let mut tail = self.tail;
        while left >= HEAD_BYTES {
            // Records are of multiples of 8 bytes, so a head does not wrap.
            let at = tail as usize & (self.ring_bytes - 1);
            let length = usize::from(u16::from_ne_bytes([ring[at + 6], ring[at + 7]]));
            if length < HEAD_BYTES || length > left || length % 8 != 0 {
                break;
            }
            match ring.get(at..at + length) {
                Some(record) => each(record),
                None => {
                    scratch.clear();
                    scratch.extend_from_slice(&ring[at..]);
                    scratch.extend_from_slice(&ring[..length - (self.ring_bytes - at)]);
                    each(scratch);
                }
            }
            tail = tail.wrapping_add(length as u64);
            left -= length;
        }
        self.tail = head;
        let end = self.position(std::mem::offset_of!(perf_event_mmap_page, data_tail));
        end.store(head, Ordering::Release);
    }

    /// A position in the kernel's page.
    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the page is mapped as long as `self` lives, and the kernel aligns its positions to 8 bytes.
        unsafe { AtomicU64::from_ptr(self.memory.as_ptr().add(offset).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, and nothing refers to it any more.
        let _ = unsafe {
            munmap(
                self.memory.as_ptr().cast(),
                self.page_bytes + self.ring_bytes,
            )
        };
    }
}
