//! The segments of a recording opened for reading: which there are, which a stretch of time needs, and those as one.

use std::ops::{Bound, RangeBounds};

use model::{Identity, Timestamp, Window};

use super::joined::Joined;
use super::{MOST, name_of, number_of};
use crate::whole::{self, read_meta};
use crate::{Damage, Error, FolderHandle, META_FILE, Recording, Result};

/// The segments in a recording's folder, the oldest first.
#[derive(Clone, Debug)]
pub struct Segments {
    numbers: Vec<u32>,
}

/// What the description of a segment says of its time.
struct About {
    window: Window,
    identity: Identity,
}

impl Segments {
    /// The segments in a folder; `None` where it is a recording by itself, or holds no segment.
    ///
    /// # Errors
    /// When the folder cannot be read, or holds more segments than any recording.
    pub fn of(folder: &FolderHandle) -> Result<Option<Self>> {
        if folder.has(META_FILE) {
            return Ok(None);
        }
        let names = folder.names().map_err(Error::read(folder.path()))?;
        let numbers = names.iter().filter_map(|name| number_of(name.to_str()?));
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        if numbers.len() > MOST {
            return Err(Error::TooManySegments {
                folder: folder.path().to_owned(),
                most: MOST,
            });
        }
        Ok((!numbers.is_empty()).then_some(Self { numbers }))
    }

    /// How many there are; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a list is never empty")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The name of the newest one's folder.
    pub fn newest(&self) -> String {
        name_of(self.numbers.last().copied().unwrap_or_default())
    }

    /// The folder of the segment that covers a time on `CLOCK_BOOTTIME`, held open.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn covering(&self, folder: &FolderHandle, at: Timestamp) -> Result<FolderHandle> {
        let place = self.place(folder, |about| about.window.start <= at);
        let name = name_of(self.numbers[place.min(self.numbers.len() - 1)]);
        let path = folder.path_of(&name);
        folder.open_folder(&name).map_err(Error::read(&path))
    }

    /// When the oldest one began: what times of the whole recording and of a part of it are counted from. `None` where no description can be read.
    pub fn start(&self, folder: &FolderHandle) -> Option<Timestamp> {
        let mut abouts = self.numbers.iter().filter_map(|it| about(folder, *it));
        abouts.next().map(|about| about.window.start)
    }

    /// When the newest one ended, as far as its description says; one that is being written may have newer rows.
    pub fn end(&self, folder: &FolderHandle) -> Option<Timestamp> {
        let mut abouts = self
            .numbers
            .iter()
            .rev()
            .filter_map(|it| about(folder, *it));
        abouts.next().map(|about| about.window.end)
    }

    /// What the wall clock shows at that end, ns since 1970.
    pub fn realtime_end(&self, folder: &FolderHandle) -> Option<i64> {
        let mut abouts = self
            .numbers
            .iter()
            .rev()
            .filter_map(|it| about(folder, *it));
        let about = abouts.next()?;
        let since = about.window.end.ns_since(about.identity.anchor_boottime);
        about.identity.anchor_realtime_ns.checked_add(since)
    }

    /// The places of the segments that a stretch of time needs. Only descriptions are read for it, and of those few.
    pub fn within(
        &self,
        folder: &FolderHandle,
        window: (Bound<Timestamp>, Bound<Timestamp>),
    ) -> std::ops::Range<usize> {
        let first = match window.0 {
            Bound::Included(at) | Bound::Excluded(at) => {
                self.place(folder, |about| about.window.start <= at)
            }
            Bound::Unbounded => 0,
        };
        let last = match window.1 {
            Bound::Included(at) | Bound::Excluded(at) => {
                self.place(folder, |about| about.window.start < at)
            }
            Bound::Unbounded => self.numbers.len() - 1,
        };
        first..last.max(first) + 1
    }

    /// A time on `CLOCK_BOOTTIME` at which the wall clock showed so many ns since 1970, by the segment that is nearest.
    pub fn at_wall_clock(&self, folder: &FolderHandle, realtime_ns: i64) -> Option<Timestamp> {
        let place = self.place(folder, |about| {
            let start = about.window.start.ns_since(about.identity.anchor_boottime);
            about.identity.anchor_realtime_ns.saturating_add(start) <= realtime_ns
        });
        let about = about(folder, self.numbers[place])?;
        let since = realtime_ns.checked_sub(about.identity.anchor_realtime_ns)?;
        let at = about.identity.anchor_boottime.as_ns().checked_add(since)?;
        Some(Timestamp::from_ns(at))
    }

    /// Reads the segments in some places as one recording.
    ///
    /// One that cannot be read is a [`Damage`] and a gap; only where none can be read that is an error.
    ///
    /// # Errors
    /// Of the newest, where none can be read.
    pub fn read(
        &self,
        places: impl RangeBounds<usize>,
        folder: &FolderHandle,
    ) -> Result<Recording> {
        let places = (places.start_bound().cloned(), places.end_bound().cloned());
        let mut joined = Joined::default();
        let mut trouble = None;
        for number in self.numbers.get(places).unwrap_or_default() {
            let name = name_of(*number);
            let opened = folder
                .open_folder(&name)
                .map_err(Error::read(&folder.path_of(&name)));
            match opened.and_then(|opened| whole::open(&opened)) {
                Ok(part) => joined.take(&name, part),
                // The recorder removed it meanwhile, with all before it.
                Err(_) if joined.is_empty() && !folder.has(&name) => {}
                Err(error) => {
                    joined.lose(Damage::of_all(&name, 0, error.to_string()));
                    trouble = Some(error);
                }
            }
        }
        let mut recording = joined.finish().ok_or_else(|| {
            trouble.unwrap_or_else(|| Error::NoMeta {
                folder: folder.path().to_owned(),
            })
        })?;
        recording.timeline.origin = self.start(folder);
        Ok(recording)
    }

    /// The place of the last segment for which something holds that holds up to some time and then no more; the first
    /// where it never holds. One whose description cannot be read counts as the one before it.
    fn place(&self, folder: &FolderHandle, holds: impl Fn(&About) -> bool) -> usize {
        let (mut low, mut high) = (0, self.numbers.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let mut known = (low + 1..=middle).rev();
            let known = known.find_map(|place| about(folder, self.numbers[place]));
            match known {
                Some(about) if !holds(&about) => high = middle,
                _ => low = middle,
            }
        }
        low
    }
}

/// What a segment's description says of its time; `None` where it cannot be read.
fn about(folder: &FolderHandle, number: u32) -> Option<About> {
    let opened = folder.open_folder(name_of(number)).ok()?;
    let (meta, _) = read_meta(&opened).ok()?;
    Some(About {
        window: meta.window,
        identity: meta.identity,
    })
}
