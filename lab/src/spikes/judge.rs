//! Holds what `stallscope` says of a run against when its events really were.

use model::{Report, Spike, Trigger};

use super::situation::Situation;
use super::truth::Event;

/// The clocks of who notes an event and who sees a spike may be so far apart, s; a spike's onset is known to an interval.
const EARLY: f64 = 0.15;
/// Events so near to the window's edges are not asked for, s: what reaches its end may be the load's end.
const EDGES: [f64; 2] = [1.0, 3.0];
/// A period is right to within this part.
const CLOSE: f64 = 0.01;

/// How one run was judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Events that are asked for, and those of them with a spike.
    pub events: u32,
    pub found: u32,
    /// Spikes in all, and those that follow no event.
    pub spikes: u32,
    pub false_spikes: u32,
    /// The mean period of the events that were, s; `None` where they have none.
    pub period: Option<f64>,
    /// That of the first train, s, with its interval.
    pub train: Option<Train>,
    /// What is named first, with how sure that is.
    pub first: Option<String>,
    /// The place of the first right trigger, from 0.
    pub place: Option<usize>,
    /// Streams of events that were compared.
    pub compared: u64,
}

/// A period that was found, s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Train {
    /// By least squares.
    pub period: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

impl Judgement {
    /// Relative error of the period; `None` where there is none, or none was found.
    pub fn error(&self) -> Option<f64> {
        Some(self.train?.period / self.period? - 1.0)
    }

    /// Whether the period was found, and is right.
    pub fn is_period_right(&self) -> bool {
        self.error().is_some_and(|it| it.abs() <= CLOSE)
    }

    /// Whether the first trigger is right.
    pub fn is_first_right(&self) -> bool {
        self.place == Some(0)
    }

    /// Whether it is among the first three.
    pub fn is_in_top_three(&self) -> bool {
        self.place.is_some_and(|it| it < 3)
    }
}

/// Judges one run.
pub fn judge(situation: &Situation, events: &[Event], report: &Report) -> Judgement {
    let spikes = report.spikes.as_ref();
    let window = spikes.map_or(report.window, |it| it.window);
    let [start, end] = [window.start, window.end].map(|it| it.as_ns() as f64 / 1e9);
    let at = |event: &Event| event.seconds(&report.identity);
    let found: &[Spike] = spikes.map_or(&[], |it| &it.spikes);
    let follows = |spike: &Spike, event: &Event| {
        let [from, until] =
            [spike.window.start, spike.window.end].map(|it| it.as_ns() as f64 / 1e9);
        until >= at(event) - EARLY && from <= at(event) + situation.follows
    };
    let asked: Vec<&Event> = events
        .iter()
        .filter(|it| (start + EDGES[0]..end - EDGES[1]).contains(&at(it)))
        .collect();
    let seen = asked
        .iter()
        .filter(|event| found.iter().any(|spike| follows(spike, event)));
    let stray = found
        .iter()
        .filter(|spike| !events.iter().any(|event| follows(spike, event)));
    let triggers: &[Trigger] = spikes.map_or(&[], |it| &it.triggers);
    let train = spikes.and_then(|it| it.trains.first());
    let [found_count, stray_count] = [seen.count(), stray.count()].map(count);
    Judgement {
        events: count(asked.len()),
        found: found_count,
        spikes: count(found.len()),
        false_spikes: stray_count,
        period: situation.period().and_then(|_| mean_period(&asked)),
        train: train.map(|it| Train {
            period: it.period_ns / 1e9,
            low: it.period_low_ns / 1e9,
            high: it.period_high_ns / 1e9,
        }),
        first: triggers.first().map(in_words),
        place: situation.answer.place(triggers),
        compared: spikes.map_or(0, |it| it.compared),
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn in_words(trigger: &Trigger) -> String {
    format!("{} ({:?})", trigger.name, trigger.confidence).to_lowercase()
}

/// The slope of a line through the times of events by their cycles, s.
fn mean_period(events: &[&Event]) -> Option<f64> {
    let n = events.len() as f64;
    let first = events.first()?;
    let points = || {
        events.iter().map(|it| {
            let since = (it.at_ns - first.at_ns) as f64 / 1e9;
            ((it.cycle - first.cycle) as f64, since)
        })
    };
    let mean_cycle = points().map(|it| it.0).sum::<f64>() / n;
    let mean_time = points().map(|it| it.1).sum::<f64>() / n;
    let both = points().map(|(cycle, time)| (cycle - mean_cycle) * (time - mean_time));
    let spread = points().map(|(cycle, _)| (cycle - mean_cycle).powi(2));
    let period = both.sum::<f64>() / spread.sum::<f64>();
    period.is_finite().then_some(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: f64, cycle: i64) -> Event {
        Event {
            at_ns: (at * 1e9) as i64,
            cycle,
        }
    }

    #[test]
    fn a_mean_period_knows_of_missed_cycles() {
        let events = [event(3.0, 0), event(9.1, 1), event(20.9, 3), event(27.0, 4)];
        let events: Vec<&Event> = events.iter().collect();
        let period = mean_period(&events).expect("there are some");
        assert!((period - 5.98).abs() < 0.001, "{period}");
        assert_eq!(mean_period(&events[..1]), None);
        assert_eq!(mean_period(&[]), None);
    }

    #[test]
    fn a_period_is_right_to_one_in_a_hundred() {
        let judged = |period: f64| Judgement {
            events: 9,
            found: 9,
            spikes: 9,
            false_spikes: 0,
            period: Some(6.0),
            train: Some(Train {
                period,
                low: period,
                high: period,
            }),
            first: None,
            place: None,
            compared: 20,
        };
        assert!(judged(6.05).is_period_right() && judged(5.95).is_period_right());
        assert!(!judged(6.07).is_period_right() && !judged(12.0).is_period_right());
        assert!(!judged(6.0).is_first_right());
    }
}
