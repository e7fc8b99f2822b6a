//! 32-bit values in the memory of other processes, read through /proc/PID/mem.
//!
//! A PostgreSQL backend is a fork of its server, so the place is looked up once per program; a backend costs
//! one descriptor, two small reads per sample, and no allocation. The descriptor is bound to the memory that
//! the process had when it was opened: after an exec or exit it reads nothing, and never another process's
//! memory. It is opened only for reading.

use std::fs::File;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use object::ReadCache;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread};
use sensors::{MemoryWord, statement};

use crate::data_folder::stated_version;
use crate::exports::{bias, exports};
use crate::limits::{self, Share};
use crate::local_files;
use crate::mounts::Mountinfo;

/// Idle processes that are compared to find a value of unknown offset; a server has more, but two that agree
/// are enough.
const MOST_CANDIDATES: usize = 64;
/// Bytes of a structure that are searched, at most.
const MOST_SEARCHED: usize = 4_096;

/// Programs that were seen, and what is known of their memory.
#[derive(Default)]
pub struct RemoteMemory {
    programs: Vec<Program>,
}

struct Program {
    file: ProgramFile,
    value: &'static MemoryWord,
    place: Option<Place>,
    /// The server's major version, once a process's data folder has stated it.
    version: Option<u32>,
}

/// Identity of a program's file: device, inode, and time of last change, s and ns. The inode may be reused
/// when the file is removed, for example by an upgrade.
type ProgramFile = (u64, u64, i64, i64);

/// Where a program has its wait event.
struct Place {
    headers: u64,
    /// Address of the exported pointer, without the bias.
    pointer: u64,
    offset: Offset,
    /// Address of the exported pointer to the process's entry with its statement, without the bias.
    entry: Option<u64>,
}

/// Offset of the value behind the pointer.
enum Offset {
    Known(u64),
    /// Candidates: offsets at which the value was seen, each with the address of the structure.
    Sought(Vec<(u64, u64)>),
}

/// A value in one process's memory.
#[derive(Debug)]
pub struct MemoryCell {
    memory: OwnedFd,
    bias: u64,
    pointer: u64,
    program: usize,
}

/// Address of a value in a process: a pointer, and an offset in what that points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventPlace {
    pub pointer: u64,
    pub offset: u64,
}

/// Where a process has its entry with its statement: the address of the pointer to it, and its layout
/// (`sensors::statement::LAYOUTS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementPlace {
    pub pointer: u64,
    pub layout: usize,
}

/// Whether a process shows its statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statements {
    At(StatementPlace),
    /// It has an entry, of a version whose layout is not known, or that does not say which it is.
    OfVersion(Option<u32>),
    /// It exports none.
    None,
}

/// Why a value is not available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// This process may not read the memory.
    Denied(Errno),
    /// The program has the right name, but does not export the value.
    Hidden,
    /// The program has the right name, but its filesystem might not answer.
    Unasked,
}

/// Result of reading a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemoteRead {
    /// The value's four bytes, in the order of memory.
    Value([u8; 4]),
    /// Not this time: the process has not set its pointer up, or has it elsewhere.
    Nothing,
    /// Not yet: the offset in the structure is unknown.
    Unplaced,
    /// The process's memory no longer exists.
    Gone,
}

