//! The ring of `record --trigger`: the last segments, of which those around a firing are moved into a recording of
//! their own.
//!
//! Saving copies nothing: a segment is a recording, and so is a folder into which some of them are moved.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::{Firing, Identity, Mark, Timestamp, Window};
use recording::{FolderHandle, Keep};

use super::Session;
use crate::error::Result;
use crate::observer::Progress;
use crate::plan::{Plan, TriggerOptions};
use crate::trigger::{Fired, Limiter, Verdict, Watch};

/// The ring's folder in that of the savings; no name of a recording, so that it is not taken for the newest.
const RING: &str = "ring";

/// A ring and what was saved of it.
pub(super) struct Ring {
    /// The folder of the savings, held open.
    folder: Arc<FolderHandle>,
    pub(super) watch: Watch,
    limiter: Limiter,
    before: Duration,
    after: Duration,
    /// What all savings may take, bytes.
    max_size: Option<u64>,
    /// How much the ring keeps while nothing is being saved.
    keep: Keep,
    saving: Option<Saving>,
    saved: Vec<Saved>,
}

/// What is being saved.
struct Saving {
    window: Window,
    name: String,
}

/// A recording that was saved.
struct Saved {
    name: String,
    bytes: u64,
}

/// What was saved by triggers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Savings {
    /// The recordings that are there, the oldest first.
    pub recordings: Vec<PathBuf>,
    /// Their size, bytes.
    pub bytes: u64,
    /// Firings for which nothing was saved.
    pub suppressed: u64,
}

impl Ring {
    /// A ring in this folder, before anything fired.
    pub(super) fn new(folder: Arc<FolderHandle>, options: &TriggerOptions, keep: Keep) -> Self {
        Self {
            folder,
            watch: Watch::new(&options.triggers),
            limiter: Limiter::new(options.at_most),
            before: options.before,
            after: options.after,
            max_size: options.max_size,
            keep,
            saving: None,
            saved: Vec::new(),
        }
    }

    /// Removes the folder of the savings where nothing was saved.
    pub(super) fn remove_if_empty(&self) {
        if self.folder.names().is_ok_and(|names| names.is_empty()) {
            let _ = self.folder.remove_all();
        }
    }

    /// Removes the oldest savings as long as all together are larger than allowed; never the newest.
    fn make_room(&mut self) {
        let Some(most) = self.max_size else {
            return;
        };
        while self.saved.len() > 1 && self.saved.iter().map(|it| it.bytes).sum::<u64>() > most {
            let oldest = self.saved.remove(0);
            // What cannot be removed stays, and takes room; the recording goes on.
            let removed = self.folder.open_folder(&oldest.name);
            let _ = removed.and_then(|it| it.remove_all());
        }
    }
}

impl Session {
    /// Looks whether a trigger fired, and whether what is being saved is complete; to be called when what came last was
    /// just flushed.
    pub(super) fn watch_triggers(&mut self) {
        let Some(ring) = &mut self.ring else {
            return;
        };
        for fired in ring.watch.fired() {
            self.fired(&fired);
        }
        let newest = self.storage.segments().map(|it| it.newest());
        let is_due = self.ring.as_ref().is_some_and(|ring| {
            let saving = ring.saving.as_ref().zip(newest);
            saving.is_some_and(|(saving, newest)| newest >= saving.window.end)
        });
        if is_due {
            self.roll();
            self.save();
        }
    }

    fn fired(&mut self, fired: &Fired) {
        let Fired { at, trigger, value } = fired;
        let (at, trigger) = (*at, trigger.to_string());
        let (clock, name) = stamp(&self.meta.identity, at);
        let Some(ring) = &mut self.ring else {
            return;
        };
        let suppressed = match ring.limiter.fired(at, ring.saving.is_some()) {
            Verdict::Save(suppressed) => suppressed,
            // The first is said, and how many there were with the next saving.
            Verdict::Suppressed(1) => {
                let sentence = format!(
                    "{clock} {trigger} ({value}): not saved, as something was just before. Firings are counted until the next one is saved"
                );
                return self.notice(&sentence);
            }
            Verdict::Suppressed(_) => return,
        };
        let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let window = Window::new(at + -ns(ring.before), at + ns(ring.after));
        let sentence = format!(
            "{clock} {trigger} ({value}): saving {} s before and {} s after{}",
            ring.before.as_secs(),
            ring.after.as_secs(),
            suppressed_words(suppressed)
        );
        ring.saving = Some(Saving { window, name });
        self.meta.firings.push(Firing {
            at,
            trigger: trigger.clone(),
            value: value.clone(),
            suppressed,
        });
        if let Some(segments) = self.storage.segments() {
            // Nothing is removed before it is saved.
            segments.keep(Keep::default());
            if let Some(mark) = Mark::new(at, &format!("{trigger} ({value})")) {
                // Without it the description says the same.
                let _ = recording::add_mark(segments.newest_folder(), &mark);
            }
        }
        self.notice(&sentence);
        self.save_meta();
    }

