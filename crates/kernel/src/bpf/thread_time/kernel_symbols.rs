//! Names the return addresses that the program finds on kernel stacks (`bpf/lib/wait_site.bpf.h`).
//!
//! The kernel formats each new address. /proc/kallsyms would be long to read, and only few users may read it.

use std::collections::HashSet;
use std::os::fd::AsFd as _;

use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};
use sensors::kernel_wait::{self, KernelSymbol};

use super::batch::read_batch;
use super::{ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::kernel_symbol;

/// Room in the program's map (THREAD_TIME_MOST_SYMBOLS).
const MOST: usize = 4_096;
/// Longest name, bytes (THREAD_TIME_SYMBOL_NAME).
const NAME: usize = 128;
/// Entries per system call.
const BATCH: usize = 512;

/// Addresses seen so far. New ones keep appearing for as long as threads run; the buffers are reused, so
/// handling them allocates nothing.
pub(super) struct KernelSymbols {
    /// Addresses that have been named.
    known: HashSet<u64>,
    /// Addresses to be named.
    new: Vec<u64>,
    batch: (Vec<u64>, Vec<kernel_symbol>),
    /// Addresses that the program had found at the last look, and how often it had no room for one.
    found: u64,
    dropped: u64,
}

impl Default for KernelSymbols {
    fn default() -> Self {
        Self {
            known: HashSet::with_capacity(MOST),
            new: Vec::with_capacity(MOST),
            batch: (vec![0; BATCH], vec![kernel_symbol::default(); BATCH]),
            found: 0,
            dropped: 0,
        }
    }
}

impl ThreadTime {
    /// Sets the meaning of addresses that the program has found since the last call. Returns how many have no
    /// name, and adds how often there was no room.
    pub(super) fn name_symbols(&mut self) -> Result<u64, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref();
        let variables = variables.ok_or_else(no_variables)?;
        let (found, dropped) = (variables.symbols_found, variables.symbols_dropped);
        let mut unnamed = dropped - std::mem::replace(&mut self.symbols.dropped, dropped);
        if std::mem::replace(&mut self.symbols.found, found) == found {
            return Ok(unnamed);
        }
        self.find_new_addresses()?;
        while let Some(address) = self.symbols.new.pop() {
            match self.meaning_of(address)? {
                None => unnamed += 1,
                Some(symbol) => self.set_meaning(address, symbol)?,
            }
            self.symbols.known.insert(address);
        }
        Ok(unnamed)
    }

    fn find_new_addresses(&mut self) -> Result<(), Refusal> {
        let KernelSymbols {
            known, new, batch, ..
        } = &mut self.symbols;
        new.clear();
        let map = self.programs.maps.symbol_by_address.as_fd();
        let mut place = None;
        loop {
            let (count, next) = read_batch(map, place, &mut batch.0, &mut batch.1)?;
            let found = batch.0.iter().take(count);
            new.extend(found.filter(|address| !known.contains(address)));
            if next.is_none() {
                return Ok(());
            }
            place = next;
        }
    }

    /// The meaning of the function that contains an address; `None` if the kernel has no names
    /// (CONFIG_KALLSYMS).
    fn meaning_of(&mut self, address: u64) -> Result<Option<KernelSymbol>, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.requested_address = address;
        let input = ProgramInput::default();
        self.programs.progs.name_symbol.test_run(input)?;
        let variables = self.programs.maps.bss_data.as_deref();
        let answer: [_; NAME] = variables.ok_or_else(no_variables)?.symbol_name;
        let answer = answer.map(|it| it.cast_unsigned());
        // `name+0x1a/0x30 [module]`
        let name = answer.split(|byte| matches!(byte, b'+' | 0)).next();
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        let name = name.filter(|name| !name.is_empty() && !name.starts_with("0x"));
        Ok(name.map(kernel_wait::kernel_symbol))
    }

    fn set_meaning(&self, address: u64, symbol: KernelSymbol) -> Result<(), Refusal> {
        let io_intent = super::constants::intent_number(symbol.intent);
        let value = [symbol.wait_site as u32, io_intent.into()].map(u32::to_ne_bytes);
        let map = &self.programs.maps.symbol_by_address;
        map.update(&address.to_ne_bytes(), value.as_flattened(), MapFlags::ANY)?;
        Ok(())
    }
}
