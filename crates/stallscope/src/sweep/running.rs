//! The runs of a sweep, one after the other, from where an earlier one in the same folder stopped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use analysis::compare::Measured;
use analysis::sweep::{Asked, Configuration};
use anyhow::{Result, bail};
use model::{Sweep, VoidedRun};

use super::design::Design;
use super::instances::Instances;
use super::plan::Plan;
use super::search::{self, Known};
use super::server::Server;
use crate::outputs;
use crate::turns::{
    Folder, Interruption, Run, Shell, State, WantedRun, free_folder, make_run, measured, order,
};

/// After so many runs that do not count a configuration is given up.
const MOST_VOIDED: u32 = 3;
/// No run of a load generator that works takes longer.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
const POLL: Duration = Duration::from_millis(20);

/// What became of a sweep.
pub(super) enum Done {
    /// As put together.
    Swept(Box<Sweep>),
    /// An interrupt of this number ended it.
    Interrupted(i32),
}

pub(super) struct Running<'a> {
    plan: &'a Plan,
    path: PathBuf,
    folder: Folder,
    state: State<Design>,
    /// The options of each run, the goal among them.
    options: Vec<String>,
    /// Those that are run in any case, in the order of their values.
    configurations: Vec<Vec<String>>,
    /// Runs that count, by configuration.
    measured: BTreeMap<Vec<String>, Vec<Measured>>,
    /// Runs of this time that do not, by configuration.
    failed: BTreeMap<Vec<String>, u32>,
    /// What the last run was made with.
    applied: Option<Vec<String>>,
    server: Option<Server<'a>>,
}

impl<'a> Running<'a> {
    /// Opens the folder, and measures the runs of an earlier time.
    ///
    /// # Errors
    /// One sentence: the folder is another sweep's, or cannot be read or written.
    pub(super) fn begin(plan: &'a Plan, folder: Option<&Path>) -> Result<Self> {
        let path = folder.map_or_else(|| free_folder("sweep"), Path::to_owned);
        let folder = Folder::open(&path)?;
        let state = State::begun(&folder, Design::of(plan))?;
        let mut options = plan.options.clone();
        options.extend(
            plan.goal_in_words()
                .into_iter()
                .flat_map(|it| ["--slo".to_owned(), it]),
        );
        let mut running = Self {
            configurations: plan.configurations(),
            plan,
            path,
            folder,
            state,
            options,
            measured: BTreeMap::new(),
            failed: BTreeMap::new(),
            applied: None,
            server: Server::of(plan)?,
        };
        running.read_again()?;
        Ok(running)
    }