    /// Moves the segments around the firing into a recording of their own.
    fn save(&mut self) {
        let Some(ring) = &mut self.ring else {
            return;
        };
        let Some((Saving { window, name }, segments)) =
            ring.saving.take().zip(self.storage.segments())
        else {
            return;
        };
        let is_around = |start: Timestamp, end: Timestamp| start < window.end && end > window.start;
        let closed = segments.closed();
        let around = closed.filter(|it| is_around(it.start, it.end));
        let around: Vec<u32> = around.map(|it| it.number).collect();
        let made = ring.folder.create_folder(&name);
        let moved = made.and_then(|folder| segments.move_to(&around, &folder));
        segments.keep(ring.keep);
        let path = ring.folder.path_of(&name);
        match moved {
            Ok(moved) => {
                let bytes = moved.iter().map(|it| it.bytes).sum();
                ring.saved.push(Saved { name, bytes });
                ring.make_room();
                self.notice(&format!(
                    "saved {} ({:.1} MB): stallscope explain {}",
                    path.display(),
                    bytes as f64 / 1e6,
                    path.display()
                ));
            }
            Err(error) => {
                let sentence = format!(
                    "cannot save {}: {error}. What the ring has goes on",
                    path.display()
                );
                self.observer.progress(Progress::Notice(&sentence));
            }
        }
    }

    /// Saves what is being saved as far as it goes, and removes the ring; `None` where there is none.
    pub(super) fn end_ring(&mut self) -> Option<Savings> {
        self.ring.as_ref()?;
        if self.ring.as_ref().is_some_and(|it| it.saving.is_some()) {
            self.roll();
            self.save();
        }
        // What cannot be removed stays as a recording of the end.
        self.storage.abandon();
        let ring = self.ring.take()?;
        ring.remove_if_empty();
        let paths = ring.saved.iter().map(|it| ring.folder.path_of(&it.name));
        Some(Savings {
            recordings: paths.collect(),
            bytes: ring.saved.iter().map(|it| it.bytes).sum(),
            suppressed: ring.limiter.suppressed_in_all,
        })
    }
}

/// Where the recording is written, and for a ring the folder around it, which is made here.
pub(super) fn folder(plan: &Plan) -> Result<(PathBuf, Option<Arc<FolderHandle>>)> {
    match plan.triggers {
        None => Ok((plan.folder.clone(), None)),
        Some(_) => {
            let top = FolderHandle::create(&plan.folder)?;
            Ok((plan.folder.join(RING), Some(Arc::new(top))))
        }
    }
}

fn suppressed_words(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => "; it fired once since the last saving".to_owned(),
        many => format!("; it fired {many} times since the last saving"),
    }
}

/// The wall clock's time of an instant, UTC, for people, and as the name of a recording.
fn stamp(identity: &Identity, at: Timestamp) -> (String, String) {
    let since = at.ns_since(identity.anchor_boottime);
    let seconds = identity
        .anchor_realtime_ns
        .saturating_add(since)
        .div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let [hour, minute, second] = [second / 3_600, second / 60 % 60, second % 60];
    (
        format!("{hour:02}:{minute:02}:{second:02} UTC"),
        format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z.stall"),
    )
}

/// The date of a day since 1970, as Howard Hinnant's `civil_from_days` has it.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saving_is_called_by_its_time() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_785, (2026, 11, 28)),
        ] {
            assert_eq!(date(days), expected);
        }
        let identity = Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: String::new(),
            stallscope: String::new(),
            anchor_realtime_ns: 20_785 * 86_400 * 1_000_000_000,
            anchor_boottime: Timestamp::from_ns(5),
        };
        let at = Timestamp::from_ns(5 + (14 * 3_600 + 5 * 60 + 7) * 1_000_000_000);
        let (clock, name) = stamp(&identity, at);
        assert_eq!(
            (&*clock, &*name),
            ("14:05:07 UTC", "2026-11-28T14-05-07Z.stall")
        );
    }
}
