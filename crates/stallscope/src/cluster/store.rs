//! What is asked of a store, in which grid, and what came back.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use imports::prometheus::{Answers, Names, Node, Question, StoredSeries, Subject};
use model::{Sentence, Span};
use recorder::Here;
use sources::{Grid, Store};

use crate::arguments::Stored;
use crate::duration::nanoseconds;
use crate::part::Instant;

/// Looked at where neither --from nor --last says anything.
const USUAL: Duration = Duration::from_secs(3600);
/// The longest time that is looked at.
const LONGEST_S: f64 = 366.0 * 86_400.0;
/// Intervals that the time is looked at in, at least and at most, and of all nodes together.
const INTERVALS: std::ops::RangeInclusive<usize> = 120..=720;
const MOST_CELLS: usize = 36_000;
/// Nodes of one answer.
const MOST_NODES: usize = 1_000;
/// A file of names or certificates.
const MOST_BYTES: u64 = 1 << 20;
const NS_PER_S: f64 = 1e9;

/// What a user wants to know of a store.
pub(crate) struct Asked {
    store: Store,
    names: Names,
    instance: String,
    also: Option<String>,
    metric: Option<String>,
    /// The time.
    pub(crate) span: Span,
}

impl Asked {
    /// By the options; nothing is asked yet.
    pub(crate) fn of(
        stored: &Stored,
        (from, to): (Option<Instant>, Option<Instant>),
        last: Option<Duration>,
    ) -> Result<Self> {
        let (Some(url), Some(instance)) = (&stored.prometheus, &stored.instance) else {
            bail!("name a store and its nodes: --prometheus http://HOST:PORT --instance REGEX");
        };
        let read = |file: &Path, option: &str| {
            let shown = file.display();
            let mut bytes = Vec::new();
            let opened = File::open(file);
            let read = opened.and_then(|it| it.take(MOST_BYTES).read_to_end(&mut bytes));
            read.with_context(|| format!("cannot read {shown} of {option}"))?;
            anyhow::Ok(bytes)
        };
        let names = match &stored.names {
            None => Names::default(),
            Some(file) => {
                let text = String::from_utf8(read(file, "--names")?);
                let text = text.map_err(|_| anyhow!("{} is no text in UTF-8", file.display()))?;
                Names::read(&text).with_context(|| format!("cannot use {}", file.display()))?
            }
        };
        let ca = stored
            .ca
            .as_deref()
            .map(|it| read(it, "--ca"))
            .transpose()?;
        let store = Store::at(url.text(), ca.as_deref(), stored.tenant.as_deref(), &Here);
        Ok(Self {
            store: store.map_err(|sentence| anyhow!(sentence))?,
            names,
            instance: instance.clone(),
            also: stored.also.clone(),
            metric: stored.metric.clone(),
            span: span(from, to, last)?,
        })
    }
}

/// The time that is meant; without an end up to now.
fn span(from: Option<Instant>, to: Option<Instant>, last: Option<Duration>) -> Result<Span> {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |it| it.as_nanos() as i64);
    let at = |instant: Instant, option: &str| {
        instant.realtime(now).with_context(|| {
            format!("{option} must be a time by the clock here, as 14:05, or 2026-11-28T14:05:00Z for UTC; for the last two hours: --last 2h")
        })
    };
    let to_ns = to.map_or(Ok(now), |it| at(it, "--to"))?;
    let from_ns = match (from, last) {
        (Some(from), _) => at(from, "--from")?,
        (None, last) => to_ns.saturating_sub(nanoseconds(last.unwrap_or(USUAL))),
    };
    let span = Span { from_ns, to_ns };
    if span.seconds() <= 0.0 {
        bail!("the start is not before the end: nothing lies between them");
    }
    if span.seconds() > LONGEST_S {
        bail!("more than a year lies between --from and --to: ask for less");
    }
    Ok(span)
}

/// What a store says.
pub(crate) struct Answered {
    /// The store, as it is shown.
    pub(crate) source: String,
    pub(crate) nodes: Vec<Node>,
    /// The length of an interval, ns.
    pub(crate) step_ns: i64,
    /// Operations per second, each since the value before it, ns since 1970.
    pub(crate) throughput: Vec<(i64, f64)>,
    pub(crate) notes: Vec<Sentence>,
}

