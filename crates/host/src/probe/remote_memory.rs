//! Sensor sources that are 32-bit values in a process's memory.

use std::path::Path;

use model::GapReason;
use sensors::{Place, Sensor};

use super::{KernelWaits, Probe, Scratch, say_lack};
use crate::remote_memory::{MemoryCell, Refusal};

impl Scratch {
    /// Reports values of a sensor whose place in memory was never found.
    pub(crate) fn say_unplaced(&mut self, sensor: &Sensor) {
        for source in sensor.sources {
            let Place::Memory(word) = source.place else {
                continue;
            };
            if self.remote_memory.unplaced().any(|other| other == word) {
                let what = format!(
                    "this {} exports no {}, and no two idle processes were met that tell where the word is",
                    word.program, word.pointer
                );
                self.gaps.say(
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
    pub(crate) fn open_words(&mut self, process: &Path, scratch: &mut Scratch) {
        for (index, source) in self.sensor.sources.iter().enumerate() {
            let Place::Memory(word) = source.place else {
                continue;
            };
            match scratch.remote_memory.open(process, word) {
                Ok(word) => self.kept[index] = word.map(KernelWaits::Word),
                Err(Refusal::Denied(errno)) => {
                    say_lack(self.sensor, index, errno, &mut scratch.gaps);
                }
                Err(Refusal::Hidden) => {
                    let what = format!("this {} exports no {}", word.program, word.pointer);
                    let reason = GapReason::Unsupported(what);
                    let table = &self.sensor.table.name;
                    scratch.gaps.say(table, source.path, reason);
                }
                Err(Refusal::Unasked) => {
                    let what = format!(
                        "the program of this {} is on a filesystem of another machine or of a program (FUSE), which is not asked, since asking could block",
                        word.program
                    );
                    let table = &self.sensor.table.name;
                    let reason = GapReason::Unsupported(what);
                    scratch.gaps.say(table, source.path, reason);
                }
            }
        }
    }

    /// The value in the process's memory, if it has one.
    pub(crate) fn word(&self) -> Option<&MemoryCell> {
        self.kept.iter().flatten().find_map(|kept| match kept {
            KernelWaits::File(_) => None,
            KernelWaits::Word(word) => Some(word),
        })
    }
}
