//! Who of a machine waits, for what, and who makes them wait, as a person reads it in a terminal.

use analysis::{duration, percent, rate};
use model::{EntityKind, Finding, MachineReport, PartKind, Report, Signal, UnitReport};

use super::layout::{cut, labelled, wrap};
use super::on_one_line;
use super::throughput::value_words;

/// Less than this is not worth a line of its own, s per second.
const LEAST_LOST: f64 = 0.001;
/// Waits of one line, and the characters of all but the first.
const MOST_WAITS: usize = 2;
const WIDEST_WAITS: usize = 36;
/// Holders of one line, and how much of what was lost they have at least.
const MOST_HOLDERS: usize = 2;
const LEAST_PART: f64 = 0.1;
/// Groups of one line.
const MOST_GROUPS: usize = 4;
/// Columns of the table.
const HEADINGS: [&str; 4] = ["Lost per second", "Who", "Waits for", "Behind"];

/// The ranking, and the verdict of each of the first `most`.
pub(super) fn short(report: &Report, machine: &MachineReport, width: usize, most: usize) -> String {
    let mut text = ranking(machine, width, most.max(5));
    let judged = machine.units.iter().filter(|unit| is_lost(unit));
    for unit in judged.take(most) {
        let headline = unit.verdict.as_ref().and_then(|it| it.findings.first());
        text += &headline.map_or(String::new(), |it| verdict(unit, it, width));
    }
    text += &labelled("Requests", &requests(machine), width);
    text += &labelled("Not followed", &not_followed(machine), width);
    text += &super::throughput::window_and_pressure(report, width);
    text + &labelled("Next", &next(machine), width)
}

/// The ranking, and each verdict whole, as `text` writes it of a report that is about one of them.
pub(super) fn full(
    report: &Report,
    machine: &MachineReport,
    width: usize,
    text: impl Fn(&Report) -> String,
) -> String {
    let mut all = ranking(machine, width, usize::MAX);
    all += &labelled("Requests", &requests(machine), width);
    all += &labelled("Not followed", &not_followed(machine), width);
    for unit in &machine.units {
        let Some(verdict) = &unit.verdict else {
            continue;
        };
        let own = Report {
            window: unit.window,
            subjects: unit.subjects.clone(),
            signals: unit.signals.clone(),
            by_second: None,
            spikes: None,
            think_time: None,
            goals: unit.goals.clone(),
            threads: unit.threads.clone(),
            pressure: unit.pressure.clone(),
            phases: Vec::new(),
            verdict: verdict.clone(),
            machine: None,
            named_after_ns: None,
            ..report.clone()
        };
        all += &format!("\n{} ({})\n", on_one_line(&unit.name), unit.kind.word());
        all += &text(&own);
    }
    all
}

fn is_lost(unit: &UnitReport) -> bool {
    unit.lost_per_second >= LEAST_LOST
}

/// Who lost most in a sentence, and everybody in a table.
fn ranking(machine: &MachineReport, width: usize, most: usize) -> String {
    let mut text = wrap(&sentence(machine), width).join("\n") + "\n";
    let lost: Vec<&UnitReport> = machine.units.iter().filter(|unit| is_lost(unit)).collect();
    let mut rows: Vec<[String; 4]> = lost.iter().take(most).map(|unit| row(unit)).collect();
    if rows.is_empty() {
        return text;
    }
    rows.insert(0, HEADINGS.map(str::to_owned));
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [lost_width, who, waits, _] = [0, 1, 2, 3].map(|column| widest(column).unwrap_or(0));
    for [lost, name, waited, behind] in &rows {
        let line = format!("  {lost:>lost_width$}  {name:<who$}  {waited:<waits$}  {behind}");
        text += &format!("{}\n", cut(line.trim_end(), width));
    }
    let left = lost.len().saturating_sub(most);
    if left > 0 {
        text += &format!("  and {left} more (-v)\n");
    }
    text
}

