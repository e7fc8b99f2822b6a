//! One sensor on one entity: its open files, its last values.

mod missing;
mod remote_memory;
mod scratch;
mod series;
mod source;

use std::path::{Path, PathBuf};

use model::{Entity, EntityId, GapReason, Part, Timestamp, Window, sentence};
use rustix::io::Errno;
use sensors::{Malformed, Place, Reading, Scope, Subject};

use crate::gaps::Gaps;
use crate::output::{Output, Recorded};
use crate::registry::Registry;
use crate::tick::Look;
use kernel::open_file::OpenFile;

use missing::report_missing;
use scratch::MOST_SOURCES;
use series::Series;
use source::Source;

pub(crate) use scratch::Scratch;
pub(crate) use source::Next;

/// Numbers in a file get more digits, up to 20 each; in a thread's schedstat three grow at once.
const ROOM_TO_GROW: usize = 64;

/// Whether the entity still exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    Alive,
    Gone,
}

/// A sensor's parser: from sources to rows.
type Parse<'a> =
    &'a dyn Fn(&Reading<'_>, &mut dyn FnMut(Subject<'_>, &[i64])) -> Result<(), Malformed>;

/// Replaces sources that are not read from files.
pub(crate) struct ReplacedSources<'a> {
    /// The other sources are read only if this has changed.
    pub(crate) decides: &'a [u8],
    /// Makes a row from these and the other sources.
    pub(crate) parse: Parse<'a>,
}

pub(crate) struct Probe {
    recorded: Recorded,
    sources: Vec<Option<Source>>,
    /// Whether an unchanged first source means that the others need not be read.
    pub(crate) first_decides: bool,
    /// Bytes of the deciding source when it was last parsed; only if `first_decides`.
    first: Option<Vec<u8>>,
    /// Time of the last reading.
    sampled: Timestamp,
    /// Number of the last `force_full_rows` that was carried out.
    full_rows_done: u32,
    /// Readings in a row without a change.
    unchanged_readings: u32,
    /// Deadlines so far; starts anywhere, so that not all probes skip the same ones.
    deadlines: u32,
    series: Series,
}

impl Probe {
    /// Opens the sensor's sources; `place` gives the path of source `index`, or `None` if it cannot exist
    /// here. Returns `None` if no source could be opened.
    pub(crate) fn open(
        recorded: Recorded,
        entity: EntityId,
        place: impl Fn(usize) -> Option<PathBuf>,
        gaps: &mut Gaps,
    ) -> Option<Self> {
        let sensor = recorded.sensor;
        let file = |index: usize| match sensor.sources[index].place {
            Place::File => Source::open(sensor, index, &place(index)?, gaps),
            Place::Memory(_) => None,
        };
        let sources: Vec<_> = (0..sensor.sources.len()).map(file).collect();
        if sources.iter().all(Option::is_none) {
            return None;
        }
        Some(Self::of(recorded, entity, sources))
    }

    /// The same without the sensor's first `replaced` sources, which BPF programs replace.
    pub(crate) fn open_remaining(
        recorded: Recorded,
        entity: EntityId,
        folder: &Path,
        replaced: usize,
        gaps: &mut Gaps,
    ) -> Self {
        let sensor = recorded.sensor;
        let file = |index: usize| match sensor.sources[index].place {
            Place::File if index >= replaced => Source::open(
                sensor,
                index,
                &folder.join(sensor.sources[index].path),
                gaps,
            ),
            _ => None,
        };
        let sources = (0..sensor.sources.len()).map(file).collect();
        Self::of(recorded, entity, sources)
    }

    fn of(recorded: Recorded, entity: EntityId, sources: Vec<Option<Source>>) -> Self {
        let sensor = recorded.sensor;
        Self {
            recorded,
            sources,
            first_decides: sensor.first_decides,
            first: None,
            sampled: Timestamp::default(),
            full_rows_done: 0,
            unchanged_readings: 0,
            deadlines: entity.0,
            series: Series::new(entity, sensor.table.columns.len()),
        }
    }

    /// Whether this deadline is skipped. Most processes and groups of a machine are unchanged for minutes;
    /// those are read at every second, then at every fourth deadline, until they change.
    pub(crate) fn skips_deadline(&mut self, look: Look) -> bool {
        let every = match self.unchanged_readings {
            0..4 => 1,
            4..8 => 2,
            _ => 4,
        };
        self.deadlines = self.deadlines.wrapping_add(1);
        matches!(look, Look::Due) && !self.deadlines.is_multiple_of(every)
    }

    /// Its sensor, with the table of its rows.
    pub(crate) fn recorded(&self) -> Recorded {
        self.recorded
    }

    /// The values of its entity's last row.
    pub(crate) fn values(&self) -> &[i64] {
        self.series.own.values()
    }

    /// Time of the last reading.
    pub(crate) fn sampled(&self) -> Timestamp {
        self.sampled
    }

