//! What an experiment on a running target proved, as a person reads it in a terminal.

use analysis::compare::signed;
use analysis::{memory, rate};
use model::{Capacity, CapacityTrial, Proof, ProofOutcome, ProofPair, Report};

use super::layout::{labelled, wrap};
use super::sweep::{Shown, lines};
use super::{harmless, on_one_line};

/// The answer, ending in a line end.
pub(super) fn text(proof: &Proof, report: &Report, width: usize) -> String {
    let mut text = String::new();
    for answer in &proof.answers {
        wrap(answer, width)
            .iter()
            .for_each(|line| text.push_str(&format!("{line}\n")));
    }
    let tried: Vec<&CapacityTrial> = proof.capacities.iter().collect();
    if !tried.is_empty() {
        text.push_str(&format!("\n{}", table(&tried, width)));
    }
    text.push('\n');
    let not_tried = proof.capacities.iter();
    for trial in not_tried.filter(|it| it.pairs.is_empty()) {
        text.push_str(&labelled("Not tried", &trial.sentence, width));
    }
    if proof.outcome == ProofOutcome::Proved
        && let Some(finding) = report.verdict.findings.first()
    {
        for (place, remedy) in finding.would_help.iter().take(2).enumerate() {
            let label = if place == 0 { "Would help" } else { "" };
            text.push_str(&labelled(label, &remedy.change, width));
        }
    }
    for caveat in &proof.caveats {
        text.push_str(&labelled("Caveat", caveat, width));
    }
    text.push_str(&format!(
        "Everything is as it was. Saved {}. Next: stallscope explain {}\n",
        on_one_line(&proof.recording),
        on_one_line(&proof.recording)
    ));
    let text = harmless(&text);
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The same in short, below a verdict.
pub(super) fn lines_below(proof: &Proof, width: usize) -> String {
    let answers = proof.answers.iter();
    let lines = answers.enumerate().map(|(place, answer)| {
        let label = if place == 0 { "Experiment" } else { "" };
        labelled(label, answer, width)
    });
    harmless(&lines.collect::<String>())
}

fn table(trials: &[&CapacityTrial], width: usize) -> String {
    let column = |head: &str, cell: &dyn Fn(&CapacityTrial) -> Option<String>| Shown {
        head: head.to_owned(),
        cells: trials
            .iter()
            .map(|it| cell(it).unwrap_or("-".to_owned()))
            .collect(),
        is_name: false,
    };
    let of = |it: &CapacityTrial, value: Option<f64>| Some(amount(it.capacity, value?));
    let columns = [
        column("capacity", &|it| Some(it.capacity.word().to_owned())),
        column("used", &|it| of(it, it.used)),
        column("available", &|it| of(it, it.available)),
        column("lowered to", &|it| of(it, it.lowered_to)),
        column("throughput", &|it| it.change.map(signed)),
        column("latency", &|it| latency(&it.pairs)),
        column("elasticity", &|it| {
            let known = it.elasticity?;
            let half = (known.interval.high - known.interval.low) / 2.0;
            Some(format!("{:.2} +- {half:.2}", known.value))
        }),
        column("", &|it| Some(it.outcome.word().to_owned())),
    ];
    lines(&columns, trials.len(), width)
}

/// `x 1.5`: how many times as long, over all pairs.
fn latency(pairs: &[ProofPair]) -> Option<String> {
    let known = pairs.iter().filter_map(|it| {
        let times = it.latency_changed_ns? / it.latency_ns?;
        Some(times.ln()).filter(|it| it.is_finite())
    });
    let logarithms: Vec<f64> = known.collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    mean.is_finite().then(|| format!("x {:.2}", mean.exp()))
}

fn amount(capacity: Capacity, value: f64) -> String {
    match capacity {
        Capacity::Cpu => format!("{value:.2} CPUs"),
        Capacity::Disk => format!("{}/s", rate(value)),
        Capacity::Memory => memory(value),
        Capacity::Clients => format!("{value:.0}"),
    }
}
