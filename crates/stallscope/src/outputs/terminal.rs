//! The verdict as a person reads it in a terminal: readable without colour, under 100 columns.

use analysis::{duration, gain, percent};
use model::{
    Account, AccountItem, Answer, Caveat, EntityKind, Finding, GainOf, Interval, Remedy, Report,
    Role, ShareBasis,
};

use super::layout::{labelled, with_note, wrap};
use super::on_one_line;

/// Characters of a bar that stands for 100 %.
const BAR: f64 = 40.0;
/// Lines of the short answer, with the one that says where the recording is.
const MOST_LINES: usize = 25;
/// Of each part of it so many lines at most.
const MOST_ITEMS: usize = 5;
const MOST_GAINS: usize = 3;
/// A caveat that changes no answer: background processes were read less often.
const LESS_OFTEN: &str = "gate.stretched";
/// What a note on missing data holds that says how to get them.
const COMMANDS: [&str; 3] = ["stallscope doctor", "allow ", "--trace-all"];

/// How much a person asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    /// The answer, its evidence and what to do: at most 25 lines for one cause.
    Short,
    /// All of it: every caveat, what was not collected, why each other cause is absent.
    Full,
}

/// The verdict, ending in a line end.
pub(super) fn verdict(report: &Report, width: usize, detail: Detail) -> String {
    let view = View {
        report,
        width,
        detail,
    };
    let text = match (detail, &report.machine) {
        (Detail::Full, Some(machine)) => super::machine::full(report, machine, width, |own| {
            let view = View {
                report: own,
                ..view
            };
            view.text(usize::MAX, usize::MAX)
        }),
        // As many verdicts as there is room for.
        (Detail::Short, Some(machine)) => (1..=machine.units.len().max(1))
            .rev()
            .map(|most| super::machine::short(report, machine, width, most))
            .find(|text| text.lines().count() < MOST_LINES)
            .unwrap_or_else(|| super::machine::short(report, machine, width, 0)),
        (Detail::Full, None) => view.text(usize::MAX, usize::MAX),
        // Where names are long the smaller items give way first, then the caveats behind the first.
        (Detail::Short, None) => [
            (MOST_ITEMS, usize::MAX),
            (4, usize::MAX),
            (3, usize::MAX),
            (3, 3),
            (3, 2),
            (3, 1),
            (2, 1),
        ]
        .into_iter()
        .map(|(items, caveats)| view.text(items, caveats))
        .find(|text| text.lines().count() < MOST_LINES)
        .unwrap_or_else(|| view.text(1, 1)),
    };
    super::harmless(&text)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// A report, and how it is shown.
#[derive(Clone, Copy)]
struct View<'a> {
    report: &'a Report,
    width: usize,
    detail: Detail,
}

impl View<'_> {
    /// With so many items of each list at most, and so many caveats.
    fn text(self, most: usize, caveats: usize) -> String {
        let Self { report, width, .. } = self;
        let mut text = String::new();
        let Some(headline) = report.verdict.findings.first() else {
            return text;
        };
        text.push_str(&headline_lines(headline, width));
        text.push_str(&super::throughput::lines(report, width));
        text.push_str(&super::phases::lines(report, width, most));
        if most == usize::MAX {
            text.push_str(&super::labels::lines(report, width));
            text.push_str(&super::waits::lines(report, width));
            text.push_str(&super::stacks::lines(report, width));
            text.push_str(&super::disks::lines(report, width));
            text.push_str(&super::connections::lines(report, width));
            text.push_str(&super::programs::lines(report, width));
            text.push_str(&super::statements::lines(report, width));
            text.push_str(&super::locks::lines(report, width));
        }
        if let Some(account) = &report.verdict.account {
            text.push_str(&self.account_lines(account, most));
        }
        if report.workload.is_none() {
            text.push_str(&super::threads::lines(report, width, most));
        }
        for finding in report.verdict.findings.iter().skip(1).take(most) {
            let word = finding.confidence.word();
            let sentence = format!("{}: {} ({word})", finding.cause, bare(&finding.sentence));
            text.push_str(&labelled("Also", &sentence, width));
        }
        text.push_str(&self.remedy_lines(headline, most));
        text.push_str(&self.closing_lines(headline, most, caveats));
        text
    }
}

