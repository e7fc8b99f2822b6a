//! When events come: with a period, a jitter and missed cycles, or at random. Everything follows from a seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;

/// No two random events are nearer to each other, s: nobody could tell their spikes apart.
const LEAST_GAP: f64 = 2.0;

/// Events that come again and again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recurring {
    /// From one cycle to the next, s.
    pub period: f64,
    /// Standard deviation of each event from its cycle's time, in parts of the period. Deviations do not add up.
    pub jitter: f64,
    /// Part of the cycles without an event.
    pub missed: f64,
}

/// Something at a time, s after the begin.
#[derive(Clone, PartialEq, Debug)]
pub struct Moment {
    /// When.
    pub at: f64,
    /// A cycle's number, or a name.
    pub label: String,
    /// What is done.
    pub action: String,
}

/// The cycles of `span` seconds that have an event, and when. Exactly the part that is to be missed is.
pub fn recurring(random: &mut Rng, rhythm: Recurring, span: f64) -> Vec<(u64, f64)> {
    let Recurring {
        period,
        jitter,
        missed,
    } = rhythm;
    let start = random.f64() * period;
    let count = ((span - start) / period).ceil().max(0.0) as usize;
    let mut cycles: Vec<u64> = (0..count as u64).collect();
    random.shuffle(&mut cycles);
    cycles.truncate(count - (missed * count as f64).round() as usize);
    cycles.sort_unstable();
    let at = |cycle: u64, random: &mut Rng| {
        (start + period * (cycle as f64 + jitter * normal(random))).max(0.0)
    };
    cycles
        .into_iter()
        .map(|cycle| (cycle, at(cycle, random)))
        .collect()
}

/// A Poisson process with a dead time.
pub fn at_random(random: &mut Rng, mean: f64, span: f64) -> Vec<f64> {
    let dead = LEAST_GAP.min(mean / 2.0);
    let mut times = Vec::new();
    let mut time = 0.0;
    loop {
        time += dead - (mean - dead) * (1.0 - random.f64()).ln();
        if time >= span {
            return times;
        }
        times.push(time);
    }
}

/// Standard normal (Box and Muller 1958).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// The text of a schedule that begins so long from now.
pub fn schedule(mut moments: Vec<Moment>, begin: Duration) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let begin_ms = (since.unwrap_or_default() + begin).as_millis();
    moments.sort_by(|a, b| a.at.total_cmp(&b.at));
    let line = |it: &Moment| {
        let at_ms = begin_ms + (it.at * 1e3) as u128;
        format!("{at_ms} {} {}\n", it.label, it.action)
    };
    moments.iter().map(line).collect()
}

/// A generator for what has this name: the same again, and another one for each name.
pub fn random(seed: u64, name: &str) -> Rng {
    // FNV-1a, whose results no version of a library changes.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(hash.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{deviation, mean};

    #[test]
    fn events_have_their_jitter_and_their_missed_cycles() {
        let rhythm = Recurring {
            period: 6.0,
            jitter: 0.05,
            missed: 0.2,
        };
        let cycles = recurring(&mut random(1, "a"), rhythm, 6_000.0);
        assert!((799..=800).contains(&cycles.len()), "{}", cycles.len());
        let first = cycles[0].1 - 6.0 * cycles[0].0 as f64;
        let off: Vec<f64> = cycles
            .iter()
            .map(|(cycle, at)| at - 6.0 * *cycle as f64 - first)
            .collect();
        let spread = deviation(&off).expect("there are events");
        assert!((spread / 6.0 - 0.05).abs() < 0.005, "{spread}");
    }

    #[test]
    fn random_events_have_their_rate_and_no_neighbours() {
        let times = at_random(&mut random(1, "b"), 6.0, 60_000.0);
        let gaps: Vec<f64> = times.windows(2).map(|it| it[1] - it[0]).collect();
        assert!(gaps.iter().all(|it| *it >= LEAST_GAP));
        assert!((mean(&gaps).expect("gaps") - 6.0).abs() < 0.2);
        // Exponential but for the dead time.
        assert!((deviation(&gaps).expect("gaps") - 4.0).abs() < 0.2);
    }

    #[test]
    fn a_seed_and_a_name_give_the_same_again() {
        let drawn = |seed, name| random(seed, name).u64(..);
        assert_eq!(drawn(1, "a"), drawn(1, "a"));
        assert_ne!(drawn(1, "a"), drawn(2, "a"));
        assert_ne!(drawn(1, "a"), drawn(1, "b"));
    }

    #[test]
    fn a_schedule_is_in_the_order_of_time() {
        let moment = |at, label: &str| Moment {
            at,
            label: label.to_owned(),
            action: "run true".to_owned(),
        };
        let text = schedule(
            vec![moment(2.0, "b"), moment(1.0, "a")],
            Duration::from_secs(1),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(" a run true") && lines[1].ends_with(" b run true"));
    }
}
