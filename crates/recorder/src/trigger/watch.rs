//! Whether trigger expressions hold, as rows come.

use std::collections::VecDeque;
use std::time::Duration;

use model::{EntityEvent, MISSING, Rows, Table, Timestamp};

use super::Trigger;
use super::expression::{Bound, Measure};
use super::readings::{INTERVAL_NS, RequestReadings, Requests};
use super::spike::SpikeDetector;

/// A trigger that came true.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Fired {
    pub(crate) at: Timestamp,
    pub(crate) trigger: Trigger,
    /// The value, with its unit.
    pub(crate) value: String,
}

/// Watches for several triggers.
pub(crate) struct Watch {
    triggers: Vec<(Trigger, bool)>,
    readings: RequestReadings,
    /// Requests of the last intervals, the newest last.
    requests: VecDeque<Requests>,
    /// The newest of them.
    newest: Option<i64>,
    most: usize,
    spikes: SpikeDetector,
    /// The time of the newest row, and whether any was of requests.
    now: Option<Timestamp>,
    has_requests: bool,
    /// What came true and was not handed on.
    fired: Vec<Fired>,
    /// Readings of the machine's pressure.
    pressure: VecDeque<(Timestamp, Box<[i64]>)>,
}

impl Watch {
    pub(crate) fn new(triggers: &[Trigger]) -> Self {
        let longest = triggers.iter().map(Trigger::over).max();
        let longest = longest.unwrap_or_default().as_nanos() as i64;
        Self {
            triggers: triggers.iter().map(|it| (*it, false)).collect(),
            readings: RequestReadings::default(),
            requests: VecDeque::new(),
            newest: None,
            most: usize::try_from(longest / INTERVAL_NS).unwrap_or(1).max(1),
            spikes: SpikeDetector::default(),
            now: None,
            has_requests: false,
            fired: Vec::new(),
            pressure: VecDeque::new(),
        }
    }

    /// Notes changes of the entity list.
    pub(crate) fn entities(&mut self, events: &[EntityEvent]) {
        self.readings.entities(events);
    }

    /// Takes rows of any table: those of tables that nothing is asked of say what time it is.
    pub(crate) fn rows(&mut self, table: &Table, rows: &Rows) {
        self.now = self.now.max(rows.times().last().copied());
        match &*table.name {
            "requests" => {
                self.readings.take(table, rows);
                self.has_requests = true;
            }
            "pressure" => {
                let mut fired = std::mem::take(&mut self.fired);
                for (time, _, values) in rows.iter() {
                    self.pressure(time, values, &mut fired);
                }
                self.fired = fired;
            }
            _ => {}
        }
    }

    /// What came true by the rows so far, when all that belong together have come. An interval without a row had no
    /// request: so a server that answers nobody is seen, too.
    pub(crate) fn fired(&mut self) -> Vec<Fired> {
        let mut fired = std::mem::take(&mut self.fired);
        if let Some(now) = self.now.filter(|_| self.has_requests) {
            self.intervals(now.as_ns().div_euclid(INTERVAL_NS) - 1, &mut fired);
        }
        fired
    }

    /// Judges all intervals up to this one; those without a row had no request.
    fn intervals(&mut self, until: i64, fired: &mut Vec<Fired>) {
        let mut ended = self.readings.drain(until);
        // After a pause longer than all that is held nothing of before matters.
        let least = until - self.most as i64;
        let first = self.newest.map_or(until, |it| it + 1).max(least);
        for interval in first..=until {
            let requests = ended.remove(&interval).unwrap_or_default();
            let slow = requests.mean_ns().filter(|mean| self.spikes.take(*mean));
            if self.requests.len() == self.most {
                self.requests.pop_front();
            }
            self.requests.push_back(requests);
            let at = Timestamp::from_ns((interval + 1) * INTERVAL_NS);
            self.judge(at, fired, |watch, trigger| match trigger {
                Trigger::Spike => Some(slow.map(latency)),
                Trigger::Bound(bound) => watch.of_requests(bound),
            });
        }
        self.newest = self.newest.max(Some(until));
    }