fn sentence(machine: &MachineReport) -> String {
    let Some(first) = machine.units.first() else {
        return "Nobody on this machine was measured: nobody used a CPU or waited enough to be followed, \
                or the recording was too short."
            .to_owned();
    };
    let count = machine.units.len();
    if !is_lost(first) {
        let who = match count {
            1 => first.name.clone(),
            _ => format!("None of the {count} that were followed"),
        };
        let negated = if count == 1 { "did not lose" } else { "lost" };
        return format!(
            "{who} {negated} time to speak of: nobody waits among those that were followed."
        );
    }
    let wait = first.waits.first();
    let most = wait.map_or(String::new(), |wait| {
        let part = percent(wait.lost_per_second / first.lost_per_second);
        format!(", {part} of it {}", wait.label)
    });
    let of = match count {
        1 => String::new(),
        _ => format!(" of the {count} that were followed"),
    };
    format!(
        "{} ({}) waits most{of}: {} in each second{most}.",
        first.name,
        first.kind.word(),
        lost_words(first.lost_per_second)
    )
}

fn lost_words(seconds: f64) -> String {
    duration(seconds * 1e9)
}

fn row(unit: &UnitReport) -> [String; 4] {
    let waits = unit.waits.iter().take(MOST_WAITS);
    let mut waits: Vec<String> = waits
        .filter(|wait| wait.lost_per_second >= 0.01 * unit.lost_per_second)
        .map(|wait| {
            let part = percent(wait.lost_per_second / unit.lost_per_second);
            // Under this heading the short name of the page says enough.
            let name = wait.class.look().map_or(&*wait.label, |look| look.label);
            format!("{} {part}", name.trim_start_matches("waiting for "))
        })
        .collect();
    let is_wide = |waits: &[String]| waits.join(", ").chars().count() > WIDEST_WAITS;
    while waits.len() > 1 && is_wide(&waits) {
        waits.pop();
    }
    let row = [
        lost_words(unit.lost_per_second),
        format!("{} ({})", unit.name, unit.kind.word()),
        waits.join(", "),
        behind(unit),
    ];
    row.map(|cell| on_one_line(&cell))
}

/// Who had what was waited for, as parts of all that was lost.
fn behind(unit: &UnitReport) -> String {
    let all_ns: f64 = unit.lost_per_second * unit.window.len_ns() as f64;
    let parts = unit.waits.iter().flat_map(|wait| &wait.behind);
    let named = parts.filter(|part| {
        let is_somebody = matches!(
            part.kind,
            PartKind::Own | PartKind::Partner | PartKind::Other | PartKind::Stolen
        );
        is_somebody && part.ns as f64 >= LEAST_PART * all_ns
    });
    let words = named.take(MOST_HOLDERS).map(|part| {
        let who = match part.kind {
            PartKind::Own => "itself",
            _ => part.label.as_str(),
        };
        format!("{who} {}", percent(part.ns as f64 / all_ns))
    });
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => blamed(unit).unwrap_or_default(),
        false => words.join(", "),
    }
}

/// Whom the verdict names, if that is somebody else.
fn blamed(unit: &UnitReport) -> Option<String> {
    let headline = unit.verdict.as_ref()?.findings.first()?;
    let own = unit.subjects.iter().any(|it| it.entity == headline.entity);
    let is_somebody = matches!(
        headline.entity.kind,
        EntityKind::Process | EntityKind::Cgroup
    );
    (!own && is_somebody).then(|| headline.entity.name.clone())
}

/// `  redis-server: A neighbour holds the CPU: ...  cpu.neighbour, hog; measured`.
fn verdict(unit: &UnitReport, headline: &Finding, width: usize) -> String {
    let who = match headline.entity.kind {
        EntityKind::Cgroup => &headline.entity.path,
        _ => &headline.entity.name,
    };
    let tag = format!("{}, {who}; {}", headline.cause, headline.confidence.word());
    let text = format!("{}: {} [{tag}]", unit.name, headline.sentence);
    let lines = wrap(&text, width.saturating_sub(4));
    format!("  {}\n", lines.join("\n    "))
}

