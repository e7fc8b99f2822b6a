//! What a store calls things: node_exporter's names, or what a map in TOML says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::metrics::METRICS;
use crate::NotUnderstood;

/// Labels and names of a store.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    /// The label that names a node.
    pub node: String,
    /// The label that holds the name of a metric.
    pub name: String,
    /// What every series must have, as in a query: `node_prefix="yb-1"`.
    #[serde(rename = "match")]
    pub matchers: Vec<String>,
    /// What the store calls metrics, by node_exporter's names.
    pub metrics: BTreeMap<String, String>,
    /// A query for how many CPUs each node may use, with the label that names a node: where its size is a quota.
    pub cpus: Option<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            node: "instance".to_owned(),
            name: "__name__".to_owned(),
            matchers: Vec::new(),
            metrics: BTreeMap::new(),
            cpus: None,
        }
    }
}

impl Names {
    /// Reads a map.
    ///
    /// # Errors
    /// What was not understood, and what stands there usually.
    pub fn read(text: &str) -> Result<Self, NotUnderstood> {
        const ADVICE: &str = "docs/cluster.md shows a map";
        let names: Self = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map(|it| text[..it.start].lines().count().max(1));
            let expected = format!("a map of names: {}", error.message());
            line.map_or(NotUnderstood::whole(&expected, ADVICE), |line| {
                NotUnderstood::at(line, &expected, ADVICE)
            })
        })?;
        for label in [&names.node, &names.name] {
            if !is_label(label) {
                return Err(NotUnderstood::whole(
                    format!("a label as Prometheus has them, found {label:?}"),
                    ADVICE,
                ));
            }
        }
        let is_known = |name: &&String| METRICS.iter().any(|it| it.name == **name);
        if let Some(unknown) = names.metrics.keys().find(|it| !is_known(it)) {
            return Err(NotUnderstood::whole(
                format!(
                    "node_exporter's names on the left side under [metrics], found {unknown:?}, which is none that is read"
                ),
                ADVICE,
            ));
        }
        Ok(names)
    }

    /// What the store calls a metric of node_exporter's.
    pub(super) fn stored<'a>(&'a self, name: &'a str) -> &'a str {
        self.metrics.get(name).map_or(name, String::as_str)
    }

    /// A selector of some metrics of nodes: of those by node_exporter's names, and of nodes by a regular expression.
    pub(super) fn selector(&self, metrics: &[&str], nodes: &str, further: &str) -> String {
        let metrics: Vec<String> = metrics
            .iter()
            .map(|name| escaped(self.stored(name)))
            .collect();
        self.matching(&metrics.join("|"), nodes, further)
    }

    /// The same by a regular expression of the store's own names.
    pub(super) fn matching(&self, metrics: &str, nodes: &str, further: &str) -> String {
        let mut matchers = vec![
            format!("{}=~{}", self.name, quoted(metrics)),
            format!("{}=~{}", self.node, quoted(nodes)),
        ];
        matchers.extend(self.matchers.iter().cloned());
        matchers.extend((!further.is_empty()).then(|| further.to_owned()));
        format!("{{{}}}", matchers.join(","))
    }
}

fn is_label(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// A text as a string of PromQL.
pub(super) fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}

/// A text as a regular expression (RE2) that matches it alone.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && c != '_' {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_of_saved_names() {
        let names = Names::read(
            "node = 'exported_instance'\nname = 'saved_name'\nmatch = ['node_prefix=\"yb-1\"']\n[metrics]\nnode_load1 = 'load.1'",
        );
        let names = names.expect("a map");
        assert_eq!(
            names.selector(&["node_load1", "node_load5"], "n\"1", ""),
            r#"{saved_name=~"load\\.1|node_load5",exported_instance=~"n\"1",node_prefix="yb-1"}"#
        );
    }

    #[test]
    fn what_is_no_map_is_said_with_its_line() {
        for (text, said) in [
            ("\nnode = 7", "line 2"),
            ("lable = 'x'", "unknown field"),
            ("node = 'a-b'", "a label as Prometheus has them"),
            ("[metrics]\nnode_lode1 = 'x'", "node_lode1"),
        ] {
            let error = Names::read(text).expect_err(text).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