    fn pressure(&mut self, time: Timestamp, values: &[i64], fired: &mut Vec<Fired>) {
        self.pressure.push_back((time, values.into()));
        let held = self.most as i64 * INTERVAL_NS;
        // One that is older than all that is asked for is held, so that the whole of it is covered.
        while self.pressure.len() > 2 && time.ns_since(self.pressure[1].0) >= held {
            self.pressure.pop_front();
        }
        self.judge(time, fired, |watch, trigger| match trigger {
            Trigger::Bound(bound) => watch.of_pressure(bound, time, values),
            Trigger::Spike => None,
        });
    }

    /// Notes which triggers hold: those that did not before fire. Of what a trigger says nothing (`None`) it stays what
    /// it was.
    fn judge(
        &mut self,
        at: Timestamp,
        fired: &mut Vec<Fired>,
        holds: impl Fn(&Self, &Trigger) -> Option<Option<String>>,
    ) {
        for place in 0..self.triggers.len() {
            let (trigger, held) = self.triggers[place];
            let Some(value) = holds(self, &trigger) else {
                continue;
            };
            self.triggers[place].1 = value.is_some();
            if let Some(value) = value.filter(|_| !held) {
                fired.push(Fired { at, trigger, value });
            }
        }
    }

    fn of_requests(&self, bound: &Bound) -> Option<Option<String>> {
        let count = intervals_of(bound.over);
        if matches!(bound.measure, Measure::Pressure(_)) || self.requests.len() < count {
            return None;
        }
        let mut sum = Requests::default();
        let last = self.requests.iter().rev().take(count);
        last.for_each(|it| sum.add(it));
        let (value, shown) = match bound.measure {
            Measure::Throughput => {
                let rate = sum.count() / bound.over.as_secs_f64();
                (Some(rate), format!("{rate:.0}/s"))
            }
            Measure::Percentile(percentile) => {
                let value = sum.percentile_ns(percentile);
                (value, latency(value.unwrap_or_default()))
            }
            _ => {
                let value = sum.mean_ns();
                (value, latency(value.unwrap_or_default()))
            }
        };
        let holds = value.is_some_and(|value| is_beyond(bound, value));
        Some(holds.then_some(shown))
    }

    /// The share of the time since the reading that is as old as is asked for.
    fn of_pressure(
        &self,
        bound: &Bound,
        time: Timestamp,
        values: &[i64],
    ) -> Option<Option<String>> {
        let Measure::Pressure(place) = bound.measure else {
            return None;
        };
        let over = bound.over.as_nanos() as i64;
        // Readings lie 2 s apart, more or less by what the sampler is late.
        let before = self
            .pressure
            .iter()
            .rev()
            .find(|(at, _)| time.ns_since(*at) + INTERVAL_NS >= over)?;
        let (then, now) = (before.1[place], values[place]);
        let length = time.ns_since(before.0);
        if then == MISSING || now == MISSING || length <= 0 {
            return None;
        }
        let percent = 100.0 * (now - then) as f64 / length as f64;
        Some(is_beyond(bound, percent).then(|| format!("{percent:.0} %")))
    }
}

fn intervals_of(over: Duration) -> usize {
    usize::try_from(over.as_nanos() as i64 / INTERVAL_NS)
        .unwrap_or(1)
        .max(1)
}

fn is_beyond(bound: &Bound, value: f64) -> bool {
    match bound.is_above {
        true => value > bound.value,
        false => value < bound.value,
    }
}

