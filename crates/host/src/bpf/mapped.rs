//! The values of an array map, read where they are instead of by a system call each.

use std::marker::PhantomData;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use libbpf_rs::MapCore;
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
    /// Maps all values of a map.
    ///
    /// # Errors
    /// When the kernel refuses, or `T` is not what its values are.
    pub(crate) fn new(map: &impl MapCore) -> Result<Self, Refusal> {
        check::<T>(map)?;
        Self::first_of(map.as_fd(), map.max_entries() as usize)
    }

    fn first_of(map: BorrowedFd<'_>, count: usize) -> Result<Self, Refusal> {
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

/// The same of a map that a program fills from the front. It has room for the most that there may be, and
/// each page that is mapped counts as memory of this process: it is mapped as far as it was ever filled.
pub(crate) struct Filled<T> {
    map: OwnedFd,
    count: usize,
    mapped: Mapped<T>,
}

impl<T: Copy> Filled<T> {
    /// Values that are mapped at first.
    const FEW: usize = 64;

    /// Maps the first few values of a map.
    ///
    /// # Errors
    /// When the kernel refuses, or `T` is not what its values are.
    pub(crate) fn new(map: &impl MapCore) -> Result<Self, Refusal> {
        check::<T>(map)?;
        let count = map.max_entries() as usize;
        Ok(Self {
            map: map.as_fd().try_clone_to_owned()?,
            count,
            mapped: Mapped::first_of(map.as_fd(), count.min(Self::FEW))?,
        })
    }

    /// Maps so many values at the least; when that is too few, twice as many as before, so that it is seldom.
    ///
    /// # Errors
    /// When the kernel refuses; what was mapped before stays.
    pub(crate) fn reach(&mut self, count: usize) -> Result<(), Refusal> {
        if count > self.mapped.len() {
            let count = count.max(2 * self.mapped.len()).min(self.count);
            self.mapped = Mapped::first_of(self.map.as_fd(), count)?;
        }
        Ok(())
    }

    /// A copy of one value as it stands; `None` beyond those that are mapped.
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        self.mapped.get(index)
    }
}

/// Values must be as long as a `T`, a multiple of 8 bytes, as array maps round up.
fn check<T>(map: &impl MapCore) -> Result<(), Refusal> {
    if size_of::<T>() != map.value_size() as usize || !size_of::<T>().is_multiple_of(8) {
        return Err(Refusal::new(
            "a map's values are not as long as they are read",
        ));
    }
    Ok(())
}
