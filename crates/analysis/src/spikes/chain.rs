//! From what starts the spikes to what waits in them, in one sentence.

use model::{
    MeasureKind, NodeDifferences, SpikeDifference, SpikeReport, Train, Trigger, TriggerKind, Unit,
};

use crate::number_format::{duration, rate};
use crate::program_runs::short;

/// Links of events that are told.
const MOST_LINKS: usize = 3;
/// A wait that is less than this part of what spikes add is not told.
const LEAST_SHARE: f64 = 0.2;

/// Empty where nothing comes before the spikes and nothing explains them. `elsewhere` is what is different on other nodes.
pub(super) fn sentence(report: &SpikeReport, elsewhere: &[NodeDifferences]) -> String {
    let mut parts = Vec::new();
    if let Some(first) = report.triggers.first() {
        parts.push(format!(
            "{}{}",
            how_often(report, first.events),
            does(first)
        ));
        parts.extend(later(report, first));
    }
    parts.extend(waits(&report.differences));
    for node in elsewhere {
        let work = works(&node.differences).into_iter();
        parts.extend(work.map(|it| format!("on {} {it}", node.node)));
    }
    match (report.triggers.is_empty(), parts.is_empty()) {
        (_, true) => String::new(),
        (false, _) => parts.join("; ") + ".",
        (true, _) => how_often(report, report.spikes.len() as u64) + &parts.join("; ") + ".",
    }
}

/// How often the spikes come, or the events where they have no period.
fn how_often(report: &SpikeReport, events: u64) -> String {
    match report.trains.first() {
        Some(Train {
            period_ns,
            spikes,
            cycles,
            ..
        }) => format!(
            "Every {:.2} s ({} of {cycles} cycles) ",
            period_ns / 1e9,
            spikes.len()
        ),
        None => format!("{events} times in {:.0} s ", report.window.seconds()),
    }
}

/// The next links, each of another kind: what a script starts itself belongs to it.
fn later(report: &SpikeReport, first: &Trigger) -> Vec<String> {
    // The same kind of event on another node is a link of its own.
    let of = |it: &Trigger| (it.kind, it.node.clone());
    let mut kinds = vec![of(first)];
    let mut told: Vec<&Trigger> = Vec::new();
    let mut links: Vec<&Trigger> = report.triggers[1..].iter().collect();
    // Of two whose order is not known the one that is known more exactly comes first.
    links.sort_by(|a, b| b.surely_before_ns().total_cmp(&a.surely_before_ns()));
    for link in links {
        // What is read seldom seems to come after the onset.
        let is_between = link.surely_before_ns() <= first.surely_before_ns()
            && link.lag_ns > -(report.interval_ns as f64);
        if told.len() + 1 < MOST_LINKS && is_between && !kinds.contains(&of(link)) {
            kinds.push(of(link));
            told.push(link);
        }
    }
    let told = told.into_iter();
    told.map(|link| format!("{} later {}", after(report, first, link), does(link)))
        .collect()
}

fn after(report: &SpikeReport, first: &Trigger, link: &Trigger) -> String {
    let lag_ns = first.lag_ns - link.lag_ns;
    let [first, link] = [first, link].map(|it| it.known_to_ns(report.interval_ns));
    let known_ns = first.max(link);
    match lag_ns > known_ns {
        true => duration(lag_ns),
        false => format!("less than {}", duration(known_ns)),
    }
}

fn does(trigger: &Trigger) -> String {
    let name = short(&trigger.name);
    let node = trigger.node.as_ref();
    let node = node.map_or(String::new(), |it| format!(" on {it}"));
    let does = match trigger.kind {
        TriggerKind::Program => format!("`{name}` starts"),
        TriggerKind::Connections => format!("{name} opens connections"),
        TriggerKind::Sends => format!("{name} sends far more"),
        TriggerKind::CpuBurst => format!("{name} begins to work"),
        TriggerKind::Counter => format!("{name} grows"),
        // The words of a template are no command line, which would be shortened.
        TriggerKind::Log => format!("`{}` is logged", trigger.name),
        TriggerKind::Calls => format!("{} is called far more", trigger.name),
        TriggerKind::Statement => format!("`{}` runs", trigger.name),
    };
    does + &node
}

