//! Programs of others, which are read as root: ELF files, and the vector of a process.
//!
//! An input is the vector's 32 bytes, then the file.

use std::path::Path;

use anyhow::Result;

use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "program",
    feed,
    seeds,
    affordable: 5_000,
};

const VECTOR: usize = 32;

fn feed(bytes: &[u8]) {
    let (vector, file) = bytes.split_at(bytes.len().min(VECTOR));
    kernel::fuzz_targets::program(file, vector);
}

/// A real one is too long to be mutated with any effect.
fn seeds(_: &Path) -> Result<Vec<Seed>> {
    let mut vector = [3u64, 0x5555_0000_0040, 0, 0]
        .map(u64::to_ne_bytes)
        .concat();
    vector.extend(smallest());
    Ok(vec![Seed::new("smallest", vector)])
}

/// An ELF program with one exported pointer: header, one segment, symbols, their names, sections.
fn smallest() -> Vec<u8> {
    const NAMES: &[u8] = b"\0MyProc\0my_wait_event_info\0\0\0\0\0\0";
    let (symbols, names) = (120u64, 120 + 48);
    let sections = names + NAMES.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let mut put = |bytes: &[u8]| file.extend_from_slice(bytes);
    let half = |value: u16| value.to_le_bytes();
    // e_type, e_machine, e_version, e_entry, e_phoff, e_shoff, e_flags, sizes and counts
    put(&[half(3), half(62), half(1), half(0)].concat());
    put(&[0u64, 64, sections].map(u64::to_le_bytes).concat());
    put(&[half(0), half(0), half(64), half(56), half(1)].concat());
    put(&[half(64), half(3), half(2)].concat());
    // PT_LOAD, readable; offset, addresses, sizes, alignment
    put(&[half(1), half(0), half(4), half(0)].concat());
    put(&[0u64, 0, 0, 4096, 4096, 4096]
        .map(u64::to_le_bytes)
        .concat());
    // The empty symbol, then MyProc: an object of 8 bytes in section 1.
    put(&[0; 24]);
    put(&[half(1), half(0), [0x11, 0], half(1)].concat());
    put(&[0x4000u64, 8].map(u64::to_le_bytes).concat());
    put(NAMES);
    put(&[0; 64]);
    for (kind, link, at, length, entry) in [
        (11u16, 2u16, symbols, 48u64, 24u64),
        (3, 0, names, NAMES.len() as u64, 0),
    ] {
        put(&[half(0), half(0), half(kind), half(0)].concat());
        put(&[0u64, 0, at, length].map(u64::to_le_bytes).concat());
        put(&[half(link), half(0), half(1), half(0)].concat());
        put(&[8u64, entry].map(u64::to_le_bytes).concat());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_a_program_that_shows_a_word() {
        assert!(kernel::fuzz_targets::program(&smallest(), &[]));
    }
}
