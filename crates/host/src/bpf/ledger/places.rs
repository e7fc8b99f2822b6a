//! What the return addresses mean that the program meets on kernel stacks (`bpf/lib/channel.bpf.h`).
//!
//! The kernel itself names them, one by one as they are met: its list of all symbols is long to read, and
//! shown to few.

use std::collections::HashSet;

use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};
use sensors::kernel_wait::{self, Errand};

use super::{Ledger, no_variables};
use crate::bpf::Refusal;

/// What is known of them.
#[derive(Default)]
pub(super) struct Places {
    /// Those that were asked for.
    known: HashSet<u64>,
    /// How many the program had met by then, and how often it had no room.
    met: u64,
    dropped: u64,
}

impl Ledger {
    /// Tells the program what those places mean that it has met since the last time; how many of them have
    /// no name, and how often there was no room for one.
    pub(super) fn name_places(&mut self) -> Result<u64, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref();
        let variables = variables.ok_or_else(no_variables)?;
        let (met, dropped) = (variables.places_met, variables.places_dropped);
        let lost = dropped - std::mem::replace(&mut self.places.dropped, dropped);
        if std::mem::replace(&mut self.places.met, met) == met {
            return Ok(lost);
        }
        let keys = self.programs.maps.place_by_address.keys();
        let addresses = keys.filter_map(|key| Some(u64::from_ne_bytes(*key.first_chunk()?)));
        let new: Vec<u64> = addresses
            .filter(|address| !self.places.known.contains(address))
            .collect();
        let mut unnamed = lost;
        for address in new {
            let named = self.name_of(address)?;
            unnamed += u64::from(named.is_none());
            if let Some(name) = named {
                let place = kernel_wait::place(&name);
                let kind = match place.errand {
                    None => super::kind::OTHER,
                    Some(Errand::Sync) => super::kind::SYNC,
                    Some(Errand::ReadWrite) => super::kind::READ_WRITE,
                    Some(Errand::Fault) => super::kind::FAULT,
                };
                let value = [place.channel as u32, kind.into()].map(u32::to_ne_bytes);
                let map = &self.programs.maps.place_by_address;
                map.update(&address.to_ne_bytes(), value.as_flattened(), MapFlags::ANY)?;
            }
            self.places.known.insert(address);
        }
        Ok(unnamed)
    }

    /// The function that an address returns to; `None` where the kernel has no names (CONFIG_KALLSYMS).
    fn name_of(&mut self, address: u64) -> Result<Option<String>, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.asked_place = address;
        let input = ProgramInput::default();
        self.programs.progs.name_place.test_run(input)?;
        let variables = self.programs.maps.bss_data.as_deref();
        let answer = &variables.ok_or_else(no_variables)?.asked_name;
        let bytes: Vec<u8> = answer.iter().map(|it| it.cast_unsigned()).collect();
        // `name+0x1a/0x30 [module]`
        let end = bytes.iter().position(|byte| matches!(byte, b'+' | 0));
        let name = String::from_utf8_lossy(&bytes[..end.unwrap_or(0)]).into_owned();
        Ok((!name.is_empty() && !name.starts_with("0x")).then_some(name))
    }
}
