//! A recording of the whole machine: everybody who was followed is judged as a target of its own, and ranked by the
//! time that it lost.
//!
//! While it was recorded all of them were targets. Judged is one at a time, on a timeline in which the others are
//! what they would have been beside it: processes of the background. All that this changes besides roles is who had
//! the CPUs that were waited for (`machine/view.rs`).

mod view;

use model::{
    ClassState, EntityKind, Finding, LedgerClass, MachineReport, Meta, Pressure, Report, StallKind,
    Target, Timeline, UnitKind, UnitReport, UnitWait, Window,
};

use crate::ledger::is_inside;
use crate::{answer, by_second, diagnose, judged, named, pressure};

use view::view;

/// Less than this is not worth a line.
const LEAST_PRESSURE: f64 = 0.01;
const MOST_NOT_FOLLOWED: usize = 10;

/// The answer of a command, with when its cause was named.
///
/// Of a recording of the whole machine, timeline and description become those in which the first of those ranked is
/// the target, and the report is about it. The first `top` of them have a verdict.
pub fn conclude(
    timeline: &mut Timeline,
    meta: &mut Meta,
    asked: Option<Window>,
    top: usize,
) -> Report {
    if !meta.is_of_machine() {
        return answer(timeline, meta, asked);
    }
    let ranked = ranked(timeline, meta, asked);
    let not_followed = not_followed(timeline, meta, asked);
    let Some(first) = ranked.first() else {
        let mut report = diagnose(timeline, meta, asked);
        report.machine = Some(MachineReport {
            units: Vec::new(),
            not_followed,
        });
        return report;
    };
    (*timeline, *meta) = view(timeline, meta, first.number);
    let mut report = by_second::with_seconds(first.report.clone(), timeline, meta);
    if asked.is_none() {
        report = named::with_time(report, timeline, meta);
    }
    let units = ranked
        .into_iter()
        .enumerate()
        .map(|(place, judged)| UnitReport {
            verdict: (place < top).then_some(judged.report.verdict),
            ..judged.unit
        });
    report.machine = Some(MachineReport {
        units: units.collect(),
        not_followed,
    });
    report
}

/// Everybody who was followed, by the time lost, most first.
fn ranked(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Vec<Judged> {
    let mut ranked: Vec<Judged> = (0..meta.targets.len())
        .filter_map(|number| {
            let (timeline, meta) = view(timeline, meta, number);
            let target = &meta.targets[0];
            let window = asked.unwrap_or_else(|| followed(&timeline, &meta, target));
            let report = diagnose(&timeline, &meta, Some(window));
            // Who was followed for too short a time, or ended at once, is not known to have lost nothing.
            report.verdict.account.as_ref()?;
            let unit = unit(target, &report);
            Some(Judged {
                number,
                unit,
                report,
            })
        })
        .collect();
    ranked.sort_by(|a, b| b.unit.lost_per_second.total_cmp(&a.unit.lost_per_second));
    ranked
}

/// The headline of whoever lost most time over a window; `None` where nobody is measured.
pub(crate) fn headline(timeline: &Timeline, meta: &Meta, window: Window) -> Option<Finding> {
    let first = ranked(timeline, meta, Some(window)).into_iter().next()?;
    first.report.verdict.findings.into_iter().next()
}

/// What is judged of a target where the user names no window: what would be, from when it was followed on.
fn followed(timeline: &Timeline, meta: &Meta, target: &Target) -> Window {
    let (_, judged) = judged(timeline, meta);
    let since = Window::new(target.found_at.min(judged.end), judged.end);
    judged
        .intersect(since)
        .filter(|it| !it.is_empty())
        .unwrap_or(judged)
}

/// Somebody who was followed, with the report in which it is the target.
struct Judged {
    /// Its place among the targets that were recorded.
    number: usize,
    unit: UnitReport,
    report: Report,
}

fn unit(target: &Target, report: &Report) -> UnitReport {
    let waits = waits(report);
    UnitReport {
        kind: kind(target),
        name: target.name.clone(),
        target: named(target),
        window: report.window,
        lost_per_second: waits.iter().map(|wait| wait.lost_per_second).sum(),
        waits,
        signals: report.signals.clone(),
        goals: report.goals.clone(),
        subjects: report.subjects.clone(),
        threads: report.threads.clone(),
        pressure: report.pressure.clone(),
        verdict: None,
    }
}

fn kind(target: &Target) -> UnitKind {
    let unit = target.machine_unit.as_ref();
    unit.map_or(UnitKind::Process, |unit| unit.kind)
}

/// How a person would name it as a target.
fn named(target: &Target) -> String {
    let group = target.machine_unit.as_ref();
    let group = group.and_then(|unit| unit.group.as_deref());
    match (kind(target), group) {
        (UnitKind::Service, _) => format!("unit:{}", target.name),
        (_, Some(group)) => format!("cgroup:{group}"),
        (_, None) => target.found_by.to_string(),
    }
}

/// What somebody waited for: of its requests, or else of its threads that were at work.
fn waits(report: &Report) -> Vec<UnitWait> {
    let Some(account) = &report.verdict.account else {
        return Vec::new();
    };
    // Who waits for work, or sleeps as long as he chose, loses nothing. What no thread accounts for was in line at its
    // sockets, where the times were taken.
    let is_waited = |class: LedgerClass| match class {
        LedgerClass::Remote | LedgerClass::Outside => true,
        class => {
            let state = class.state();
            is_inside(class) && !matches!(state, ClassState::Running | ClassState::Idle)
        }
    };
    // Shares are of all requests, or of the time of all threads: both add up over the window.
    let per_second = |share: f64| share * account.total_ns as f64 / report.window.len_ns() as f64;
    let items = account.items.iter().filter(|item| is_waited(item.class));
    let mut waits: Vec<UnitWait> = items
        .map(|item| UnitWait {
            class: item.class,
            label: label(item.class).to_owned(),
            lost_per_second: per_second(item.share),
            behind: item.parts.clone(),
        })
        .collect();
    waits.retain(|wait| wait.lost_per_second > 0.0);
    waits.sort_by(|a, b| b.lost_per_second.total_cmp(&a.lost_per_second));
    waits
}

/// What it waits for, as it stands beside a name.
const fn label(class: LedgerClass) -> &'static str {
    match class {
        LedgerClass::Outside => "in line at its sockets",
        class => class.label(),
    }
}

/// Groups with pressure that are neither followed, nor around somebody who is.
fn not_followed(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Vec<Pressure> {
    let window = asked.unwrap_or(timeline.window);
    let mut groups: Vec<Pressure> = timeline
        .entities
        .of_kind(EntityKind::Cgroup)
        .filter(|group| group.entity.path != "/" && !view::concerns(timeline, meta, group.id))
        .flat_map(|group| pressure::of_group(timeline, group, window))
        .filter(|it| it.kind == StallKind::Some && it.share >= LEAST_PRESSURE)
        .collect();
    groups.sort_by(|a, b| b.share.total_cmp(&a.share));
    groups.truncate(MOST_NOT_FOLLOWED);
    groups
}
