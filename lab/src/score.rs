//! `score`: holds what was found against what was made, beside the baselines on the same runs.
//! Everything is read from the results of `run`; nothing is measured here.

mod judge;
mod mechanisms;
mod reliability;
mod table;

pub use judge::{Found, judge};

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use model::Confidence;

use crate::again::Judge;
use crate::baseline::{self, Claim};
use crate::by::By;
use crate::outcome::{self, Answer, Files, Outcome};
use crate::print::say;
use crate::removal::Removal;
use crate::scenario::{Kind, Scenario, Set};
use crate::statistics::Proportion;
use crate::witness::Metrics;
use crate::{requirement, scenarios};

const THRESHOLDS: &str = "crates/analysis/thresholds.toml";

/// Arguments of `score`.
#[derive(Args)]
pub struct ScoreArguments {
    /// Folder with the results of `run`
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
    /// Which set of situations
    #[arg(long, value_name = "NAME", value_enum, default_value = "tuned")]
    set: Set,
    /// The results of a variant of the runs
    #[arg(long, value_enum, default_value = "usual")]
    by: By,
    /// Score what the program says of the recordings now, not what it said when they were made
    #[arg(long)]
    again: bool,
    /// The same as if these tables had not been recorded: thread_time,process_time
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    without: Vec<String>,
    /// The program that says it [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
}

impl ScoreArguments {
    /// Who says it again; `None` where the reports of the runs are taken.
    fn judge_again(&self) -> Result<Option<Judge>> {
        let again = self.again || !self.without.is_empty();
        let judge = || Judge::new(self.stallscope.as_deref(), &self.without);
        again.then(judge).transpose()
    }
}

/// What became of one repetition.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Judgement {
    Counted { found: Found, rules: [bool; 3] },
    Void(String),
    NotHere(String),
    NotMade(String),
    NotRun,
}

impl Row {
    /// With what taking the cause away changed, where that was measured. A decoy that costs something
    /// is none, and does not count.
    fn beside(mut self, removal: Option<Removal>) -> Self {
        if let Some(removal) = removal {
            let counts = self.found().is_some();
            if self.kind == Kind::Decoy && counts && !removal.is_harmless() {
                let percent = removal.mean_longer() * 100.0;
                self.judgement =
                    Judgement::Void(format!("no decoy here: the mean is {percent:+.0} %"));
            }
        }
        self.removal = removal;
        self
    }

    /// How it was judged, where it counts.
    fn found(&self) -> Option<Found> {
        match self.judgement {
            Judgement::Counted { found, .. } => Some(found),
            _ => None,
        }
    }

    fn says(&self, causes: &[&str]) -> bool {
        let headline = self.headline.as_ref();
        headline.is_some_and(|(cause, _)| causes.contains(&cause.as_str()))
    }

    /// Names a cause although nothing is wrong. An answer that says it cannot tell is not right, and
    /// accuses nobody either.
    fn is_alarm(&self) -> bool {
        self.is_innocent() && self.headline.is_some() && !self.says(&["healthy", "undetermined"])
    }

    /// Says that all is well although something is wrong: the answer that ends the search.
    fn is_false_comfort(&self) -> bool {
        !self.is_innocent() && self.says(&["healthy"])
    }

    fn is_innocent(&self) -> bool {
        matches!(self.kind, Kind::Healthy | Kind::Decoy)
    }
}

struct Row {
    scenario: &'static str,
    mechanism: &'static str,
    kind: Kind,
    repetition: Option<u32>,
    expected: String,
    found: String,
    claims: [Claim; 3],
    /// The first finding's cause and how sure it is.
    headline: Option<(String, Confidence)>,
    removal: Option<Removal>,
    judgement: Judgement,
}

/// Prints the table; the status is 0 only if every scenario was right in every repetition.
pub fn score(arguments: &ScoreArguments) -> Result<u8> {
    let out = &arguments.by.folder(&arguments.out);
    let usual = usual(out)?;
    let again = arguments.judge_again()?;
    let room = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut rows = Vec::new();
    for mut scenario in scenarios::chosen(&[], arguments.set)? {
        scenario.expect = arguments.by.expects(scenario.expect);
        let removal = Removal::load(&arguments.out, scenario.name)?;
        let before = rows.len();
        for repetition in outcome::repetitions(out, scenario.name)? {
            let files = Files::of(out, scenario.name, repetition);
            if let Some(outcome) = files.load()? {
                let answer = match &again {
                    Some(judge) if files.recording().exists() => {
                        let beside = Files::of(room.path(), scenario.name, repetition);
                        Some(judge.answer(&files.recording(), &beside)?)
                    }
                    _ => files.load_report()?,
                };
                let row = row(&scenario, &outcome, answer.as_ref(), &usual);
                rows.push(row.beside(removal));
            }
        }
        if rows.len() == before {
            rows.push(not_run(&scenario));
        }
    }
    table::print(&rows);
    table::print_totals(&rows);
    table::print_decoys(&rows);
    mechanisms::print(&rows);
    reliability::print(&rows);
    if arguments.by != By::Usual {
        table::print_variant(arguments.by, &rows);
    }
    say!("{:20}  {}", "thresholds", thresholds());
    let judgements: Vec<&Judgement> = rows.iter().map(|row| &row.judgement).collect();
    Ok(status(&judgements, requirement::everything()))
}

