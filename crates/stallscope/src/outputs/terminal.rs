//! The verdict as a person reads it in a terminal: readable without colour, under 100 columns.

use analysis::{duration, integer, percent, rate};
use model::{
    Account, AccountItem, Answer, EntityKind, Finding, PhaseKind, Provenance, Report, Resource,
    Role, ShareBasis, Signal, StallKind,
};

use super::layout::{labelled, seconds, two_columns, with_note, wrap};
use super::on_one_line;

/// Characters of a bar that stands for 100 %.
const BAR: f64 = 40.0;

/// The whole verdict, ending in a line end.
pub(super) fn verdict(report: &Report, width: usize) -> String {
    let mut text = String::new();
    if let Some(headline) = report.verdict.findings.first() {
        text.push_str(&headline_lines(headline, width));
    }
    text.push_str(&signal_lines(report, width));
    text.push_str(&super::phases::lines(report, width));
    if let Some(account) = &report.verdict.account {
        text.push_str(&account_lines(account, report, width));
    }
    if report.workload.is_none() {
        text.push_str(&super::threads::lines(report, width));
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
    super::harmless(&text)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn headline_lines(headline: &Finding, width: usize) -> String {
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
    let tag = on_one_line(&tag);
    let room = width.saturating_sub(tag.chars().count());
    match lines.last_mut() {
        Some(last) if last.chars().count() + 2 <= room => *last = format!("{last:<room$}{tag}"),
        _ if tag.chars().count() > width => lines.extend(wrap(&tag, width)),
        _ => lines.push(format!("{:room$}{tag}", "")),
    }
    lines.join("\n") + "\n"
}

fn signal_lines(report: &Report, width: usize) -> String {
    let signal = |name: &str| report.signals.iter().find(|signal| signal.name == name);
    let mean = |name: &str| signal(name).and_then(|signal| signal.mean);
    let unit = rate_unit(report);
    let throughput =
        mean("throughput").map(|value| ("throughput", format!("{} {unit}", rate(value))));
    let latency = signal("latency").map(|latency| ("latency", latency_words(latency, report)));
    let mut rows = vec![(throughput, latency)];
    if let Some(words) = signal("latency").and_then(quantile_words) {
        rows.push((Some(("quantiles", words)), None));
    }
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
    let own = [
        (EntityKind::Cgroup, "its group"),
        (EntityKind::Process, "its processes"),
    ];
    for (kind, whose) in own {
        if report.pressure.iter().any(|it| it.entity.kind == kind) {
            let words = pressure_words(report, kind, whose);
            rows.push((None, Some(("pressure", words))));
        }
    }
    rows.into_iter()
        .map(|(left, right)| two_columns(left, right, width))
        .collect()
}

/// The workload's own word for its rate, if it has one.
pub(super) fn rate_unit(report: &Report) -> &str {
    let workload = report.workload.as_ref();
    let unit = workload.map(|workload| workload.load.rate_unit.as_str());
    unit.filter(|unit| !unit.is_empty()).unwrap_or("per second")
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
        Provenance::Kernel => "request times seen in the kernel".to_owned(),
        _ if !latency.quantiles.is_empty() => format!("from {tool}"),
        _ => match quantiles_option(report) {
            Some(option) => format!("from {tool}; p99 needs {option}"),
            None => format!("from {tool}; no percentiles"),
        },
    };
    let p99 = latency.quantiles.iter().find(|it| it.q == 0.99);
    let p99 = p99.map_or(String::new(), |it| format!(", p99 {}", duration(it.value)));
    format!("{} mean{p99} ({origin})", duration(mean))
}

fn quantiles_option(report: &Report) -> Option<&str> {
    let workload = report.workload.as_ref()?;
    workload.quantiles_option.as_deref()
}

/// `p50 0.101 ms, p99 0.350 ms, max 12.0 ms of 46,012 sampled`. p95 stands in the JSON only: without
/// it the rest fits on a line.
fn quantile_words(latency: &Signal) -> Option<String> {
    let name = |q: f64| match q {
        1.0 => "max".to_owned(),
        // 0.999 is 99.9, and 99.90000000000001 in binary.
        q => format!("p{}", (q * 1e5).round() / 1e3),
    };
    let words = latency
        .quantiles
        .iter()
        .filter(|it| it.q != 0.95)
        .map(|it| format!("{} {}", name(it.q), duration(it.value)));
    let words = words.collect::<Vec<_>>().join(", ");
    let of = latency
        .quantiles
        .first()?
        .sampled
        .map_or(String::new(), |count| {
            format!(" of {} sampled", integer(count as f64))
        });
    Some(words + &of)
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
            of(StallKind::Full).filter(|full| full.share >= 0.01 && kind != EntityKind::Machine);
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
        not_recorded(report)
    } else {
        format!("{} ({whose})", words.join(", "))
    }
}

