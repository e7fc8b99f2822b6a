//! Spikes in words: how many, how often, and what comes before them.

use analysis::program_runs::short;
use analysis::{duration, integer, percent, rate};
use model::{
    BurstingMethod, Provenance, Report, Schedule, Spike, SpikeReport, Train, Trigger, TriggerKind,
};

use super::layout::labelled;
use super::on_one_line;
use super::spike_differences;
use super::stalls::two_digits;

/// Triggers that are named; the JSON has more.
const MOST: usize = 3;
/// Logs give whole milliseconds: a mean below one says nothing.
const LEAST_MEAN_NS: f64 = 1e6;
/// Fewer lost requests are not worth a word.
const LEAST_LOST: f64 = 1.0;
/// Fewer spikes than this have no period, and nothing is expected to come before them.
const LEAST_COMPARED: usize = 6;

/// Nothing where nothing stands out.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let Some(spikes) = &report.spikes else {
        return String::new();
    };
    of_several(spikes, |at| onset(report, &spikes.spikes[at]), width)
}

/// The same of spikes whose onsets are told in another way.
pub(super) fn of_several(
    spikes: &SpikeReport,
    onset: impl Fn(usize) -> String,
    width: usize,
) -> String {
    let facts = facts(spikes, onset);
    let told = facts
        .iter()
        .map(|(label, text)| labelled(label, text, width));
    told.collect::<String>()
        + &labelled("Chain", &spikes.chain, width)
        + &spike_differences::lines(spikes, width)
        + &labelled("Calls", &calls(spikes), width)
}

