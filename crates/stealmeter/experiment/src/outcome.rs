//! What came of all runs, in words.

use std::fmt::Write;

use anyhow::{Result, bail};

use crate::meters::class;
use crate::run::{Run, Seen};
use crate::table::{
    Check, checks, counters, falls_of_old, is_busy_beside_a_hog, per_wakeup_us, table,
};

/// Everything that is said at the end.
pub(crate) struct Outcome {
    seen: Vec<Seen>,
    checks: Vec<Check>,
    /// Runs that do not count, and what could not be compared.
    missing: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(runs: &[Run], outside: Result<Check>) -> Self {
        let mut outcome = Self {
            seen: runs.iter().flat_map(|run| run.loops.clone()).collect(),
            checks: Vec::new(),
            missing: Vec::new(),
        };
        outcome.checks.push(counters(&outcome.seen));
        for run in runs {
            match &run.void {
                Some(why) => {
                    let situation = run.loops.first().map(|seen| seen.situation.words());
                    let situation = situation.unwrap_or_default();
                    outcome.missing.push(format!("{situation}: {why}"));
                }
                None => outcome.checks.extend(run.loops.iter().flat_map(checks)),
            }
        }
        if !outcome.seen.iter().any(is_busy_beside_a_hog) {
            let words = "no loop was busy beside a hog, so that of none half was asked";
            outcome.missing.push(words.to_owned());
        }
        match outside {
            Ok(check) => outcome.checks.push(check),
            Err(why) => outcome
                .missing
                .push(format!("the view from outside: {why:#}")),
        }
        outcome
    }

    /// The result as Markdown: of runs of so many seconds, on a machine that had so much load before.
    pub(crate) fn text(&self, seconds: f64, load: &str) -> String {
        let mut text = String::new();
        let mut line = |words: &str| {
            let _ = writeln!(text, "{words}");
        };
        let machine = rustix::system::uname();
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        line(&format!(
            "`scripts/bench.sh steal --markdown docs/steal.md` on {}, Linux {}, {cpus} CPUs, load {load} before, {seconds} s a run; ms per second of wall time:\n",
            jiff::Timestamp::now().strftime("%Y-%m-%d"),
            machine.release().to_string_lossy(),
        ));
        line(&table(&self.seen));
        for words in self.remarks() {
            line(&format!("- {words}"));
        }
        line("\nWhat must hold:\n");
        for check in &self.checks {
            let word = if check.holds {
                "holds"
            } else {
                "DOES NOT HOLD"
            };
            line(&format!("- {word}: {}", check.words));
        }
        if !self.missing.is_empty() {
            line("\nNot judged, since it does not count or could not be had:\n");
        }
        for words in &self.missing {
            line(&format!("- {words}"));
        }
        text
    }

    /// What the formulas got wrong, in numbers.
    fn remarks(&self) -> Vec<String> {
        let falls = self.seen.iter().map(falls_of_old);
        let (falls, readings) = falls.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        let torn: u64 = self.seen.iter().map(|seen| seen.ends().1.torn).sum();
        let most_hidden = self.seen.iter().map(|seen| {
            let hidden_ns = seen.class_ns(class::HIDDEN);
            hidden_ns as f64 / seen.window().length_ns() as f64
        });
        let mut remarks = vec![
            format!(
                "The old formula's counter was lower than before at {falls} of {readings} readings."
            ),
            format!(
                "Ours deferred {torn} boundaries that could not be read, and called {:.2} % of a loop's time hidden at most.",
                most_hidden.fold(0.0, f64::max) * 100.0
            ),
        ];
        let apart_us = self.seen.iter().filter_map(per_wakeup_us);
        if let Some(most_us) = apart_us.max_by(f64::total_cmp) {
            remarks.push(format!(
                "Where a loop sleeps and has its CPU to itself, ours and the truth are {most_us:.1} us of run queue apart for each wakeup at most."
            ));
        }
        let missed = self.seen.iter().max_by_key(|seen| missed_ns(seen));
        if let Some(seen) = missed {
            let per_second = |ns: u64| ns as f64 / seen.window().length_ns() as f64 * 1e3;
            remarks.push(format!(
                "The fixed formula missed most of {}, {}: {:.1} of {:.1} ms/s in the run queue.",
                seen.situation.words(),
                seen.task.word(),
                per_second(missed_ns(seen)),
                per_second(seen.truth.run_queue_ns),
            ));
        }
        remarks
    }

    /// An error where something does not hold, or was not judged.
    pub(crate) fn verdict(&self) -> Result<()> {
        let broken = self.checks.iter().filter(|check| !check.holds).count();
        let missing = self.missing.len();
        if broken > 0 || missing > 0 {
            bail!(
                "steal: {broken} of {} checks do not hold, {missing} things were not judged; on a quiet machine, run it again",
                self.checks.len()
            );
        }
        Ok(())
    }
}

/// What was waited for a CPU and not shown as steal by the fixed formula, ns.
fn missed_ns(seen: &Seen) -> u64 {
    let (first, last) = seen.ends();
    let shown_ns = (last.fixed_ns - first.fixed_ns).unsigned_abs();
    seen.truth.run_queue_ns.saturating_sub(shown_ns)
}