/// Pressure is a difference of two readings 2 s apart.
fn not_recorded(report: &Report) -> String {
    let off = report
        .gaps
        .iter()
        .any(|gap| gap.table == "pressure" && gap.what.ends_with("cpu"));
    if off {
        "not recorded"
    } else {
        "too short a time to tell"
    }
    .to_owned()
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
    // A bar that does not fit shortens them all.
    let most = shown.iter().map(|item| item.share.min(1.0));
    let most = most.fold(0.0, f64::max);
    let room = width.saturating_sub(longest + 13) as f64;
    let scale = if most * BAR > room { room / most } else { BAR };
    let mut text = format!("  {}\n", on_one_line(&title));
    for item in shown {
        let bar = "#".repeat((item.share.min(1.0) * scale).round() as usize);
        let start = format!(
            "    {:<longest$}  {:>5}  {bar}",
            on_one_line(&item.label),
            percent(item.share)
        );
        text.push_str(&with_note(&start, &item.note, width));
    }
    text
}

fn remedy_lines(headline: &Finding, unit: &str, width: usize) -> String {
    let remedies = &headline.would_help;
    let Some(longest) = remedies
        .iter()
        .map(|remedy| remedy.change.chars().count())
        .max()
    else {
        return String::new();
    };
    let mut text = "  Estimated gain, at most, if the rest stays as it is\n".to_owned();
    for remedy in remedies {
        let change = on_one_line(&remedy.change);
        let bound = |value| format!("  {} {unit}", analysis::bound(value));
        let throughput = remedy.throughput.map_or(String::new(), bound);
        let gain = remedy
            .gain
            .map_or(String::new(), |gain| format!("  +{}", percent(gain)));
        let numbers = on_one_line(&format!("{throughput}{gain}"));
        let start = if 4 + longest + numbers.chars().count() > width {
            format!("    {change}\n      {}", numbers.trim_start())
        } else {
            format!("    {change:<longest$}{numbers}")
        };
        text.push_str(&with_note(&start, &remedy.because, width));
    }
    text
}

fn advice_lines(headline: &Finding, report: &Report, width: usize) -> String {
    let verdict = &report.verdict;
    let mut text = remedy_lines(headline, rate_unit(report), width);
    let sentences = |items: Vec<String>, between: &str| {
        let bare: Vec<&str> = items
            .iter()
            .map(|item| item.trim_end_matches('.'))
            .collect();
        bare.join(between)
    };
    text.push_str(&labelled(
        "No gain from",
        &sentences(headline.would_not_help.clone(), ", "),
        width,
    ));
    if let Some(headroom) = &verdict.headroom {
        text.push_str(&labelled("Headroom", &headroom.sentence, width));
    }
    text.push_str(&labelled(
        "Ruled out",
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
        "Evidence against",
        &sentences(headline.contradictions.clone(), "; "),
        width,
    ));
    text.push_str(&labelled(
        "Caveats",
        &sentences(
            verdict
                .caveats
                .iter()
                .map(|caveat| caveat.sentence.clone())
                // What the headline says is not said again.
                .filter(|doubt| !headline.sentence.contains(doubt.trim_end_matches('.')))
                .collect(),
            "; ",
        ),
        width,
    ));
    text.push_str(&labelled(
        "Not collected",
        &sentences(verdict.not_seen.clone(), "; "),
        width,
    ));
    if headline.cause == "undetermined" {
        text.push_str(&labelled("Also ruled out", &ruled_out(report), width));
    }
    let last = if headline.cause == "healthy" {
        "Next"
    } else {
        "To confirm"
    };
    text.push_str(&labelled(last, &headline.prove_wrong, width));
    text
}

