//! What the machine did during a run, seen without stallscope's code: the numbers of the usual tools
//! (vmstat, iostat, sar), once a second. The baselines judge by them. Pressure is not among them:
//! reading it every second would change it for the recorder.

mod machine;

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::statistics::{deviation, mean};
use machine::Counters;

/// What people who look at a machine look at every second.
const PERIOD: Duration = Duration::from_secs(1);

/// Mean and deviation of each metric over the seconds of a run, by name.
pub type Metrics = BTreeMap<String, Metric>;

/// One metric.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Metric {
    /// Its mean.
    pub mean: f64,
    /// Standard deviation of its seconds.
    pub deviation: f64,
}

impl Metric {
    /// Of a run's seconds; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            mean: mean(values)?,
            deviation: deviation(values)?,
        })
    }
}

/// A thread that looks once a second.
pub struct Witness {
    over: Sender<()>,
    thread: JoinHandle<Vec<BTreeMap<&'static str, f64>>>,
}

impl Witness {
    /// Looks from now on.
    pub fn start() -> Result<Self> {
        let (over, is_over) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("witness".to_owned())
            .spawn(move || {
                let mut seconds = Vec::new();
                let (mut before, mut at) = (Counters::read(), Instant::now());
                while is_over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                    let (now, then) = (Counters::read(), Instant::now());
                    seconds.push(machine::metrics(&before, &now, (then - at).as_secs_f64()));
                    (before, at) = (now, then);
                }
                seconds
            })
            .context("cannot start a thread")?;
        Ok(Self { over, thread })
    }

    /// What was seen. The first second, in which everything starts, is left out.
    pub fn stop(self) -> Metrics {
        drop(self.over);
        let seconds = self.thread.join().unwrap_or_default();
        summary(seconds.get(1..).unwrap_or_default())
    }
}

fn summary(seconds: &[BTreeMap<&'static str, f64>]) -> Metrics {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for second in seconds {
        for (name, value) in second {
            values.entry(name).or_default().push(*value);
        }
    }
    let metric = |(name, values): (&str, Vec<f64>)| Some((name.to_owned(), Metric::of(&values)?));
    values.into_iter().filter_map(metric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_sees_this_machine() {
        let witness = Witness::start().expect("started");
        std::thread::sleep(Duration::from_millis(2300));
        let seen = witness.stop();
        let busy = seen.get("cpu busy").expect("/proc/stat is everywhere");
        assert!((0.0..=1.0).contains(&busy.mean), "{busy:?}");
    }
}
