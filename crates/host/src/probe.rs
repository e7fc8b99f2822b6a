//! One sensor pointed at one thing: its files kept open, its last values remembered.

use std::path::{Path, PathBuf};

use model::{EntityId, Gap, GapReason, Timestamp, Window};
use rustix::io::Errno;
use sensors::{Facts, Lack, Place, Reading, Scope, Sensor, Subject};

use crate::capabilities::pressure_lack;
use crate::intake::{Intake, LastSeen};
use crate::kept_file::KeptFile;
use crate::registry::Registry;
use crate::words::{MemoryWord, Refusal, Told, Words};

/// The most sources that a sensor has.
const MOST_SOURCES: usize = 12;

/// What all probes share while they are read.
pub(crate) struct Scratch {
    /// One buffer per source.
    buffers: [Vec<u8>; MOST_SOURCES],
    pub(crate) facts: Facts,
    pub(crate) gaps: Gaps,
    pub(crate) words: Words,
}

impl Scratch {
    pub(crate) fn new(facts: Facts) -> Self {
        Self {
            buffers: std::array::from_fn(|_| Vec::with_capacity(8192)),
            facts,
            gaps: Gaps::default(),
            words: Words::default(),
        }
    }

    /// Says which of a sensor's words were never found.
    pub(crate) fn say_unplaced(&mut self, sensor: &Sensor) {
        for source in sensor.sources {
            let Place::Memory(word) = source.place else {
                continue;
            };
            if self.words.unplaced().any(|other| other == word) {
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

    /// The bytes last read of a source.
    pub(crate) fn source(&self, index: usize) -> &[u8] {
        &self.buffers[index]
    }
}

/// What was not seen, each said once.
#[derive(Default)]
pub(crate) struct Gaps {
    said: Vec<Gap>,
    fresh: usize,
}

impl Gaps {
    pub(crate) fn say(&mut self, table: &str, what: &str, reason: GapReason) {
        self.add(Gap {
            table: table.to_owned(),
            what: what.to_owned(),
            window: None,
            reason,
        });
    }

    /// The same of a stretch that is over.
    pub(crate) fn say_of(&mut self, table: &str, what: &str, window: Window, reason: GapReason) {
        self.add(Gap {
            table: table.to_owned(),
            what: what.to_owned(),
            window: Some(window),
            reason,
        });
    }

    fn add(&mut self, gap: Gap) {
        if self.said.len() < 1_000 && !self.said.contains(&gap) {
            self.said.push(gap);
        }
    }

    /// The gaps not yet handed on.
    pub(crate) fn take_fresh(&mut self) -> &[Gap] {
        let fresh = &self.said[self.fresh..];
        self.fresh = self.said.len();
        fresh
    }
}

/// Whether the thing still exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    Alive,
    Gone,
}

/// What a source is read from.
enum Kept {
    File(KeptFile),
    Word(MemoryWord),
}

/// What reading a source left to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing.
    Parse,
    /// It is to be read again even if the first source stands still.
    Again,
    /// It will give nothing any more.
    Drop,
}

/// One sensor pointed at one thing.
pub(crate) struct Probe {
    sensor: &'static Sensor,
    kept: Vec<Option<Kept>>,
    /// Whether one source decides if the others are worth reading.
    pub(crate) first_decides: bool,
    /// Bytes of the deciding source at the last parsing, for sensors where they decide.
    first: Option<Vec<u8>>,
    /// When it was last read.
    sampled: Timestamp,
    own: LastSeen,
    parts: Vec<(Box<[u8]>, LastSeen)>,
}

impl Probe {
    /// Opens the sensor's sources; `place` says where source `index` is, or `None` when it cannot
    /// exist here. `None` is returned when no source could be opened.
    pub(crate) fn open(
        sensor: &'static Sensor,
        entity: EntityId,
        place: impl Fn(usize) -> Option<PathBuf>,
        gaps: &mut Gaps,
    ) -> Option<Self> {
        let file = |index: usize| match sensor.sources[index].place {
            Place::File => open_source(sensor, index, &place(index)?, gaps),
            Place::Memory(_) => None,
        };
        let kept: Vec<_> = (0..sensor.sources.len()).map(file).collect();
        if kept.iter().all(Option::is_none) {
            return None;
        }
        let own = LastSeen::new(entity, sensor.table.columns.len());
        Some(Self {
            sensor,
            kept,
            first_decides: sensor.first_decides,
            first: None,
            sampled: Timestamp::default(),
            own,
            parts: Vec::new(),
        })
    }