/// Asks all questions.
pub(crate) fn ask(asked: &Asked) -> Result<Answered> {
    let Asked { store, names, .. } = asked;
    let question = Question::times(names, &asked.instance);
    let step_s = step(asked.span, 1);
    let first = answer(asked, &question, grid(asked.span, step_s))?;
    let label = |it: &StoredSeries| it.labels.get(&names.node).cloned();
    let found: BTreeSet<String> = first.iter().filter_map(label).collect();
    if found.is_empty() {
        bail!(nothing_found(asked));
    }
    if found.len() > MOST_NODES {
        bail!(
            "{} nodes match --instance {:?}, and at most {MOST_NODES} are looked at together",
            found.len(),
            asked.instance
        );
    }
    let step_s = step(asked.span, found.len()).max(apart(&first));
    let grid = grid(asked.span, step_s);
    let all: Vec<String> = found.iter().cloned().collect();
    let hosts = imports::prometheus::hosts_regex(&all, &asked.instance);
    let also = asked.also.as_deref().map(|it| (it, &*hosts));
    let metric = asked.metric.as_deref();
    let questions =
        imports::prometheus::questions(names, &asked.instance, found.len(), also, metric);
    let mut answers: Answers = Vec::new();
    for question in [question].iter().chain(&questions) {
        answers.push((question.subject, answer(asked, question, grid)?));
    }
    let throughput = throughput(&answers);
    if metric.is_some() && throughput.is_empty() {
        bail!("--metric gives no value between --from and --to; try it in the store's own page");
    }
    let (nodes, notes) = imports::prometheus::nodes(names, &answers);
    if nodes.is_empty() {
        bail!(nothing_found(asked));
    }
    Ok(Answered {
        source: store.shown(),
        nodes,
        step_ns: (step_s * NS_PER_S) as i64,
        throughput,
        notes,
    })
}

/// The distance of instants that are asked about, s, for so many nodes.
fn step(span: Span, nodes: usize) -> f64 {
    let most = (MOST_CELLS / nodes.max(1)).clamp(*INTERVALS.start(), *INTERVALS.end());
    (span.seconds() / most as f64).ceil().max(1.0)
}

/// The first instant lies one step behind the start: an answer is about what lies before it.
fn grid(span: Span, step_s: f64) -> Grid {
    Grid {
        start_s: span.from_ns as f64 / NS_PER_S,
        end_s: span.to_ns as f64 / NS_PER_S,
        step_s,
    }
}

/// How far the scrapes of the nodes lie apart, s: the middle of all distances; 0 where they are as near as instants that are
/// asked about.
fn apart(times: &[StoredSeries]) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    for series in times {
        let mut scraped: Vec<f64> = series.points.iter().map(|it| it.1).collect();
        scraped.dedup();
        all.extend(
            scraped
                .windows(2)
                .map(|it| it[1] - it[0])
                .filter(|it| *it > 0.0),
        );
    }
    all.sort_by(f64::total_cmp);
    // Scrape intervals are whole seconds, nearly always; jitter is of milliseconds.
    all.get(all.len() / 2).map_or(0.0, |it| it.round())
}

fn answer(asked: &Asked, question: &Question, grid: Grid) -> Result<Vec<StoredSeries>> {
    let bytes = asked.store.range(&question.promql, grid);
    let bytes = bytes.map_err(|sentence| anyhow!(sentence))?;
    imports::prometheus::series(&bytes)
        .with_context(|| format!("the answer to {} was not understood", question.promql))
}

/// The sum of all series that a query gives, by instant.
fn throughput(answers: &Answers) -> Vec<(i64, f64)> {
    let of = answers.iter().filter(|it| it.0 == Subject::Throughput);
    let mut sums: std::collections::BTreeMap<i64, f64> = std::collections::BTreeMap::new();
    for (at, value) in of.flat_map(|it| &it.1).flat_map(|it| &it.points) {
        *sums.entry(*at).or_default() += value;
    }
    sums.into_iter().collect()
}

/// No node matches: which there are.
fn nothing_found(asked: &Asked) -> String {
    const SHOWN: usize = 8;
    let names = &asked.names;
    let all = Question::times(names, ".*");
    let span = asked.span;
    let found = answer(asked, &all, grid(span, step(span, 1))).unwrap_or_default();
    let labels = found.iter().filter_map(|it| it.labels.get(&names.node));
    let known: BTreeSet<&str> = labels.map(String::as_str).collect();
    let (node, instance) = (&names.node, &asked.instance);
    match known.len() {
        0 => "the store has nothing of any node between --from and --to: node_exporter's node_boot_time_seconds, node_load1 or node_cpu_seconds_total; where they have other names there, give a map: --names FILE (docs/cluster.md)".to_owned(),
        number => {
            let shown: Vec<&str> = known.into_iter().take(SHOWN).collect();
            let more = match number - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("no node's label {node} matches {instance:?} wholly between --from and --to. There are {}{more}", shown.join(", "))
        }
    }
}
