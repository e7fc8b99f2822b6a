//! Configurations that are held back from a sweep are predicted within their intervals, on servers whose demand is known.
//!
//! The truth is not of the models' form: it is solved exactly for a closed network by mean value analysis (Reiser and
//! Lavenberg 1980), with several CPUs as Seidmann, Schweitzer and Shalev-Oren (1987) have them, and a thing that all share.

use model::SizedConfiguration;

use super::{Drawn, sweep, wanted};
use crate::sizing::{Wanted, size};
use crate::stats::{Xorshift, median};

const SEEDS: u64 = 100;
/// So many of a hundred that are held back must lie in their interval, and so many must be predicted at all.
const HELD: usize = 80;
const WIDEST: f64 = 0.2;
/// Standard deviation of a run, as a part of its throughput.
const NOISE: f64 = 0.03;
const REPEATS: usize = 3;

/// A server of known demands.
#[derive(Clone, Copy)]
struct Truth {
    /// CPU time of a request, s.
    cpu_s: f64,
    /// What it needs of a thing that there is one of, s.
    shared_s: f64,
    /// What it waits for besides, s.
    elsewhere_s: f64,
}

impl Truth {
    /// Around a server that does 2,000 requests a second for each CPU.
    fn drawn(random: &mut Xorshift) -> Self {
        Self {
            cpu_s: 500e-6 * (0.5 + random.share()),
            shared_s: 10e-6 * random.share(),
            elsewhere_s: 1e-3 * random.share(),
        }
    }

    /// Throughput and response time of so many clients on so many CPUs.
    fn solved(self, clients: u32, cpus: f64) -> (f64, f64) {
        let stations = [self.cpu_s / cpus, self.shared_s];
        let delay = self.elsewhere_s + self.cpu_s * (cpus - 1.0) / cpus;
        let mut lines = [0.0; 2];
        let mut last = (0.0, 0.0);
        for number in 1..=clients {
            let each = [0, 1].map(|at| stations[at] * (1.0 + lines[at]));
            let response = delay + each.iter().sum::<f64>();
            let throughput = f64::from(number) / response;
            lines = each.map(|it| it * throughput);
            last = (throughput, response);
        }
        last
    }

    fn point(self, random: &mut Xorshift, values: &[u32], clients: u32, cpus: u32) -> Drawn {
        let (throughput, response) = self.solved(clients, f64::from(cpus));
        let throughputs = (0..REPEATS).map(|_| throughput * (1.0 + NOISE * random.normal()));
        Drawn {
            values: values.iter().map(u32::to_string).collect(),
            throughputs: throughputs.collect(),
            latency_ns: response * 1e9,
            p99_ns: response * 3e9,
            cpus: f64::from(cpus),
            busy: (throughput * self.cpu_s / f64::from(cpus)).min(1.0),
            clients,
        }
    }
}

/// Configurations: the values, clients, and CPUs of each.
type Grid = Vec<(Vec<u32>, u32, u32)>;

struct Recovered {
    predicted: usize,
    held: usize,
    half_widths: Vec<f64>,
}

fn random(seed: u64) -> Xorshift {
    // Neighbouring seeds begin alike without this.
    let mut random = Xorshift::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x7777);
    (0..9).for_each(|_| {
        random.draw();
    });
    random
}

/// Holds one configuration of each sweep back, any of them, and has it predicted.
fn recover(names: &[&str], grid: &Grid) -> Recovered {
    let mut recovered = Recovered {
        predicted: 0,
        held: 0,
        half_widths: Vec::new(),
    };
    for seed in 1..=SEEDS {
        let mut random = random(seed);
        let truth = Truth::drawn(&mut random);
        let mut drawn: Vec<Drawn> = grid
            .iter()
            .map(|(values, clients, cpus)| truth.point(&mut random, values, *clients, *cpus))
            .collect();
        let at = random.below(drawn.len());
        let (_, clients, cpus) = grid[at];
        let (true_throughput, _) = truth.solved(clients, f64::from(cpus));
        let held_back = drawn.remove(at);
        let wanted = Wanted {
            at: vec![held_back.values.clone()],
            ..wanted()
        };
        let report = size(&sweep("load", names, &drawn, NOISE), &wanted);
        let is_it = |it: &&SizedConfiguration| it.values == held_back.values;
        let sized = report.configurations.iter().find(is_it).expect("asked for");
        if let Some(interval) = sized.throughput.and_then(|it| it.interval) {
            recovered.predicted += 1;
            let is_held = interval.low <= true_throughput && true_throughput <= interval.high;
            recovered.held += usize::from(is_held);
            let width = (interval.high - interval.low) / 2.0 / true_throughput;
            recovered.half_widths.push(width);
        }
    }
    let width = median(&recovered.half_widths).unwrap_or(f64::INFINITY);
    println!(
        "{names:?}: {} predicted, {} held, half-width {width:.3}",
        recovered.predicted, recovered.held
    );
    recovered
}

