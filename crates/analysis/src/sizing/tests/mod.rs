//! Sweeps whose truth is known, and what is said of them.

mod enough;
mod of_cluster;
mod recovery;
mod refusals;

use model::{
    ComparedRun, FigureFamily, FigureUnit, Identity, Interval, PointFigure, PointSetting, Sweep,
    SweepPoint, SweptParameter, Timestamp, Window,
};

use super::{Made, Wanted};
use crate::stats::{mean, t_95};

/// A point of a sweep, before it is one.
#[derive(Clone)]
pub(super) struct Drawn {
    pub(super) values: Vec<String>,
    pub(super) throughputs: Vec<f64>,
    pub(super) latency_ns: f64,
    pub(super) p99_ns: f64,
    /// CPUs that the server may use, and the part of them that is busy.
    pub(super) cpus: f64,
    pub(super) busy: f64,
    pub(super) clients: u32,
}

fn run() -> ComparedRun {
    ComparedRun {
        name: "001".to_owned(),
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: String::new(),
            stallscope: String::new(),
            anchor_realtime_ns: 0,
            anchor_boottime: Timestamp::from_ns(0),
        },
        window: Window::new(Timestamp::from_ns(0), Timestamp::from_ns(1)),
        steady_s: 0.0,
        rate_unit: "tps".to_owned(),
        verdict: None,
        would_help: Vec::new(),
        course: Vec::new(),
        marks: Vec::new(),
        round: None,
        taken: None,
        disks: Vec::new(),
    }
}

fn figure(key: &str, label: &str, unit: FigureUnit, values: Vec<f64>, half: f64) -> PointFigure {
    let value = mean(&values).unwrap_or_default();
    PointFigure {
        key: key.to_owned(),
        label: label.to_owned(),
        family: FigureFamily::Load,
        unit,
        value,
        interval: (values.len() > 1).then_some(Interval {
            low: value * (1.0 - half),
            high: value * (1.0 + half),
        }),
        of_runs: values,
    }
}

impl Drawn {
    fn point(&self, noise: f64, degrees: f64) -> SweepPoint {
        use FigureUnit::{Nanoseconds, Rate, Share};
        let runs = self.throughputs.len();
        let half = t_95(degrees).unwrap_or(0.0) * noise / (runs as f64).sqrt();
        let rate = mean(&self.throughputs).unwrap_or_default();
        let each = |value: f64| vec![value; runs];
        let demand = self.busy * self.cpus / rate * 1e9;
        SweepPoint {
            values: self.values.clone(),
            runs: vec![run(); runs],
            limit: None,
            agreeing: 0,
            figures: vec![
                figure(
                    "throughput",
                    "throughput",
                    Rate,
                    self.throughputs.clone(),
                    half,
                ),
                figure(
                    "latency",
                    "latency, mean",
                    Nanoseconds,
                    each(self.latency_ns),
                    half,
                ),
                figure(
                    "latency.p99",
                    "latency, p99",
                    Nanoseconds,
                    each(self.p99_ns),
                    half,
                ),
                figure("busy.cpus", "CPUs, busy", Share, each(self.busy), half),
                figure(
                    "cpu.machine",
                    "machine's CPU time per request",
                    Nanoseconds,
                    each(demand),
                    half,
                ),
            ],
            setting: Some(PointSetting {
                machine_cpus: self.cpus.ceil() as u32,
                cpus: self.cpus,
                clients: Some(self.clients),
                rate: None,
                clients_option: Some("-c".to_owned()),
            }),
        }
    }
}

pub(super) fn sweep(command: &str, names: &[&str], drawn: &[Drawn], noise: f64) -> Sweep {
    let degrees: usize = drawn.iter().map(|it| it.throughputs.len() - 1).sum();
    let parameter = |(place, name): (usize, &&str)| {
        let mut values: Vec<String> = Vec::new();
        for it in drawn {
            if !values.contains(&it.values[place]) {
                values.push(it.values[place].clone());
            }
        }
        SweptParameter {
            name: (*name).to_owned(),
            values,
        }
    };
    Sweep {
        schema: model::SWEEP_SCHEMA.to_owned(),
        command: command.to_owned(),
        parameters: names.iter().enumerate().map(parameter).collect(),
        answers: Vec::new(),
        points: drawn
            .iter()
            .map(|it| it.point(noise, degrees as f64))
            .collect(),
        curves: Vec::new(),
        crossings: Vec::new(),
        goal: None,
        voided: Vec::new(),
        caveats: Vec::new(),
        seed: 0,
        spent_s: 0.0,
    }
}

pub(super) fn wanted() -> Wanted {
    Wanted {
        made: Made {
            is_sweep: true,
            ..Made::default()
        },
        ..Wanted::default()
    }
}
