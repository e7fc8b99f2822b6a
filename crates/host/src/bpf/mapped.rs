//! The values of an array map, read where they are instead of by a system call each.

use std::marker::PhantomData;
use std::os::fd::BorrowedFd;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::Refusal;

/// The values of an array map that was made to be mapped; for reading.
pub(crate) struct Mapped<T> {
    first: *const T,
    bytes: usize,
    count: usize,
    values: PhantomData<T>,
}

// SAFETY: it is only read from, and the mapping belongs to nobody else.
unsafe impl<T: Send> Send for Mapped<T> {}

impl<T: Copy> Mapped<T> {
    /// Maps a map's `count` values, each as long as a `T` (a multiple of 8 bytes, as array maps round up).
    ///
    /// # Errors
    /// When the kernel refuses, or `T` is not what its values are.
    pub(crate) fn new(
        map: BorrowedFd<'_>,
        count: usize,
        value_bytes: u32,
    ) -> Result<Self, Refusal> {
        if size_of::<T>() != value_bytes as usize || !size_of::<T>().is_multiple_of(8) {
            return Err(Refusal::new(
                "a map's values are not as long as they are read",
            ));
        }
        let bytes = count * size_of::<T>();
        // SAFETY: a new mapping anywhere; it is taken back in `drop`.
        let first = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ,
                MapFlags::SHARED,
                map,
                0,
            )
        }?;
        Ok(Self {
            first: first.cast(),
            bytes,
            count,
            values: PhantomData,
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// A copy of one value as it stands; `None` beyond the last.
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        // SAFETY: inside of the mapping. Programs write there only while we run them, or word by word.
        (index < self.count).then(|| unsafe { self.first.add(index).read_volatile() })
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: what `new` mapped, and nothing borrows from it.
        let _ = unsafe { munmap(self.first.cast_mut().cast(), self.bytes) };
    }
}
