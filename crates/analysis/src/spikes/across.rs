//! Spikes of one node beside what other nodes recorded: what starts them may be on one, and what they wait for on another.

use model::{
    Meta, NodeDifferences, Provenance, Spike, SpikeReport, Timeline, Timestamp, TriggerKind, Window,
};

use super::events::Stream;
use super::trains::Found;
use super::{chain, differences, events, triggers};

/// Another node's recording.
pub(crate) struct Beside<'a> {
    pub(crate) name: &'a str,
    pub(crate) timeline: &'a Timeline,
    pub(crate) meta: &'a Meta,
    /// The clock of its recording less that of the recording with the spikes, ns.
    pub(crate) ahead_ns: i64,
    /// How exactly that is known, ns.
    pub(crate) within_ns: i64,
}

impl Beside<'_> {
    fn at(&self, time: Timestamp) -> Timestamp {
        time + self.ahead_ns
    }

    fn window(&self, window: Window) -> Window {
        Window::new(self.at(window.start), self.at(window.end))
    }

    /// Its events, s after the start of the spikes' window.
    fn streams(&self, window: Window) -> Vec<Stream> {
        let mut own = events::streams(self.timeline, self.window(window));
        for stream in &mut own {
            stream.resolution += self.within_ns as f64 / 1e9;
            // It is no entity of the recording with the spikes.
            stream.entity = None;
            stream.node = Some(self.name.to_owned());
        }
        own
    }

    fn differences(&self, spikes: &[Spike], window: Window) -> NodeDifferences {
        let moved: Vec<Spike> = spikes
            .iter()
            .map(|it| Spike {
                window: self.window(it.window),
                ..*it
            })
            .collect();
        let (differences, _) =
            differences::of(self.timeline, self.meta, &moved, self.window(window));
        NodeDifferences {
            node: self.name.to_owned(),
            differences,
        }
    }
}

/// A node's spikes with the triggers and the chain of all nodes, and what is different on the others.
pub(crate) fn across(
    name: &str,
    timeline: &Timeline,
    report: &SpikeReport,
    others: &[Beside<'_>],
) -> (SpikeReport, Vec<NodeDifferences>) {
    let window = report.window;
    let seconds = |at: Timestamp| at.ns_since(window.start) as f64 / 1e9;
    let onsets: Vec<f64> = report
        .spikes
        .iter()
        .map(|it| seconds(it.window.start))
        .collect();
    let trains = report.trains.iter();
    let trains: Vec<Found> = trains.filter_map(|it| Found::again(it, &onsets)).collect();
    let mut streams = events::streams(timeline, window);
    streams.retain(|it| (it.kind, report.provenance) != (TriggerKind::Calls, Provenance::Log));
    for stream in &mut streams {
        stream.node = Some(name.to_owned());
    }
    streams.extend(others.iter().flat_map(|it| it.streams(window)));
    let interval = report.interval_ns as f64 / 1e9;
    let (triggers, compared) = triggers::of(&streams, &onsets, &trains, window.seconds(), interval);
    let elsewhere = others
        .iter()
        .map(|it| it.differences(&report.spikes, window));
    let elsewhere: Vec<NodeDifferences> =
        elsewhere.filter(|it| !it.differences.is_empty()).collect();
    let mut report = SpikeReport {
        triggers,
        compared,
        ..report.clone()
    };
    report.chain = chain::sentence(&report, &elsewhere);
    (report, elsewhere)
}

#[cfg(test)]
pub(super) mod tests {
    use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Schedule, Spike, Train};

    use super::*;

    const MS: i64 = 1_000_000;
    const CYCLE: i64 = 15_000 * MS;
    /// The other machine was booted earlier.
    const BOOTED: i64 = 7_000_000 * MS;
    const LENGTH: i64 = 185_000 * MS;

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    /// Twelve spikes of a second, each 15 s.
    pub(in crate::spikes) fn spiking() -> SpikeReport {
        let onset = |cycle: i64| 3_000 * MS + cycle * CYCLE;
        let spikes = (0..12).map(|cycle| Spike {
            window: Window::new(at(onset(cycle)), at(onset(cycle) + 1_000 * MS)),
            peak_latency_ns: Some(8e8),
            lowest_throughput: 0.0,
            peak_threads: None,
            lost: 0.0,
        });
        SpikeReport {
            window: Window::new(at(0), at(LENGTH)),
            provenance: Provenance::ToolMean,
            interval_ns: 100 * MS,
            usual_latency_ns: Some(5e5),
            usual_throughput: 1_000.0,
            usual_threads: None,
            spikes: spikes.collect(),
            spiking_ns: 12_000 * MS,
            p99_inside_ns: None,
            p99_outside_ns: None,
            added: Some(0.9),
            lost: 0.0,
            trains: vec![Train {
                period_ns: 15e9,
                period_low_ns: 14.99e9,
                period_high_ns: 15.01e9,
                jitter_ns: 0.0,
                coverage: 1.0,
                purity: 1.0,
                cycles: 12,
                spikes: (0..12).collect(),
                schedule: Schedule::Unknown,
            }],
            triggers: Vec::new(),
            compared: 0,
            chain: String::new(),
            differences: Vec::new(),
            measures: 0,
            methods: Vec::new(),
        }
    }

    /// Another node, on which a script begins 40 ms before each spike and lasts a second.
    fn with_script() -> Timeline {
        let mut timeline = Timeline::new(Window::new(at(BOOTED), at(BOOTED + LENGTH)));
        for cycle in 0..12 {
            let start = BOOTED + 2_960 * MS + cycle * CYCLE;
            let path = format!("pid:{}@{}", 100 + cycle, start / (10 * MS));
            let entity = Entity::new(EntityKind::Process, "sync", path);
            let mut record = EntityRecord::new(EntityId(cycle as u32), entity, at(start));
            record.vanished = Some(at(start + 1_000 * MS));
            timeline.entities.apply(EntityEvent {
                time: at(start),
                record,
            });
        }
        timeline
    }

    fn told(ahead_ns: i64) -> SpikeReport {
        let own = Timeline::new(Window::new(at(0), at(LENGTH)));
        let other = with_script();
        let meta = crate::cluster::tests::meta("a", other.window, 0);
        let beside = Beside {
            name: "a",
            timeline: &other,
            meta: &meta,
            ahead_ns,
            within_ns: 10 * MS,
        };
        across("b", &own, &spiking(), &[beside]).0
    }

    #[test]
    fn what_starts_the_spikes_is_found_on_another_node() {
        let report = told(BOOTED);
        let [first] = &*report.triggers else {
            panic!("{:?}", report.triggers);
        };
        assert_eq!((&*first.name, first.node.as_deref()), ("sync", Some("a")));
        assert!((first.lag_ns / 1e6 - 40.0).abs() < 1.0, "{first:?}");
        assert_eq!(
            report.chain,
            "Every 15.00 s (12 of 12 cycles) `sync` starts on a."
        );
    }

    #[test]
    fn by_a_clock_that_is_300_ms_ahead_it_would_come_too_late() {
        assert_eq!(told(BOOTED - 300 * MS).triggers, []);
    }
}
