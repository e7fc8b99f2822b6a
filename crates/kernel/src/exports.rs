//! A program's exported variables, and where its memory begins.
//!
//! Pure: bytes in, addresses out, and no input makes it panic. The files belong to other users, so nothing in
//! them is trusted; a result is only an address to read at.

use object::elf::{self, FileHeader64, Sym64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, ReadRef, SectionIndex};

/// Longer symbol or string tables are not read: a file may be hostile, and is read as root. The longest
/// honest ones are some ten megabytes.
const MOST_BYTES: u64 = 64 << 20;

/// Addresses as stated in a program's file; `bias` gives the offset at which it is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exports<const N: usize> {
    /// Address of the program headers.
    pub headers: u64,
    /// Addresses of the requested exported pointers, in the order of the request.
    pub pointers: [Option<u64>; N],
}

/// Looks up exported variables of the size of a pointer in a program's file; `None` if it is no 64-bit ELF
/// program.
pub fn exports<'data, const N: usize>(
    file: impl ReadRef<'data>,
    names: [&str; N],
) -> Option<Exports<N>> {
    let program = FileHeader64::<Endianness>::parse(file).ok()?;
    let endian = program.endian().ok()?;
    let headers = headers(program, endian, file)?;
    // 0 means that the number of sections is in the first section header and may have any value.
    if program.e_shnum(endian) == 0 {
        return None;
    }
    let sections = program.sections(endian, file).ok()?;
    let symbols = sections
        .iter()
        .find(|section| section.sh_type(endian) == elf::SHT_DYNSYM)?;
    let strings = sections
        .section(SectionIndex(symbols.sh_link(endian) as usize))
        .ok()?;
    if symbols.sh_size(endian).max(strings.sh_size(endian)) > MOST_BYTES {
        return None;
    }
    let symbols: &[Sym64<Endianness>] = symbols.data_as_array(endian, file).ok()?;
    let strings = strings.data(endian, file).ok()?;
    let pointers = names.map(|name| {
        symbols
            .iter()
            .find(|symbol| {
                symbol.st_shndx(endian) != elf::SHN_UNDEF
                    && symbol.st_type() == elf::STT_OBJECT
                    && symbol.st_size(endian) == size_of::<u64>() as u64
                    && is_called(strings, symbol.st_name(endian), name)
            })
            .map(|symbol| symbol.st_value(endian))
    });
    Some(Exports { headers, pointers })
}

/// The address of the program headers.
fn headers<'data>(
    program: &FileHeader64<Endianness>,
    endian: Endianness,
    file: impl ReadRef<'data>,
) -> Option<u64> {
    if program.e_phnum(endian) == elf::PN_XNUM {
        return None;
    }
    let at = program.e_phoff(endian);
    let segments = program.program_headers(endian, file).ok()?;
    segments.iter().find_map(|segment| {
        let (address, offset) = (segment.p_vaddr(endian), segment.p_offset(endian));
        match segment.p_type(endian) {
            elf::PT_PHDR => Some(address),
            elf::PT_LOAD => address.checked_add(at.checked_sub(offset)?),
            _ => None,
        }
    })
}

/// Whether the NUL-terminated string at `start` is `name`.
fn is_called(strings: &[u8], start: u32, name: &str) -> bool {
    strings
        .get(start as usize..)
        .and_then(|rest| rest.strip_prefix(name.as_bytes()))
        .is_some_and(|rest| rest.first() == Some(&0))
}

/// Offset of a program's addresses in a process, from the process's /proc/PID/auxv, in which the kernel gives
/// the address of the program headers (AT_PHDR, fs/binfmt_elf.c).
///
/// /proc/PID/maps would also tell, but identifies the file by a device number that stat does not return on
/// btrfs and overlayfs, and is a hundred times as long.
pub fn bias(auxv: &[u8], headers: u64) -> Option<u64> {
    const AT_PHDR: u64 = 3;
    let (pairs, _) = auxv.as_chunks::<16>();
    pairs.iter().find_map(|pair| {
        let [key, value] = [pair.first_chunk::<8>()?, pair.last_chunk::<8>()?];
        (u64::from_ne_bytes(*key) == AT_PHDR)
            .then(|| u64::from_ne_bytes(*value).wrapping_sub(headers))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own() -> Vec<u8> {
        std::fs::read("/proc/self/exe").expect("this program can be read")
    }

    #[test]
    fn this_program_is_where_its_headers_say() {
        let file = own();
        let found = exports(file.as_slice(), ["no_such_symbol"]).expect("it is an ELF program");
        assert_eq!(found.pointers, [None]);
        let auxv = std::fs::read("/proc/self/auxv").expect("the own one can be read");
        let bias = bias(&auxv, found.headers).expect("the kernel states it");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the own one can be read");
        let start = maps
            .lines()
            .next()
            .and_then(|line| line.split('-').next())
            .and_then(|start| u64::from_str_radix(start, 16).ok());
        assert_eq!(Some(bias), start);
    }

    #[test]
    fn a_file_that_is_no_program_has_no_exports() {
        assert_eq!(exports(b"#!/bin/sh\n".as_slice(), ["a"]), None);
        assert_eq!(bias(b"", 0), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            exports(bytes.as_slice(), ["a", "b"]);
            bias(&bytes, u64::MAX);
        }

        #[test]
        fn a_damaged_program_is_survived(at in 0usize..2_000, byte: u8, length in 0usize..200_000) {
            thread_local!(static OWN: Vec<u8> = own());
            let mut file = OWN.with(|file| file[..length.min(file.len())].to_vec());
            if let Some(place) = file.get_mut(at) {
                *place = byte;
            }
            exports(file.as_slice(), ["a"]);
        }
    }
}
