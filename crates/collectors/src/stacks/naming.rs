//! Names for the places of all stacks, when the recording ends: then it costs the load nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kernel::stacks::symbols::{self, Functions, KernelSymbols};
use kernel::stacks::{ModuleId, Unwinder};

use super::call_tree::{Origin, Place};
use super::locks::NamedLock;
use super::perf_maps::PerfMaps;

/// Files that were not named by then stay without names: the user waits for the answer.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The functions of places; those without a name are left out.
#[derive(Default)]
pub(super) struct Named {
    pub(super) functions: Vec<(Place, Functions)>,
    /// Files for which there was no time.
    pub(super) unnamed_files: u64,
    /// Locks that are variables.
    pub(super) locks: Vec<NamedLock>,
}

/// Names places, which are in order.
pub(super) fn name(
    places: &[Place],
    unwinder: &Unwinder,
    mut kernel: Option<&mut KernelSymbols>,
    maps: &mut PerfMaps,
    proc: &Path,
) -> Named {
    let mut by_origin: BTreeMap<Origin, Vec<u64>> = BTreeMap::new();
    for place in places {
        let addresses = by_origin.entry(place.origin).or_default();
        addresses.push(place.address);
    }
    // Those that matter most have most places.
    let mut by_origin: Vec<(Origin, Vec<u64>)> = by_origin.into_iter().collect();
    by_origin.sort_by_key(|(_, addresses)| std::cmp::Reverse(addresses.len()));
    let begun = Instant::now();
    let mut named = Named::default();
    for (origin, addresses) in by_origin {
        if begun.elapsed() > MOST_TIME {
            named.unnamed_files += 1;
            continue;
        }
        let one = |name: Option<String>| name.into_iter().collect();
        let found: Vec<Functions> = match origin {
            Origin::File(number) => match unwinder.file_of(ModuleId(number)) {
                Some(file) => symbols::of_file(file, &addresses, None),
                None => continue,
            },
            Origin::Made(pid) => match maps.of(pid, proc) {
                Some(map) => symbols::of_perf_map(map, &addresses)
                    .into_iter()
                    .map(one)
                    .collect(),
                None => continue,
            },
            Origin::Kernel => match &mut kernel {
                Some(kernel) => kernel.names(&addresses).into_iter().map(one).collect(),
                None => continue,
            },
        };
        let places = addresses
            .into_iter()
            .map(|address| Place { origin, address });
        let with_name = places.zip(found).filter(|(_, names)| !names.is_empty());
        named.functions.extend(with_name);
    }
    named
}
