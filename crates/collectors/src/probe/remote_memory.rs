//! Sensor sources that are 32-bit values in a process's memory.

use std::path::Path;

use model::{GapReason, Sentence, sentence};
use sensors::{MemoryWord, Place, Sensor};

use super::missing::report_missing;
use super::source::Source;
use super::{Probe, Scratch};
use crate::gaps::Gaps;
use kernel::remote_memory::{MemoryCell, Refusal, RemoteMemory};

fn exports_none(value: &MemoryWord) -> Sentence {
    sentence!("this {} exports no {}", value.program, value.pointer)
}

impl Scratch {
    /// Reports values of a sensor whose place in memory was never found.
    pub(crate) fn report_unplaced(&self, sensor: &Sensor, gaps: &mut Gaps) {
        for source in sensor.sources {
            let Place::Memory(value) = source.place else {
                continue;
            };
            if self.remote_memory.unplaced().any(|other| other == value) {
                let what = sentence!(
                    "{}, and no two idle processes were met that tell where the word is",
                    exports_none(value)
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
                    let reason = GapReason::Unsupported(exports_none(value));
                    gaps.report(table, source.path, reason);
                }
                Err(Refusal::Unasked) => {
                    let what = sentence!(
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
        self.sources.iter().flatten().find_map(Source::memory_cell)
    }
}
