//! The verdict as a person reads it in a terminal: readable without colour, under 100 columns.

use analysis::{duration, percent, rate};
use model::{
    Account, AccountItem, Answer, EntityKind, Finding, PhaseKind, Provenance, Report, Resource,
    Role, ShareBasis, Signal, StallKind,
};

/// Characters of a bar that stands for 100 %.
const BAR: f64 = 40.0;
/// Where the texts of the closing lines begin.
const LABEL: usize = 20;

/// The whole verdict, ending in a line end.
pub(super) fn verdict(report: &Report, width: usize) -> String {
    let mut text = String::new();
    if let Some(headline) = report.verdict.findings.first() {
        text.push_str(&headline_lines(headline, report, width));
    }
    text.push_str(&signal_lines(report));
    if let Some(account) = &report.verdict.account {
        text.push_str(&account_lines(account, report, width));
    }
    for finding in report.verdict.findings.iter().skip(1) {
        let label = format!("Also {}", finding.cause);
        text.push_str(&labelled(
            &label,
            &format!("{} ({})", finding.sentence, finding.confidence.word()),
            width,
        ));
    }
    if let Some(headline) = report.verdict.findings.first() {
        text.push_str(&advice_lines(headline, report, width));
    }
    // Names come from the recorded machine and may hold anything a terminal would obey.
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn headline_lines(headline: &Finding, report: &Report, width: usize) -> String {
    let mut lines = wrap(&headline.sentence, width);
    let who = match headline.entity.kind {
        EntityKind::Cgroup => headline.entity.path.as_str(),
        _ => headline.entity.name.as_str(),
    };
    let tag = format!(
        "{} of {who}, {}",
        headline.cause,
        headline.confidence.word()
    );
    let room = width.saturating_sub(tag.chars().count());
    match lines.last_mut() {
        Some(last) if last.chars().count() + 2 <= room => *last = format!("{last:<room$}{tag}"),
        _ => lines.push(format!("{:room$}{tag}", "")),
    }
    let _ = report;
    lines.join("\n") + "\n"
}

fn signal_lines(report: &Report) -> String {
    let signal = |name: &str| report.signals.iter().find(|signal| signal.name == name);
    let mean = |name: &str| signal(name).and_then(|signal| signal.mean);
    let unit = report
        .workload
        .as_ref()
        .map_or("per second", |workload| workload.load.rate_unit.as_str());
    let throughput =
        mean("throughput").map(|value| ("throughput", format!("{} {unit}", rate(value))));
    let latency = signal("latency").map(|latency| ("latency", latency_words(latency, report)));
    let mut rows = vec![(throughput, latency)];
    if let Some(lag) = mean("lag") {
        rows.push((
            Some((
                "lag",
                format!("{} behind the schedule, part of the latency", duration(lag)),
            )),
            None,
        ));
    }
    for name in ["failed", "skipped", "retried"] {
        if let Some(value) = mean(name).filter(|value| *value > 0.0) {
            rows.push((Some((name, format!("{} per second", rate(value)))), None));
        }
    }
    let steady = signal("throughput").is_some_and(|_| {
        report
            .phases
            .iter()
            .any(|phase| phase.kind == PhaseKind::Steady && phase.window == report.window)
    });
    let from = seconds(report.window.start.seconds_since(report.origin));
    let to = seconds(report.window.end.seconds_since(report.origin));
    let window = (
        if steady { "steady" } else { "judged" },
        format!("{from} to {to}"),
    );
    rows.push((
        Some(window),
        Some((
            "pressure",
            pressure_words(report, EntityKind::Machine, "machine"),
        )),
    ));
    if report
        .pressure
        .iter()
        .any(|pressure| pressure.entity.kind == EntityKind::Cgroup)
    {
        rows.push((
            None,
            Some((
                "pressure",
                pressure_words(report, EntityKind::Cgroup, "its group"),
            )),
        ));
    }
    rows.into_iter()
        .map(|(left, right)| two_columns(left, right))
        .collect()
}

type Cell = (&'static str, String);

fn two_columns(left: Option<Cell>, right: Option<Cell>) -> String {
    let cell = |(name, value): Cell, width: usize| format!("{name:<width$}  {value}");
    match (
        left.map(|left| cell(left, 10)),
        right.map(|right| cell(right, 8)),
    ) {
        (None, None) => String::new(),
        (Some(left), None) => format!("  {left}\n"),
        (left, Some(right)) => format!("  {:<33}{right}\n", left.unwrap_or_default()),
    }
}

fn latency_words(latency: &Signal, report: &Report) -> String {
    let Some(mean) = latency.mean else {
        return "no data: nothing was completed".to_owned();
    };
    let tool = report
        .workload
        .as_ref()
        .map_or("the tool", |workload| workload.name.as_str());
    let origin = match latency.provenance {
        Provenance::Derived => {
            format!("worked out by {tool} from clients and throughput: no evidence")
        }
        _ if latency.quantiles.is_empty() => format!("from {tool}, which gives no percentiles"),
        _ => format!("from {tool}"),
    };
    format!("{} mean ({origin})", duration(mean))
}

fn pressure_words(report: &Report, kind: EntityKind, whose: &str) -> String {
    let mut words = Vec::new();
    for resource in [Resource::Cpu, Resource::Memory, Resource::Io] {
        let of = |stall: StallKind| {
            report
                .pressure
                .iter()
                .find(|p| p.entity.kind == kind && p.resource == resource && p.kind == stall)
        };
        let Some(some) = of(StallKind::Some) else {
            continue;
        };
        let full =
            of(StallKind::Full).filter(|full| full.share >= 0.01 && kind == EntityKind::Cgroup);
        let full = full.map_or(String::new(), |full| {
            format!(" {} full", percent(full.share))
        });
        let word = if words.is_empty() { " some" } else { "" };
        words.push(format!(
            "{} {}{word}{full}",
            resource.word(),
            percent(some.share)
        ));
    }
    if words.is_empty() {
        "not recorded".to_owned()
    } else {
        format!("{} ({whose})", words.join(", "))
    }
}

fn account_lines(account: &Account, report: &Report, width: usize) -> String {
    let target = report
        .subjects
        .iter()
        .find(|subject| subject.role == Role::Target)
        .map_or("the target", |subject| subject.entity.name.as_str());
    let title = match (account.basis, account.response_ns) {
        (ShareBasis::ResponseTime, Some(ns)) => format!("Where the {} went", duration(ns as f64)),
        _ => format!("Where the non-idle time of {target} went"),
    };
    let shown: Vec<&AccountItem> = account
        .items
        .iter()
        .filter(|item| item.share >= 0.0005)
        .collect();
    let longest = shown
        .iter()
        .map(|item| item.label.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("  {title}\n");
    for item in shown {
        let bar = "#".repeat((item.share * BAR).round() as usize);
        let start = format!(
            "    {:<longest$}  {:>5}  {bar}",
            item.label,
            percent(item.share)
        );
        let column = start.chars().count() + 2;
        let mut note = wrap(&item.note, width.saturating_sub(column).max(24)).into_iter();
        text.push_str(&match note.next().filter(|line| !line.is_empty()) {
            Some(line) => format!("{start}  {line}\n"),
            None => format!("{start}\n"),
        });
        for line in note {
            text.push_str(&format!("{:column$}{line}\n", ""));
        }
    }
    text
}

fn advice_lines(headline: &Finding, report: &Report, width: usize) -> String {
    let verdict = &report.verdict;
    let unit = report
        .workload
        .as_ref()
        .map_or("", |workload| workload.load.rate_unit.as_str());
    let mut text = String::new();
    if !headline.would_help.is_empty() {
        text.push_str("  Would help (upper bounds)\n");
        let longest = headline
            .would_help
            .iter()
            .map(|remedy| remedy.change.chars().count())
            .max()
            .unwrap_or(0);
        for remedy in &headline.would_help {
            let throughput = remedy.throughput.map_or(String::new(), |value| {
                format!("  {} {unit}", analysis::bound(value))
            });
            let gain = remedy
                .gain
                .map_or(String::new(), |gain| format!("  +{}", percent(gain)));
            let because = if remedy.because.is_empty() {
                String::new()
            } else {
                format!("  {}", remedy.because)
            };
            text.push_str(&format!(
                "    {:<longest$}{throughput}{gain}{because}\n",
                remedy.change
            ));
        }
    }
    let sentences = |items: Vec<String>, between: &str| items.join(between);
    text.push_str(&labelled(
        "Would not help",
        &sentences(headline.would_not_help.clone(), ", "),
        width,
    ));
    if let Some(headroom) = &verdict.headroom {
        text.push_str(&labelled("Headroom", &headroom.sentence, width));
    }
    text.push_str(&labelled(
        "Found innocent",
        &sentences(
            verdict
                .innocent
                .iter()
                .map(|found| found.sentence.clone())
                .collect(),
            ", ",
        ),
        width,
    ));
    text.push_str(&labelled(
        "Speaks against it",
        &sentences(headline.contradictions.clone(), "; "),
        width,
    ));
    text.push_str(&labelled(
        "Doubts",
        &sentences(
            verdict
                .caveats
                .iter()
                .map(|caveat| caveat.sentence.clone())
                .collect(),
            "; ",
        ),
        width,
    ));
    text.push_str(&labelled(
        "Not seen",
        &sentences(verdict.not_seen.clone(), "; "),
        width,
    ));
    if headline.cause == "undetermined" {
        text.push_str(&labelled("Ruled out", &ruled_out(report), width));
    }
    let last = if headline.cause == "healthy" {
        "Next"
    } else {
        "Prove it wrong"
    };
    text.push_str(&labelled(last, &headline.prove_wrong, width));
    text
}

/// Why each cause of a wait is not it: what an undetermined verdict rests on.
fn ruled_out(report: &Report) -> String {
    let absent = report.verdict.judged.iter().filter(|judged| {
        judged.answer != Answer::Present && !judged.cause.starts_with("load.rate")
    });
    absent
        .map(|judged| format!("{}: {}", judged.cause, judged.sentence))
        .collect::<Vec<_>>()
        .join("; ")
}

/// `  Label    text`, wrapped under the text; nothing for an empty text.
fn labelled(label: &str, text: &str, width: usize) -> String {
    if text.is_empty() {
        return String::new();
    }
    let indent = LABEL.max(label.chars().count() + 4);
    let mut lines = wrap(text, width.saturating_sub(indent)).into_iter();
    let mut out = format!(
        "  {label:<rest$}{}\n",
        lines.next().unwrap_or_default(),
        rest = indent - 2
    );
    for line in lines {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
    out
}

/// Lines of at most `width` characters; a longer word stands alone, and `34 %` is one word.
fn wrap(text: &str, width: usize) -> Vec<String> {
    const TIE: &str = "\u{a0}%";
    let mut lines = vec![String::new()];
    for word in text.replace(" %", TIE).split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| line.replace(TIE, " %")).collect()
}

/// `1 s`, `29.6 s`.
fn seconds(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 {
        format!("{value:.0} s")
    } else {
        format!("{value:.1} s")
    }
}