/// Requests of everybody who answers some.
fn requests(machine: &MachineReport) -> String {
    let of = |unit: &UnitReport| {
        let signal = |name: &str| unit.signals.iter().find(|signal| signal.name == name);
        let throughput = signal("throughput")?.mean.filter(|mean| *mean > 0.0)?;
        let latency = signal("latency").map_or(String::new(), latency_words);
        Some(format!(
            "{} {} per second{latency}",
            unit.name,
            rate(throughput)
        ))
    };
    let all: Vec<String> = machine.units.iter().filter_map(of).collect();
    all.join("; ")
}

fn latency_words(latency: &Signal) -> String {
    let mean = latency
        .mean
        .map(|mean| format!(", {} mean", duration(mean)));
    let p99 = latency.quantiles.iter().find(|quantile| quantile.q == 0.99);
    let p99 = p99.map(|quantile| format!(", p99 {}", value_words(quantile)));
    mean.unwrap_or_default() + &p99.unwrap_or_default()
}

fn not_followed(machine: &MachineReport) -> String {
    let groups = machine.not_followed.iter().take(MOST_GROUPS);
    let words = groups.map(|it| {
        format!(
            "{} ({} {} some)",
            it.entity.path,
            it.resource.word(),
            percent(it.share)
        )
    });
    words.collect::<Vec<_>>().join(", ")
}

