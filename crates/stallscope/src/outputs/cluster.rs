//! Several nodes, as a person reads them in a terminal: the answer, the phases with what changed between them, the nodes,
//! what happened, what is not known. Times have their zone, always.

use analysis::cluster::{length, short};
use analysis::{memory, percent, rate, storage};
use model::{ClusterPhase, ClusterReport, ClusterSpikes, Quantities, Span};

use super::layout::{labelled, table, wrap};
use super::{Detail, harmless, spike_differences};

/// What is shown of each list where there is little room.
const MOST_NODES: usize = 12;
const MOST_EVENTS: usize = 12;
const INDENT: usize = 6;
const NS_PER_S: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * NS_PER_S;

/// The columns of phases and nodes: what a quantity is called in their heads.
const COLUMNS: [(&str, &str); 7] = [
    ("cpu_some", "CPU some"),
    ("io_some", "I/O some"),
    ("memory_some", "mem some"),
    ("cpu_busy", "CPU busy"),
    ("steal", "steal"),
    ("waiting_tasks", "waiting"),
    ("disk_read", "read"),
];
/// Quantities that are shown only where one of them is at least so much.
const WORTH_A_COLUMN: f64 = 0.01;

/// The report, ending in a line end.
pub(super) fn text(report: &ClusterReport, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    for line in wrap(&report.sentence, width) {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("{:>width$}\n", surest(report)));
    text.push_str(&labelled("Source", &source(report), width));
    text.push_str(&labelled("Time", &time(report), width));
    text.push_str(&spikes(report, width));
    text.push_str(&phases(report, width, detail));
    text.push_str(&nodes(report, width, detail));
    text.push_str(&listed(
        "Verdict of each node's recording",
        &verdicts(report),
        width,
    ));
    text.push_str(&listed("Calls between nodes", &calls(report), width));
    text.push_str(&listed("Clocks", &clocks(report), width));
    text.push_str(&events(report, width, detail));
    text.push_str(&configurations(report, width));
    for lack in &report.not_collected {
        text.push_str(&labelled("Not collected", lack, width));
    }
    let text = harmless(&text);
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn surest(report: &ClusterReport) -> &'static str {
    // What is said first.
    let leading = report
        .spikes
        .as_ref()
        .filter(|it| report.sentence.starts_with(&it.sentence));
    if let Some(first) = leading.and_then(|it| it.report.triggers.first()) {
        return first.confidence.word();
    }
    let words = report.phases.iter().map(|it| it.confidence);
    words.max().map_or("", |it| it.word())
}

pub(super) fn source(report: &ClusterReport) -> String {
    let number = report.nodes.len();
    let nodes = if number == 1 { "node" } else { "nodes" };
    format!(
        "{}; {number} {nodes}; readings {} apart",
        report.source,
        length(report.resolution_ns as f64 / 1e9)
    )
}

pub(super) fn time(report: &ClusterReport) -> String {
    let Span { from_ns, to_ns } = report.span;
    format!(
        "{} to {} UTC ({})",
        date_and_time(from_ns),
        date_and_time(to_ns),
        length(report.span.seconds())
    )
}

pub(super) fn date_and_time(ns: i64) -> String {
    shown(ns, "%Y-%m-%d %H:%M:%S")
}

/// The time of day; of a span of more than a day with its date.
pub(super) fn time_of_day(report: &ClusterReport, ns: i64) -> String {
    shown(
        ns,
        match is_long(report) {
            true => "%m-%d %H:%M",
            false => "%H:%M:%S",
        },
    )
}

/// Whether a time of day alone does not say which day.
pub(super) fn is_long(report: &ClusterReport) -> bool {
    report.span.to_ns - report.span.from_ns > DAY_NS
}

fn shown(ns: i64, format: &str) -> String {
    let at = jiff::Timestamp::from_nanosecond(i128::from(ns));
    at.map_or_else(|_| "?".to_owned(), |it| it.strftime(format).to_string())
}

/// A quantity as it stands in a table.
pub(super) fn cell(means: &Quantities, quantity: &str) -> String {
    let Some(value) = means.get(quantity).copied() else {
        return "-".to_owned();
    };
    match quantity {
        "cpus_used" | "waiting_tasks" => rate(value),
        "memory_available" | "page_cache" => memory(value),
        "disk_read" | "disk_written" | "received" | "sent" => format!("{}/s", storage(value)),
        _ => percent(value),
    }
}

