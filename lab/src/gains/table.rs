//! The comparison as text: a line per situation, how good the predictions were, and what is not compared.

use model::{GainOf, Interval};

use super::comparison::{Compared, Gain};
use crate::print::say;
use crate::statistics::{Proportion, median};

/// Below this gain the half-width is shown apart: a part of next to nothing says little.
const SMALL: f64 = 0.1;

/// Prints all of it.
pub fn print(all: &[Compared]) {
    say!(
        "| situation | predicted | measured beside it (95 % interval) | | half-width | rounds inside | model |"
    );
    say!("|---|---|---|---|---|---|---|");
    let gains: Vec<(&Compared, Gain)> =
        all.iter().filter_map(|it| Some((it, it.gain()?))).collect();
    for (compared, gain) in &gains {
        say!("| {} | {} |", compared.scenario, cells(gain));
    }
    say!();
    for it in all.iter().filter(|it| it.gain().is_none()) {
        say!("{:28}  not compared: {}", it.scenario, it.why);
    }
    say!();
    let gains: Vec<&Gain> = gains.iter().map(|(_, gain)| gain).collect();
    let (small, large): (Vec<&Gain>, Vec<&Gain>) =
        gains.iter().partition(|it| it.predicted.gain < SMALL);
    totals("all", &gains);
    totals("predicted from 10 % on", &large);
    totals("predicted below 10 %", &small);
    let (inside, rounds) = gains.iter().fold((0, 0), |(inside, rounds), it| {
        (inside + it.rounds_inside, rounds + it.rounds)
    });
    let inside = Proportion::new(inside, rounds);
    say!("{:24}  {}", "single rounds", inside.counted("inside"));
}

fn totals(what: &str, gains: &[&Gain]) {
    if gains.is_empty() {
        return;
    }
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let inside = gains.iter().filter(|it| it.holds()).count();
    let inside = Proportion::new(count(inside), count(gains.len())).counted("inside");
    let width = median(gains.iter().map(|it| it.half_width()).collect()).unwrap_or(0.0);
    let ratio = median(gains.iter().map(|it| it.ratio()).collect()).unwrap_or(0.0);
    say!(
        "{what:24}  {inside}, half-width {:.0} % of the prediction (median), predicted over measured {ratio:.2} (median)",
        width * 100.0
    );
}

fn cells(gain: &Gain) -> String {
    let predicted = &gain.predicted;
    let holds = match gain.holds() {
        true => "inside",
        false => "**outside**",
    };
    let noisy = if gain.is_noisy { ", noisy" } else { "" };
    format!(
        "{} ({}) | {} ({}) | {holds} | {:.0} % | {} of {}{noisy} | {}",
        percent(predicted.gain, predicted.of),
        range(predicted.interval, predicted.of),
        percent(gain.measured, predicted.of),
        range(gain.range, predicted.of),
        gain.half_width() * 100.0,
        gain.rounds_inside,
        gain.rounds,
        predicted.model
    )
}

fn range(Interval { low, high }: Interval, of: GainOf) -> String {
    format!("{} to {}", percent(low, of), percent(high, of))
}

/// A gain in throughput rises, and one in response time falls.
fn percent(gain: f64, of: GainOf) -> String {
    match of {
        _ if !gain.is_finite() => "?".to_owned(),
        GainOf::Throughput => format!("{:+.0} %", gain * 100.0),
        GainOf::ResponseTime => format!("time {:+.0} %", gain * -100.0),
    }
}
