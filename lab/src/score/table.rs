//! The score as text: one line per repetition, then the totals with their intervals.

use super::{Judgement, Row, totals};
use crate::scenarios;

/// Prints a line per repetition.
pub fn print(rows: &[Row]) {
    let heading = [
        "scenario",
        "rep",
        "expected",
        "found",
        "answer",
        "highest pressure",
        "void",
    ];
    let mut lines = vec![heading.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| {
        let lengths = lines.iter().map(|line| line[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    for line in &lines {
        let padded: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        println!("{}", padded.join("  ").trim_end());
    }
}

fn cells(row: &Row) -> [String; 7] {
    let word = |right: bool| if right { "right" } else { "wrong" };
    let (answer, baseline, void) = match &row.judgement {
        Judgement::Counted {
            right,
            baseline_right,
        } => {
            let baseline = format!("{}: {}", row.baseline, word(*baseline_right));
            (word(*right), baseline, String::new())
        }
        Judgement::Void(reason) => ("void", row.baseline.clone(), reason.clone()),
        Judgement::NotHere(reason) => ("not here", "-".to_owned(), reason.clone()),
        Judgement::NotRun => ("not run", "-".to_owned(), String::new()),
    };
    [
        row.scenario.to_owned(),
        row.repetition
            .map_or("-".to_owned(), |repetition| repetition.to_string()),
        row.expected.clone(),
        row.found.clone(),
        answer.to_owned(),
        baseline,
        void,
    ]
}

/// Prints how often each was right, of the runs that count.
pub fn print_totals(rows: &[Row]) {
    println!();
    for scenario in scenarios::all() {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.scenario == scenario.name)
            .collect();
        println!("{:16}  {}", scenario.name, totals(&own).0);
    }
    let (stallscope, baseline) = totals(&rows.iter().collect::<Vec<_>>());
    println!("{:16}  {stallscope}", "stallscope");
    println!("{:16}  {baseline}", "highest pressure");
    let void = rows
        .iter()
        .filter(|row| matches!(row.judgement, Judgement::Void(_)))
        .count();
    println!("{:16}  {void} of {}, not counted", "void", rows.len());
}
