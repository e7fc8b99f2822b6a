//! Loads drawn by hand, and what must hold of any.

use proptest::prelude::*;

use super::*;

/// Ten clients of a server, each request 1 ms long and 0.1 ms of it on a CPU.
const LOAD: Load = Load {
    throughput: 10_000.0,
    response_ns: 1e6,
    late: 0.0,
    clients: Some(10),
    is_fixed_rate: false,
    own_ns: 1e5,
    target_ns: 8e4,
    others_ns: 0.0,
    target_thread_ns: 1e4,
    generator_thread_ns: 1e4,
    cpus: 8.0,
    quota: None,
    usual_ns: 1e6,
    uneven: 1.0,
};

fn wait(part: f64) -> Goes {
    Goes::Wait(Interval {
        low: part,
        high: part,
    })
}

fn gain(load: &Load, after: &Load, goes: Goes) -> Gain {
    load.gain(after, goes).expect("it is known")
}

#[test]
fn a_gain_is_of_no_more_than_the_wait_that_goes() {
    let gain = gain(&LOAD, &LOAD, wait(0.5));
    // 1 / (1 - 0.5) is +100 %, and the share is known to two parts in a hundred.
    assert!(gain.interval.high <= 1.0 / (1.0 - 0.52) - 1.0 + 1e-9);
    assert!(gain.interval.low > 0.2 && gain.estimate > 0.8);
    assert_eq!(gain.model, "waits removed, closed loop");
}

#[test]
fn the_cpus_are_the_next_limit() {
    // 8 CPUs at 0.1 ms are 80,000 a second; nearly all of the response time goes.
    let long = Load {
        clients: Some(200),
        throughput: 10_000.0,
        response_ns: 20e6,
        ..LOAD
    };
    let gain = gain(&long, &long, wait(0.97));
    assert_eq!(gain.model, "CPU law");
    assert!((3.0..12.0).contains(&gain.estimate), "{gain:?}");
    let crowded = Load {
        others_ns: 3e5,
        ..long
    };
    let beside = crowded.gain(&crowded, wait(0.97)).expect("known");
    assert!(beside.estimate < gain.estimate);
}

#[test]
fn one_thread_and_a_quota_are_limits_too() {
    let long = Load {
        clients: Some(200),
        response_ns: 20e6,
        ..LOAD
    };
    let one_thread = Load {
        target_thread_ns: 8e4,
        ..long
    };
    let quota = Load {
        quota: Some(1.0),
        ..long
    };
    let model = |load: &Load| gain(load, load, wait(0.97)).model;
    assert_eq!(model(&one_thread), "CPU law, one thread");
    assert_eq!(model(&quota), "CPU law, quota");
    assert!(gain(&quota, &long, wait(0.97)).estimate > gain(&quota, &quota, wait(0.97)).estimate);
}

#[test]
fn a_third_cpu_for_two_full_ones_brings_half() {
    let full = Load {
        throughput: 20_000.0,
        response_ns: 1.6e6,
        clients: Some(32),
        cpus: 2.0,
        ..LOAD
    };
    let more = Load { cpus: 3.0, ..full };
    let gain = gain(&full, &more, Goes::Line(0.9));
    assert!((gain.estimate - 0.5).abs() < 0.02, "{gain:?}");
    assert!(
        gain.interval.low > 0.3 && gain.interval.high < 0.7,
        "{gain:?}"
    );
}

#[test]
fn clients_that_think_gain_little() {
    let thinks = Load {
        clients: Some(1),
        throughput: 100.0,
        response_ns: 1e6,
        ..LOAD
    };
    assert!(gain(&thinks, &thinks, wait(0.9)).interval.high < 0.12);
}

#[test]
fn at_a_fixed_rate_the_response_time_falls() {
    let fixed = Load {
        is_fixed_rate: true,
        clients: None,
        ..LOAD
    };
    let part = Interval {
        low: 0.4,
        high: 0.5,
    };
    let fall = gain(&fixed, &fixed, Goes::Wait(part));
    assert_eq!(fall.of, GainOf::ResponseTime);
    assert!((fall.interval.low - 0.4).abs() < 1e-9 && (fall.interval.high - 0.52).abs() < 1e-9);
    // Half as busy, at least half of the line.
    let more = Load {
        cpus: 2.0 * fixed.cpus,
        ..fixed
    };
    let fall = gain(&fixed, &more, Goes::Line(0.4));
    assert!((fall.interval.low - 0.21).abs() < 1e-9, "{fall:?}");
    assert_eq!(fixed.filled(), None);
}

#[test]
fn more_clients_fill_the_cpus() {
    let filled = LOAD.filled().expect("known");
    assert_eq!(filled.model, "CPU law");
    // Now 10,000 a second, and 80,000 at the CPU time of now; of that a request takes less then.
    let least = 8.0 / LOAD.cost(&LOAD, 0.0) - 1.0;
    assert!(
        (filled.interval.low - least).abs() < 1e-9 && least > 7.0,
        "{filled:?}"
    );
    assert!(filled.interval.high > filled.estimate && filled.estimate > 7.0);
}

#[test]
fn who_never_rests_is_spared_no_cpu_time() {
    let idle = LOAD.cost(&LOAD, 1.0);
    assert!((ON_IDLE_CPUS.0..0.5).contains(&idle), "{idle}");
    // One thread that is busy all the time, beside idle CPUs.
    let full = Load {
        target_thread_ns: 1e5,
        ..LOAD
    };
    assert!((full.cost(&full, 1.0) - 1.0).abs() < 1e-9);
    assert!((full.cost(&full, 0.0) - 1.0).abs() < 1e-9);
}