fn headline_lines(headline: &Finding, width: usize) -> String {
    let mut lines = wrap(&headline.sentence, width);
    let who = match headline.entity.kind {
        EntityKind::Cgroup => headline.entity.path.as_str(),
        _ => headline.entity.name.as_str(),
    };
    let interval = headline.share_interval.filter(|_| headline.share.is_some());
    let interval = interval.map_or(String::new(), |it| {
        let whole = [it.low, it.high].map(percent);
        // Ends that look alike get a digit more.
        let [low, high] = match whole[0] == whole[1] {
            true => [it.low, it.high].map(|end| format!("{:.1} %", 100.0 * end)),
            false => whole,
        };
        let low = low.trim_end_matches(" %");
        format!(" (95 % CI {low} to {high})")
    });
    let word = headline.confidence.word();
    let tag = format!("{}, {who}; {word}{interval}", headline.cause);
    let tag = on_one_line(&tag);
    let room = width.saturating_sub(tag.chars().count());
    match lines.last_mut() {
        Some(last) if last.chars().count() + 2 <= room => *last = format!("{last:<room$}{tag}"),
        _ if tag.chars().count() > width => lines.extend(wrap(&tag, width)),
        _ => lines.push(format!("{:room$}{tag}", "")),
    }
    lines.join("\n") + "\n"
}