    /// Opens the sensor's words in the memory of the process whose folder this is.
    pub(crate) fn open_words(&mut self, process: &Path, scratch: &mut Scratch) {
        for (index, source) in self.sensor.sources.iter().enumerate() {
            let Place::Memory(word) = source.place else {
                continue;
            };
            match scratch.words.open(process, word) {
                Ok(word) => self.kept[index] = word.map(Kept::Word),
                Err(Refusal::Denied(errno)) => {
                    say_lack(self.sensor, index, errno, &mut scratch.gaps);
                }
                Err(Refusal::Hidden) => {
                    let what = format!("this {} exports no {}", word.program, word.pointer);
                    let reason = GapReason::Unsupported(what);
                    let table = &self.sensor.table.name;
                    scratch.gaps.say(table, source.path, reason);
                }
            }
        }
    }

    /// When it was last read.
    pub(crate) fn sampled(&self) -> Timestamp {
        self.sampled
    }

    /// Reads the sources and takes in what changed.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        intake: &mut Intake,
        registry: &mut Registry,
    ) -> Presence {
        let decides = self.deciding();
        let mut again = false;
        for index in 0..self.kept.len() {
            match self.read_source(index, scratch) {
                Ok(Next::Parse) => {}
                Ok(Next::Again) => again = true,
                Ok(Next::Drop) => self.kept[index] = None,
                Err(Errno::SRCH | Errno::NODEV | Errno::NOENT) => return Presence::Gone,
                Err(errno) => {
                    self.kept[index] = None;
                    say_lack(self.sensor, index, errno, &mut scratch.gaps);
                }
            }
            if decides == Some(index) && self.kept[index].is_some() {
                if self.first.as_ref() == Some(&scratch.buffers[index]) {
                    self.unchanged(now);
                    return Presence::Alive;
                }
                let first = self.first.get_or_insert_default();
                first.clear();
                first.extend_from_slice(&scratch.buffers[index]);
            }
        }
        if again && let Some(first) = &mut self.first {
            first.clear();
        }
        self.parse(now, scratch, intake, registry);
        self.sampled = now;
        Presence::Alive
    }

    /// The source whose unchanged bytes make the others not worth reading. Which files a group has
    /// depends on the layout: there it is the first that exists.
    fn deciding(&self) -> Option<usize> {
        match (self.first_decides, self.sensor.scope) {
            (false, _) => None,
            (true, Scope::Cgroup) => self.kept.iter().position(Option::is_some),
            (true, _) => Some(0),
        }
    }

    /// Notes that nothing changed: of the whole, and of the parts that the last reading told of.
    fn unchanged(&mut self, now: Timestamp) {
        self.own.unchanged(now);
        for (_, part) in &mut self.parts {
            if part.time() == self.sampled {
                part.unchanged(now);
            }
        }
        self.sampled = now;
    }

    /// Writes the ends of unchanged stretches.
    pub(crate) fn finish(&mut self, intake: &mut Intake) {
        self.own.finish(intake);
        for (_, part) in &mut self.parts {
            part.finish(intake);
        }
    }

    /// Reads source `index` alone, without taking it in.
    pub(crate) fn read_source(&self, index: usize, scratch: &mut Scratch) -> Result<Next, Errno> {
        let buffer = &mut scratch.buffers[index];
        match &self.kept[index] {
            None => Ok(Next::Parse),
            Some(Kept::File(file)) => file.read(buffer).map(|()| Next::Parse),
            Some(Kept::Word(word)) => {
                let told = scratch.words.read(word);
                buffer.clear();
                if let Told::Value(value) = told {
                    buffer.extend_from_slice(&value);
                }
                Ok(match told {
                    Told::Value(_) | Told::Nothing => Next::Parse,
                    Told::Unplaced => Next::Again,
                    Told::Gone => Next::Drop,
                })
            }
        }
    }

