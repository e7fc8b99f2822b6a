//! One sensor pointed at one thing: its files kept open, its last values remembered.

mod remote_memory;
mod scratch;

use std::path::{Path, PathBuf};

use model::{EntityId, GapReason, Timestamp, Window, name_of};
use rustix::io::Errno;
use sensors::{Malformed, Missing, Place, Reading, Scope, Sensor, Subject};

use crate::capabilities::pressure_lack;
use crate::gaps::Gaps;
use crate::kept_file::KeptFile;
use crate::limits::{MORE_FILES, MORE_FILES_OF_ALL, Share};
use crate::registry::Registry;
use crate::remote_memory::{self as memory, MemoryCell};
use crate::schedule::Look;
use crate::table_buffer::{RowDeduplicator, TableBuffer};

pub(crate) use scratch::Scratch;

/// The most sources that a sensor has.
const MOST_SOURCES: usize = 12;

/// Parts may come back, a disk or an interface, and are waited for; of more than these only those that
/// are there are kept: each container that starts makes an interface of a new name.
const MOST_PARTS: usize = 1_000;

/// Numbers in a file get more digits, up to 20 each: three do at once in a thread's schedstat.
const ROOM_TO_GROW: usize = 64;

/// Whether the thing still exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    Alive,
    Gone,
}

/// What a source is read from.
enum KernelWaits {
    File(KeptFile),
    Word(MemoryCell),
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

/// From sources to rows, as a sensor's parser does it.
type Parse<'a> =
    &'a dyn Fn(&Reading<'_>, &mut dyn FnMut(Subject<'_>, &[i64])) -> Result<(), Malformed>;

/// What stands for sources that are not read.
pub(crate) struct RemoteRead<'a> {
    /// The others are read where this has changed.
    pub(crate) decides: &'a [u8],
    /// To a row with them.
    pub(crate) parse: Parse<'a>,
}

/// One sensor pointed at one thing.
pub(crate) struct Probe {
    sensor: &'static Sensor,
    kept: Vec<Option<KernelWaits>>,
    /// Whether one source decides if the others are worth reading.
    pub(crate) first_decides: bool,
    /// Bytes of the deciding source at the last parsing, for sensors where they decide.
    first: Option<Vec<u8>>,
    /// When it was last read.
    sampled: Timestamp,
    /// Up to which restatement.
    restated: u32,
    /// Readings in a row that brought nothing new.
    still: u32,
    /// How often it was asked whether it rests; begins anywhere, so that they do not all rest at once.
    asked: u32,
    own: RowDeduplicator,
    parts: Vec<(Box<[u8]>, RowDeduplicator)>,
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
        Some(Self::of(sensor, entity, kept))
    }

    /// The same without the files of which it will be told otherwise: the first `told` of the sensor's.
    pub(crate) fn open_others(
        sensor: &'static Sensor,
        entity: EntityId,
        (folder, told): (&Path, usize),
        gaps: &mut Gaps,
    ) -> Self {
        let file = |index: usize| match sensor.sources[index].place {
            Place::File if index >= told => open_source(
                sensor,
                index,
                &folder.join(sensor.sources[index].path),
                gaps,
            ),
            _ => None,
        };
        let kept = (0..sensor.sources.len()).map(file).collect();
        Self::of(sensor, entity, kept)
    }

    fn of(sensor: &'static Sensor, entity: EntityId, kept: Vec<Option<KernelWaits>>) -> Self {
        let own = RowDeduplicator::new(entity, sensor.table.columns.len());
        Self {
            sensor,
            kept,
            first_decides: sensor.first_decides,
            first: None,
            sampled: Timestamp::default(),
            restated: 0,
            still: 0,
            asked: entity.0,
            own,
            parts: Vec::new(),
        }
    }

