//! What could not be written, and when: the account that becomes gaps of the recording.

use model::{Gap, GapReason, Part, Sentence, Timestamp, Window, sentence};

use crate::Error;

/// More stretches than this become one: a disk that is full now and then for hours.
const MOST_GAPS: usize = 100;

/// Stretches of time in which the disk refused what was to be written.
#[derive(Default)]
pub(crate) struct Unwritten {
    gaps: Vec<Lost>,
    /// The one that has not ended.
    open: Option<Refusal>,
}

/// Rows and events that are lost.
#[derive(Clone)]
struct Lost {
    window: Window,
    count: u64,
    why: Sentence,
}

/// The disk refuses.
struct Refusal {
    /// Everything older was written.
    since: Timestamp,
    why: Sentence,
    /// What found no room in memory.
    lost: Option<Lost>,
}

impl Unwritten {
    /// Whether the disk refused at the last attempt.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The disk refused; everything up to `since` was written before.
    pub(crate) fn refuse(&mut self, error: &Error, since: Timestamp) {
        self.open.get_or_insert_with(|| Refusal {
            since,
            why: match error {
                Error::Write { source, .. } => match source.raw_os_error() {
                    Some(code) => Part::error(code).into(),
                    None => source.to_string().into(),
                },
                other => other.to_string().into(),
            },
            lost: None,
        });
    }

    /// Rows or events of these times found no room in memory.
    pub(crate) fn drop_rows(&mut self, times: &[Timestamp]) {
        let (Some(refusal), Some(first), Some(last)) =
            (&mut self.open, times.iter().min(), times.iter().max())
        else {
            return;
        };
        let lost = refusal.lost.get_or_insert_with(|| Lost {
            window: Window::new(*first, *last + 1),
            count: 0,
            why: refusal.why.clone(),
        });
        lost.count += times.len() as u64;
        lost.window.start = lost.window.start.min(*first);
        lost.window.end = lost.window.end.max(*last + 1);
    }

    /// The disk takes it again, and what waited in memory is written.
    pub(crate) fn resume(&mut self) {
        let Some(lost) = self.open.take().and_then(|refusal| refusal.lost) else {
            return;
        };
        let full = self.gaps.len() >= MOST_GAPS;
        match self.gaps.last_mut() {
            Some(last) if full => {
                last.window.end = last.window.end.max(lost.window.end);
                last.count += lost.count;
            }
            _ => self.gaps.push(lost),
        }
    }

    /// The gaps, when so many rows wait in memory only, up to the newest row.
    pub(crate) fn gaps(&self, waiting: u64, newest: Timestamp) -> Vec<Gap> {
        let open = self.open.as_ref().and_then(|refusal| {
            let count = waiting + refusal.lost.as_ref().map_or(0, |lost| lost.count);
            (count > 0).then(|| Lost {
                window: Window::new(refusal.since, newest.max(refusal.since)),
                count,
                why: refusal.why.clone(),
            })
        });
        self.gaps.iter().cloned().chain(open).map(gap_of).collect()
    }
}

fn gap_of(lost: Lost) -> Gap {
    let Lost { window, count, why } = lost;
    let rows = if count == 1 { "row" } else { "rows" };
    Gap {
        table: "*".to_owned(),
        what: Sentence::default(),
        window: Some(window),
        reason: GapReason::Unwritten(sentence!("{}: {} {}", why, count, rows)),
    }
}
