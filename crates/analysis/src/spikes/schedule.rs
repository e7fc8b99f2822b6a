//! What keeps a period: the clock, or a pause between two runs.

use model::{Meta, Schedule, Train, Window};

use super::trains::Found;

/// Periods that a clock keeps, s: whole parts of a minute and of an hour, and these.
const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
/// Below this ratio of von Neumann deviations add up: what one cycle is late all later ones are. For independent ones
/// it is 2 (J. von Neumann, Annals of Mathematical Statistics 12(4), 1941).
const ADDS_UP: f64 = 1.0;
/// Deviations below this are those of the arithmetic, s.
const ROUNDING: f64 = 1e-6;
/// An interval of the period that is wider than this part of it tells no clock.
const MOST_WIDTH: f64 = 0.02;

/// A train as it is reported. Its onsets are known to `interval`, s, each: so is the time of all its cycles together.
pub(super) fn reported(
    train: &Found,
    onsets: &[f64],
    interval: f64,
    window: Window,
    meta: &Meta,
) -> Train {
    let half_width = train.half_width.max(interval / train.cycles.max(1) as f64);
    let ns = |seconds: f64| seconds * 1e9;
    let members = train.members.iter();
    Train {
        period_ns: ns(train.period),
        period_low_ns: ns(train.period - half_width),
        period_high_ns: ns(train.period + half_width),
        jitter_ns: ns(train.jitter),
        coverage: train.coverage,
        purity: train.purity,
        cycles: train.cycles,
        spikes: members.map(|(number, _)| *number as u64).collect(),
        schedule: schedule(train, onsets, window, meta),
    }
}

fn schedule(train: &Found, onsets: &[f64], window: Window, meta: &Meta) -> Schedule {
    let adds_up = adds_up(train, onsets);
    let round = round_period(train.period);
    let near = round.filter(|round| {
        (round - train.period).abs() <= train.half_width.max(2e-4 * round)
            && train.half_width <= MOST_WIDTH * round
    });
    match near {
        Some(round) if !adds_up => {
            let identity = &meta.identity;
            let cycle = train.members.first().map_or(0, |it| it.1);
            let at = window.start + (train.at(cycle) * 1e9) as i64;
            let wall_ns =
                identity.anchor_realtime_ns as f64 + at.ns_since(identity.anchor_boottime) as f64;
            Schedule::Clock {
                every_ns: round * 1e9,
                phase_ns: (wall_ns / 1e9).rem_euclid(round) * 1e9,
            }
        }
        _ if adds_up => Schedule::Loop,
        _ => Schedule::Unknown,
    }
}

/// The nearest period that divides a minute or an hour, or is minutes that divide an hour.
fn round_period(period: f64) -> Option<f64> {
    let whole = if period < 0.75 * MINUTE { MINUTE } else { HOUR };
    let parts = (whole / period).round();
    (parts >= 1.0 && period > 0.5).then(|| whole / parts)
}

fn adds_up(train: &Found, onsets: &[f64]) -> bool {
    let off: Vec<f64> = train
        .members
        .iter()
        .map(|(number, cycle)| onsets[*number] - train.at(*cycle))
        .collect();
    let squares: f64 = off.iter().map(|it| it * it).sum();
    let steps: f64 = off.windows(2).map(|it| (it[1] - it[0]).powi(2)).sum();
    // Onsets that are known to an interval may be even to the last bit: then nothing is left but rounding.
    squares > off.len() as f64 * ROUNDING * ROUNDING && steps / squares < ADDS_UP
}
