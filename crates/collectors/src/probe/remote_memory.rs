//! Sensor sources that are 32-bit values in a process's memory.

use std::path::Path;

use model::GapReason;
use sensors::{Place, Sensor};

use super::missing::report_missing;
use super::{Probe, Scratch, Source};
use crate::gaps::Gaps;
use kernel::remote_memory::{MemoryCell, Refusal, RemoteMemory};

impl Scratch {
    /// Reports values of a sensor whose place in memory was never found.
    pub(crate) fn report_unplaced(&self, sensor: &Sensor, gaps: &mut Gaps) {
        for source in sensor.sources {
            let Place::Memory(value) = source.place else {
                continue;
            };
            if self.remote_memory.unplaced().any(|other| other == value) {
                let what = format!(
                    "this {} exports no {}, and no two idle processes were met that tell where the word is",
                    value.program, value.pointer
                );
                gaps.report(
                    &sensor.table.name,
                    source.path,
                    GapReason::Unsupported(what),
                );
            }
        }
    }
}

impl Probe {
    /// Opens the sensor's values in the memory of the process with this /proc folder.
    pub(crate) fn open_values(
        &mut self,
        process: &Path,
        remote_memory: &mut RemoteMemory,
        gaps: &mut Gaps,
    ) {
        let sensor = self.recorded.sensor;
        let table = &sensor.table.name;
        for (index, source) in sensor.sources.iter().enumerate() {
            let Place::Memory(value) = source.place else {
                continue;
            };
            match remote_memory.open(process, value) {
                Ok(cell) => self.sources[index] = cell.map(Source::Memory),
                Err(Refusal::Denied(errno)) => {
                    report_missing(sensor, index, errno, gaps);
                }
                Err(Refusal::Hidden) => {
                    let what = format!("this {} exports no {}", value.program, value.pointer);
                    let reason = GapReason::Unsupported(what);
                    gaps.report(table, source.path, reason);
                }
                Err(Refusal::Unasked) => {
                    let what = format!(
                        "the program of this {} is on a filesystem of another machine or of a program (FUSE), which is not asked, since asking could block",
                        value.program
                    );
                    let reason = GapReason::Unsupported(what);
                    gaps.report(table, source.path, reason);
                }
            }
        }
    }

    /// The value in the process's memory, if it has one.
    pub(crate) fn memory_cell(&self) -> Option<&MemoryCell> {
        self.sources
            .iter()
            .flatten()
            .find_map(|source| match source {
                Source::File(_) => None,
                Source::Memory(cell) => Some(cell),
            })
    }
}
