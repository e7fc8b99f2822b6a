//! The shape of a sensor, and what its parser is given and gives back.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use model::{EntityKind, Table};

/// Something that can be measured.
pub struct Sensor {
    /// The table it fills.
    pub table: &'static Table,
    /// What one reading is about.
    pub scope: Scope,
    /// The files it wants; a reading has one entry per source.
    pub sources: &'static [Source],
    /// How often.
    pub period: Period,
    /// Whether the sources after the first need reading only when the first one's bytes changed; in a
    /// group, the first that its layout has, and not for those of target and generator.
    pub first_decides: bool,
    /// From bytes to rows.
    pub parse: Parse,
}

/// From the bytes of all sources to rows, each handed over as (whose, one value per column).
///
/// # Errors
/// When a source does not look as the kernel writes it; rows handed over before stay valid.
pub type Parse = fn(&Reading<'_>, &mut dyn FnMut(Subject<'_>, &[i64])) -> Result<(), Malformed>;

/// What one reading of a sensor is about, which says where its sources are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The machine; sources are below the root: `proc/stat`.
    Machine,
    /// Each control group; sources are in the group's folder of the hierarchy that they name.
    Cgroup,
    /// Each process; sources are in `/proc/PID`.
    Process,
    /// Each thread of target and generator; sources are in `/proc/PID/task/TID`.
    Thread,
}

/// The cgroup hierarchy that a source lives in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hierarchy {
    /// Not in a cgroup.
    None,
    /// The unified hierarchy, wherever mountinfo says it is mounted.
    V2,
    /// The v1 hierarchy of this controller.
    V1(&'static str),
}

/// What a sensor reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// Path relative to the scope's folder; for a word in memory, what a person calls it.
    pub path: &'static str,
    /// A file, or a word in memory.
    pub place: Place,
    /// The cgroup hierarchy, for sensors of groups.
    pub hierarchy: Hierarchy,
    /// What its absence means to the user.
    pub lack: Missing,
}

impl Source {
    /// A source below the root, a process's or a thread's folder.
    pub const fn file(path: &'static str, lack: Missing) -> Self {
        Self {
            path,
            place: Place::File,
            hierarchy: Hierarchy::None,
            lack,
        }
    }

    /// A word in the process's memory; its reading is the word's four bytes as they stand there.
    pub const fn memory(name: &'static str, word: &'static MemoryWord, lack: Missing) -> Self {
        Self {
            path: name,
            place: Place::Memory(word),
            hierarchy: Hierarchy::None,
            lack,
        }
    }

    /// A source in a cgroup's folder; its absence is no news, since layouts differ.
    pub const fn group(hierarchy: Hierarchy, path: &'static str) -> Self {
        Self {
            path,
            place: Place::File,
            hierarchy,
            lack: Missing::Usual,
        }
    }
}

/// Where a source is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A file, found by the source's path.
    File,
    /// A word in the memory of a process whose program exports where it is. It belongs to the
    /// process's first thread.
    Memory(&'static MemoryWord),
}

/// A 32-bit word that a program keeps in its memory and shows by an exported symbol.
///
/// `kernel` finds it by name in the program's dynamic symbols; programs without either symbol have no
/// such word, which is no news.
#[derive(PartialEq, Eq, Debug)]
pub struct MemoryWord {
    /// What the program's file is called: it alone is worth a gap when the word cannot be had.
    pub program: &'static str,
    /// The exported pointer to the word.
    pub pointer: &'static str,
    /// For programs that do not export that one: a structure that holds the word somewhere.
    pub within: Within,
}

/// A structure at an unknown offset of which a word stands.
#[derive(PartialEq, Eq, Debug)]
pub struct Within {
    /// The exported pointer to the structure.
    pub pointer: &'static str,
    /// Values by which the word is recognised, in two processes of the program at the same offset.
    pub values: &'static [RangeInclusive<u32>],
    /// So much of the structure is searched: less than its size, since others may lie behind it.
    pub bytes: usize,
}

/// What to say when a source cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Nothing: many machines lack it and no verdict needs it.
    Usual,
    /// What is lost without it, and what would give it.
    Say(&'static str),
    /// Pressure: absent and switched off need different mends.
    Pressure,
}

/// How often a sensor is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Period {
    /// For the machine, and for what belongs to target and generator.
    pub tracked: Duration,
    /// For everything else.
    pub background: Duration,
}

impl Period {
    /// Another period for what is near than for the rest, in milliseconds.
    pub const fn of_ms(tracked: u64, background: u64) -> Self {
        Self {
            tracked: Duration::from_millis(tracked),
            background: Duration::from_millis(background),
        }
    }
}

/// Constants of the machine that parsers need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Length of a clock tick of /proc's times (1 s / USER_HZ), ns.
    pub tick_ns: i64,
    /// Size of a page, bytes.
    pub page_bytes: i64,
}

impl Default for Facts {
    /// USER_HZ is 100 on every architecture that Linux calls x86 or Arm; pages are 4 KiB on most.
    fn default() -> Self {
        Self {
            tick_ns: 10_000_000,
            page_bytes: 4096,
        }
    }
}

/// The bytes of a sensor's sources at one instant.
pub struct Reading<'a> {
    /// One entry per source; `None` where it could not be read.
    pub bytes: &'a [Option<&'a [u8]>],
    /// Constants of the machine.
    pub facts: Facts,
}

impl Reading<'_> {
    /// The bytes of source `index`, or `None` where it could not be read.
    pub fn source(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(index).copied().flatten()
    }
}

/// Whose row it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject<'a> {
    /// Of what the reading is about.
    Own,
    /// Of a part of it, by kind and the kernel's name.
    Part(EntityKind, &'a [u8]),
}

/// A source that does not look as the kernel writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// What was expected.
    pub expected: &'static str,
}

impl Malformed {
    /// Something else than `expected` was found.
    pub const fn expected(expected: &'static str) -> Self {
        Self { expected }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Parses and renders rows as text, one per line: `name: column=value ...`, missing ones left out.
    pub(crate) fn rows(sensor: &Sensor, sources: &[Option<&[u8]>]) -> String {
        let mut text = String::new();
        let reading = Reading {
            bytes: sources,
            facts: Facts::default(),
        };
        let result = (sensor.parse)(&reading, &mut |subject, values| {
            assert_eq!(values.len(), sensor.table.columns.len());
            match subject {
                Subject::Own => text.push_str("own:"),
                Subject::Part(kind, name) => {
                    text.push_str(&format!("{kind} {}:", String::from_utf8_lossy(name)))
                }
            }
            for (column, value) in sensor.table.columns.iter().zip(values) {
                if *value != model::MISSING {
                    text.push_str(&format!(" {}={value}", column.name));
                }
            }
            text.push('\n');
        });
        if let Err(malformed) = result {
            text.push_str(&format!("malformed: {malformed}\n"));
        }
        text
    }

    /// Whatever the bytes, a parser returns.
    pub(crate) fn never_panics(sensor: &Sensor, bytes: &[u8]) {
        let sources: Vec<Option<&[u8]>> = sensor.sources.iter().map(|_| Some(bytes)).collect();
        rows(sensor, &sources);
    }
}
