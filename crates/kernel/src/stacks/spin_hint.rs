//! Whether code waits in a loop: such loops have an instruction that tells the CPU so, `pause` or `yield` (Intel 64 and
//! IA-32 Architectures Software Developer's Manual, PAUSE; Arm Architecture Reference Manual, YIELD and ISB).

use std::collections::HashMap;
use std::os::unix::fs::FileExt as _;

use super::unwinder::{ModuleId, Unwinder};

/// A loop that waits is no longer than this to either side, bytes.
const AROUND: u64 = 48;
/// Addresses that are remembered; more are looked at each time.
const MOST_KNOWN: usize = 100_000;

#[cfg(target_arch = "x86_64")]
const HINTS: &[&[u8]] = &[&[0xf3, 0x90]];
#[cfg(target_arch = "aarch64")]
const HINTS: &[&[u8]] = &[&[0x3f, 0x20, 0x03, 0xd5], &[0xdf, 0x3f, 0x03, 0xd5]];

/// What is known of addresses.
#[derive(Default)]
pub struct SpinHints {
    known: HashMap<(ModuleId, u64), bool>,
    code: Vec<u8>,
}

impl SpinHints {
    /// Whether such an instruction stands beside an address of a file. Reads the file the first time.
    pub fn is_beside(&mut self, unwinder: &Unwinder, module: ModuleId, address: u64) -> bool {
        if let Some(known) = self.known.get(&(module, address)) {
            return *known;
        }
        let found = self.look(unwinder, module, address).unwrap_or(false);
        if self.known.len() < MOST_KNOWN {
            self.known.insert((module, address), found);
        }
        found
    }

    fn look(&mut self, unwinder: &Unwinder, module: ModuleId, address: u64) -> Option<bool> {
        let file = unwinder.file_of(module)?;
        let offset = unwinder.offset_of(module, address)?;
        self.code.resize(2 * AROUND as usize, 0);
        let read = file.read_at(&mut self.code, offset.saturating_sub(AROUND));
        Some(has_hint(&self.code[..read.ok()?]))
    }
}

fn has_hint(code: &[u8]) -> bool {
    let begins = |place: usize| HINTS.iter().any(|hint| code[place..].starts_with(hint));
    (0..code.len()).any(begins)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_waits_is_told_from_one_that_works() {
        // pause; mov (%rdi),%eax; test %eax,%eax; jne
        assert!(has_hint(&[0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x75, 0xf8]));
        // nop; the same.
        assert!(!has_hint(&[0x66, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x75, 0xf8]));
        assert!(!has_hint(&[]));
    }
}
