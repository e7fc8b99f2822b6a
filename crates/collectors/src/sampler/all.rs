//! Every collector. Adding one is a line here, and its file.

use model::Cost;

use crate::collector::Collector;
use crate::handle::Settings;
use crate::opening::Opening;
use crate::output::Output;
use crate::scene::Scene;
use crate::{
    block_io, clock_readings, connections, events, file_waits, filesystems, flows, jvms, logs,
    machine, open_files, pressure, program_runs, readers, stacks,
};
use kernel::environment::Environment;
use kernel::error::Error;
use kernel::limits;

/// Opens a collector; `None` if it can measure nothing here.
type Open = fn(&mut Opening<'_>) -> Option<Box<dyn Collector>>;

/// All, in the order in which they read: threads first, because their times are compared with each other, and
/// then with those of the CPUs. `machine` comes after the programs that replace sensors.
const ALL: &[Open] = &[
    readers::threads,
    events::open,
    pressure::open,
    machine::open,
    readers::groups,
    readers::processes,
    connections::open,
    flows::open,
    block_io::open,
    program_runs::open,
    file_waits::open,
    filesystems::open,
    open_files::open,
    jvms::open,
    logs::open,
    clock_readings::open,
    stacks::open,
];

/// What a sampler has once everything is open.
pub(super) struct Opened {
    pub(super) scene: Scene,
    pub(super) collectors: Vec<Box<dyn Collector>>,
    pub(super) out: Output,
    pub(super) cost: Cost,
}

impl Opened {
    /// Opens everything. Runs at a raised priority if that is allowed: the verifier takes most of a second of
    /// CPU time, and behind ten threads that want the same CPU nothing would be recorded for ten times as
    /// long.
    ///
    /// # Errors
    /// When /proc cannot be opened.
    pub(super) fn open(settings: &Settings, environment: &Environment) -> Result<Self, Error> {
        let open = || {
            if settings.harden {
                limits::raise_nice();
            }
            Self::open_in_order(settings, environment)
        };
        // On a thread of its own: not every user may lower a priority again.
        let opened = std::thread::scope(|scope| scope.spawn(open).join());
        opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn open_in_order(settings: &Settings, environment: &Environment) -> Result<Self, Error> {
        let mut out = Output::default();
        let mut cost = Cost {
            priority: "normal".to_owned(),
            ..Cost::default()
        };
        let mut opening = Opening::new(settings, environment, &mut out, &mut cost);
        let collectors = ALL.iter().filter_map(|open| open(&mut opening)).collect();
        let scene = Scene::open(&mut opening)?;
        Ok(Self {
            scene,
            collectors,
            out,
            cost,
        })
    }
}
