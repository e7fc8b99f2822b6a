//! Sensor sources that are 32-bit values in a process's memory.

use std::path::Path;

use model::GapReason;
use sensors::{Place, Sensor};

use super::missing::report_missing;
use super::{Probe, Scratch, Source};
use crate::remote_memory::{MemoryCell, Refusal};

impl Scratch {
    /// Reports values of a sensor whose place in memory was never found.
    pub(crate) fn report_unplaced(&mut self, sensor: &Sensor) {
        for source in sensor.sources {
            let Place::Memory(value) = source.place else {
                continue;
            };
            if self.remote_memory.unplaced().any(|other| other == value) {
                let what = format!(
                    "this {} exports no {}, and no two idle processes were met that tell where the word is",
                    value.program, value.pointer
                );
                self.gaps.report(
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
    pub(crate) fn open_values(&mut self, process: &Path, scratch: &mut Scratch) {
        for (index, source) in self.sensor.sources.iter().enumerate() {
            let Place::Memory(value) = source.place else {
                continue;
            };
            match scratch.remote_memory.open(process, value) {
                Ok(cell) => self.sources[index] = cell.map(Source::Memory),
                Err(Refusal::Denied(errno)) => {
                    report_missing(self.sensor, index, errno, &mut scratch.gaps);
                }
                Err(Refusal::Hidden) => {
                    let what = format!("this {} exports no {}", value.program, value.pointer);
                    let reason = GapReason::Unsupported(what);
                    let table = &self.sensor.table.name;
                    scratch.gaps.report(table, source.path, reason);
                }
                Err(Refusal::Unasked) => {
                    let what = format!(
                        "the program of this {} is on a filesystem of another machine or of a program (FUSE), which is not asked, since asking could block",
                        value.program
                    );
                    let table = &self.sensor.table.name;
                    let reason = GapReason::Unsupported(what);
                    scratch.gaps.report(table, source.path, reason);
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
