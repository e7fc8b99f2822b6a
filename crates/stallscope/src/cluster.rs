//! Several nodes over one time: from the metrics that a store has of them (`explain --prometheus`), or from a recording of
//! each.
//!
//! The store is asked (`store`), its answers become a recording per node in memory, as `import` makes them, and `analysis`
//! looks at all of them together.

mod pages;
mod recordings;
mod store;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use imports::prometheus::{Node, Restart};
use model::{ClusterReport, Meta, Span, Timeline};

use crate::arguments::{Explain, Import, Stored};
use crate::import;
use crate::outputs::{self, OutputFile};
use crate::temporary_output;

pub(crate) use store::Asked;

/// Explains several nodes: those that a store knows, or those that were recorded.
pub(crate) fn explain(arguments: &Explain) -> Result<u8> {
    let _interrupts = temporary_output::watch()?;
    let open = |file: &Option<std::path::PathBuf>, option| {
        let opened = file.as_deref().map(|it| OutputFile::open(it, option));
        opened.transpose()
    };
    let json = open(&arguments.json, "--json")?;
    let page = open(&arguments.output, "-o")?;
    let is_of_one = arguments.stacks || !arguments.slo.is_empty() || !arguments.without.is_empty();
    if is_of_one || (arguments.last.is_some() && !is_asked(&arguments.stored)) {
        bail!(
            "--stacks, --slo, --without and --last are about one recording: name one, or leave them out"
        );
    }
    let report = match is_asked(&arguments.stored) {
        true => of_store(arguments)?,
        false => recordings::report(&arguments.recordings, arguments.from, arguments.to)?,
    };
    let for_people = ![&json, &page]
        .into_iter()
        .flatten()
        .any(OutputFile::is_stdout);
    if let Some(page) = page {
        let at = arguments.output.as_deref().unwrap_or(Path::new("."));
        let pages = pages::pages(&report, &arguments.recordings, at);
        page.write_text(&outputs::cluster_page(&report, &pages))?;
    }
    json.map_or(Ok(()), |file| file.write(&report))?;
    let text = outputs::cluster(&report, outputs::Detail::Full);
    if for_people {
        outputs::show(&text).context("cannot write to standard output")?;
    } else {
        outputs::say(text.trim_end());
    }
    Ok(0)
}

fn of_store(arguments: &Explain) -> Result<ClusterReport> {
    let bounds = (arguments.from, arguments.to);
    let asked = Asked::of(&arguments.stored, bounds, arguments.last)?;
    let stored = store::ask(&asked)?;
    for note in &stored.notes {
        outputs::say(&format!("stallscope: {note}"));
    }
    let recordings: Result<Vec<(Timeline, Meta)>> = stored.nodes.iter().map(recording).collect();
    Ok(report(&stored, &recordings?, &asked.span))
}

/// Whether it is about several nodes.
pub(crate) fn is_of_several(arguments: &Explain) -> bool {
    is_asked(&arguments.stored) || arguments.recordings.len() > 1
}

/// Makes a recording of each node that the store knows.
pub(crate) fn import(arguments: &Import) -> Result<u8> {
    let asked = Asked::of(
        &arguments.stored,
        (arguments.from, arguments.to),
        arguments.last,
    )?;
    let stored = store::ask(&asked)?;
    for note in &stored.notes {
        outputs::say(&format!("stallscope: {note}"));
    }
    let folder = arguments.output.clone().unwrap_or_default();
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    for (node, name) in stored.nodes.iter().zip(short_names(&stored.nodes)) {
        let place = folder.join(format!("{}.stall", file_name(&name)));
        import::into(&node.imported, &name, &place)?;
    }
    Ok(0)
}

/// A node's name as a file's: what would be a path or an option is none.
fn file_name(node: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "._-".contains(c) {
        true => c,
        false => '_',
    };
    let name: String = node.chars().map(plain).collect();
    match name.starts_with(['.', '-']) {
        true => format!("_{name}"),
        false => name,
    }
}

/// Whether the options are about a store.
pub(crate) fn is_asked(stored: &Stored) -> bool {
    stored.prometheus.is_some()
}

/// A node's recording, in memory.
fn recording(node: &Node) -> Result<(Timeline, Meta)> {
    let meta = import::meta(&node.imported)?;
    let mut timeline = import::timeline(&node.imported);
    analysis::prepare(&mut timeline);
    Ok((timeline, meta))
}

fn report(stored: &store::Answered, recordings: &[(Timeline, Meta)], span: &Span) -> ClusterReport {
    let sizes: Vec<Vec<(i64, f64)>> = stored
        .nodes
        .iter()
        .map(|node| node.sizes.iter().map(|it| (it.since_ns, it.cpus)).collect())
        .collect();
    let names = short_names(&stored.nodes);
    let each = stored
        .nodes
        .iter()
        .zip(recordings)
        .zip(names.iter().zip(&sizes));
    let nodes: Vec<analysis::cluster::Node<'_>> = each
        .map(
            |((node, (timeline, meta)), (name, sizes))| analysis::cluster::Node {
                name,
                timeline,
                meta,
                holes: &node.imported.holes,
                memory_bytes: node.memory_bytes,
                sizes,
                happened: happened(node),
                verdict: None,
                spikes: None,
                ahead_ns: 0,
            },
        )
        .collect();
    let clock = |(node, name): (&Node, &String)| {
        let clock = node.clock?;
        analysis::cluster::against_a_store(name, clock.ahead_ns, clock.within_ns)
    };
    let clocks: Vec<_> = stored.nodes.iter().zip(&names).filter_map(clock).collect();
    let asked = analysis::cluster::Asked {
        source: &stored.source,
        span: *span,
        step_ns: stored.step_ns,
        throughput: &stored.throughput,
        clocks: &clocks,
        lacks: &["Who waited, in which threads and for what in them: stallscope record --for 30s on a node tells.".to_owned()],
    };
    analysis::cluster::cluster(&nodes, &asked)
}

/// Names without their ports, where they are told apart without them.
fn short_names(nodes: &[Node]) -> Vec<String> {
    let short = |node: &Node| {
        node.imported
            .node
            .clone()
            .unwrap_or_else(|| node.name.clone())
    };
    let all: Vec<String> = nodes.iter().map(short).collect();
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    match distinct.len() == all.len() {
        true => all,
        false => nodes.iter().map(|it| it.name.clone()).collect(),
    }
}

fn happened(node: &Node) -> Vec<analysis::cluster::Happening> {
    use analysis::cluster::Happening;
    let restarts = node
        .restarts
        .iter()
        .map(|Restart { at_ns, is_other }| match is_other {
            true => Happening::Replaced { at_ns: *at_ns },
            false => Happening::Restarted { at_ns: *at_ns },
        });
    let backward = node.backward.iter().map(|it| Happening::RanBackwards {
        at_ns: it.first_ns,
        metric: it.metric.clone(),
        times: it.times,
        most: it.most,
    });
    restarts.chain(backward).collect()
}