#[test]
fn who_finds_full_cpus_between_two_stalls_is_spared_no_cpu_time() {
    // An eighth of the CPU time, and for seven eighths of the time all wait for one who holds them up.
    let stalls = Load {
        usual_ns: 1e6 / 8.0,
        ..LOAD
    };
    assert!((stalls.cost(&stalls, 1.0) - 1.0).abs() < 1e-9);
    // All of it on one of eight CPUs.
    let one_cpu = Load {
        uneven: 8.0,
        ..LOAD
    };
    assert!((one_cpu.cost(&one_cpu, 1.0) - 1.0).abs() < 1e-9);
}

#[test]
fn without_a_quota_a_gain_may_be_of_more_than_the_wait() {
    let held = Load {
        quota: Some(1.0),
        ..LOAD
    };
    let [bound, free] = [&held, &LOAD].map(|after| gain(&held, after, wait(0.8)).interval.high);
    let most = |part: f64| 1.0 / (1.0 - part) - 1.0;
    assert!(bound <= most(0.82) + 1e-9);
    // A tenth of a request is CPU time.
    assert!(free > most(0.82) && free <= most(0.82 + 0.1 * (1.0 - AFTER_BURSTS.0)) + 1e-9);
}

#[test]
fn what_a_quota_let_through_in_bursts_may_cost_more_without_it() {
    let held = Load {
        quota: Some(1.0),
        ..LOAD
    };
    let (least, most) = AFTER_BURSTS;
    assert!((held.cost(&LOAD, 0.0) - most).abs() < 1e-9);
    assert!((held.cost(&LOAD, 1.0) - least).abs() < 1e-9);
    assert!(held.cost(&held, 0.0) < most, "while the quota stays");
}

#[test]
fn an_hour_is_no_unknown_of_a_wait_that_goes() {
    // Nothing else is full: what is left of the width is the share's and the run's.
    let gain = gain(&LOAD, &LOAD, wait(0.8));
    let width = (gain.interval.high - gain.interval.low) / 2.0 / gain.estimate;
    assert!(width < 0.3, "{gain:?}");
}

fn loads() -> impl Strategy<Value = Load> {
    let times = (
        1.0..1e9f64,
        0.01..1.0f64,
        0.0..1.0f64,
        0.0..1e7f64,
        0.0..1.0f64,
    );
    let load = (
        1.0..1e5f64,
        prop::option::of(1..5_000u32),
        any::<bool>(),
        0.0..1.0f64,
    );
    let cpus = (1..256u32, prop::option::of(0.1..8.0f64));
    let uneven = (0.0..=1.0f64, 1.0..8.0f64);
    (times, load, cpus, uneven).prop_map(|(times, load, cpus, (usual, uneven))| {
        let (response_ns, cpu, target, others_ns, thread) = times;
        let (throughput, clients, is_fixed_rate, late) = load;
        let own_ns = response_ns * cpu;
        Load {
            throughput,
            response_ns,
            late,
            clients,
            is_fixed_rate,
            own_ns,
            target_ns: own_ns * target,
            others_ns,
            target_thread_ns: own_ns * target * thread,
            generator_thread_ns: own_ns * (1.0 - target) * thread,
            cpus: f64::from(cpus.0),
            quota: cpus.1,
            usual_ns: response_ns * usual,
            uneven,
        }
    })
}

fn assert_sane(gain: &Gain) {
    let Interval { low, high } = gain.interval;
    assert!(0.0 <= low && low <= high && high.is_finite(), "{gain:?}");
    assert!((low..=high).contains(&gain.estimate), "{gain:?}");
    assert!(!gain.model.is_empty());
}

proptest! {
    #[test]
    fn a_gain_is_an_interval_that_holds_its_estimate(
        load in loads(),
        part in (-0.5..1.5f64, -0.5..1.5f64),
        more in 1.0..4.0f64,
        alone in any::<bool>(),
    ) {
        let after = Load {
            cpus: load.cpus * more,
            quota: None,
            others_ns: if alone { 0.0 } else { load.others_ns },
            ..load
        };
        let (low, high) = part;
        for goes in [Goes::Wait(Interval { low, high }), Goes::Line(low)] {
            if let Some(gain) = load.gain(&after, goes) {
                assert_sane(&gain);
                if gain.of == GainOf::ResponseTime {
                    prop_assert!(gain.interval.high <= 1.0);
                }
            }
        }
        load.filled().iter().for_each(assert_sane);
    }

    #[test]
    fn no_more_is_gained_than_the_wait_allows(load in loads(), part in 0.0..0.9f64) {
        let closed = Load { is_fixed_rate: false, ..load };
        let gain = closed.gain(&closed, wait(part));
        prop_assert!(gain.is_some_and(|it| it.interval.high <= 1.0 / (1.0 - part - EDGES) - 1.0 + 1e-9));
    }

    #[test]
    fn a_little_more_of_a_wait_brings_a_little_more(load in loads(), part in 0.0..0.8f64) {
        let closed = Load { is_fixed_rate: false, ..load };
        let (less, more) = (gain(&closed, &closed, wait(part)), gain(&closed, &closed, wait(part + 1e-4)));
        prop_assert!(more.estimate >= less.estimate - 1e-9);
        prop_assert!((more.estimate - less.estimate) <= 1e-2 * (1.0 + less.estimate));
    }
}
