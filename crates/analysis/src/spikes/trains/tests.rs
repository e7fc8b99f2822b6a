//! Periods of made-up trains, and none of trains without.

use super::*;

const SPAN: f64 = 300.0;
const DEAD: f64 = 0.8;

struct Random(Xorshift);

impl Random {
    fn new(seed: u64) -> Self {
        let mut own = Xorshift::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = own.draw());
        Self(own)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0.share()
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.share()).sum();
        sum - 6.0
    }
}

/// Rising, and with the dead time of spikes between them.
fn apart(mut times: Vec<f64>) -> Vec<f64> {
    times.retain(|it| (0.0..SPAN).contains(it));
    times.sort_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    times.retain(|it| {
        let stays = it - last >= DEAD;
        if stays {
            last = *it;
        }
        stays
    });
    times
}

fn periodic(random: &mut Random, period: f64, jitter: f64, missed: f64) -> Vec<f64> {
    let start = random.share() * period;
    let cycles = (SPAN / period) as i64;
    let times = (0..cycles).filter_map(|cycle| {
        let time = start + period * cycle as f64 + jitter * random.normal();
        (random.share() >= missed).then_some(time)
    });
    apart(times.collect())
}

#[test]
fn a_period_is_found_with_jitter_and_missed_cycles() {
    let mut found = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let period = 5.0 + 15.0 * random.share();
        let times = periodic(&mut random, period, 0.1, 0.2);
        let trains = trains(&times, SPAN, DEAD);
        let is_right = trains
            .first()
            .is_some_and(|it| (it.period / period - 1.0).abs() < 0.01);
        if !is_right {
            println!("{seed}: {period}, {times:?}: {trains:?}");
        }
        found += usize::from(is_right);
    }
    assert!(found >= 38, "{found} of 40");
}

/// As many events as a recording of a minute and a half has.
#[test]
fn a_few_cycles_are_enough_and_every_other_one_is_no_period() {
    let (mut found, mut wrong) = (0, 0);
    for seed in 200..300 {
        let mut random = Random::new(seed);
        let mut times = periodic(&mut random, 7.0, 0.35, 0.2);
        times.retain(|it| *it < 95.0);
        let trains = trains(&times, 95.0, DEAD);
        let is_right = |it: &Found| (it.period / 7.0 - 1.0).abs() < 0.02;
        found += usize::from(trains.first().is_some_and(is_right));
        wrong += usize::from(trains.first().is_some_and(|it| !is_right(it)));
    }
    assert!(found >= 85 && wrong <= 2, "{found} and {wrong} of 100");
}

#[test]
fn others_between_them_do_not_hide_a_period() {
    let mut found = 0;
    for seed in 100..120 {
        let mut random = Random::new(seed);
        let mut times = periodic(&mut random, 12.0, 0.05, 0.1);
        times.extend((0..8).map(|_| random.share() * SPAN));
        let times = apart(times);
        let trains = trains(&times, SPAN, DEAD);
        found += usize::from(
            trains
                .first()
                .is_some_and(|it| (it.period / 12.0 - 1.0).abs() < 0.01),
        );
    }
    assert!(found >= 18, "{found} of 20");
}

#[test]
fn two_trains_are_both_found() {
    let mut random = Random::new(7);
    let mut times = periodic(&mut random, 30.0, 0.02, 0.0);
    times.extend(periodic(&mut random, 13.0, 0.02, 0.0));
    let times = apart(times);
    let mut periods: Vec<i64> = trains(&times, SPAN, DEAD)
        .iter()
        .map(|it| it.period.round() as i64)
        .collect();
    periods.sort_unstable();
    assert_eq!(periods, [13, 30]);
}

/// How many of some trains without a period seem to have one.
fn false_alarms(runs: u64, mut times: impl FnMut(&mut Random) -> Vec<f64>) -> usize {
    let has_one = |seed: &u64| {
        let mut random = Random::new(seed + 1_000);
        let times = apart(times(&mut random));
        !trains(&times, SPAN, DEAD).is_empty()
    };
    (0..runs).filter(has_one).count()
}

