//! What else goes on: two dozen streams of events that have nothing to do with the spikes. Scripts that are started,
//! bursts of connections to small servers, lines of a log; five of them nearly as often as what makes the spikes.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use fastrand::Rng;

use super::rhythm::{Moment, Recurring, at_random, recurring};
use crate::server::said;
use crate::stage::Stage;

const SCRIPTS: [&str; 13] = [
    "sync-mail",
    "expire-sessions",
    "rotate-keys",
    "check-disks",
    "purge-cache",
    "send-metrics",
    "refresh-views",
    "poll-queue",
    "warm-cache",
    "update-index",
    "scan-uploads",
    "trim-tokens",
    "probe-peers",
];
const LINES: [&str; 6] = [
    "mail queue was flushed to the relay",
    "index segments merged without any error",
    "upstream answered its health probe",
    "tokens reloaded",
    "metrics pushed to the collector in time again",
    "lease renewed for another term",
];
const SERVERS: usize = 5;
/// Connections of a burst.
const CONNECTIONS: u32 = 5;
/// Streams that recur within 20 % of the true period, by their places among all: scripts, a server's connections and
/// lines of a log; and how often, in true periods.
const NEAR: [(usize, f64); 5] = [(0, 0.83), (5, 0.91), (14, 0.95), (20, 1.06), (9, 1.18)];
/// How often others recur, in true periods: next to no multiples or parts of it.
const FAR: [f64; 6] = [0.37, 0.61, 1.45, 1.72, 2.3, 3.1];
/// Mean times between random ones, s.
const MEANS: [f64; 5] = [4.0, 6.0, 8.0, 11.0, 14.0];
const JITTER: f64 = 0.04;

/// The crowd's log.
pub fn log(stage: &Stage) -> PathBuf {
    stage.folder().join("crowd.log")
}

/// Writes the scripts, starts the servers, and says what happens in `span` seconds around events of this period, s.
pub fn gather(stage: &mut Stage, random: &mut Rng, period: f64, span: f64) -> Result<Vec<Moment>> {
    let log = log(stage);
    fs::write(&log, "").with_context(|| format!("cannot write {}", log.display()))?;
    let mut actions = Vec::new();
    for name in SCRIPTS {
        stage.script(name, "#!/bin/sh\n:\n")?;
        actions.push((name.to_owned(), format!("run sh {name}")));
    }
    for number in 0..SERVERS {
        let server = stage.own(&["serve", "hot-mutex"])?;
        let (_, line) = stage.beside_that_speaks(server)?;
        let (address, _) = said(&line).context("the server says where it is")?;
        let action = format!("connect {address} {CONNECTIONS}");
        actions.push((format!("server-{number}"), action));
    }
    for line in LINES {
        let label = line.split(' ').next().unwrap_or_default().to_owned();
        actions.push((label, format!("log {} {line}", log.display())));
    }
    let streams = actions.into_iter().enumerate();
    let moments = streams.flat_map(|(place, (label, action))| {
        let times = times(random, place, period, span);
        times.into_iter().map(move |at| Moment {
            at,
            label: label.clone(),
            action: action.clone(),
        })
    });
    Ok(moments.collect())
}

fn times(random: &mut Rng, place: usize, period: f64, span: f64) -> Vec<f64> {
    let near = NEAR.iter().find(|it| it.0 == place).map(|it| it.1);
    let parts = match near {
        None if place.is_multiple_of(2) => {
            return at_random(random, MEANS[place / 2 % MEANS.len()], span);
        }
        None => FAR[place / 2 % FAR.len()],
        Some(parts) => parts,
    };
    let rhythm = Recurring {
        period: parts * period,
        jitter: JITTER,
        missed: 0.0,
    };
    let cycles = recurring(random, rhythm, span);
    cycles.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rhythm;
    use super::*;

    #[test]
    fn of_two_dozen_streams_five_are_nearly_as_often() {
        const SPAN: f64 = 6_000.0;
        let streams = SCRIPTS.len() + SERVERS + LINES.len();
        assert!(streams >= 20);
        let mut random = rhythm::random(1, "crowd");
        let is_near = |place: &usize| {
            let count = times(&mut random, *place, 6.0, SPAN).len();
            let near = NEAR.iter().find(|it| it.0 == *place);
            near.is_some_and(|(_, parts)| {
                assert!((parts - 1.0).abs() < 0.2 && (parts - 1.0).abs() > 0.03);
                (SPAN / count as f64 / 6.0 - parts).abs() < 0.01
            })
        };
        assert_eq!((0..streams).filter(is_near).count(), 5);
    }
}
