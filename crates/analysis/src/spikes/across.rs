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