/// The columns that say something of this report.
pub(super) fn columns<'a>(
    all: impl Iterator<Item = &'a Quantities> + Clone,
) -> Vec<(&'static str, &'static str)> {
    let says = |(quantity, _): &&(&str, &str)| {
        let mut known = all.clone().filter_map(|it| it.get(*quantity).copied());
        known.any(|it| it >= WORTH_A_COLUMN)
    };
    COLUMNS.iter().filter(says).copied().collect()
}

/// `3 x 2 CPUs`, `3 nodes`.
pub(super) fn shape(phase: &ClusterPhase) -> String {
    match phase.cpus_each {
        Some(cpus) => analysis::cluster::shape(phase.nodes_present, cpus),
        None => format!("{} nodes", phase.nodes_present),
    }
}

pub(super) fn throughput(phase: &ClusterPhase) -> String {
    phase
        .throughput
        .map_or(String::new(), |it| format!("{}/s", rate(it)))
}

fn phases(report: &ClusterReport, width: usize, detail: Detail) -> String {
    let columns = columns(report.phases.iter().map(|it| &it.means));
    let with_throughput = report.phases.iter().any(|it| it.throughput.is_some());
    let head = ["Phases (UTC)", "nodes"].map(str::to_owned).into_iter();
    let head = head
        .chain(with_throughput.then(|| "throughput".to_owned()))
        .chain(columns.iter().map(|it| it.1.to_owned()));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for phase in &report.phases {
        let Span { from_ns, to_ns } = phase.span;
        let when = format!(
            "{}-{}",
            time_of_day(report, from_ns),
            time_of_day(report, to_ns)
        );
        let row = [when, shape(phase)].into_iter();
        let row = row.chain(with_throughput.then(|| throughput(phase)));
        let cells = columns.iter().map(|it| cell(&phase.means, it.0));
        rows.push(row.chain(cells).collect());
    }
    let lines = table(&rows, &[], width);
    let mut lines = lines.lines();
    let mut text = format!("\n{}\n", lines.next().unwrap_or_default());
    for (phase, line) in report.phases.iter().zip(lines) {
        text.push_str(&format!("{line}\n"));
        text.push_str(&indented(&beside(phase, report, detail), width));
    }
    text
}

/// What is said of a phase below its line.
fn beside(phase: &ClusterPhase, report: &ClusterReport, detail: Detail) -> Vec<String> {
    let mut said = vec![phase.sentence.clone()];
    let most = match detail {
        Detail::Full => usize::MAX,
        _ => 3,
    };
    said.extend(phase.skew.iter().take(most).map(|it| it.sentence.clone()));
    let when = time_of_day(report, phase.span.from_ns);
    said.extend(changed(phase).map(|it| format!("At {when}: {it}")));
    said
}

/// What is different from the phase before.
pub(super) fn changed(phase: &ClusterPhase) -> Option<String> {
    let changes: Vec<&str> = phase.changes.iter().map(|it| &*it.sentence).collect();
    (!changes.is_empty()).then(|| format!("{}.", changes.join("; ")))
}

fn indented(said: &[String], width: usize) -> String {
    let mut text = String::new();
    for sentence in said {
        for (number, line) in wrap(sentence, width.saturating_sub(INDENT + 2))
            .iter()
            .enumerate()
        {
            let hang = if number == 0 { "" } else { "  " };
            text.push_str(&format!("{:INDENT$}{hang}{line}\n", ""));
        }
    }
    text
}