/// What the metrics are in the healthy runs of a folder that count.
fn usual(folder: &Path) -> Result<Metrics> {
    let mut healthy = Vec::new();
    for scenario in scenarios::all() {
        if scenario.kind != Kind::Healthy {
            continue;
        }
        for repetition in outcome::repetitions(folder, scenario.name)? {
            let outcome = Files::of(folder, scenario.name, repetition).load()?;
            healthy.extend(outcome.filter(|outcome| outcome.void.is_none()));
        }
    }
    let metrics: Vec<&Metrics> = healthy.iter().map(|outcome| &outcome.witnessed).collect();
    Ok(baseline::usual(&metrics))
}

fn row(scenario: &Scenario, outcome: &Outcome, answer: Option<&Answer>, usual: &Metrics) -> Row {
    let found = answer.map_or(Found::Not, |a| judge(a, scenario.expect, outcome));
    let claims = answer.map_or([Claim::Silent; 3], |answer| {
        baseline::claims(&answer.report, &outcome.witnessed, usual)
    });
    let judgement = match (&outcome.not_here, &outcome.not_made, &outcome.void) {
        (Some(reason), ..) => Judgement::NotHere(reason.clone()),
        (None, Some(reason), _) => Judgement::NotMade(reason.clone()),
        (None, None, Some(reason)) => Judgement::Void(reason.clone()),
        (None, None, None) => Judgement::Counted {
            found: if outcome.status == Some(0) {
                found
            } else {
                Found::Not
            },
            rules: claims.map(|claim| claim.is_right(scenario.expect)),
        },
    };
    Row {
        repetition: Some(outcome.repetition),
        found: found_in_words(scenario, outcome, answer),
        claims,
        headline: answer.and_then(|answer| {
            let first = answer.report.verdict.findings.first()?;
            Some((first.cause.clone(), first.confidence))
        }),
        judgement,
        ..not_run(scenario)
    }
}

fn not_run(scenario: &Scenario) -> Row {
    Row {
        scenario: scenario.name,
        mechanism: scenario.mechanism,
        kind: scenario.kind,
        repetition: None,
        expected: scenario.expect.to_string(),
        found: "-".to_owned(),
        claims: [Claim::Silent; 3],
        headline: None,
        removal: None,
        judgement: Judgement::NotRun,
    }
}

fn found_in_words(scenario: &Scenario, outcome: &Outcome, answer: Option<&Answer>) -> String {
    if outcome.not_here.is_some() || outcome.not_made.is_some() {
        return "-".to_owned();
    }
    let Some(answer) = answer else {
        let status = outcome
            .status
            .map_or("killed".to_owned(), |status| status.to_string());
        return format!("no report (stallscope: {status})");
    };
    let steps = answer.steps.verdicts();
    if !scenario.expect.phases.is_empty() && !steps.is_empty() {
        let steps = steps
            .iter()
            .map(|v| format!("{} of {}", v.cause, v.entity.name));
        return steps.collect::<Vec<_>>().join(", then ");
    }
    let mut findings = answer.report.verdict.findings.iter();
    let Some(headline) = findings.next() else {
        return "no finding".to_owned();
    };
    let others: Vec<&str> = findings.map(|finding| finding.cause.as_str()).collect();
    let with = if others.is_empty() {
        String::new()
    } else {
        format!(", with {}", others.join(", "))
    };
    format!("{} of {}{with}", headline.cause, headline.entity.name)
}

/// How often runs that count were right in the given way.
fn how_often(rows: &[&Row], right: impl Fn(&Row, Found, &[bool; 3]) -> bool) -> Proportion {
    let judged = rows.iter().filter_map(|row| match &row.judgement {
        Judgement::Counted { found, rules } => Some(right(row, *found, rules)),
        _ => None,
    });
    let judged: Vec<bool> = judged.collect();
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let right = judged.iter().filter(|right| **right).count();
    Proportion::new(count(right), count(judged.len()))
}

/// 0 when everything that counts was right and something counts. What could not be made here, and
/// void runs, are apart; unless everything is required.
fn status(judgements: &[&Judgement], everything: bool) -> u8 {
    let counts = |judgement: &&&Judgement| matches!(judgement, Judgement::Counted { .. });
    let any = judgements.iter().find(counts).is_some();
    let fine = judgements.iter().all(|judgement| match judgement {
        Judgement::Counted { found, .. } => *found == Found::First,
        Judgement::Void(_) | Judgement::NotHere(_) => !everything,
        Judgement::NotMade(_) => true,
        Judgement::NotRun => false,
    });
    u8::from(!(any && fine))
}

/// The thresholds that a score belongs to: the commit that last touched them, and whether they have been changed since.
fn thresholds() -> String {
    let Some(commit) =
        git(&["log", "-1", "--format=%h", "--", THRESHOLDS]).filter(|c| !c.is_empty())
    else {
        return "not known: not in a checkout of the sources".to_owned();
    };
    let changed =
        git(&["status", "--porcelain", "--", THRESHOLDS]).is_some_and(|text| !text.is_empty());
    if changed {
        format!("{commit}, and changed since")
    } else {
        commit
    }
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
pub mod tests;