    /// Whether it is left alone this time: most processes and groups of a machine stand still for
    /// minutes, and those are read at every second, then at every fourth deadline, until they move.
    pub(crate) fn rests(&mut self, look: Look) -> bool {
        let every = match self.still {
            0..4 => 1,
            4..8 => 2,
            _ => 4,
        };
        self.asked = self.asked.wrapping_add(1);
        look == Look::Due && !self.asked.is_multiple_of(every)
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
        buffer: &mut TableBuffer,
        registry: &mut Registry,
    ) -> Presence {
        let rows = buffer.rows.len();
        let presence = self.read((now, None), scratch, buffer, registry);
        self.still = if buffer.rows.len() == rows {
            self.still.saturating_add(1)
        } else {
            0
        };
        presence
    }

    /// Takes in what it was told, with what the other sources say where that has changed.
    pub(crate) fn sample_told(
        &mut self,
        (now, told): (Timestamp, RemoteRead<'_>),
        scratch: &mut Scratch,
        buffer: &mut TableBuffer,
        registry: &mut Registry,
    ) -> Presence {
        self.read((now, Some(told)), scratch, buffer, registry)
    }

    fn read(
        &mut self,
        (now, told): (Timestamp, Option<RemoteRead<'_>>),
        scratch: &mut Scratch,
        buffer: &mut TableBuffer,
        registry: &mut Registry,
    ) -> Presence {
        let decides = self.deciding();
        let restates = std::mem::replace(&mut self.restated, buffer.restated) != buffer.restated;
        let mut again = false;
        if let Some(told) = &told
            && !self.has_changed(told.decides, restates)
        {
            self.unchanged(now);
            return Presence::Alive;
        }
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
            if decides == Some(index)
                && self.kept[index].is_some()
                && !self.has_changed(&scratch.buffers[index], restates)
            {
                self.unchanged(now);
                return Presence::Alive;
            }
        }
        if again && let Some(first) = &mut self.first {
            first.clear();
        }
        let parse = told.map_or(&self.sensor.parse as Parse<'_>, |told| told.parse);
        self.parse((now, parse), scratch, buffer, registry);
        self.sampled = now;
        if self.parts.len() > MOST_PARTS {
            self.forget_parts(buffer, registry);
        }
        Presence::Alive
    }

    /// Whether what decides is other than at the last parsing, or everything is to be written anew.
    fn has_changed(&mut self, decides: &[u8], restates: bool) -> bool {
        if self.first.as_deref() == Some(decides) && !restates {
            return false;
        }
        let room = 2 * decides.len() + ROOM_TO_GROW;
        let first = self.first.get_or_insert_with(|| Vec::with_capacity(room));
        first.clear();
        first.extend_from_slice(decides);
        true
    }

    /// The files that it keeps open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &KeptFile> {
        self.kept.iter().flatten().filter_map(|kept| match kept {
            KernelWaits::File(file) => Some(file),
            KernelWaits::Word(_) => None,
        })
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

    /// Notes that nothing changed: of the whole, and of the parts that the last reading reported.
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
    pub(crate) fn finish(&mut self, buffer: &mut TableBuffer) {
        self.own.finish(buffer);
        for (_, part) in &mut self.parts {
            part.finish(buffer);
        }
    }

    /// Lets those parts go that the last reading did not report.
    fn forget_parts(&mut self, buffer: &mut TableBuffer, registry: &mut Registry) {
        let sampled = self.sampled;
        self.parts.retain_mut(|(_, part)| {
            let told = part.time() == sampled;
            if !told {
                part.finish(buffer);
                registry.vanish(part.entity(), part.time());
            }
            told
        });
    }

    /// Notes the end of those parts of the machine that the last reading no longer reported.
    pub(crate) fn end_parts(&self, registry: &mut Registry) {
        for (_, part) in &self.parts {
            if part.time() != self.sampled {
                registry.vanish(part.entity(), part.time());
            }
        }
    }

    /// Reads source `index` alone, without taking it in.
    pub(crate) fn read_source(&self, index: usize, scratch: &mut Scratch) -> Result<Next, Errno> {
        let buffer = &mut scratch.buffers[index];
        match &self.kept[index] {
            None => Ok(Next::Parse),
            Some(KernelWaits::File(file)) => file.read(buffer).map(|()| Next::Parse),
            Some(KernelWaits::Word(word)) => {
                let told = scratch.remote_memory.read(word);
                buffer.clear();
                if let memory::RemoteRead::Value(value) = told {
                    buffer.extend_from_slice(&value);
                }
                Ok(match told {
                    memory::RemoteRead::Value(_) | memory::RemoteRead::Nothing => Next::Parse,
                    memory::RemoteRead::Unplaced => Next::Again,
                    memory::RemoteRead::Gone => Next::Drop,
                })
            }
        }
    }

    fn parse(
        &mut self,
        (now, parse): (Timestamp, Parse<'_>),
        scratch: &mut Scratch,
        buffer: &mut TableBuffer,
        registry: &mut Registry,
    ) {
        let Self {
            sensor,
            kept,
            own,
            parts,
            sampled,
            ..
        } = self;
        let Scratch {
            buffers,
            facts,
            gaps,
            ..
        } = scratch;
        let mut bytes: [Option<&[u8]>; MOST_SOURCES] = [None; MOST_SOURCES];
        for (index, kept) in kept.iter().enumerate() {
            bytes[index] = kept.is_some().then_some(buffers[index].as_slice());
        }
        let reading = Reading {
            bytes: &bytes[..kept.len()],
            facts: *facts,
        };
        // A group's disks are reported while they are used; what the machine has is always reported.
        let tells_all = sensor.scope == Scope::Machine;
        let result = parse(&reading, &mut |subject, values| match subject {
            Subject::Own => own.take(now, values, buffer),
            Subject::Part(kind, name) => {
                let index = parts
                    .iter()
                    .position(|(known, _)| **known == *name)
                    .unwrap_or_else(|| {
                        let id = registry.part(kind, &name_of(name), own.entity(), now);
                        parts.push((name.into(), RowDeduplicator::new(id, values.len())));
                        parts.len() - 1
                    });
                let part = &mut parts[index].1;
                let seen = part.time();
                if tells_all
                    && seen != Timestamp::default()
                    && seen != *sampled
                    && let Some(record) = registry.get(part.entity())
                {
                    let window = Window::new(seen, now);
                    let (table, what) = (&sensor.table.name, &record.entity.name);
                    gaps.say_of(table, what, window, GapReason::Vanished);
                }
                part.take(now, values, buffer);
            }
        });
        if let Err(malformed) = result {
            gaps.say(
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
) -> Option<KernelWaits> {
    let share = share_of(sensor);
    match KeptFile::open(path, share) {
        Ok(file) => Some(KernelWaits::File(file)),
        Err(errno) => {
            say_lack(sensor, index, errno, gaps);
            None
        }
    }
}

fn share_of(sensor: &Sensor) -> Share {
    match sensor.scope {
        Scope::Cgroup => Share::Group,
        Scope::Process => Share::Process,
        Scope::Machine | Scope::Thread => Share::Tracked,
    }
}

/// Turns a refused source into a gap with what would mend it.
fn say_lack(sensor: &'static Sensor, index: usize, errno: Errno, gaps: &mut Gaps) {
    let source = &sensor.sources[index];
    let reason = match (source.lack, errno) {
        // Gone between two looks: the entity's own end says so.
        (_, Errno::SRCH) => return,
        (_, Errno::MFILE) => GapReason::Denied(format!("too many open files: {MORE_FILES}")),
        (_, Errno::NFILE) => GapReason::Denied(format!(
            "too many open files on the whole machine: {MORE_FILES_OF_ALL}"
        )),
        (Missing::Usual, Errno::IO | Errno::NOMEM | Errno::FBIG) => {
            GapReason::Unsupported(format!("{} cannot be read: {errno}", source.path))
        }
        (Missing::Usual, _) => return,
        (Missing::Say(sentence), Errno::ACCESS | Errno::PERM) => {
            GapReason::Denied(sentence.to_owned())
        }
        (Missing::Say(sentence), _) => GapReason::Unsupported(sentence.to_owned()),
        (Missing::Pressure, errno) => pressure_lack(errno),
    };
    gaps.say(&sensor.table.name, source.path, reason);
}

#[cfg(test)]
mod tests;
