//! Several nodes as a page: one file that opens offline. Its only program shows times in the reader's zone.

mod lanes;

use std::collections::BTreeMap;

use analysis::cluster::length;
use model::{ClusterReport, Span};

use super::cluster::{
    calls, cell, changed, clocks, columns, configured, date_and_time, is_long, shape, source,
    throughput, time, time_of_day, to_confirm, verdicts,
};
use super::plain_page::{self, element, escaped, titled};
use super::spike_differences;

const NS_PER_MS: i64 = 1_000_000;

/// The page, with links to the nodes' own, by their names.
pub(crate) fn page(report: &ClusterReport, pages: &BTreeMap<String, String>) -> String {
    let number = report.nodes.len();
    let title = format!("{number} nodes, {}", time(report));
    let body = [
        element("p", "answer", &escaped(&report.sentence)),
        element(
            "p",
            "muted",
            &format!(
                "{}. Times are <span id=\"zone\">UTC</span>.",
                escaped(&source(report))
            ),
        ),
        lanes::chart(report),
        spikes(report),
        list(
            "Verdict of each node's recording",
            verdicts(report).into_iter(),
        ),
        list("Calls between nodes", calls(report).into_iter()),
        list("Clocks", clocks(report).into_iter()),
        titled("Phases", &phases(report)),
        events(report),
        list("Configurations, best first", configured(report).into_iter()),
        titled("Nodes (size at the end)", &nodes(report, pages)),
        list("Not collected", report.not_collected.iter().cloned()),
    ];
    let Span { from_ns, to_ns } = report.span;
    let heading = format!(
        "{number} nodes, {} to {} <span class=\"zone\">UTC</span> ({})",
        whole(from_ns),
        whole(to_ns),
        escaped(&length(report.span.seconds()))
    );
    plain_page::with_program(
        &format!("Stallscope: {title}"),
        &heading,
        &body.concat(),
        include_str!("zone.js"),
    )
}

/// What the page's program needs to show an instant in another zone.
fn instant(ns: i64, part: &str) -> String {
    format!("data-at=\"{}\" data-as=\"{part}\"", ns / NS_PER_MS)
}

/// An instant with its date.
fn whole(ns: i64) -> String {
    let text = escaped(&date_and_time(ns));
    format!("<time {}>{text}</time>", instant(ns, "full"))
}

/// How an instant stands in the text of this report.
fn moment(report: &ClusterReport, ns: i64) -> String {
    let text = escaped(&time_of_day(report, ns));
    format!("<time {}>{text}</time>", instant(ns, part(report)))
}

/// Which part of an instant that is.
fn part(report: &ClusterReport) -> &'static str {
    match is_long(report) {
        true => "minute",
        false => "time",
    }
}

fn events(report: &ClusterReport) -> String {
    let items = report.events.iter().map(|it| {
        let (when, text) = (moment(report, it.at_ns), escaped(&it.sentence));
        element("li", "", &format!("{when}: {text}"))
    });
    listed("Events", &items.collect::<String>())
}

fn listed(title: &str, items: &str) -> String {
    match items {
        "" => String::new(),
        _ => titled(title, &format!("<ul>\n{items}</ul>\n")),
    }
}

fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|it| element("li", "", &escaped(&it))).collect();
    listed(title, &items)
}

/// The spikes of a node: the chain, and what is different then, node by node.
fn spikes(report: &ClusterReport) -> String {
    let Some(spikes) = &report.spikes else {
        return String::new();
    };
    let own = std::iter::once((&spikes.node, &spikes.report.differences));
    let others = spikes
        .elsewhere
        .iter()
        .map(|it| (&it.node, &it.differences));
    let tables = own.chain(others).map(|(node, differences)| {
        let mut rows = head(spike_differences::HEADINGS.into_iter());
        for cells in spike_differences::rows(differences) {
            let [what, others @ ..] = cells;
            rows.push_str(&row(what.trim(), others.into_iter()));
        }
        let title = element("h3", "", &escaped(&format!("Then on {node}")));
        format!("{title}<div class=\"wide\"><table>\n{rows}</table></div>\n")
    });
    let onset = |at: usize| format!("{} UTC", time_of_day(report, spikes.spans[at].from_ns));
    let facts = super::spikes::facts(&spikes.report, onset);
    let confirm = to_confirm(spikes).map(|it| ("To confirm", it));
    let facts = facts
        .into_iter()
        .chain(confirm)
        .filter(|it| !it.1.is_empty());
    let facts = facts.map(|(label, text)| {
        let text = escaped(&format!("{label}: {text}"));
        element("p", "", &text)
    });
    let body = facts.collect::<String>() + &tables.collect::<String>();
    titled(&format!("Spikes on {}", spikes.node), &body)
}

fn head(names: impl Iterator<Item = &'static str>) -> String {
    let cells = names.map(|it| format!("<th scope=\"col\">{}</th>", escaped(it)));
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> String {
    named(&escaped(name), cells)
}

/// A row whose name is HTML.
fn named(name: &str, cells: impl Iterator<Item = String>) -> String {
    let cells = cells.map(|it| format!("<td>{}</td>", escaped(&it)));
    format!(
        "<tr><th scope=\"row\">{name}</th>{}</tr>\n",
        cells.collect::<String>()
    )
}

/// A line for each phase, and below it what is said of it.
fn phases(report: &ClusterReport) -> String {
    let columns = columns(report.phases.iter().map(|it| &it.means));
    let names = ["", "nodes", "throughput"].into_iter();
    let mut rows = head(names.chain(columns.iter().map(|it| it.1)));
    for phase in &report.phases {
        let Span { from_ns, to_ns } = phase.span;
        let when = format!("{}-{}", moment(report, from_ns), moment(report, to_ns));
        let own = [shape(phase), throughput(phase)].into_iter();
        rows.push_str(&named(
            &when,
            own.chain(columns.iter().map(|it| cell(&phase.means, it.0))),
        ));
        let said = std::iter::once(phase.sentence.clone())
            .chain(phase.skew.iter().map(|it| it.sentence.clone()))
            .chain(changed(phase));
        rows.push_str(&format!(
            "<tr><td class=\"fact\" colspan=\"{}\">{}</td></tr>\n",
            columns.len() + 3,
            said.map(|it| escaped(&it)).collect::<Vec<_>>().join("<br>")
        ));
    }
    format!("<div class=\"wide\"><table>\n{rows}</table></div>\n")
}

fn nodes(report: &ClusterReport, pages: &BTreeMap<String, String>) -> String {
    let columns = columns(report.nodes.iter().map(|it| &it.means));
    let names = ["", "CPUs", "memory"].into_iter();
    let mut rows = head(names.chain(columns.iter().map(|it| it.1)));
    for node in &report.nodes {
        let own = [
            node.cpus.map_or("-".to_owned(), analysis::cluster::short),
            node.memory_bytes.map_or("-".to_owned(), analysis::memory),
        ];
        let cells = columns.iter().map(|it| cell(&node.means, it.0));
        let name = escaped(&node.name);
        let name = match pages.get(&node.name) {
            Some(address) => format!("<a href=\"{}\">{name}</a>", escaped(address)),
            None => name,
        };
        rows.push_str(&named(&name, own.into_iter().chain(cells)));
    }
    format!("<div class=\"wide\"><table>\n{rows}</table></div>\n")
}
