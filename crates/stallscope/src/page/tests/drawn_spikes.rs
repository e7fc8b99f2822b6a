//! Spikes of a report that nobody measured: for what a page shows of them.

use model::{
    Confidence, MeasureKind, Provenance, Schedule, Spike, SpikeDifference, SpikeReport, Train,
    Trigger, TriggerKind, Unit, Window,
};

const SECOND_NS: i64 = 1_000_000_000;
/// A spike of half a second every other second.
const PERIOD_NS: i64 = 2 * SECOND_NS;
const LENGTH_NS: i64 = SECOND_NS / 2;

/// Spikes in this window, which is at least 12 s long, with a period, a trigger and what is different in them.
pub(super) fn spikes(window: Window) -> SpikeReport {
    let count = window.len_ns() / PERIOD_NS;
    let spike = |number| {
        let start = window.start + number * PERIOD_NS;
        Spike {
            window: Window::new(start, start + LENGTH_NS),
            peak_latency_ns: Some(4e8),
            lowest_throughput: 10.0,
            peak_threads: None,
            lost: 5.0,
        }
    };
    let all: Vec<u64> = (0..count as u64).collect();
    SpikeReport {
        window,
        provenance: Provenance::Kernel,
        interval_ns: SECOND_NS / 10,
        usual_latency_ns: Some(2e5),
        usual_throughput: 1000.0,
        usual_threads: None,
        spikes: (0..count).map(spike).collect(),
        spiking_ns: count * LENGTH_NS,
        p99_inside_ns: Some(3e8),
        p99_outside_ns: Some(4e5),
        added: Some(0.7),
        lost: 5.0 * count as f64,
        trains: vec![Train {
            period_ns: PERIOD_NS as f64,
            period_low_ns: 1.99e9,
            period_high_ns: 2.01e9,
            jitter_ns: 2e7,
            coverage: 1.0,
            purity: 1.0,
            cycles: all.len() as u64,
            spikes: all,
            schedule: Schedule::Loop,
        }],
        triggers: vec![trigger(count as u64)],
        compared: 40,
        chain: "Every 2.00 s (`sleep` in a loop) `sh sync` starts; 40 ms later requests wait."
            .to_owned(),
        differences: vec![SpikeDifference {
            kind: MeasureKind::Waits,
            who: "postgres".to_owned(),
            what: "futex".to_owned(),
            entity: None,
            unit: Unit::Nanoseconds,
            inside: 9e7,
            outside: 1e6,
            spikes: count as u64,
            of_spikes: count as u64,
            share: Some(0.8),
            p_value: 0.001,
        }],
        measures: 1234,
        methods: Vec::new(),
    }
}

fn trigger(count: u64) -> Trigger {
    Trigger {
        kind: TriggerKind::Program,
        name: "sh sync".to_owned(),
        parent: Some("cron -f".to_owned()),
        node: None,
        entity: None,
        events: count,
        followed: count,
        recall: 1.0,
        precision: 1.0,
        lift: 12.0,
        lag_ns: 4e7,
        lag_spread_ns: 5e6,
        resolution_ns: 1e6,
        p_value: 0.001,
        confidence: Confidence::Consistent,
    }
}