fn next(machine: &MachineReport) -> String {
    match machine.units.first() {
        Some(first) => format!(
            "each verdict whole: stallscope explain; one alone: record --for 30s --target {}",
            quoted(&first.target)
        ),
        None => "record while there is load, for 10 s or more".to_owned(),
    }
}

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{AccountPart, LedgerClass, Quality, UnitKind, UnitWait};

    use super::*;

    fn report(name: &str) -> Report {
        let json = match name {
            "quota" => include_str!("../../fixtures/reports/cpu-quota.json"),
            _ => include_str!("../../fixtures/reports/cpu-saturated.json"),
        };
        serde_json::from_str(json).expect("a report as it is written")
    }

    fn wait(report: &Report, lost: f64, behind: &[(PartKind, &str, f64)]) -> UnitWait {
        let ns = |per_second: f64| (per_second * report.window.len_ns() as f64) as i64;
        let part = |(kind, label, lost): &(PartKind, &str, f64)| AccountPart {
            kind: *kind,
            label: (*label).to_owned(),
            entity: None,
            ns: ns(*lost),
            share: 0.0,
            quality: Quality::Exact,
        };
        let class = match behind {
            [] => LedgerClass::Throttled,
            _ => LedgerClass::CpuWait,
        };
        UnitWait {
            class,
            label: class.label().to_owned(),
            lost_per_second: lost,
            behind: behind.iter().map(part).collect(),
        }
    }

    fn unit(report: &Report, kind: UnitKind, name: &str, waits: Vec<UnitWait>) -> UnitReport {
        UnitReport {
            kind,
            name: name.to_owned(),
            target: format!("cgroup:/system.slice/{name}\\x2d1.scope"),
            window: report.window,
            lost_per_second: waits.iter().map(|wait| wait.lost_per_second).sum(),
            waits,
            signals: report.signals.clone(),
            goals: Vec::new(),
            subjects: report.subjects.clone(),
            threads: Vec::new(),
            pressure: Vec::new(),
            verdict: Some(report.verdict.clone()),
        }
    }

    /// Two who wait and one who does not, the report being about the first.
    fn machine() -> Report {
        let (mut first, second) = (report("quota"), report("saturated"));
        let held = [
            (PartKind::Own, "postgres", 0.4),
            (PartKind::Other, "rustc (12 processes)", 0.25),
            (PartKind::Nobody, "nobody", 0.01),
        ];
        let waits = vec![wait(&first, 2.5, &[]), wait(&first, 0.125, &[])];
        let units = vec![
            unit(&first, UnitKind::Container, "shop", waits),
            unit(
                &second,
                UnitKind::Service,
                "postgresql@15-main",
                vec![wait(&second, 0.75, &held)],
            ),
            unit(&second, UnitKind::Process, "idle", Vec::new()),
        ];
        let mut pressure = first.pressure.clone();
        pressure.truncate(1);
        for it in &mut pressure {
            it.entity.path = "/batch".to_owned();
        }
        first.workload = None;
        first.machine = Some(MachineReport {
            units,
            not_followed: pressure,
        });
        first
    }

    #[test]
    fn everybody_is_ranked_and_the_first_have_their_verdict() {
        let report = machine();
        let machine = report.machine.as_ref().expect("made so");
        let text = short(&report, machine, 100, 2);
        assert!(text.lines().count() < 25 && text.lines().all(|it| it.chars().count() <= 100));
        expect![[r#"
            shop (container) waits most of the 3 that were followed: 2.62 s in each second, 95 % of it throttled
            by a CPU quota.
              Lost per second  Who                           Waits for                  Behind
                       2.62 s  shop (container)              held back by a quota 95 %  stallscope-lab-10734
                       750 ms  postgresql@15-main (service)  a CPU 100 %                itself 53 %, rustc (12 …
              shop: A CPU quota is the bottleneck: /stallscope-lab-10734 ran out of its limit of 0.4 CPUs in
                100 % of the periods, and 61 % of each request was postgres held back by it, while the machine
                was 75 % idle. [cpu.quota, /stallscope-lab-10734; measured]
              postgresql@15-main: CPU is the bottleneck: both CPUs were 100 % busy, and 38 % of each request
                was postgres waiting for one. [cpu.saturated, postgres; measured]
              Requests    shop 18,503 per second, 0.519 ms mean; postgresql@15-main 75,709 per second, 0.111 ms
                          mean; idle 75,709 per second, 0.111 ms mean
              Not followed  /batch (cpu 97 % some)
              Window      1 s to 20 s, steady
              PSI         cpu 97 % some, memory 0, io 0 (machine)
              Next        each verdict whole: stallscope explain; one alone: record --for 30s --target
                          'cgroup:/system.slice/shop\x2d1.scope'
        "#]].assert_eq(&text);
        assert!(short(&report, machine, 100, 0).lines().count() < text.lines().count());
        let narrow = short(&report, machine, 60, 2);
        assert!(
            narrow.lines().all(|it| it.chars().count() <= 60),
            "{narrow}"
        );
    }

    #[test]
    fn every_verdict_stands_whole_behind_the_ranking() {
        let report = machine();
        let machine = report.machine.as_ref().expect("made so");
        let text = full(&report, machine, 100, |own| {
            assert!(own.machine.is_none());
            format!("{}\n", own.verdict.findings[0].cause)
        });
        let blocks: Vec<&str> = text.split("\n\n").skip(1).collect();
        assert_eq!(
            blocks,
            [
                "shop (container)\ncpu.quota",
                "postgresql@15-main (service)\ncpu.saturated",
                "idle (process)\ncpu.saturated\n"
            ]
        );
    }

    #[test]
    fn a_machine_on_which_nobody_waits_says_so() {
        let mut report = machine();
        let mut machine = report.machine.take().expect("made so");
        machine.units.drain(..2);
        expect!["idle did not lose time to speak of: nobody waits among those that were followed."]
            .assert_eq(&sentence(&machine));
        machine.units.clear();
        expect!["Nobody on this machine was measured: nobody used a CPU or waited enough to be followed, or the recording was too short."].assert_eq(&sentence(&machine));
    }
}