impl View<'_> {
    fn account_lines(self, account: &Account, most: usize) -> String {
        let Self { report, width, .. } = self;
        let target = report
            .subjects
            .iter()
            .find(|subject| subject.role == Role::Target)
            .map_or("the target", |subject| subject.entity.name.as_str());
        let title = match (account.basis, account.response_ns) {
            (ShareBasis::ResponseTime, Some(ns)) => {
                format!("Where the {} goes", duration(ns as f64))
            }
            _ => format!("Where the non-idle time of {target} goes"),
        };
        let mut shown: Vec<&AccountItem> = account
            .items
            .iter()
            .filter(|item| item.share >= 0.0005)
            .collect();
        if self.detail == Detail::Short {
            // Less than that explains nothing that is asked here.
            const LEAST: f64 = 0.01;
            let mut shares: Vec<f64> = shown.iter().map(|item| item.share).collect();
            shares.sort_by(|a, b| b.total_cmp(a));
            let last = shares.get(most.max(2) - 1).or(shares.last());
            let least = last.map_or(LEAST, |share| share.max(LEAST));
            shown.retain(|item| item.share >= least);
        }
        let longest = shown
            .iter()
            .map(|item| item.label.chars().count())
            .max()
            .unwrap_or(0);
        let times: Vec<String> = shown
            .iter()
            .map(|item| match account.response_ns {
                Some(ns) => duration(item.share * ns as f64),
                None => String::new(),
            })
            .collect();
        let widest = times.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        // A bar that does not fit shortens them all.
        let most = shown.iter().map(|item| item.share.min(1.0));
        let most = most.fold(0.0, f64::max);
        let parts = shown.iter().map(|item| percent(item.share).chars().count());
        let longest_part = parts.max().unwrap_or(0).max(5);
        let room = width.saturating_sub(longest + widest + longest_part + 10) as f64;
        let bar = match self.detail {
            Detail::Short => BAR / 2.0,
            Detail::Full => BAR,
        };
        let scale = if most * bar > room { room / most } else { bar };
        let mut text = format!("  {}\n", on_one_line(&title));
        for (item, time) in shown.into_iter().zip(times) {
            let bar = "#".repeat((item.share.min(1.0) * scale).round() as usize);
            let start = format!(
                "    {:<longest$}  {time:>widest$}  {:>5}  {bar}",
                on_one_line(&item.label),
                percent(item.share)
            );
            text.push_str(&self.noted(&start, &item.note));
        }
        text
    }

    /// A line with its note; in the short answer with as many of its clauses as fit beside it.
    fn noted(self, start: &str, note: &str) -> String {
        if self.detail == Detail::Full {
            return with_note(start, note, self.width);
        }
        let mut line = start.to_owned();
        let mut between = "  ";
        for clause in note.split("; ") {
            let clause = on_one_line(clause);
            let length = line.chars().count() + between.len() + clause.chars().count();
            if clause.is_empty() || length > self.width {
                break;
            }
            line = line + between + &clause;
            between = "; ";
        }
        line + "\n"
    }

    fn remedy_lines(self, headline: &Finding, most: usize) -> String {
        let Self { report, width, .. } = self;
        let unit = super::throughput::rate_unit(report);
        let most = match self.detail {
            Detail::Short => most.min(MOST_GAINS),
            Detail::Full => most,
        };
        let remedies: Vec<_> = headline.would_help.iter().take(most).collect();
        let none = sentences(&headline.would_not_help, ", ");
        let Some(longest) = remedies.iter().map(|it| it.change.chars().count()).max() else {
            return labelled("No gain from", &none, width);
        };
        let mut text = "  Estimated gain, if the rest stays as it is\n".to_owned();
        for remedy in remedies {
            let change = on_one_line(&remedy.change);
            let numbers = on_one_line(&format!("  {}", gain_in_words(remedy, unit)));
            let note = [&*remedy.gain_model, &*remedy.because];
            let note = note.into_iter().filter(|it| !it.is_empty());
            let note = note.collect::<Vec<_>>().join("; ");
            let start = if 4 + longest + numbers.chars().count() > width {
                format!("    {change}\n      {}", numbers.trim_start())
            } else {
                format!("    {change:<longest$}{numbers}")
            };
            text.push_str(&self.noted(&start, &note));
        }
        if !none.is_empty() {
            let start = format!("    {:<longest$}", "none from");
            let none = on_one_line(&none);
            text.push_str(
                &match start.chars().count() + 2 + none.chars().count() > width {
                    true => with_note(&start, &none, width),
                    false => format!("{start}  {none}\n"),
                },
            );
        }
        text
    }

    fn closing_lines(self, headline: &Finding, most: usize, most_caveats: usize) -> String {
        let Self {
            report,
            width,
            detail,
        } = self;
        let mut text = String::new();
        if let Some(headroom) = &report.verdict.headroom {
            text.push_str(&labelled("Headroom", &headroom.sentence, width));
        }
        text.push_str(&labelled("Ruled out", &self.ruled_out(), width));
        let against = headline.evidence_against.iter().take(most);
        let against: Vec<String> = against.cloned().collect();
        let against = sentences(&against, "; ");
        text.push_str(&labelled("Evidence against", &against, width));
        // What the headline says is not said again.
        let caveats = report.verdict.caveats.iter();
        let caveats: Vec<&Caveat> = caveats
            .filter(|caveat| !headline.sentence.contains(bare(&caveat.sentence)))
            .collect();
        text.push_str(&match detail {
            Detail::Short => self.data_line(&caveats, most_caveats),
            Detail::Full => self.data_lines(headline, &caveats),
        });
        let last = if headline.cause == "healthy" {
            "Next"
        } else {
            "To confirm"
        };
        text.push_str(&labelled(last, &headline.to_confirm, width));
        text
    }

    fn ruled_out(self) -> String {
        let ruled_out = self.report.verdict.ruled_out.iter();
        let ruled_out = ruled_out.map(|found| match self.detail {
            // A zero is what the word says.
            Detail::Short => found.sentence.trim_end_matches(" 0").to_owned(),
            Detail::Full => found.sentence.clone(),
        });
        sentences(&ruled_out.collect::<Vec<_>>(), ", ")
    }

    /// The serious caveats, and what is missing that a command or option gives; how many notes are left out.
    fn data_line(self, caveats: &[&Caveat], most_caveats: usize) -> String {
        let not_collected = &self.report.verdict.not_collected;
        let serious = caveats.iter().filter(|it| it.gate != LESS_OFTEN);
        let serious = serious.map(|caveat| caveat.sentence.clone());
        let mut data: Vec<String> = serious.take(most_caveats).collect();
        let has_command = |it: &&String| {
            let mut known = COMMANDS.iter();
            known.any(|command| it.contains(command))
        };
        data.extend(not_collected.iter().filter(has_command).cloned());
        let left = caveats.len() + not_collected.len() - data.len();
        if left > 0 {
            let more = if data.is_empty() { "" } else { " more" };
            let notes = if left == 1 { "note" } else { "notes" };
            data.push(format!("{left}{more} {notes} on the data (-v)"));
        }
        labelled("Data", &sentences(&data, "; "), self.width)
    }

    /// Every caveat, what was not collected, and beside an undetermined verdict why each cause is not it.
    fn data_lines(self, headline: &Finding, caveats: &[&Caveat]) -> String {
        let Self { report, width, .. } = self;
        let caveats: Vec<String> = caveats.iter().map(|it| it.sentence.clone()).collect();
        let not_collected = sentences(&report.verdict.not_collected, "; ");
        let mut text = labelled("Caveats", &sentences(&caveats, "; "), width);
        text.push_str(&labelled("Not collected", &not_collected, width));
        let named = report.named_after_ns.map(|ns| {
            let after = super::layout::seconds(ns as f64 / 1e9);
            format!("after {after}, and from then on")
        });
        text.push_str(&labelled("Named", &named.unwrap_or_default(), width));
        text.push_str(&super::stalls::in_full(report, width));
        if headline.cause == "undetermined" {
            let reasons = ruled_out_causes(report);
            text.push_str(&labelled("Also ruled out", &reasons, width));
        }
        text
    }
}

