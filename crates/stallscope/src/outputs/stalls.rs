//! The run by the second in words: stalls, and the slowest seconds.

use analysis::{count, duration, integer};
use model::{BySecond, Omitted, Report, SecondReport, Stall, Window};

use super::layout::{labelled, seconds};

/// Stalls and slow seconds that are listed one by one.
const MOST: usize = 10;

/// `2 of 30 s, longest 1.9 s at 14 s; p99 by second up to 210 ms; a closed loop hid about 4,200 requests: with them p99
/// is about 1.9 s`; empty where nothing stood still.
pub(super) fn in_short(report: &Report) -> String {
    let Some(by_second) = &report.by_second else {
        return String::new();
    };
    let stalls = &by_second.stalls;
    let Some(longest) = stalls.iter().max_by_key(|it| it.window.len_ns()) else {
        return String::new();
    };
    let stalled = match by_second.stalled_ns {
        0 => format!(
            "none in the window that was judged, {} beside it",
            stalls.len()
        ),
        ns => format!(
            "{} of {}",
            length(ns as f64 / 1e9),
            length(report.window.seconds())
        ),
    };
    let mut words = vec![format!("{stalled}, longest {}", at(report, longest))];
    let highest = |of: fn(&SecondReport) -> Option<f64>| slowest(report, by_second, of);
    let p99 = highest(|it| it.p99_ns).map(|it| format!("p99 by second up to {}", it.words()));
    let most = || highest(|it| it.max_ns).map(|it| format!("max {}", it.words()));
    words.extend(p99.or_else(most));
    words.extend(by_second.omitted.as_ref().and_then(omitted));
    words.join("; ")
}

/// `a closed loop hid about 4,200 requests (estimated), with them p99 is about 1.9 s`
fn omitted(omitted: &Omitted) -> Option<String> {
    if omitted.requests < 1.0 {
        return None;
    }
    let hidden = integer(two_digits(omitted.requests));
    let p99 = omitted.p99_ns.map_or(String::new(), |ns| {
        format!(", with them p99 is about {}", duration(ns))
    });
    Some(format!(
        "a closed loop hid about {hidden} requests (estimated){p99}"
    ))
}

/// Of an estimate, digits behind the second are noise.
pub(super) fn two_digits(value: f64) -> f64 {
    let unit = 10f64.powf((value.log10().floor() - 1.0).max(0.0));
    (value / unit).round() * unit
}

/// Each stall, and the seconds with the highest p99 and maximum.
pub(super) fn in_full(report: &Report, width: usize) -> String {
    let Some(by_second) = &report.by_second else {
        return String::new();
    };
    let stalls = by_second.stalls.iter();
    let mut each: Vec<String> = stalls.take(MOST).map(|it| stall(report, it)).collect();
    let more = by_second.stalls.len().saturating_sub(MOST);
    if more > 0 {
        each.push(format!("and {more} more"));
    }
    labelled("Each stall", &each.join("; "), width)
        + &labelled("By second", &seconds_in_words(report, by_second), width)
}

/// `p99 up to 210 ms (at 14 s), max up to 2.1 s (at 16 s)`
fn seconds_in_words(report: &Report, by_second: &BySecond) -> String {
    let highest = |name: &str, of: fn(&SecondReport) -> Option<f64>| {
        let found = slowest(report, by_second, of)?;
        let at = instant(report, found.window);
        Some(format!("{name} up to {} (at {at})", found.words()))
    };
    let words = [
        highest("p99", |it| it.p99_ns),
        highest("max", |it| it.max_ns),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    words.join(", ")
}

/// `1.9 s at 14 s (nothing of about 4,200 requests)`
fn stall(report: &Report, stall: &Stall) -> String {
    let completed = match stall.completed < 0.5 {
        true => "nothing".to_owned(),
        false => integer(stall.completed),
    };
    let expected = two_digits(stall.expected.max(1.0)).round() as u32;
    format!(
        "{} ({completed} of about {} answered)",
        at(report, stall),
        count(expected, "request")
    )
}

/// `1.9 s at 14 s`
fn at(report: &Report, stall: &Stall) -> String {
    let at = instant(report, stall.window);
    format!("{} at {at}", length(stall.window.seconds()))
}

fn instant(report: &Report, window: Window) -> String {
    seconds(window.start.seconds_since(report.origin))
}

fn length(value: f64) -> String {
    seconds(value)
}

/// A time that one second reached.
struct Highest {
    window: Window,
    ns: f64,
    at_least: bool,
}

impl Highest {
    fn words(&self) -> String {
        let least = if self.at_least { "at least " } else { "" };
        format!("{least}{}", duration(self.ns))
    }
}

/// The highest of the seconds of which at least half is judged.
fn slowest(
    report: &Report,
    by_second: &BySecond,
    of: fn(&SecondReport) -> Option<f64>,
) -> Option<Highest> {
    let judged = by_second.seconds.iter().filter(|it| {
        let both = it.window.intersect(report.window);
        both.is_some_and(|both| 2 * both.len_ns() >= it.window.len_ns())
    });
    let known = judged.filter_map(|it| {
        Some(Highest {
            window: it.window,
            ns: of(it)?,
            at_least: it.at_least,
        })
    });
    known.max_by(|a, b| a.ns.total_cmp(&b.ns))
}