fn nodes(report: &ClusterReport, width: usize, detail: Detail) -> String {
    let columns = columns(report.nodes.iter().map(|it| &it.means));
    let head = ["Nodes (size at the end)", "CPUs", "memory"]
        .map(str::to_owned)
        .into_iter();
    let head = head.chain(columns.iter().map(|it| it.1.to_owned()));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    let most = if detail == Detail::Full {
        10 * MOST_NODES
    } else {
        MOST_NODES
    };
    for node in report.nodes.iter().take(most) {
        let row = [
            node.name.clone(),
            node.cpus.map_or("-".to_owned(), short),
            node.memory_bytes.map_or("-".to_owned(), memory),
        ];
        let cells = columns.iter().map(|it| cell(&node.means, it.0));
        rows.push(row.into_iter().chain(cells).collect());
    }
    let more = report.nodes.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {more} more: see the report as JSON"));
    format!(
        "\n{}",
        table(&rows, &more.into_iter().collect::<Vec<_>>(), width)
    )
}

/// What each node's own recording says. Without the other nodes a recording does not know what starts its spikes, and says
/// that nothing is in the way.
pub(super) fn verdicts(report: &ClusterReport) -> Vec<String> {
    let spiking = report.spikes.as_ref().map(|it| &it.node);
    let with = report
        .nodes
        .iter()
        .filter_map(|it| Some((&it.name, it.verdict.as_ref()?)));
    let told = with.map(
        |(name, it)| match spiking == Some(name) && it.cause == "healthy" {
            true => format!("{name}: spikes, as above; without them nothing is in the way"),
            false => format!("{name}: {} ({})", it.sentence, it.confidence.word()),
        },
    );
    told.collect()
}

/// The spikes of a node, with what starts them and what is different then on each node.
fn spikes(report: &ClusterReport, width: usize) -> String {
    let Some(spikes) = &report.spikes else {
        return String::new();
    };
    let onset = |at: usize| format!("{} UTC", time_of_day(report, spikes.spans[at].from_ns));
    let mut text = format!("\n  Spikes on {}\n", spikes.node);
    text.push_str(&super::spikes::of_several(&spikes.report, onset, width));
    for node in &spikes.elsewhere {
        text.push_str(&format!("\n  Then on {}\n", node.node));
        text.push_str(&spike_differences::bare(&node.differences, width));
    }
    let confirm = to_confirm(spikes).unwrap_or_default();
    text + &labelled("To confirm", &confirm, width)
}

/// The experiment that would prove what starts the spikes.
pub(super) fn to_confirm(spikes: &ClusterSpikes) -> Option<String> {
    let first = spikes.report.triggers.first()?;
    let node = first.node.as_ref()?;
    let name = analysis::program_runs::short(&first.name);
    Some(format!(
        "on {node}, keep `{name}` from happening for some cycles: if the spikes on {} stay, this is wrong",
        spikes.node
    ))
}

/// What is known of each node's clock.
pub(super) fn clocks(report: &ClusterReport) -> Vec<String> {
    let known = report.clocks.iter().filter(|it| it.least_ns.is_some());
    known.map(|it| it.sentence.clone()).collect()
}

pub(super) fn calls(report: &ClusterReport) -> Vec<String> {
    report.calls.iter().map(|it| it.sentence.clone()).collect()
}

fn listed(title: &str, said: &[String], width: usize) -> String {
    match said.is_empty() {
        true => String::new(),
        false => format!("\n  {title}\n{}", indented(said, width)),
    }
}

fn events(report: &ClusterReport, width: usize, detail: Detail) -> String {
    if report.events.is_empty() {
        return String::new();
    }
    let most = if detail == Detail::Full {
        4 * MOST_EVENTS
    } else {
        MOST_EVENTS
    };
    let said = report.events.iter().take(most);
    let mut said: Vec<String> = said
        .map(|it| format!("{}  {}", time_of_day(report, it.at_ns), it.sentence))
        .collect();
    let more = report.events.len().saturating_sub(most);
    said.extend((more > 0).then(|| format!("and {more} more: see the report as JSON")));
    format!("\n  Events (UTC)\n{}", indented(&said, width))
}

/// Configurations, each with its limits.
pub(super) fn configured(report: &ClusterReport) -> Vec<String> {
    let said = report.configurations.iter();
    said.map(|it| format!("{} Limit: {}.", it.sentence, it.limits.join(", ")))
        .collect()
}

fn configurations(report: &ClusterReport, width: usize) -> String {
    if report.configurations.is_empty() {
        return String::new();
    }
    let said = configured(report);
    format!(
        "\n  Configurations, best first\n{}\n",
        indented(&said, width)
    )
}