/// What most of the time goes to that spikes add, where, and who works meanwhile.
fn waits(differences: &[SpikeDifference]) -> Vec<String> {
    let of = |kinds| explaining(differences, kinds);
    let mut parts = Vec::new();
    if let Some(it) = of(&[MeasureKind::Time, MeasureKind::Calls]) {
        let place = of(&[MeasureKind::Waits]);
        let place = place.map_or(String::new(), |it| format!(", in {}", innermost(&it.what)));
        parts.push(format!(
            "{} threads of {} are then {}, usually {}{place}",
            threads(it, it.inside),
            it.who,
            it.what,
            threads(it, it.outside),
        ));
    }
    parts.extend(works(differences));
    parts
}

/// Who works in them, and in what.
fn works(differences: &[SpikeDifference]) -> Option<String> {
    let it = explaining(differences, &[MeasureKind::Code])?;
    Some(format!(
        "{} uses {} CPUs, usually {}, in {}",
        it.who,
        threads(it, it.inside),
        threads(it, it.outside),
        innermost(&it.what)
    ))
}

/// The first of some kinds that is much of what spikes add.
fn explaining<'a>(
    differences: &'a [SpikeDifference],
    kinds: &[MeasureKind],
) -> Option<&'a SpikeDifference> {
    let mut own = differences.iter().filter(|it| kinds.contains(&it.kind));
    own.find(|it| it.share.is_some_and(|share| share >= LEAST_SHARE))
}

fn threads(it: &SpikeDifference, value: f64) -> String {
    match it.unit {
        Unit::Nanoseconds if value < 0.0005e9 => "0".to_owned(),
        Unit::Nanoseconds => rate(value / 1e9),
        _ => rate(value),
    }
}

fn innermost(path: &str) -> &str {
    path.split(" < ").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use model::Confidence;

    use super::super::across::tests::spiking;
    use super::*;

    fn trigger(kind: TriggerKind, name: &str, lag_ms: f64, known_to_ms: f64) -> Trigger {
        Trigger {
            kind,
            name: name.to_owned(),
            parent: None,
            node: None,
            entity: None,
            events: 12,
            followed: 12,
            recall: 1.0,
            precision: 1.0,
            lift: 10.0,
            lag_ns: lag_ms * 1e6,
            lag_spread_ns: 0.0,
            resolution_ns: known_to_ms * 1e6,
            p_value: 0.002,
            confidence: Confidence::Suspected,
        }
    }

    #[test]
    fn what_is_known_to_an_interval_only_comes_after_what_is_known_exactly() {
        let calls = trigger(TriggerKind::Calls, "GetTableSchema", 70.0, 100.0);
        let report = SpikeReport {
            triggers: vec![
                trigger(TriggerKind::Program, "sync", 40.0, 1.0),
                calls,
                trigger(TriggerKind::Statement, "GRANT", 26.0, 1.0),
            ],
            ..spiking()
        };
        assert_eq!(
            sentence(&report, &[]),
            "Every 15.00 s (12 of 12 cycles) `sync` starts; less than 100 ms later `GRANT` runs; less than 100 ms later GetTableSchema is called far more."
        );
    }

    #[test]
    fn a_counter_that_is_read_each_second_is_no_nearer_than_that() {
        let report = SpikeReport {
            triggers: vec![
                trigger(TriggerKind::Program, "sync", 3_000.0, 1.0),
                trigger(TriggerKind::Counter, "dirty pages", 2_500.0, 1_000.0),
                trigger(TriggerKind::Log, "done", 1_000.0, 1.0),
            ],
            ..spiking()
        };
        assert_eq!(
            sentence(&report, &[]),
            "Every 15.00 s (12 of 12 cycles) `sync` starts; less than 1.00 s later dirty pages grows; 2.00 s later `done` is logged."
        );
    }
}
