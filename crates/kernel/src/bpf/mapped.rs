//! Array maps mapped into memory, read without a system call per value.

use std::marker::PhantomData;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use libbpf_rs::MapCore;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::refusal::Refusal;

/// The values of an array map made with BPF_F_MMAPABLE, read-only.
pub struct Mapped<T> {
    first: *const T,
    bytes: usize,
    count: usize,
    values: PhantomData<T>,
}

// SAFETY: the memory is only read, and the mapping belongs to this value alone.
unsafe impl<T: Send> Send for Mapped<T> {}

impl<T: Copy> Mapped<T> {
    /// Maps all values of a map.
    ///
    /// # Errors
    /// When the kernel refuses, or the map's values are not as large as `T`.
    pub fn new(map: &impl MapCore) -> Result<Self, Refusal> {
        check::<T>(map)?;
        Self::first_of(map.as_fd(), map.max_entries() as usize)
    }

    fn first_of(map: BorrowedFd<'_>, count: usize) -> Result<Self, Refusal> {
        let bytes = count * size_of::<T>();
        // SAFETY: a new mapping at any address, unmapped in `drop`.
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

    pub fn len(&self) -> usize {
        self.count
    }

    /// A copy of one value; `None` beyond the last.
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: inside the mapping. Programs write there only while we run them, or one word at a time.
        (index < self.count).then(|| unsafe { self.first.add(index).read_volatile() })
    }

    /// A copy of the first word of one value; `None` beyond the last.
    pub fn first_word(&self, index: usize) -> Option<u64> {
        // SAFETY: as `get`; values are a multiple of 8 bytes (`check`), and pages of the mapping are aligned.
        (index < self.count).then(|| unsafe { self.first.add(index).cast::<u64>().read_volatile() })
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing borrows from it.
        let _ = unsafe { munmap(self.first.cast_mut().cast(), self.bytes) };
    }
}

/// As `Mapped`, for a map that a program fills from the front. The map has room for the largest number of
/// values, but each mapped page counts as memory of this process, so only as many are mapped as were ever
/// filled.
pub struct Filled<T> {
    map: OwnedFd,
    count: usize,
    mapped: Mapped<T>,
}

impl<T: Copy> Filled<T> {
    /// Values mapped at first.
    const FEW: usize = 64;

    /// Maps the first few values of a map.
    ///
    /// # Errors
    /// When the kernel refuses, or the map's values are not as large as `T`.
    pub fn new(map: &impl MapCore) -> Result<Self, Refusal> {
        check::<T>(map)?;
        let count = map.max_entries() as usize;
        Ok(Self {
            map: map.as_fd().try_clone_to_owned()?,
            count,
            mapped: Mapped::first_of(map.as_fd(), count.min(Self::FEW))?,
        })
    }

    /// Maps at least `count` values; at least doubles the mapping, so that this is rare.
    ///
    /// # Errors
    /// When the kernel refuses; the old mapping stays.
    pub fn reach(&mut self, count: usize) -> Result<(), Refusal> {
        if count > self.mapped.len() {
            let count = count.max(2 * self.mapped.len()).min(self.count);
            self.mapped = Mapped::first_of(self.map.as_fd(), count)?;
        }
        Ok(())
    }

    /// A copy of one value; `None` beyond the mapped ones.
    pub fn get(&self, index: usize) -> Option<T> {
        self.mapped.get(index)
    }
}

/// Values must be as large as `T`, and that a multiple of 8 bytes, as array maps round up.
fn check<T>(map: &impl MapCore) -> Result<(), Refusal> {
    if size_of::<T>() != map.value_size() as usize || !size_of::<T>().is_multiple_of(8) {
        return Err(Refusal::new(
            "a map's values are not as long as they are read",
        ));
    }
    Ok(())
}
