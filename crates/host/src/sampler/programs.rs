//! The BPF programs that a sampler reads, loaded before it begins.

use model::Cost;

use super::Sampler;
use crate::bpf::Refusal;
use crate::handle::Settings;
use crate::processes::Walk;
use crate::requests::RequestCollector;
use crate::stalls::Stalls;
use crate::thread_time::ThreadTimeCollector;
use crate::{limits, root};

/// The programs that are available here.
pub(super) struct Programs {
    pub(super) stalls: Option<Stalls>,
    pub(super) thread_times: Option<ThreadTimeCollector>,
    pub(super) request_collector: Option<RequestCollector>,
    pub(super) walk: Option<Walk>,
}

impl Programs {
    /// Loads the programs, and notes refusals. Runs at a raised priority if that is allowed: the verifier
    /// takes most of a second of CPU time, and behind ten threads that want the same CPU nothing would be
    /// recorded for ten times as long.
    pub(super) fn load(settings: &Settings, cost: &mut Cost) -> Self {
        let load = || {
            if settings.harden {
                limits::raise_nice();
            }
            Self {
                stalls: load_one(
                    settings,
                    "pressure",
                    || Stalls::load(Sampler::MACHINE),
                    cost,
                ),
                thread_times: load_one(settings, "thread_time", ThreadTimeCollector::load, cost),
                request_collector: load_one(settings, "requests", RequestCollector::load, cost),
                walk: load_one(settings, "tasks", Walk::load, cost),
            }
        };
        // On a thread of its own: not every user may lower a priority again.
        let loaded = std::thread::scope(|scope| scope.spawn(load).join());
        loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Loads one program and its reader; not with another root, because it would report this machine.
fn load_one<T>(
    settings: &Settings,
    name: &str,
    load: impl FnOnce() -> Result<T, Refusal>,
    cost: &mut Cost,
) -> Option<T> {
    let load = || {
        if !root::is_own(&settings.root) {
            return Err(Refusal::new("the files of another root are read"));
        }
        let loaded = load()?;
        // Programs take many descriptors: maps, programs, links; with many CPUs a perf event for each.
        if !limits::is_half_free() {
            let why = format!(
                "too few files may be open (ulimit -n); {}",
                limits::MORE_FILES
            );
            return Err(Refusal::new(why));
        }
        Ok(loaded)
    };
    let loaded = load();
    let said = loaded.as_ref().err().map(ToString::to_string);
    cost.programs.insert(name.to_owned(), said);
    loaded.ok()
}
