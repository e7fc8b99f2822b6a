//! What every subject that is measured has in common.

use model::Timestamp;

use crate::output::Output;
use crate::scene::Scene;
use crate::tick::Tick;
use kernel::open_file::OpenFile;

/// What a scan looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scan {
    /// New and exited processes.
    Processes,
    /// Groups, and which of them the tracked processes are in.
    Groups,
}

/// One subject that is measured. The sampler decides when; a collector reads, and writes into `Output`.
///
/// In steady state nothing here may allocate.
pub(crate) trait Collector: Send {
    /// Sampling begins: counts from before belong to the setup.
    fn begin(&mut self, _now: Timestamp) {}

    /// Follows what a scan has found.
    fn discover(&mut self, _scan: Scan, _now: Timestamp, _scene: &mut Scene, _out: &mut Output) {}

    /// Reads what is due.
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output);

    /// The next time to act between two ticks.
    fn edge(&self) -> Option<Timestamp> {
        None
    }

    /// That time has come.
    fn at_edge(&mut self, _scene: &mut Scene, _out: &mut Output) {}

    /// Writes rows that must not be lost in a crash; called before rows are handed over.
    fn write_out(&mut self, _out: &mut Output) {}

    /// Ends all series.
    fn finish(&mut self, scene: &mut Scene, out: &mut Output);

    /// Calls `each` with the name of every BPF program and the kernel memory that it takes, bytes, if known.
    fn each_program(&self, _scene: &Scene, _each: &mut dyn FnMut(&'static str, Option<u64>)) {}

    /// Calls `each` for every file that is kept open.
    fn each_file(&self, _scene: &Scene, _each: &mut dyn FnMut(&OpenFile)) {}
}
