//! `score`: holds what was found against what was made, beside the baseline on the same reports.
//! Everything is read from the results of `run`; nothing is measured here.

mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use model::{EntityKind, Finding, Report, Resource, Role};

use crate::outcome::{self, Files, Outcome};
use crate::scenario::{Expect, Scenario, Who};
use crate::wilson::Proportion;
use crate::{baseline, requirement, scenarios};

/// Arguments of `score`.
#[derive(Args)]
pub struct ScoreArguments {
    /// Folder with the results of `run`
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
}

/// What became of one repetition.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Judgement {
    Counted { right: bool, baseline_right: bool },
    Void(String),
    NotHere(String),
    NotRun,
}

struct Row {
    scenario: &'static str,
    repetition: Option<u32>,
    expected: String,
    found: String,
    baseline: String,
    judgement: Judgement,
}

/// Prints the table; the status is 0 only if every scenario was right in every repetition.
pub fn score(arguments: &ScoreArguments) -> Result<u8> {
    let mut rows = Vec::new();
    for scenario in scenarios::all() {
        let before = rows.len();
        for repetition in outcome::repetitions(&arguments.out, scenario.name)? {
            let files = Files::of(&arguments.out, scenario.name, repetition);
            if let Some(outcome) = files.load()? {
                rows.push(row(&scenario, &outcome, files.load_report()?.as_ref()));
            }
        }
        if rows.len() == before {
            rows.push(not_run(&scenario));
        }
    }
    table::print(&rows);
    table::print_totals(&rows);
    let judgements: Vec<&Judgement> = rows.iter().map(|row| &row.judgement).collect();
    Ok(status(&judgements, requirement::everything()))
}

fn row(scenario: &Scenario, outcome: &Outcome, report: Option<&Report>) -> Row {
    let right = report.is_some_and(|report| is_right(report, scenario.expect, outcome));
    let claim = report.and_then(baseline::claim);
    let judgement = match (&outcome.not_here, &outcome.void) {
        (Some(reason), _) => Judgement::NotHere(reason.clone()),
        (None, Some(reason)) => Judgement::Void(reason.clone()),
        (None, None) => Judgement::Counted {
            right: right && outcome.status == Some(0),
            baseline_right: baseline::is_right(claim, scenario.expect),
        },
    };
    Row {
        scenario: scenario.name,
        repetition: Some(outcome.repetition),
        expected: scenario.expect.to_string(),
        found: found_in_words(outcome, report),
        baseline: claim.map_or("nothing", Resource::word).to_owned(),
        judgement,
    }
}

fn not_run(scenario: &Scenario) -> Row {
    Row {
        scenario: scenario.name,
        repetition: None,
        expected: scenario.expect.to_string(),
        found: "-".to_owned(),
        baseline: "-".to_owned(),
        judgement: Judgement::NotRun,
    }
}

/// Whether the headline names the cause and the entity that were made, and the other finding is
/// there where one is expected.
fn is_right(report: &Report, expect: Expect, outcome: &Outcome) -> bool {
    let Some((headline, others)) = report.verdict.findings.split_first() else {
        return false;
    };
    headline.cause == expect.cause
        && is_about(headline, expect.entity, report, outcome)
        && expect
            .also
            .is_none_or(|also| others.iter().any(|finding| finding.cause == also))
}

fn is_about(finding: &Finding, who: Who, report: &Report, outcome: &Outcome) -> bool {
    let plays = |role| {
        let mut subjects = report
            .subjects
            .iter()
            .filter(|subject| subject.role == role);
        subjects
            .any(|s| s.entity.kind == finding.entity.kind && s.entity.path == finding.entity.path)
    };
    match who {
        Who::Target => plays(Role::Target),
        Who::Generator => plays(Role::Generator),
        Who::LimitedGroup => {
            finding.entity.kind == EntityKind::Cgroup
                && outcome.limited_group.as_ref() == Some(&finding.entity.path)
        }
    }
}

fn found_in_words(outcome: &Outcome, report: Option<&Report>) -> String {
    if outcome.not_here.is_some() {
        return "-".to_owned();
    }
    let Some(report) = report else {
        let status = outcome
            .status
            .map_or("killed".to_owned(), |status| status.to_string());
        return format!("no report (stallscope: {status})");
    };
    let mut findings = report.verdict.findings.iter();
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

/// How often Stallscope and the baseline were right, of the runs that count.
fn totals(rows: &[&Row]) -> (Proportion, Proportion) {
    let (mut stallscope, mut baseline, mut total) = (0, 0, 0);
    for row in rows {
        if let Judgement::Counted {
            right,
            baseline_right,
        } = row.judgement
        {
            total += 1;
            stallscope += u32::from(right);
            baseline += u32::from(baseline_right);
        }
    }
    (
        Proportion::new(stallscope, total),
        Proportion::new(baseline, total),
    )
}

/// 0 when everything that counts was right and something counts. What could not be made here, and
/// void runs, are apart; unless everything is required.
fn status(judgements: &[&Judgement], everything: bool) -> u8 {
    let counts = |judgement: &&&Judgement| matches!(judgement, Judgement::Counted { .. });
    let any = judgements.iter().find(counts).is_some();
    let fine = judgements.iter().all(|judgement| match judgement {
        Judgement::Counted { right, .. } => *right,
        Judgement::Void(_) | Judgement::NotHere(_) => !everything,
        Judgement::NotRun => false,
    });
    u8::from(!(any && fine))
}

#[cfg(test)]
pub mod tests;