fn check(names: &[&str], grid: &Grid) {
    let recovered = recover(names, grid);
    let width = median(&recovered.half_widths).unwrap_or(f64::INFINITY);
    assert!(recovered.predicted >= HELD, "{}", recovered.predicted);
    assert!(
        100 * recovered.held >= HELD * recovered.predicted,
        "{} of {}",
        recovered.held,
        recovered.predicted
    );
    assert!(width <= WIDEST, "{width:.3}");
}

#[test]
fn of_one_parameter_what_is_held_back_lies_in_its_interval() {
    let clients = [1, 2, 4, 8, 16, 32, 64];
    check(&["clients"], &clients.map(|it| (vec![it], it, 4)).to_vec());
    let cpus = [1, 2, 3, 4, 6, 8, 12];
    check(&["cpus"], &cpus.map(|it| (vec![it], 32, it)).to_vec());
}

#[test]
fn of_nodes_and_cpus_what_is_held_back_lies_in_its_interval() {
    let mut grid = Grid::new();
    for nodes in [1, 2, 3, 6] {
        for cpus in [2, 4, 8] {
            grid.push((vec![nodes, cpus], 24, nodes * cpus));
        }
    }
    check(&["nodes", "cpus"], &grid);
}

#[test]
fn of_cpus_and_clients_what_is_held_back_lies_in_its_interval() {
    let mut grid = Grid::new();
    for cpus in [2, 4, 8] {
        for clients in [4, 8, 16, 32] {
            grid.push((vec![cpus, clients], clients, cpus));
        }
    }
    check(&["cpus", "clients"], &grid);
}

/// Databases under a quota that need less CPU time for each request the more of them there are, up to what the host has:
/// no curve rises faster than its load.
#[test]
fn what_no_curve_describes_is_predicted_between_its_neighbours() {
    const LOADS: [u32; 9] = [1, 2, 3, 4, 5, 6, 8, 10, 12];
    let truth = |load: u32| (6_000.0 * f64::from(load).powf(1.2)).min(66_000.0);
    let (mut predicted, mut held, mut joined, mut widths) = (0, 0, 0, Vec::new());
    for seed in 1..=SEEDS {
        let mut random = random(seed);
        let point = |load: u32, random: &mut Xorshift| Drawn {
            values: vec![load.to_string()],
            throughputs: (0..REPEATS)
                .map(|_| truth(load) * (1.0 + NOISE * random.normal()))
                .collect(),
            latency_ns: 1e6,
            p99_ns: 3e6,
            cpus: 2.0,
            busy: 0.9,
            clients: load,
        };
        let mut drawn = LOADS.map(|load| point(load, &mut random)).to_vec();
        let held_back = drawn.remove(1 + random.below(LOADS.len() - 2));
        let wanted = Wanted {
            at: vec![held_back.values.clone()],
            ..wanted()
        };
        let report = size(&sweep("load", &["instances"], &drawn, NOISE), &wanted);
        let is_it = |it: &&SizedConfiguration| it.values == held_back.values;
        let sized = report.configurations.iter().find(is_it).expect("asked for");
        let Some(interval) = sized.throughput.and_then(|it| it.interval) else {
            continue;
        };
        predicted += 1;
        let model = sized.model.as_ref().map(|it| it.name.as_str());
        joined += usize::from(model == Some("its neighbours over instances"));
        let of = truth(held_back.values[0].parse().expect("a number"));
        held += usize::from(interval.low <= of && of <= interval.high);
        widths.push((interval.high - interval.low) / 2.0 / of);
    }
    let width = median(&widths).expect("some are predicted");
    println!("{predicted} predicted, {joined} joined, {held} held, half-width {width:.3}");
    assert!(predicted >= HELD && 100 * held >= HELD * predicted);
    assert!(joined >= HELD && width <= WIDEST, "{joined}, {width:.3}");
}
