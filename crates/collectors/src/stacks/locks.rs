//! Locks that threads waited for, and the names of those that are variables of a program.

use std::collections::BTreeMap;

use kernel::stacks::{ModuleId, Unwinder, symbols};

/// Locks that are kept.
const MOST: usize = 10_000;

/// A lock that is a variable.
pub(super) struct NamedLock {
    /// Whose.
    pub(super) pid: u32,
    /// In its memory.
    pub(super) address: u64,
    pub(super) module: ModuleId,
    pub(super) variable: String,
}

/// By process and address the file and the address in it; `None` of one on a heap or a stack.
#[derive(Default)]
pub(super) struct Locks(BTreeMap<(u32, u64), Option<(ModuleId, u64)>>);

impl Locks {
    /// A thread of a process that was unwound waited for a lock.
    pub(super) fn note(&mut self, pid: u32, address: u64, unwinder: &Unwinder) {
        if self.0.len() < MOST {
            let place = self.0.entry((pid, address));
            place.or_insert_with(|| unwinder.variable_at(pid, address));
        }
    }

    /// Names them, file by file.
    pub(super) fn named(&self, unwinder: &Unwinder) -> Vec<NamedLock> {
        let mut by_file: BTreeMap<ModuleId, Vec<(u32, u64, u64)>> = BTreeMap::new();
        for ((pid, address), place) in &self.0 {
            if let Some((module, stated)) = place {
                let of_file = by_file.entry(*module).or_default();
                of_file.push((*pid, *address, *stated));
            }
        }
        let mut named = Vec::new();
        for (module, locks) in by_file {
            let Some(file) = unwinder.file_of(module) else {
                continue;
            };
            let addresses: Vec<u64> = locks.iter().map(|it| it.2).collect();
            let names = symbols::variables_of(file, &addresses);
            let with_name = locks.into_iter().zip(names);
            named.extend(with_name.filter_map(|((pid, address, _), variable)| {
                Some(NamedLock {
                    pid,
                    address,
                    module,
                    variable: variable?,
                })
            }));
        }
        named
    }
}
