//! The score as text: one line per repetition, then the totals with their intervals.

use super::{Found, Judgement, Row, how_often};
use crate::baseline::RULES;
use crate::by::By;
use crate::print::say;
use crate::scenario::Kind;

/// Prints a line per repetition.
pub fn print(rows: &[Row]) {
    let heading = ["scenario", "rep", "expected", "found", "answer"];
    let heading = heading.iter().chain(&RULES).chain(&["void"]);
    let mut lines: Vec<Vec<String>> = vec![heading.map(|word| (*word).to_owned()).collect()];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| {
        let lengths = lines.iter().map(|line| line[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    for line in &lines {
        let padded: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        say!("{}", padded.join("  ").trim_end());
    }
}

fn cells(row: &Row) -> Vec<String> {
    let dash = || "-".to_owned();
    let (answer, rules, void) = match &row.judgement {
        Judgement::Counted { found, rules } => {
            let word = |right: &bool| if *right { "right" } else { "wrong" };
            let rule = |(claim, right)| format!("{claim}: {}", word(right));
            let rules = row.claims.iter().zip(rules).map(rule).collect();
            (found.word(), rules, String::new())
        }
        Judgement::Void(reason) => ("void", vec![dash(); RULES.len()], reason.clone()),
        Judgement::NotHere(reason) => ("not here", vec![dash(); RULES.len()], reason.clone()),
        Judgement::NotMade(reason) => ("not made", vec![dash(); RULES.len()], reason.clone()),
        Judgement::NotRun => ("not run", vec![dash(); RULES.len()], String::new()),
    };
    let repetition = row
        .repetition
        .map_or_else(dash, |number| number.to_string());
    let mut cells = vec![
        row.scenario.to_owned(),
        repetition,
        row.expected.clone(),
        row.found.clone(),
        answer.to_owned(),
    ];
    cells.extend(rules);
    cells.push(void);
    cells
}

/// Prints what each decoy cost, where `validate` measured that.
pub fn print_decoys(rows: &[Row]) {
    let mut decoys: Vec<&Row> = rows.iter().filter(|row| row.kind == Kind::Decoy).collect();
    decoys.dedup_by_key(|row| row.scenario);
    let measured = decoys
        .iter()
        .filter_map(|row| Some((row.scenario, row.removal?)));
    let lines: Vec<String> = measured
        .map(|(name, removal)| {
            let percent = |longer: f64| format!("{:+.0} %", longer * 100.0);
            let p99 = removal.p99_longer().map_or("not known".to_owned(), percent);
            let mean = percent(removal.mean_longer());
            format!("{name:24}  mean {mean}, p99 {p99}")
        })
        .collect();
    if !lines.is_empty() {
        say!();
        say!("latency with the decoy, against the same load alone:");
        lines.iter().for_each(|line| say!("{line}"));
    }
}

/// Prints how many answers of a variant are those that are expected of the usual run.
pub fn print_variant(by: By, rows: &[Row]) {
    let all: Vec<&Row> = rows.iter().collect();
    let same = how_often(&all, |_, found, _| found == Found::First);
    let not_made = |row: &&Row| matches!(row.judgement, Judgement::NotMade(_));
    let not_made = rows.iter().filter(not_made).count();
    let label = format!("by {}", by.word());
    say!(
        "{label:20}  cause and entity as expected of the usual run: {same}; {not_made} cannot be made"
    );
}

/// Prints how often each was right, of the runs that count.
pub fn print_totals(rows: &[Row]) {
    say!();
    let first = |_: &Row, found, _: &[bool; 3]| found == Found::First;
    let mut names: Vec<&str> = rows.iter().map(|row| row.scenario).collect();
    names.dedup();
    for name in names {
        let own: Vec<&Row> = rows.iter().filter(|row| row.scenario == name).collect();
        say!("{name:24}  {}", how_often(&own, first));
    }
    say!();
    let all: Vec<&Row> = rows.iter().collect();
    let few = |_: &Row, found, _: &[bool; 3]| found != Found::Not;
    say!("{:20}  {}", "stallscope", how_often(&all, first));
    say!("{:20}  {}", "  in its first three", how_often(&all, few));
    for (number, rule) in RULES.iter().enumerate() {
        let right = how_often(&all, |_, _, rules| rules[number]);
        say!("{rule:20}  {right}");
    }
    let innocent: Vec<&Row> = rows.iter().filter(|row| row.is_innocent()).collect();
    let alarms = how_often(&innocent, |row, _, _| row.is_alarm());
    say!("{:20}  {}", "false alarms", alarms.counted("alarms"));
    let wrong: Vec<&Row> = rows.iter().filter(|row| !row.is_innocent()).collect();
    let comforts = how_often(&wrong, |row, _, _| row.is_false_comfort());
    say!(
        "{:20}  {}",
        "healthy over a cause",
        comforts.counted("healthy")
    );
    let void = rows
        .iter()
        .filter(|row| matches!(row.judgement, Judgement::Void(_)))
        .count();
    say!("{:20}  {void} of {}, not counted", "void", rows.len());
}