    /// Reads the sources and takes in changes.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> Presence {
        let rows = out.tables[self.recorded.table].rows.len();
        let presence = self.read(now, None, scratch, out);
        let is_unchanged = out.tables[self.recorded.table].rows.len() == rows;
        self.unchanged_readings = if is_unchanged {
            self.unchanged_readings.saturating_add(1)
        } else {
            0
        };
        presence
    }

    /// Takes in values from BPF programs, and reads the other sources if `decides` has changed.
    pub(crate) fn sample_replaced(
        &mut self,
        now: Timestamp,
        replaced: ReplacedSources<'_>,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> Presence {
        self.read(now, Some(replaced), scratch, out)
    }

    fn read(
        &mut self,
        now: Timestamp,
        replaced: Option<ReplacedSources<'_>>,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> Presence {
        let decides = self.deciding();
        let requested = out.tables[self.recorded.table].full_rows_requested;
        let full_rows = std::mem::replace(&mut self.full_rows_done, requested) != requested;
        let mut again = false;
        if let Some(replaced) = &replaced
            && !self.has_changed(replaced.decides, full_rows)
        {
            self.unchanged(now);
            return Presence::Alive;
        }
        for index in 0..self.sources.len() {
            match self.read_source(index, scratch) {
                Ok(Next::Parse) => {}
                Ok(Next::Again) => again = true,
                Ok(Next::Drop) => self.sources[index] = None,
                Err(Errno::SRCH | Errno::NODEV | Errno::NOENT) => return Presence::Gone,
                Err(errno) => {
                    self.sources[index] = None;
                    report_missing(self.recorded.sensor, index, errno, &mut out.gaps);
                }
            }
            if decides == Some(index)
                && self.sources[index].is_some()
                && !self.has_changed(&scratch.buffers[index], full_rows)
            {
                self.unchanged(now);
                return Presence::Alive;
            }
        }
        if again && let Some(first) = &mut self.first {
            first.clear();
        }
        let sensor = self.recorded.sensor;
        let parse = replaced.map_or(&sensor.parse as Parse<'_>, |replaced| replaced.parse);
        self.parse(now, parse, scratch, out);
        self.sampled = now;
        let buffer = &mut out.tables[self.recorded.table];
        self.series.make_room(now, buffer, &mut out.registry);
        Presence::Alive
    }

    /// Whether the deciding bytes have changed since they were last parsed, or all rows have to be written.
    fn has_changed(&mut self, decides: &[u8], full_rows: bool) -> bool {
        if self.first.as_deref() == Some(decides) && !full_rows {
            return false;
        }
        let room = 2 * decides.len() + ROOM_TO_GROW;
        let first = self.first.get_or_insert_with(|| Vec::with_capacity(room));
        first.clear();
        first.extend_from_slice(decides);
        true
    }

    /// The files that stay open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OpenFile> {
        self.sources.iter().flatten().filter_map(Source::file)
    }

    /// Index of the source that decides whether the others are read. Which files a group has depends on the
    /// layout: there it is the first that exists.
    fn deciding(&self) -> Option<usize> {
        match (self.first_decides, self.recorded.sensor.scope) {
            (false, _) => None,
            (true, Scope::Cgroup) => self.sources.iter().position(Option::is_some),
            (true, _) => Some(0),
        }
    }

    /// Notes that nothing changed.
    fn unchanged(&mut self, now: Timestamp) {
        self.series.unchanged(self.sampled, now);
        self.sampled = now;
    }

    /// Writes the last rows of unchanged values.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        self.series.finish(&mut out.tables[self.recorded.table]);
    }

    /// Notes the end of parts of the machine that the last reading did not have.
    pub(crate) fn end_parts(&self, registry: &mut Registry) {
        self.series.end_missing(self.sampled, registry);
    }

    /// Reads source `index` alone, without parsing it.
    pub(crate) fn read_source(&self, index: usize, scratch: &mut Scratch) -> Result<Next, Errno> {
        match &self.sources[index] {
            None => Ok(Next::Parse),
            Some(source) => source.read(index, scratch),
        }
    }

    fn parse(&mut self, now: Timestamp, parse: Parse<'_>, scratch: &Scratch, out: &mut Output) {
        let Self {
            recorded: Recorded { sensor, table },
            sources,
            series,
            sampled,
            ..
        } = self;
        let Scratch { buffers, facts, .. } = scratch;
        let Output {
            tables,
            registry,
            gaps,
            ..
        } = out;
        let buffer = &mut tables[*table];
        let mut bytes: [Option<&[u8]>; MOST_SOURCES] = [None; MOST_SOURCES];
        for (index, source) in sources.iter().enumerate() {
            bytes[index] = source.is_some().then_some(buffers[index].as_slice());
        }
        let reading = Reading {
            bytes: &bytes[..sources.len()],
            facts: *facts,
        };
        // A group has rows for a disk once it uses it; the machine has rows for all its disks.
        let tells_all = sensor.scope == Scope::Machine;
        let result = parse(&reading, &mut |subject, values| match subject {
            Subject::Own => series.own.take(now, values, buffer),
            Subject::Part(kind, name) => {
                let part = series.part(kind, name, values.len(), now, registry);
                let seen = part.time();
                if tells_all
                    && seen != Timestamp::default()
                    && seen != *sampled
                    && let Some(record) = registry.get(part.entity())
                {
                    let window = Window::new(seen, now);
                    let Entity { kind, name, .. } = &record.entity;
                    let (table, what) = (&sensor.table.name, Part::name(*kind, name));
                    gaps.report_interval(table, what, window, GapReason::Vanished);
                }
                part.take(now, values, buffer);
            }
        });
        if let Err(malformed) = result {
            gaps.report(
                &sensor.table.name,
                "",
                GapReason::Malformed(sentence!("expected {}", malformed.expected)),
            );
        }
    }
}

#[cfg(test)]
mod tests;