/// How many there are, how often, and what comes before them.
pub(super) fn facts(
    spikes: &SpikeReport,
    onset: impl Fn(usize) -> String,
) -> [(&'static str, String); 3] {
    [
        ("Spikes", in_short(spikes, onset)),
        ("Period", periods(spikes)),
        ("Trigger", triggers(spikes)),
    ]
}

/// `11 spikes of 1.9 s, 6 % of the time; p99 3.1 s in them, 4 ms otherwise; about 12,000 requests lost`
fn in_short(spikes: &SpikeReport, onset: impl Fn(usize) -> String) -> String {
    let mut widths: Vec<i64> = spikes.spikes.iter().map(|it| it.window.len_ns()).collect();
    widths.sort_unstable();
    let middle = duration(widths[widths.len() / 2] as f64);
    let many = match spikes.spikes.len() {
        1 => format!("1 of {middle} at {}", onset(0)),
        many => format!("{many} of {middle}"),
    };
    let share = spikes.spiking_ns as f64 / spikes.window.len_ns().max(1) as f64;
    let of_calls = match spikes.provenance {
        Provenance::Log => " (bursts of calls in the log)",
        Provenance::Account => " (of the target's threads: nobody reported requests)",
        _ => "",
    };
    let mut words = vec![format!("{many}, {} of the time{of_calls}", percent(share))];
    if let (Some(inside), Some(outside)) = (spikes.p99_inside_ns, spikes.p99_outside_ns) {
        words.push(format!(
            "p99 {} in them, {} otherwise",
            duration(inside),
            duration(outside)
        ));
    } else if let Some(peak) = highest(spikes) {
        words.push(peak);
    }
    if spikes.lost >= LEAST_LOST {
        words.push(format!(
            "about {} requests lost",
            integer(two_digits(spikes.lost))
        ));
    }
    words.join("; ")
}

/// The highest latency of an interval against the usual one, or the most threads.
fn highest(spikes: &SpikeReport) -> Option<String> {
    if let Some(usual) = spikes.usual_threads {
        let peaks = spikes.spikes.iter().filter_map(|it| it.peak_threads);
        let peak = rate(peaks.reduce(f64::max)?);
        return Some(format!(
            "up to {peak} threads work or wait, usually {}",
            rate(usual)
        ));
    }
    let peaks = spikes.spikes.iter().filter_map(|it| it.peak_latency_ns);
    let peak = duration(peaks.reduce(f64::max)?);
    let usual = spikes.usual_latency_ns.map(duration)?;
    Some(format!("latency up to {peak}, usually {usual}"))
}

fn onset(report: &Report, spike: &Spike) -> String {
    let after_ns = spike.window.start.ns_since(report.origin);
    super::layout::seconds(after_ns as f64 / 1e9)
}

fn periods(spikes: &SpikeReport) -> String {
    let trains = spikes.trains.iter().map(|it| period(it, spikes));
    let found: Vec<String> = trains.collect();
    if !found.is_empty() || spikes.spikes.len() < LEAST_COMPARED {
        return found.join("; ");
    }
    "none".to_owned()
}

/// `15.00 s (14.98 to 15.02 s), in 11 of 12 cycles, jitter 20 ms: by the clock, 7.3 s after the full minute`
fn period(train: &Train, spikes: &SpikeReport) -> String {
    let exact = |ns: f64| format!("{:.2}", ns / 1e9);
    let interval_ns = spikes.interval_ns as f64;
    let jitter = match train.jitter_ns < interval_ns {
        true => format!("less than {}", duration(interval_ns)),
        false => duration(train.jitter_ns),
    };
    let kept = match train.schedule {
        Schedule::Clock { every_ns, phase_ns } => {
            let whole = if every_ns < 60e9 { "minute" } else { "hour" };
            // Onsets are known to an interval: just before is on it.
            let off = phase_ns.min(every_ns - phase_ns);
            let first = match off <= spikes.interval_ns as f64 {
                true => format!("on the full {whole}"),
                false => format!("first {} past the full {whole}", duration(phase_ns)),
            };
            format!(": kept by the clock, each {} s, {first}", every_ns / 1e9)
        }
        Schedule::Loop => ": kept by a pause between runs, not by the clock".to_owned(),
        Schedule::Unknown => String::new(),
    };
    let others = spikes.spikes.len() - train.spikes.len();
    let others = match others {
        0 => String::new(),
        1 => "; 1 other spike".to_owned(),
        many => format!("; {many} other spikes"),
    };
    format!(
        "{} s (95 % CI {} to {} s), in {} of {} cycles, jitter {}{kept}{others}",
        exact(train.period_ns),
        exact(train.period_low_ns),
        exact(train.period_high_ns),
        train.spikes.len(),
        train.cycles,
        jitter,
    )
}

fn triggers(spikes: &SpikeReport) -> String {
    let mut named: Vec<&Trigger> = Vec::new();
    for trigger in &spikes.triggers {
        if named.len() < MOST && !named.iter().any(|it| is_of(trigger, it)) {
            named.push(trigger);
        }
    }
    let is_compared = spikes.compared > 0 && spikes.spikes.len() >= LEAST_COMPARED;
    let Some((first, others)) = named.split_first() else {
        return match is_compared {
            true => format!(
                "not known; kinds of events compared: {}",
                integer(spikes.compared as f64)
            ),
            false => String::new(),
        };
    };
    let mut words: Vec<String> = others
        .iter()
        .map(|it| format!("{} ({})", does(it), preceded(it, spikes)))
        .collect();
    let more = spikes.triggers.len() - named.len();
    if more > 0 {
        words.push(format!("{more} more (--json)"));
    }
    let also = match words.is_empty() {
        true => String::new(),
        false => format!(". Also: {}", words.join(", ")),
    };
    trigger(first, spikes) + &also
}

/// What is called in the spikes, as logs report it.
fn calls(spikes: &SpikeReport) -> String {
    let named = spikes.methods.iter().take(MOST);
    let mut words: Vec<String> = named.map(|it| method(it, spikes)).collect();
    let more = spikes.methods.len().saturating_sub(MOST);
    if more > 0 {
        words.push(format!("{more} more (--json)"));
    }
    words.join(". ")
}

/// `yb.master.MasterService.GetTableSchema of 10.1.0.29:7100, by 3 addresses: 5,136 calls in a spike, else 2 in as much
/// time, in 11 of 12`
fn method(method: &BurstingMethod, spikes: &SpikeReport) -> String {
    let by = match method.callers {
        1 => "1 address".to_owned(),
        many => format!("{many} addresses"),
    };
    let took = method.mean_ns.filter(|it| *it >= LEAST_MEAN_NS);
    let took = took.map_or(String::new(), |it| format!(" of {} each", duration(it)));
    format!(
        "{} of {}, by {by}: {} calls{took} in a spike, else {} in as much time, in {} of {}",
        on_one_line(&method.method),
        on_one_line(&method.callee),
        integer(method.calls),
        integer(method.usual_calls),
        method.spikes,
        spikes.spikes.len(),
    )
}

/// Whether a program is started by one that is named already, or beside it: then it says nothing new.
fn is_of(program: &Trigger, named: &Trigger) -> bool {
    let starts = named.kind == TriggerKind::Program && program.kind == TriggerKind::Program;
    let parent = program.parent.as_ref();
    starts && parent.is_some_and(|it| *it == named.name || Some(it) == named.parent.as_ref())
}

/// `sh sync-permissions (by cron) starts less than 100 ms before 11 of 11 spikes; of its 12 times 11 have one
/// (consistent)`
fn trigger(trigger: &Trigger, spikes: &SpikeReport) -> String {
    let (lag_ns, known_ns) = (trigger.lag_ns, trigger.known_to_ns(spikes.interval_ns));
    let when = match lag_ns {
        _ if lag_ns > known_ns => format!("{} before", duration(lag_ns)),
        _ if lag_ns >= -known_ns => format!("less than {} before", duration(known_ns)),
        _ => format!("{} after the onset of", duration(-lag_ns)),
    };
    format!(
        "{} {when} {} spikes; of its {} times {} have one ({})",
        does(trigger),
        preceded(trigger, spikes),
        trigger.events,
        trigger.followed,
        trigger.confidence.word(),
    )
}

/// `11 of 12`
fn preceded(trigger: &Trigger, spikes: &SpikeReport) -> String {
    let all = spikes.spikes.len();
    format!("{} of {all}", (trigger.recall * all as f64).round())
}

fn does(trigger: &Trigger) -> String {
    let name = match trigger.kind {
        TriggerKind::Program => short(&trigger.name),
        _ => trigger.name.clone(),
    };
    let name = on_one_line(&name);
    let parent = trigger.parent.as_ref();
    let parent = parent.map_or(String::new(), |it| {
        format!(" (by `{}`)", on_one_line(&short(it)))
    });
    let node = trigger.node.as_ref();
    let node = node.map_or(String::new(), |it| format!(" on {}", on_one_line(it)));
    let does = match trigger.kind {
        TriggerKind::Program => format!("`{name}`{parent} starts"),
        TriggerKind::Connections => format!("{name} opens connections"),
        TriggerKind::Sends => format!("{name} sends far more"),
        TriggerKind::CpuBurst => format!("{name} begins to work"),
        TriggerKind::Counter => format!("{name} grows"),
        TriggerKind::Log => format!("`{name}` is logged"),
        TriggerKind::Calls => format!("{name} is called far more"),
        TriggerKind::Statement => format!("`{name}` runs"),
    };
    does + &node
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{BurstingMethod, Confidence, Timestamp, Window};

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ns(ms * 1_000_000)
    }

    fn started(name: &str, parent: Option<&str>) -> Trigger {
        Trigger {
            kind: TriggerKind::Program,
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            node: None,
            entity: None,
            events: 10,
            followed: 9,
            recall: 0.9,
            precision: 0.9,
            lift: 3.0,
            lag_ns: 40e6,
            lag_spread_ns: 1e6,
            resolution_ns: 1e6,
            p_value: 0.002,
            confidence: Confidence::Suspected,
        }
    }

    fn report() -> SpikeReport {
        let spikes = (0..10).map(|cycle| Spike {
            window: Window::new(at(15_000 * cycle), at(15_000 * cycle + 800)),
            peak_latency_ns: Some(4e8),
            lowest_throughput: 0.0,
            peak_threads: None,
            lost: 12.0,
        });
        let train = Train {
            period_ns: 15e9,
            period_low_ns: 14.99e9,
            period_high_ns: 15.01e9,
            jitter_ns: 34e6,
            coverage: 0.9,
            purity: 0.9,
            cycles: 10,
            spikes: (0..9).collect(),
            schedule: Schedule::Clock {
                every_ns: 15e9,
                phase_ns: 14.98e9,
            },
        };
        let sends = Trigger {
            kind: TriggerKind::Sends,
            lag_ns: 300e6,
            ..started("postgres -> :7100", None)
        };
        SpikeReport {
            window: Window::new(at(0), at(150_000)),
            provenance: Provenance::Kernel,
            interval_ns: 100_000_000,
            usual_latency_ns: Some(2e5),
            usual_throughput: 1_000.0,
            usual_threads: None,
            spikes: spikes.collect(),
            spiking_ns: 8_000_000_000,
            p99_inside_ns: None,
            p99_outside_ns: None,
            added: None,
            lost: 120.0,
            trains: vec![train],
            triggers: vec![
                started("/bin/sh /opt/sync", Some("/usr/sbin/cron")),
                started("psql -f grants", Some("/bin/sh /opt/sync")),
                sends,
            ],
            compared: 40,
            chain: String::new(),
            differences: Vec::new(),
            measures: 0,
            methods: Vec::new(),
        }
    }

    #[test]
    fn a_period_and_what_begins_the_chain_are_read_once() {
        let report = report();
        expect!["15.00 s (95 % CI 14.99 to 15.01 s), in 9 of 10 cycles, jitter less than 100 ms: kept by the clock, each 15 s, on the full minute; 1 other spike"]
            .assert_eq(&periods(&report));
        expect!["`sh sync` (by `cron`) starts less than 100 ms before 9 of 10 spikes; of its 10 times 9 have one (suspected). Also: postgres -> :7100 sends far more (9 of 10), 1 more (--json)"]
            .assert_eq(&triggers(&report));
    }

    #[test]
    fn bursts_of_calls_in_a_log_are_told_with_who_calls_whom() {
        let mut report = report();
        report.provenance = Provenance::Log;
        let calls_of = |method: &str, callers, mean_ns| BurstingMethod {
            method: method.to_owned(),
            callee: "10.1.0.29:7100".to_owned(),
            callers,
            spikes: 9,
            calls: 5_136.0,
            usual_calls: 2.4,
            mean_ns,
            usual_mean_ns: None,
        };
        report.methods = vec![
            calls_of("a.GetTableSchema", 3, Some(12e6)),
            calls_of("a.GetTablet", 1, Some(4e5)),
        ];
        expect!["a.GetTableSchema of 10.1.0.29:7100, by 3 addresses: 5,136 calls of 12.0 ms each in a spike, else 2 in as much time, in 9 of 10. a.GetTablet of 10.1.0.29:7100, by 1 address: 5,136 calls in a spike, else 2 in as much time, in 9 of 10"]
            .assert_eq(&calls(&report));
    }

    #[test]
    fn of_a_few_spikes_nothing_is_said_of_period_and_trigger() {
        let mut report = report();
        report.spikes.truncate(3);
        report.trains.clear();
        report.triggers.clear();
        assert_eq!(periods(&report), "");
        assert_eq!(triggers(&report), "");
    }
}
