//! Pauses, in which nobody told of switches, wake-ups and requests: what was told before stands for them.

use model::{EntityKind, Timeline, Window};
use sensors::RECORDER;

/// Less of a window than this changes nothing that is said of it.
const WORTH_SAYING: f64 = 0.01;

/// The part of a window that is pauses, where that is worth saying.
pub(crate) fn part(timeline: &Timeline, window: Window) -> Option<f64> {
    let recorder = timeline.entities.of_kind(EntityKind::Machine).next()?;
    let paused = timeline.series(&RECORDER.name, recorder.id, "paused_ns")?;
    let part = paused.growth(window)? / window.len_ns() as f64;
    Some(part.min(1.0)).filter(|part| *part > WORTH_SAYING)
}
