//! Which files a process executes code from: the executable lines of /proc/PID/maps (proc(5)).
//!
//! Pure: bytes in, mappings out, and no bytes make it panic.

use std::ops::Range;

/// More executable mappings of a process are not read: Java and Node have thousands of others, and few of these.
pub(super) const MOST_MAPPINGS: usize = 4_096;

/// An executable mapping.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Mapping<'a> {
    pub(super) addresses: Range<u64>,
    /// Where in its file it begins, bytes.
    pub(super) offset: u64,
    pub(super) inode: u64,
    /// The path, `[vdso]`, or nothing for memory without a file.
    pub(super) path: &'a str,
}

/// The executable mappings, in the order of addresses.
pub(super) fn executable(maps: &str) -> impl Iterator<Item = Mapping<'_>> {
    maps.lines().filter_map(mapping).take(MOST_MAPPINGS)
}

/// `55d0c0a00000-55d0c0a01000 r-xp 00002000 fe:00 1234    /usr/bin/a b (deleted)`
fn mapping(line: &str) -> Option<Mapping<'_>> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let addresses = hexadecimal(start)?..hexadecimal(end)?;
    let is_executable = fields.next()?.as_bytes().get(2) == Some(&b'x');
    let offset = hexadecimal(fields.next()?)?;
    let _device = fields.next()?;
    let inode = fields.next()?.parse().ok()?;
    (is_executable && !addresses.is_empty()).then(|| Mapping {
        addresses,
        offset,
        inode,
        path: fields.next().unwrap_or("").trim_start(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn executable_lines_are_read() {
        let maps = "\
55d0c0a00000-55d0c0a02000 r--p 00000000 fe:00 1234                       /usr/bin/a b
55d0c0a02000-55d0c0a05000 r-xp 00002000 fe:00 1234                       /usr/bin/a b (deleted)
7f0000000000-7f0000010000 rwxp 00000000 00:00 0 
7ffd1e1f2000-7ffd1e1f4000 r-xp 00000000 00:00 0                          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";
        let read: Vec<_> = executable(maps)
            .map(|it| (it.addresses.start, it.offset, it.inode, it.path))
            .collect();
        assert_eq!(
            read,
            [
                (0x55d0_c0a0_2000, 0x2000, 1234, "/usr/bin/a b (deleted)"),
                (0x7f00_0000_0000, 0, 0, ""),
                (0x7ffd_1e1f_2000, 0, 0, "[vdso]"),
                (0xffff_ffff_ff60_0000, 0, 0, "[vsyscall]"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_survived(maps in "([0-9a-f]{1,17}-[0-9a-f]{1,17} r.?xp [0-9a-f]{0,9} .{0,20}\n|.{0,40}\n){0,9}") {
            executable(&maps).count();
        }
    }
}
