//! The questions to a store, as PromQL.

use super::metrics::{BOOT_TIME, CLOCK, CPU_SECONDS, MEMORY_TOTAL, METRICS, TABLES, UNAME};
use super::names::{Names, escaped};

/// With more nodes than this each node's CPUs are asked for as their mean.
const MOST_WITH_EACH_CPU: usize = 24;

/// What an answer is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// When each node was scraped.
    Times,
    /// What a node is: when it booted, how much memory it has, its kernel.
    Facts,
    /// How far each node's clock is ahead of the store's, s.
    Clock,
    /// The rows of a table.
    Table(&'static str),
    /// How many CPUs a node has, where each of them is not asked for, or may use, where the map has a query for that.
    Cpus,
    /// Further metrics of the nodes.
    Also,
    /// The load's throughput.
    Throughput,
}

/// A range query.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// What it asks.
    pub subject: Subject,
    /// The query.
    pub promql: String,
}

impl Question {
    /// When each node whose name matches a regular expression was scraped: the first question, whose answer says which nodes
    /// there are.
    pub fn times(names: &Names, nodes: &str) -> Self {
        // One after the other: timestamp() drops names, and may not give one series twice.
        let each = [BOOT_TIME, "node_load1", CPU_SECONDS].map(|metric| {
            let one = names.selector(&[metric], nodes, "");
            format!("max by ({},job) (timestamp({one}))", names.node)
        });
        Self {
            subject: Subject::Times,
            promql: each.join(" or "),
        }
    }
}

/// The other questions about nodes that are known: `nodes` is a regular expression that they match, `number` how many they
/// are, `hosts` one for series of theirs by other exporters.
pub fn questions(
    names: &Names,
    nodes: &str,
    number: usize,
    also: Option<(&str, &str)>,
    throughput: Option<&str>,
) -> Vec<Question> {
    let ask = |subject, promql| Question { subject, promql };
    let clock = names.selector(&[CLOCK], nodes, "");
    let mut all = vec![
        ask(
            Subject::Facts,
            names.selector(&[BOOT_TIME, MEMORY_TOTAL, UNAME], nodes, ""),
        ),
        // The store notes its own time at the beginning of a scrape, and the exporter its own within it.
        ask(
            Subject::Clock,
            format!("max by ({},job) ({clock} - timestamp({clock}))", names.node),
        ),
    ];
    let with_each = number <= MOST_WITH_EACH_CPU;
    for table in TABLES {
        let metrics = METRICS.iter().filter(|it| it.table == table);
        let mut metrics: Vec<&str> = metrics.map(|it| it.name).collect();
        metrics.dedup();
        let further = match table {
            // Loopback is no network.
            "network" => "device!=\"lo\"",
            _ => "",
        };
        let selector = names.selector(&metrics, nodes, further);
        let promql = match table {
            "cpu" if !with_each => format!("avg by ({},job,mode) ({selector})", names.node),
            // Of all CPUs together: which of them is not of interest.
            "run_queue" => format!("sum by ({},job) ({selector})", names.node),
            _ => selector,
        };
        all.push(ask(Subject::Table(table), promql));
    }
    let count = || {
        let idle = names.selector(&[CPU_SECONDS], nodes, "mode=\"idle\"");
        format!("count by ({},job) ({idle})", names.node)
    };
    let cpus = names.cpus.clone().or_else(|| (!with_each).then(count));
    all.extend(cpus.map(|promql| ask(Subject::Cpus, promql)));
    all.extend(also.map(|(metrics, hosts)| ask(Subject::Also, names.matching(metrics, hosts, ""))));
    all.extend(throughput.map(|query| ask(Subject::Throughput, query.to_owned())));
    all
}

/// A regular expression for all that is scraped on the hosts of these nodes, whatever its port; `otherwise` where two nodes
/// share a host.
pub fn hosts_regex(nodes: &[String], otherwise: &str) -> String {
    let mut hosts: Vec<&str> = nodes.iter().map(|it| host(it)).collect();
    hosts.sort_unstable();
    let all = hosts.len();
    hosts.dedup();
    if hosts.len() < all {
        return otherwise.to_owned();
    }
    let hosts: Vec<String> = hosts.into_iter().map(escaped).collect();
    format!("(?:{})(?::[0-9]+)?", hosts.join("|"))
}

/// A node's name without its port.
pub(super) fn host(node: &str) -> &str {
    match node.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            host
        }
        _ => node,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_exporters_of_a_host_are_found_by_it() {
        let nodes = ["n1:9100", "n2:9100"].map(str::to_owned);
        assert_eq!(hosts_regex(&nodes, "n.*"), "(?:n1|n2)(?::[0-9]+)?");
        let nodes = ["[::1]:9100", "10.0.0.7:9100"].map(str::to_owned);
        assert_eq!(
            hosts_regex(&nodes, ""),
            r"(?:10\.0\.0\.7|\[\:\:1\])(?::[0-9]+)?"
        );
        let nodes = ["127.0.0.1:9101", "127.0.0.1:9102"].map(str::to_owned);
        assert_eq!(hosts_regex(&nodes, "127.*"), "127.*");
    }

    #[test]
    fn every_table_is_one_question() {
        let all = questions(
            &Names::default(),
            "n.*",
            3,
            Some(("pg_.*", "n1")),
            Some("sum(x)"),
        );
        let of = |subject| {
            let found = all.iter().find(|it| it.subject == subject);
            found.map(|it| it.promql.as_str())
        };
        assert_eq!(
            of(Subject::Table("run_queue")),
            Some(
                r#"sum by (instance,job) ({__name__=~"node_schedstat_waiting_seconds_total",instance=~"n.*"})"#
            )
        );
        assert_eq!(
            of(Subject::Also),
            Some(r#"{__name__=~"pg_.*",instance=~"n1"}"#)
        );
        assert_eq!(of(Subject::Throughput), Some("sum(x)"));
        assert_eq!(of(Subject::Cpus), None);
        let many = questions(&Names::default(), "n.*", 100, None, None);
        assert!(many.iter().any(|it| it.subject == Subject::Cpus));
    }
}