    fn read_again(&mut self) -> Result<()> {
        let counting = self.state.runs.iter().filter(|it| it.voided.is_none());
        let runs: Vec<Run> = counting.cloned().collect();
        if !runs.is_empty() {
            outputs::say(&format!("{} of before count", runs.len()));
        }
        for run in runs {
            match judge(&self.path.join(&run.name), run.round) {
                Ok(measured) => self.measured.entry(run.values).or_default().push(measured),
                Err(reason) => {
                    outputs::say(&format!("{} does not count: {reason}", run.name));
                    for own in self.state.runs.iter_mut().filter(|it| it.name == run.name) {
                        own.voided = Some(reason.clone());
                    }
                    self.folder.save(&self.state)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the runs that are left.
    ///
    /// # Errors
    /// One sentence: a run cannot be started, or none counts.
    pub(super) fn all(mut self) -> Result<Done> {
        outputs::say(&self.intention());
        let interruption = Interruption::watch()?;
        let mut is_first = true;
        while let Some(values) = self.next() {
            if !self.is_time() {
                outputs::say("the budget is over: the runs that are left are not made");
                break;
            }
            if !is_first {
                cool_down(self.plan.cool_down, &interruption);
            }
            is_first = false;
            if interruption.signal().is_none() {
                self.one(values, &interruption)?;
            }
            if let Some(signal) = interruption.signal() {
                outputs::say(&format!(
                    "stallscope: interrupted. The same command with --folder {} goes on",
                    self.path.display()
                ));
                return Ok(Done::Interrupted(signal));
            }
        }
        drop(interruption);
        Ok(Done::Swept(Box::new(self.swept()?)))
    }

    fn intention(&self) -> String {
        let configurations = match self.configurations.len() {
            1 => "1 configuration".to_owned(),
            many => format!("{many} configurations"),
        };
        let folder = self.path.display();
        let repeat = match self.plan.repeat {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            many => format!("{many} times"),
        };
        match self.plan.goal_in_words() {
            Some(goal) => format!(
                "{}: the highest value that keeps {goal}, each run {repeat} at most; recordings in {folder}",
                self.plan.shown()
            ),
            None => format!(
                "{}: {configurations}, {repeat} each; recordings in {folder}",
                self.plan.shown()
            ),
        }
    }

    /// Runs of a configuration that count.
    fn counted(&self, values: &[String]) -> u32 {
        let runs = self.measured.get(values).map_or(0, Vec::len);
        u32::try_from(runs).unwrap_or(u32::MAX)
    }

    fn is_given_up(&self, values: &[String]) -> bool {
        self.failed.get(values).is_some_and(|it| *it >= MOST_VOIDED)
    }

    /// The configuration that is run next.
    fn next(&self) -> Option<Vec<String>> {
        match self.plan.goal {
            Some(_) => self.next_of_search(),
            None => self.next_of_all(),
        }
    }

    /// In random order, all of them once before any a second time.
    fn next_of_all(&self) -> Option<Vec<String>> {
        let rounds = (1..=self.plan.repeat).flat_map(|round| {
            order(self.state.seed, round, self.configurations.len())
                .into_iter()
                .map(move |place| (round, place))
        });
        let mut open = rounds.filter(|(round, place)| {
            let values = &self.configurations[*place];
            self.counted(values) < *round && !self.is_given_up(values)
        });
        open.next()
            .map(|(_, place)| self.configurations[place].clone())
    }

    fn next_of_search(&self) -> Option<Vec<String>> {
        let listed = self.plan.parameters.first()?.whole_numbers()?;
        let mut known: BTreeMap<u64, Known> = BTreeMap::new();
        for (values, runs) in &self.measured {
            let Some(own) = values.first().and_then(|it| it.parse().ok()) else {
                continue;
            };
            let known = known.entry(own).or_default();
            for met in runs.iter().filter_map(Measured::meets_goals) {
                match met {
                    true => known.kept += 1,
                    false => known.missed += 1,
                }
            }
        }
        for values in self.failed.keys().filter(|it| self.is_given_up(it)) {
            if let Some(own) = values.first().and_then(|it| it.parse().ok()) {
                known.entry(own).or_default().given_up = true;
            }
        }
        let value = search::next(&listed, &known, self.plan.repeat)?;
        Some(vec![value.to_string()])
    }

    /// What the runs that were made took on average.
    fn usual_s(&self) -> f64 {
        let counting = self.state.runs.iter().filter(|it| it.voided.is_none());
        let times: Vec<f64> = counting.map(|it| it.took_s).collect();
        analysis::stats::mean(&times).unwrap_or(0.0)
    }

    fn is_time(&self) -> bool {
        let most = self.plan.budget.unwrap_or(LONGEST).as_secs_f64();
        self.state.spent_s() + self.usual_s() <= most
    }

    fn one(&mut self, values: Vec<String>, interruption: &Interruption) -> Result<()> {
        let plan = self.plan;
        let copies = Instances::of(plan, &values, self.state.runs.len() + 1)?;
        let apply = match self.applied.as_ref() == Some(&values) {
            true => Vec::new(),
            false => plan.shells(&plan.apply, &values, None),
        };
        let mut before: Vec<Shell> = apply.into_iter().map(Shell::anywhere).collect();
        before.extend(copies.shells(&plan.prepare));
        let round = self.counted(&values) + 1;
        let argv = copies.argv();
        let wanted = WantedRun {
            name: format!("{:03}-{}.stall", self.state.runs.len() + 1, slug(&values)),
            arm: 0,
            values: values.clone(),
            round,
            argv: &argv,
            before: &before,
            after: &copies.shells(&plan.cleanup),
            options: &self.options,
            most: LONGEST,
            judge: if plan.goal.is_some() {
                judge_goal
            } else {
                judge
            },
        };
        if let Some(server) = &mut self.server {
            server.lower(&plan.limits(&values))?;
        }
        let result = make_run(&self.folder, &mut self.state, &wanted, interruption)?;
        if let Some(server) = &mut self.server {
            server.restore()?;
        }
        // What a command that failed half-way applied is not known.
        self.applied = result.is_ok().then(|| values.clone());
        let named = self.named(&values);
        match result {
            Ok(measured) => {
                let said = measured.load_in_short();
                self.measured.entry(values).or_default().push(measured);
                outputs::say(&format!("{named}: {said}{}", self.left()));
            }
            Err(reason) => {
                if interruption.signal().is_none() {
                    *self.failed.entry(values.clone()).or_default() += 1;
                }
                let given_up = match self.is_given_up(&values) {
                    true => ". It is given up",
                    false => "",
                };
                outputs::say(&format!("{named} does not count: {reason}{given_up}"));
            }
        }
        Ok(())
    }

    /// `clients=8`
    fn named(&self, values: &[String]) -> String {
        let parameters = self.plan.parameters.iter().zip(values);
        let each = parameters.map(|(parameter, value)| format!("{}={value}", parameter.name));
        each.collect::<Vec<_>>().join(" ")
    }

    /// `  (7 of 21, about 2 min left)`; empty in a search, whose length nobody knows.
    fn left(&self) -> String {
        if self.plan.goal.is_some() {
            return String::new();
        }
        let open = |it: &&Vec<String>| !self.is_given_up(it);
        let all = self.configurations.iter().filter(open);
        let (mut made, mut wanted) = (0, 0);
        for values in all {
            made += self.counted(values).min(self.plan.repeat);
            wanted += self.plan.repeat;
        }
        let each = self.usual_s() + self.plan.cool_down.as_secs_f64();
        let left = f64::from(wanted - made) * each;
        match wanted - made {
            0 => format!("  ({made} of {wanted})"),
            _ => format!("  ({made} of {wanted}, about {} left)", roughly(left)),
        }
    }

    fn swept(self) -> Result<Sweep> {
        if self.measured.is_empty() {
            let last = self
                .state
                .runs
                .iter()
                .rev()
                .find_map(|it| it.voided.clone());
            bail!(
                "no run counts: {}",
                last.unwrap_or_else(|| "the budget was over before the first".to_owned())
            );
        }
        let voided = self.state.runs.iter().filter_map(|run| {
            Some(VoidedRun {
                name: run.name.clone(),
                group: self.named(&run.values),
                reason: run.voided.clone()?,
            })
        });
        let voided: Vec<VoidedRun> = voided.collect();
        let asked = Asked {
            command: self.plan.shown(),
            parameters: self.plan.swept(),
            goal: self.plan.goal,
        };
        let (seed, spent_s) = (self.state.seed, self.state.spent_s());
        // Those of the list in its order, and what a search tried besides after them.
        let mut measured = self.measured;
        let mut all: Vec<Configuration> = Vec::new();
        let listed = self.configurations.into_iter();
        all.extend(listed.filter_map(|values| {
            let runs = measured.remove(&values)?;
            Some(Configuration { values, runs })
        }));
        if self.plan.goal.is_some() {
            let others = measured.into_iter();
            all.extend(others.map(|(values, runs)| Configuration { values, runs }));
            all.sort_by_key(|it| it.values.first().and_then(|it| it.parse::<u64>().ok()));
        }
        let mut sweep = analysis::sweep::sweep(asked, all);
        sweep.voided = voided;
        sweep.seed = seed;
        sweep.spent_s = spent_s;
        Ok(sweep)
    }
}

/// `40 s`, `3 min`
fn roughly(seconds: f64) -> String {
    match seconds < 100.0 {
        true => format!("{seconds:.0} s"),
        false => format!("{:.0} min", (seconds / 60.0).ceil()),
    }
}

/// A part of a file's name: the values, without what a path or a shell would read.
fn slug(values: &[String]) -> String {
    const MOST: usize = 40;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
    let plain = |letter: char| if is_plain(letter) { letter } else { '_' };
    values.join("-").chars().map(plain).take(MOST).collect()
}

fn cool_down(time: Duration, interruption: &Interruption) {
    let until = Instant::now() + time;
    while Instant::now() < until && interruption.signal().is_none() {
        thread::sleep(POLL.min(time));
    }
}

/// Measures a recording; else why it does not count: a clause.
pub(super) fn judge(path: &Path, round: u32) -> std::result::Result<Measured, String> {
    let measured = measured(path, round)?;
    match measured.throughput() {
        Some(rate) if rate > 0.0 => Ok(measured),
        _ => Err("no requests were counted in it".to_owned()),
    }
}

/// The same of a search: it must be known whether the goal was kept.
fn judge_goal(path: &Path, round: u32) -> std::result::Result<Measured, String> {
    let measured = judge(path, round)?;
    match measured.meets_goals() {
        Some(_) => Ok(measured),
        None => {
            Err("whether it keeps the goal is not known: its latency was not measured".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_files_whatever_they_hold() {
        let slug =
            |values: &[&str]| slug(&values.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(slug(&["8", "xfs"]), "8-xfs");
        assert_eq!(slug(&["../../etc"]), ".._.._etc");
        assert_eq!(slug(&["é $(x)"]), "____x_");
        assert_eq!(slug(&["x".repeat(200).as_str()]).len(), 40);
    }
}