    fn parse(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        intake: &mut Intake,
        registry: &mut Registry,
    ) {
        let Self {
            sensor,
            kept,
            own,
            parts,
            ..
        } = self;
        let mut bytes: [Option<&[u8]>; MOST_SOURCES] = [None; MOST_SOURCES];
        for (index, kept) in kept.iter().enumerate() {
            bytes[index] = kept.is_some().then_some(scratch.buffers[index].as_slice());
        }
        let reading = Reading {
            bytes: &bytes[..kept.len()],
            facts: scratch.facts,
        };
        let result = (sensor.parse)(&reading, &mut |subject, values| match subject {
            Subject::Own => own.take(now, values, intake),
            Subject::Part(kind, name) => {
                let index = parts
                    .iter()
                    .position(|(known, _)| **known == *name)
                    .unwrap_or_else(|| {
                        let shown = String::from_utf8_lossy(name);
                        let id = registry.part(kind, &shown, own.entity(), now);
                        parts.push((name.into(), LastSeen::new(id, values.len())));
                        parts.len() - 1
                    });
                parts[index].1.take(now, values, intake);
            }
        });
        if let Err(malformed) = result {
            scratch.gaps.say(
                &sensor.table.name,
                "",
                GapReason::Malformed(malformed.to_string()),
            );
        }
    }
}

fn open_source(
    sensor: &'static Sensor,
    index: usize,
    path: &Path,
    gaps: &mut Gaps,
) -> Option<Kept> {
    match KeptFile::open(path) {
        Ok(file) => Some(Kept::File(file)),
        Err(errno) => {
            say_lack(sensor, index, errno, gaps);
            None
        }
    }
}

/// Reads a file of something that a sensor will be pointed at. `None` where it is gone, or where no
/// descriptor is left for it, which is said.
pub(crate) fn first_look(sensor: &'static Sensor, path: &Path, gaps: &mut Gaps) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    match KeptFile::open(path).and_then(|file| file.read(&mut text)) {
        Ok(()) => return Some(text),
        Err(errno @ (Errno::MFILE | Errno::NFILE)) => say_lack(sensor, 0, errno, gaps),
        Err(_) => {}
    }
    None
}

/// Turns a refused source into a gap with what would mend it.
fn say_lack(sensor: &'static Sensor, index: usize, errno: Errno, gaps: &mut Gaps) {
    let source = &sensor.sources[index];
    let reason = match (source.lack, errno) {
        // Gone between two looks: the entity's own end says so.
        (_, Errno::SRCH) => return,
        (_, Errno::MFILE | Errno::NFILE) => {
            GapReason::Denied("too many open files: raise the limit with ulimit -n".to_owned())
        }
        (Lack::Usual, _) => return,
        (Lack::Say(sentence), Errno::ACCESS | Errno::PERM) => {
            GapReason::Denied(sentence.to_owned())
        }
        (Lack::Say(sentence), _) => GapReason::Unsupported(sentence.to_owned()),
        (Lack::Pressure, errno) => pressure_lack(errno),
    };
    gaps.say(&sensor.table.name, source.path, reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Entity, EntityKind};

    #[test]
    fn an_unchanged_first_source_leaves_the_parts_as_they_were_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_io = |sensor: &&&Sensor| sensor.table.name == "cgroup_io";
        let sensor = sensors::all().iter().find(is_io).expect("it is listed");
        let write = |bytes: u64| {
            let text = format!("254:0 Read {bytes}\n254:0 Write 0\n");
            std::fs::write(folder.path().join(sensor.sources[2].path), text).expect("written");
        };
        write(5);
        let mut registry = Registry::default();
        let at = Timestamp::from_ns;
        let group = registry.add(Entity::new(EntityKind::Cgroup, "g", "/g"), None, at(0));
        let mut scratch = Scratch::new(Facts::default());
        let mut intake = Intake::new(sensor.table);
        let place = |source: usize| Some(folder.path().join(sensor.sources[source].path));
        let mut probe = Probe::open(sensor, group, place, &mut scratch.gaps).expect("a file");
        for time in 1..=4 {
            if time == 4 {
                write(9);
            }
            probe.sample(at(time), &mut scratch, &mut intake, &mut registry);
        }
        let rows = intake
            .rows
            .iter()
            .map(|(time, _, row)| (time.as_ns(), row[0]));
        assert_eq!(rows.collect::<Vec<_>>(), [(1, 5), (3, 5), (4, 9)]);
    }
}