#[test]
fn random_clustered_and_quasi_regular_trains_have_none() {
    const RUNS: u64 = 200;
    let renewal = |random: &mut Random, gap: &dyn Fn(&mut Random) -> f64| {
        let (mut times, mut time) = (Vec::new(), 0.0);
        while time < SPAN {
            time += gap(random);
            times.push(time);
        }
        times
    };
    let poisson = false_alarms(RUNS, |random| renewal(random, &|it| it.exponential(12.0)));
    let clustered = false_alarms(RUNS, |random| {
        let centres = renewal(random, &|it| it.exponential(40.0));
        let around = |centre: f64, random: &mut Random| -> Vec<f64> {
            (0..4).map(|_| centre + 3.0 * random.normal()).collect()
        };
        centres
            .into_iter()
            .flat_map(|it| around(it, random))
            .collect()
    });
    let regular = false_alarms(RUNS, |random| {
        renewal(random, &|it| 12.0 * (1.0 + 0.3 * it.normal()).max(0.1))
    });
    println!("Poisson {poisson}, clustered {clustered}, quasi-regular {regular} of {RUNS}");
    for alarms in [poisson, clustered, regular] {
        assert!(
            alarms as u64 <= RUNS / 100,
            "{poisson} {clustered} {regular}"
        );
    }
}

#[test]
fn large_spikes_keep_their_period_among_many_small_ones() {
    let mut random = Xorshift::new(7);
    let mut all: Vec<(f64, f64)> = (0..10)
        .map(|it| (7.2 + 15.0 * f64::from(it), 1e9))
        .collect();
    all.extend((0..18).map(|_| (random.share() * 150.0, 1e7)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let times: Vec<f64> = all.iter().map(|it| it.0).collect();
    let weights: Vec<f64> = all.iter().map(|it| it.1).collect();
    let [train] = &*of_the_largest(&times, &weights, 150.0, 1.0) else {
        panic!("one train");
    };
    assert!((train.period - 15.0).abs() < 0.05, "{train:?}");
    assert!(
        train.members.iter().all(|it| weights[it.0] > 1e8),
        "{train:?}"
    );
    assert_eq!(train.members.len(), 10);
    let alike = vec![1.0; times.len()];
    assert_eq!(of_the_largest(&times, &alike, 150.0, 1.0), []);
}

#[test]
fn a_train_that_was_reported_has_its_cycles_again() {
    let times: Vec<f64> = (0..12).map(|it| 3.0 + 15.0 * f64::from(it)).collect();
    let found = trains(&times, 200.0, 1.0);
    let told = Train {
        period_ns: found[0].period * 1e9,
        period_low_ns: 14.9e9,
        period_high_ns: 15.1e9,
        jitter_ns: 0.0,
        coverage: 1.0,
        purity: 1.0,
        cycles: 12,
        spikes: (0..12).collect(),
        schedule: model::Schedule::Unknown,
    };
    let again = Found::again(&told, &times).expect("it has members");
    assert_eq!(again.members.len(), found[0].members.len());
    assert!(
        (again.at(again.members[3].1) - times[again.members[3].0]).abs() < 0.01,
        "{again:?}"
    );
}

#[test]
fn turning_from_frequency_to_frequency_is_what_a_sine_of_each_is() {
    let times: Vec<f64> = (0..60)
        .map(|it| 59.7 * f64::from(it) + f64::from(it * it % 7))
        .collect();
    let search = Search::of(&times, 3_600.0, 0.5).expect("there are cycles");
    let afar = search.statistics(&times).zip(search.frequencies());
    for (turned, frequency) in afar {
        let own = h_statistic(&times, frequency);
        assert!(
            (turned - own).abs() <= 1e-9 * own.abs().max(1.0),
            "{turned} {own}"
        );
    }
}

#[test]
fn onsets_that_something_else_makes_earlier_do_not_draw_the_period_away() {
    // Two of nine have a stall of another cause half a second before them.
    let mut times: Vec<f64> = (0..9).map(|cycle| 7.0 + 15.0 * f64::from(cycle)).collect();
    times[3] -= 0.5;
    times[7] -= 0.5;
    let found = trains(&times, 150.0, DEAD);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].period - 15.0).abs() < 0.001, "{found:?}");
    assert!(found[0].jitter < 0.001, "{found:?}");
    let own: Vec<usize> = found[0].members.iter().map(|it| it.0).collect();
    assert_eq!(own, [0, 1, 2, 4, 5, 6, 8]);
}
