//! What the return addresses mean that the program meets on kernel stacks (`bpf/lib/wait_site.bpf.h`).
//!
//! The kernel itself names them, one by one as they are met: its list of all symbols is long to read, and
//! shown to few.

use std::collections::HashSet;
use std::os::fd::AsFd as _;

use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};
use sensors::kernel_wait::{self, IoIntent, Place};

use super::batch::read_batch;
use super::{ThreadTime, no_variables};
use crate::bpf::Refusal;
use crate::bpf::skeletons::thread_time::types::kernel_symbol;

/// There is room for so many (THREAD_TIME_MOST_PLACES).
const MOST: usize = 4_096;
/// Length of a name (THREAD_TIME_PLACE_NAME).
const NAME: usize = 128;
/// Entries that one system call brings.
const BATCH: usize = 512;

/// What is known of them; a new one is met now and then for as long as threads run, and takes no memory.
pub(super) struct Places {
    /// Those that were asked for.
    known: HashSet<u64>,
    /// Those that are to be.
    new: Vec<u64>,
    batch: (Vec<u64>, Vec<kernel_symbol>),
    /// How many the program had met by then, and how often it had no room.
    met: u64,
    dropped: u64,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            known: HashSet::with_capacity(MOST),
            new: Vec::with_capacity(MOST),
            batch: (vec![0; BATCH], vec![kernel_symbol::default(); BATCH]),
            met: 0,
            dropped: 0,
        }
    }
}

impl ThreadTime {
    /// Tells the program what those places mean that it has met since the last time; how many of them have
    /// no name, and how often there was no room for one.
    pub(super) fn name_places(&mut self) -> Result<u64, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref();
        let variables = variables.ok_or_else(no_variables)?;
        let (met, dropped) = (variables.places_met, variables.places_dropped);
        let mut unnamed = dropped - std::mem::replace(&mut self.places.dropped, dropped);
        if std::mem::replace(&mut self.places.met, met) == met {
            return Ok(unnamed);
        }
        self.find_new_places()?;
        while let Some(address) = self.places.new.pop() {
            match self.place_at(address)? {
                None => unnamed += 1,
                Some(place) => self.tell_place(address, place)?,
            }
            self.places.known.insert(address);
        }
        Ok(unnamed)
    }

    fn find_new_places(&mut self) -> Result<(), Refusal> {
        let Places {
            known, new, batch, ..
        } = &mut self.places;
        new.clear();
        let map = self.programs.maps.place_by_address.as_fd();
        let mut place = None;
        loop {
            let (count, next) = read_batch(map, place, batch)?;
            let found = batch.0.iter().take(count);
            new.extend(found.filter(|address| !known.contains(address)));
            if next.is_none() {
                return Ok(());
            }
            place = next;
        }
    }

    /// What the function tells that an address returns to; `None` where the kernel has no names
    /// (CONFIG_KALLSYMS).
    fn place_at(&mut self, address: u64) -> Result<Option<Place>, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.asked_place = address;
        let input = ProgramInput::default();
        self.programs.progs.name_place.test_run(input)?;
        let variables = self.programs.maps.bss_data.as_deref();
        let answer: [_; NAME] = variables.ok_or_else(no_variables)?.asked_name;
        let answer = answer.map(|it| it.cast_unsigned());
        // `name+0x1a/0x30 [module]`
        let name = answer.split(|byte| matches!(byte, b'+' | 0)).next();
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        let name = name.filter(|name| !name.is_empty() && !name.starts_with("0x"));
        Ok(name.map(kernel_wait::place))
    }

    fn tell_place(&self, address: u64, place: Place) -> Result<(), Refusal> {
        let kind = match place.intent {
            None => super::kind::OTHER,
            Some(IoIntent::Sync) => super::kind::SYNC,
            Some(IoIntent::ReadWrite) => super::kind::READ_WRITE,
            Some(IoIntent::Fault) => super::kind::FAULT,
        };
        let value = [place.channel as u32, kind.into()].map(u32::to_ne_bytes);
        let map = &self.programs.maps.place_by_address;
        map.update(&address.to_ne_bytes(), value.as_flattened(), MapFlags::ANY)?;
        Ok(())
    }
}