/// A latency with at most three digits.
fn latency(ns: f64) -> String {
    match ns {
        s if s >= 1e9 => format!("{:.2} s", s / 1e9),
        ms if ms >= 1e8 => format!("{:.0} ms", ms / 1e6),
        ms if ms >= 1e6 => format!("{:.1} ms", ms / 1e6),
        us => format!("{:.0} us", us / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use model::EntityId;
    use sensors::request::{REQUESTS, first_bucket};

    use super::*;

    /// A connection's counters.
    struct Counters(Vec<i64>);

    impl Counters {
        fn new() -> Self {
            Self(vec![0; REQUESTS.columns.len()])
        }

        fn add(&mut self, name: &str, grown: i64) {
            let place = REQUESTS.position(name).expect("a column");
            self.0[place] += grown;
        }

        /// Requests of a length.
        fn answered(&mut self, count: i64, ns: u64) {
            self.add("requests", count);
            self.add("timed", count);
            self.add("timed_ns", count * ns as i64);
            if ns >= sensors::request::LONG_NS {
                self.add("long", count);
                self.add("long_ns", count * ns as i64);
            }
            let bucket = (0..).find(|it| sensors::request::upper_ns(*it).is_none_or(|up| ns < up));
            self.0[first_bucket(&REQUESTS) + bucket.unwrap_or_default()] += count;
        }
    }

    /// What fires, as (interval, trigger), where in interval `slow` requests take 150 ms.
    fn fired(triggers: &[&str], slow: std::ops::Range<i64>) -> Vec<(i64, String)> {
        let triggers: Vec<Trigger> = triggers.iter().map(|it| it.parse().expect("one")).collect();
        let mut watch = Watch::new(&triggers);
        let mut counters = Counters::new();
        let mut all = Vec::new();
        for interval in 0..400 {
            let mut rows = Rows::with_capacity(REQUESTS.columns.len(), 1);
            match slow.contains(&interval) {
                true => counters.answered(2, 150_000_000),
                false => counters.answered(100, 1_000_000),
            }
            let at = Timestamp::from_ns((interval + 1) * INTERVAL_NS);
            rows.push(at, EntityId(7), &counters.0);
            watch.rows(&REQUESTS, &rows);
            all.extend(watch.fired());
        }
        all.into_iter()
            .map(|it| {
                (
                    it.at.as_ns() / INTERVAL_NS - 1,
                    format!("{} ({})", it.trigger, it.value),
                )
            })
            .collect()
    }

    #[test]
    fn triggers_of_requests_fire_once_when_they_become_true() {
        let all = [
            "latency.p99>100ms for 300ms",
            "latency.mean>20ms for 500ms",
            "throughput<500 for 1s",
            "spike",
        ];
        assert_eq!(fired(&all, 0..0), []);
        let expected = [
            // In 300 ms there are 200 fast ones and 2 slow ones: of all, 1 % are slow only with the next.
            (200, "spike (150 ms)"),
            (201, "latency.p99>100ms for 300ms (148 ms)"),
            (205, "throughput<500 for 1s (412/s)"),
            (204, "latency.mean>20ms for 500ms (150 ms)"),
        ];
        let found = fired(&all, 200..220);
        for (_, trigger) in expected {
            let name = trigger.split(" (").next().expect("a name");
            let times = found.iter().filter(|(_, it)| it.starts_with(name)).count();
            assert_eq!(times, 1, "{trigger}: {found:?}");
        }
        assert!(
            found.iter().all(|(at, _)| (200..=206).contains(at)),
            "{found:?}"
        );
    }

    #[test]
    fn pressure_is_the_share_of_the_time_that_is_asked_for() {
        let trigger: Trigger = "pressure.cpu.some>60% for 4s".parse().expect("one");
        let mut watch = Watch::new(&[trigger]);
        let table = sensors::pressure::MACHINE.table;
        let mut total = 0;
        let mut found = Vec::new();
        for reading in 0..20i64 {
            // From the 10th reading on 80 % of the time, of two seconds each.
            total += if reading > 10 {
                1_600_000_000
            } else {
                200_000_000
            };
            let mut values = vec![MISSING; table.columns.len()];
            values[0] = total;
            let mut rows = Rows::with_capacity(values.len(), 1);
            rows.push(
                Timestamp::from_ns(reading * 2_000_000_000),
                EntityId(0),
                &values,
            );
            watch.rows(table, &rows);
            found.extend(watch.fired().into_iter().map(|it| (reading, it.value)));
        }
        assert_eq!(found, [(12, "80 %".to_owned())]);
    }
}