/// Why each cause is not it: what an undetermined verdict rests on. Causes with the same reason
/// stand together; without a target there is nothing to rule out.
fn ruled_out(report: &Report) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let judged = report
        .verdict
        .judged
        .iter()
        .filter(|judged| judged.answer == Answer::Absent && judged.concerns);
    for judged in
        judged.filter(|judged| judged.cause != "load.rate" && judged.cause != "undetermined")
    {
        match reasons
            .iter_mut()
            .find(|(reason, _)| *reason == judged.sentence)
        {
            Some((_, causes)) => causes.push(&judged.cause),
            None => reasons.push((&judged.sentence, vec![&judged.cause])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(reason, causes)| format!("{}: {reason}", causes.join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use expect_test::{ExpectFile, expect_file};

    use super::*;

    fn check(json: &str, width: usize, expected: &ExpectFile) {
        let report: Report = serde_json::from_str(json).expect("a report as it is written");
        let text = verdict(&report, width);
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
        expected.assert_eq(&text);
    }

    macro_rules! golden {
        ($test:ident, $name:literal, $width:literal, $golden:literal) => {
            #[test]
            fn $test() {
                let json = include_str!(concat!("../../fixtures/reports/", $name, ".json"));
                let path = concat!("../../fixtures/reports/", $golden, ".txt");
                check(json, $width, &expect_file![path]);
            }
        };
    }

    golden!(a_saturated_cpu, "cpu-saturated", 100, "cpu-saturated");
    golden!(a_quota, "cpu-quota", 100, "cpu-quota");
    golden!(
        a_generator_at_its_limit,
        "client-bound",
        100,
        "client-bound"
    );
    golden!(a_run_of_several_phases, "phases", 100, "phases");
    golden!(phases_in_a_narrow_terminal, "phases", 72, "phases-narrow");
    golden!(a_healthy_server, "rate-limited", 100, "rate-limited");
    golden!(
        a_narrow_terminal,
        "cpu-saturated",
        72,
        "cpu-saturated-narrow"
    );

    #[test]
    fn quantiles_stand_below_the_mean_and_the_option_for_them_where_there_are_none() {
        let json = include_str!("../../fixtures/reports/cpu-saturated.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        let said = |report: &Report| {
            let text = verdict(report, 100);
            let lines = text.lines().filter(|line| line.contains("p99"));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(said(&report), "");
        let workload = report.workload.as_mut().expect("there is a workload");
        workload.quantiles_option = Some("--quantiles".to_owned());
        assert!(said(&report).ends_with(" mean (from pgbench; p99 needs --quantiles)"));
        let quantiles = [
            (0.5, 1.01e5),
            (0.95, 3e5),
            (0.99, 3.5e5),
            (0.999, 4e6),
            (1.0, 1.2e7),
        ];
        let latency = report.signals.iter_mut().find(|it| it.name == "latency");
        latency.expect("there is a latency").quantiles = quantiles
            .map(|(q, value)| model::Quantile {
                q,
                value,
                sampled: Some(46_012),
            })
            .to_vec();
        let said = said(&report);
        assert!(
            said.contains(" mean, p99 0.350 ms (from pgbench)\n"),
            "{said}"
        );
        assert!(
            said.ends_with(
                "\n  quantiles   p50 0.101 ms, p99 0.350 ms, p99.9 4.00 ms, max 12.0 ms of 46,012 sampled"
            ),
            "{said}"
        );
    }

    #[test]
    fn long_names_and_more_than_all_of_the_time_fit() {
        let json = include_str!("../../fixtures/reports/cpu-saturated.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        report.verdict.findings[0].would_help[0].change = "spread over more CPUs ".repeat(4);
        let account = report
            .verdict
            .account
            .as_mut()
            .expect("there is an account");
        account.items[0].share = 4.8;
        account.items[0].label = "mariadbd in uninterruptible sleep (disk or kernel lock)".into();
        let text = verdict(&report, 100);
        assert!(text.lines().all(|it| it.chars().count() <= 100), "{text}");
    }
}