impl RemoteMemory {
    /// Opens the value of the process with this /proc folder; `Ok(None)` if its program has none.
    ///
    /// # Errors
    /// Why the value of a program that has one is not available; if not even the file may be read, the
    /// process's name decides whether it has one.
    pub fn open(
        &mut self,
        process: &Path,
        value: &'static MemoryWord,
    ) -> Result<Option<MemoryCell>, Refusal> {
        let named = || std::fs::read(process.join("comm")).is_ok_and(|name| is_named(&name, value));
        let refused = |errno| match errno {
            Errno::ACCESS | Errno::PERM if named() => Err(Refusal::Denied(errno)),
            Errno::REMOTE if named() => Err(Refusal::Unasked),
            _ => Ok(None),
        };
        let opened = local_files::program(process, &Mountinfo::default());
        let index = match opened.and_then(|file| self.program(file, value)) {
            Ok(index) => index,
            Err(errno) => return refused(errno),
        };
        let Some(place) = &self.programs[index].place else {
            return if named() {
                Err(Refusal::Hidden)
            } else {
                Ok(None)
            };
        };
        let auxv = std::fs::read(process.join("auxv"));
        let bias = match auxv {
            Ok(auxv) => bias(&auxv, place.headers),
            Err(error) => return refused(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        };
        let Some(bias) = bias else { return Ok(None) };
        let pointer = place.pointer.wrapping_add(bias);
        if place.entry.is_some() && self.programs[index].version.is_none() {
            let stated = stated_version(process, &Mountinfo::default());
            self.programs[index].version = stated.and_then(|it| it.split('.').next()?.parse().ok());
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(process.join("mem"), flags, Mode::empty());
        match opened.and_then(|memory| limits::reserve(memory, Share::Tracked)) {
            Ok(memory) => Ok(Some(MemoryCell {
                memory,
                bias,
                pointer,
                program: index,
            })),
            Err(Errno::SRCH | Errno::NOENT) => Ok(None),
            Err(errno) => Err(Refusal::Denied(errno)),
        }
    }

    /// Address of a value, if it is known.
    pub fn place(&self, cell: &MemoryCell) -> Option<EventPlace> {
        let place = self.programs[cell.program].place.as_ref()?;
        let Offset::Known(offset) = place.offset else {
            return None;
        };
        let pointer = cell.pointer;
        Some(EventPlace { pointer, offset })
    }

    /// Where the process of a value has its entry with its statement.
    pub fn statements(&self, cell: &MemoryCell) -> Statements {
        let program = &self.programs[cell.program];
        let Some(entry) = program.place.as_ref().and_then(|it| it.entry) else {
            return Statements::None;
        };
        let at = |layout| StatementPlace {
            pointer: entry.wrapping_add(cell.bias),
            layout,
        };
        let layout = program.version.and_then(statement::layout);
        layout.map_or(Statements::OfVersion(program.version), |it| {
            Statements::At(at(it))
        })
    }

    /// Reads the present value.
    pub fn read(&mut self, cell: &MemoryCell) -> RemoteRead {
        let mut pointer = [0; 8];
        match pread(&cell.memory, &mut pointer, cell.pointer) {
            Ok(8) => {}
            Ok(0) => return RemoteRead::Gone,
            _ => return RemoteRead::Nothing,
        }
        let structure = u64::from_ne_bytes(pointer);
        if structure == 0 {
            return RemoteRead::Nothing;
        }
        let Program {
            value: sought,
            place: Some(place),
            ..
        } = &mut self.programs[cell.program]
        else {
            return RemoteRead::Nothing;
        };
        if let Offset::Sought(candidates) = &mut place.offset {
            match search(&cell.memory, structure, sought, candidates) {
                Some(offset) => place.offset = Offset::Known(offset),
                None => return RemoteRead::Unplaced,
            }
        }
        let Offset::Known(offset) = place.offset else {
            return RemoteRead::Unplaced;
        };
        let mut value = [0; 4];
        match pread(&cell.memory, &mut value, structure.wrapping_add(offset)) {
            Ok(4) => RemoteRead::Value(value),
            Ok(0) => RemoteRead::Gone,
            _ => RemoteRead::Nothing,
        }
    }

    /// Values that were read and whose offset was never found.
    pub fn unplaced(&self) -> impl Iterator<Item = &'static MemoryWord> {
        let sought = |place: &Place| matches!(place.offset, Offset::Sought(_));
        self.programs
            .iter()
            .filter(move |program| program.place.as_ref().is_some_and(sought))
            .map(|program| program.value)
    }

    /// The index of a program; examines the file the first time.
    fn program(&mut self, file: File, value: &'static MemoryWord) -> Result<usize, Errno> {
        let about = file.metadata();
        let about = about.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let file_id = (about.dev(), about.ino(), about.ctime(), about.ctime_nsec());
        let known = self
            .programs
            .iter()
            .position(|known| known.file == file_id && std::ptr::eq(known.value, value));
        Ok(known.unwrap_or_else(|| {
            let place = place(file, value);
            self.programs.push(Program {
                file: file_id,
                value,
                place,
                version: None,
            });
            self.programs.len() - 1
        }))
    }
}

/// Whether a program's file exports where it has the value.
pub fn shows(program: File, value: &MemoryWord) -> bool {
    place(program, value).is_some()
}

fn place(file: File, value: &MemoryWord) -> Option<Place> {
    // Read in pieces: some programs have hundreds of megabytes.
    let cache = ReadCache::new(file);
    let names = [value.pointer, value.within.pointer, statement::POINTER];
    let found = exports(&cache, names)?;
    let [direct, structure, entry] = found.pointers;
    let (pointer, offset) = match (direct, structure) {
        (Some(direct), _) => (direct, Offset::Known(0)),
        (None, Some(structure)) => (
            structure,
            Offset::Sought(Vec::with_capacity(MOST_CANDIDATES)),
        ),
        (None, None) => return None,
    };
    Some(Place {
        headers: found.headers,
        pointer,
        offset,
        entry,
    })
}

fn is_named(comm: &[u8], value: &MemoryWord) -> bool {
    comm.trim_ascii() == value.program.as_bytes()
}

/// Looks for the value in one process's structure and notes the offset. Returns the offset once two
/// structures agree and none disagrees.
fn search(
    memory: &OwnedFd,
    structure: u64,
    value: &MemoryWord,
    candidates: &mut Vec<(u64, u64)>,
) -> Option<u64> {
    let mut bytes = [0; MOST_SEARCHED];
    let wanted = value.within.bytes.min(MOST_SEARCHED);
    let read = pread(memory, &mut bytes[..wanted], structure).unwrap_or(0);
    // An earlier match in this structure may have been something else.
    candidates.retain(|(seen, _)| *seen != structure);
    if let Some(offset) = sole(&bytes[..read], value.within.values)
        && candidates.len() < MOST_CANDIDATES
    {
        candidates.push((structure, offset));
    }
    let (_, offset) = *candidates.first()?;
    let agree = candidates.iter().all(|(_, other)| *other == offset);
    (candidates.len() >= 2 && agree).then_some(offset)
}

/// The offset of the only aligned 32-bit word with one of these values.
fn sole(bytes: &[u8], values: &[RangeInclusive<u32>]) -> Option<u64> {
    let (words, _) = bytes.as_chunks::<4>();
    let is_sought = |word| values.iter().any(|range| range.contains(&word));
    let mut at = words
        .iter()
        .enumerate()
        .filter(|(_, word)| is_sought(u32::from_ne_bytes(**word)));
    let (index, _) = at.next()?;
    at.next().is_none().then_some(index as u64 * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_unique_match_is_a_candidate() {
        let sought = [3..=3, 7..=9];
        let mut bytes = [0u8; 64];
        assert_eq!(sole(&bytes, &sought), None);
        bytes[40..44].copy_from_slice(&8u32.to_ne_bytes());
        assert_eq!(sole(&bytes, &sought), Some(40));
        bytes[8..12].copy_from_slice(&3u32.to_ne_bytes());
        assert_eq!(sole(&bytes, &sought), None);
        assert_eq!(sole(&bytes[..3], &[0..=0]), None);
    }

    static VALUE: MemoryWord = MemoryWord {
        program: "none",
        pointer: "none",
        within: sensors::Within {
            pointer: "none",
            values: &[],
            bytes: 0,
        },
    };

    /// A value of this process, behind a pointer to it.
    fn own(pointer: &u64) -> (RemoteMemory, MemoryCell) {
        let place = Place {
            headers: 0,
            pointer: 0,
            offset: Offset::Known(0),
            entry: None,
        };
        let remote_memory = RemoteMemory {
            programs: vec![Program {
                file: (0, 0, 0, 0),
                value: &VALUE,
                place: Some(place),
                version: None,
            }],
        };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let cell = MemoryCell {
            memory: rustix::fs::open("/proc/self/mem", flags, Mode::empty()).expect("it is ours"),
            bias: 0,
            pointer: std::ptr::from_ref(pointer) as u64,
            program: 0,
        };
        (remote_memory, cell)
    }

    #[test]
    fn a_file_that_was_changed_is_another_program() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut remote_memory = RemoteMemory::default();
        let open = || File::open(file.path()).expect("it is there");
        let mut program = || {
            remote_memory
                .program(open(), &VALUE)
                .expect("it can be read")
        };
        let (first, again) = (program(), program());
        // File times advance in the kernel's ticks.
        std::thread::sleep(std::time::Duration::from_millis(30));
        std::fs::write(file.path(), "another").expect("written");
        assert_eq!((first, again, program()), (0, 0, 1));
    }

    #[test]
    fn an_invalid_pointer_reads_as_nothing() {
        let target = 0x0300_0005u32;
        for (pointer, expected) in [
            (
                &raw const target as u64,
                RemoteRead::Value(target.to_ne_bytes()),
            ),
            (0, RemoteRead::Nothing),
            (16, RemoteRead::Nothing),
            (u64::MAX, RemoteRead::Nothing),
            (u64::MAX / 2, RemoteRead::Nothing),
        ] {
            let (mut remote_memory, cell) = own(&pointer);
            assert_eq!(remote_memory.read(&cell), expected, "{pointer:#x}");
        }
    }

    #[test]
    #[ignore = "by hand: cargo test --release -p kernel --lib -- --ignored --nocapture cost_of_reading_a_value"]
    fn cost_of_reading_a_value() {
        let target = 1u32;
        let pointer = &raw const target as u64;
        let (mut remote_memory, cell) = own(&pointer);
        // This process's first thread, which waits for the tests: its wchan is a name that the kernel looks
        // up.
        let file = crate::open_file::OpenFile::open(Path::new("/proc/self/wchan"), Share::Tracked);
        let (file, mut buffer) = (file.expect("it is there"), Vec::new());
        let best = |read: &mut dyn FnMut()| {
            let batch = || {
                let since = std::time::Instant::now();
                (0..1_000).for_each(|_| read());
                since.elapsed().as_nanos() / 1_000
            };
            std::iter::repeat_with(batch).take(500).min()
        };
        let value = best(&mut || {
            std::hint::black_box(remote_memory.read(&cell));
        });
        let wchan = best(&mut || file.read(&mut buffer).expect("it can be read"));
        println!(
            "a value {value:?} ns, a wchan ({}) {wchan:?} ns",
            String::from_utf8_lossy(&buffer)
        );
    }
}