fn bare(sentence: &str) -> &str {
    sentence.trim_end_matches('.')
}

fn sentences(items: &[String], between: &str) -> String {
    let all: Vec<&str> = items.iter().map(|item| bare(item)).collect();
    all.join(between)
}

/// `about 71,400 tps  +50 % (+44 % to +56 %)`, `response time -40 % (-30 % to -50 %)`.
fn gain_in_words(remedy: &Remedy, unit: &str) -> String {
    let Some(middle) = remedy.gain else {
        return "not known".to_owned();
    };
    let (before, sign) = match remedy.gain_of {
        Some(GainOf::ResponseTime) => ("response time ".to_owned(), '-'),
        _ => {
            let about = |value| format!("about {} {unit}  ", analysis::bound(value));
            (remedy.throughput.map_or(String::new(), about), '+')
        }
    };
    let signed = |share| format!("{sign}{}", gain(share));
    let ends = remedy
        .gain_interval
        .map_or(String::new(), |Interval { low, high }| {
            format!(" ({} to {})", signed(low), signed(high))
        });
    format!("{before}{}{ends}", signed(middle))
}

/// Why each cause is not it: what an undetermined verdict rests on. Causes with the same reason
/// stand together; without a target there is nothing to rule out.
fn ruled_out_causes(report: &Report) -> String {
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
        .map(|(reason, causes)| format!("{}: {reason}", by_family(causes, report).join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

/// `event.*` for all causes of a family that was judged, where they are three or more.
fn by_family(causes: &[&str], report: &Report) -> Vec<String> {
    let family = |cause: &str| cause.split_once('.').map(|(family, _)| family.to_owned());
    let mut named: Vec<String> = Vec::new();
    for cause in causes {
        let own = family(cause);
        let here = causes.iter().filter(|it| family(it) == own).count();
        let all = report.verdict.judged.iter();
        let all = all.filter(|it| family(&it.cause) == own).count();
        let name = match own {
            Some(family) if here == all && here > 2 => format!("{family}.*"),
            _ => (*cause).to_owned(),
        };
        if !named.contains(&name) {
            named.push(name);
        }
    }
    named
}

#[cfg(test)]
mod tests;
