//! The call stacks of pages against what the engine says of them.

use std::collections::BTreeMap;

use analysis::stats::Xorshift;
use model::{ClassState, EntityKind, LedgerClass, MISSING, PageForm, Role, Window};
use recording::Recording;
use sensors::stack::{CPU_SAMPLE, STACK, WAIT_SAMPLE};

use super::decode::{Found, Sample, Waits, found};
use super::made::{kept, of_stacks};
use super::{data_of, sums::span, text_of};
use crate::page::{Against, MOST_BYTES, draw, draw_against, draw_in, edges};

/// The samples of a window that begins and ends on edges.
fn inside(found: &Found, window: Window) -> impl Iterator<Item = &Sample> {
    let (from, to) = span(found, window);
    let is_inside =
        move |it: &&Sample| found.edges[it.bin] >= from && found.edges[it.bin + 1] <= to;
    found.samples.iter().filter(is_inside)
}

#[test]
fn samples_of_windows_are_those_that_the_engine_counts() {
    let recording = of_stacks();
    let Recording { timeline, meta, .. } = &recording;
    let (judged, text) = data_of(&recording);
    let found = found(&text);
    let intervals = analysis::intervals(timeline, meta);
    let windows = [
        judged.window,
        Window::new(intervals[1].start, intervals[4].end),
        Window::new(intervals[6].start, intervals[6].end),
    ];
    for window in windows {
        let said = analysis::stacks::report(timeline, window).expect("something ran");
        let counted: i64 = inside(&found, window).map(|it| it.samples).sum();
        assert_eq!(counted as u64, said.samples);
        assert!(said.samples > 20);
        let time = |it: &Sample| it.samples * it.cpu_ns;
        assert_eq!(inside(&found, window).map(time).sum::<i64>(), said.cpu_ns);
        let ending = |ends: fn(i64) -> bool| -> i64 {
            let of = inside(&found, window).filter(|it| ends(it.end));
            of.map(|it| it.samples).sum()
        };
        let whole = ending(|end| end == 0) as f64 / ending(|end| end >= 0) as f64;
        assert_eq!(Some(whole), said.whole);
        let mut by_path: BTreeMap<&[String], i64> = BTreeMap::new();
        for sample in inside(&found, window) {
            *by_path.entry(&found.stacks[sample.stack]).or_default() += time(sample);
        }
        for path in &said.paths {
            let mut frames = vec![path.process.clone()];
            frames.extend(path.frames.iter().rev().cloned());
            let share = by_path[&frames[..]] as f64 / said.cpu_ns as f64;
            assert!((share - path.share).abs() < 1e-12, "{frames:?}");
        }
    }
}

/// The waits of a window that begins and ends on edges.
fn waits_inside(found: &Found, window: Window) -> impl Iterator<Item = &Waits> {
    let (from, to) = span(found, window);
    let is_inside = move |it: &&Waits| found.edges[it.bin] >= from && found.edges[it.bin + 1] <= to;
    found.waits.iter().filter(is_inside)
}

/// What waits were for: the innermost frame.
fn class_of(path: &[String]) -> LedgerClass {
    let word = path.last().expect("it has frames");
    let mut all = LedgerClass::ALL.into_iter();
    all.find(|it| it.word() == word).expect("it is a class")
}

#[test]
fn waits_of_windows_are_those_that_the_engine_counts() {
    let recording = of_stacks();
    let Recording { timeline, meta, .. } = &recording;
    let (judged, text) = data_of(&recording);
    let found = found(&text);
    let intervals = analysis::intervals(timeline, meta);
    let windows = [
        judged.window,
        Window::new(intervals[1].start, intervals[4].end),
        Window::new(intervals[6].start, intervals[6].end),
    ];
    for window in windows {
        let said = analysis::stacks::report(timeline, window).and_then(|it| it.waits);
        let said = said.expect("something waited");
        assert!(said.waits > 20 && said.error_ns > 0);
        let sum = |of: fn(&Waits) -> i64| waits_inside(&found, window).map(of).sum::<i64>();
        assert_eq!(sum(|it| it.waits) as u64, said.waits);
        assert_eq!(sum(|it| it.ns), said.blocked_ns);
        let variance: f64 = waits_inside(&found, window)
            .map(|it| (it.deviation_ns as f64).powi(2))
            .sum();
        let error_ns = 1.96 * variance.sqrt();
        assert!((error_ns / said.error_ns as f64 - 1.0).abs() < 1e-6);
        let ending = |ends: fn(i64) -> bool| -> i64 {
            let of = waits_inside(&found, window).filter(|it| ends(it.end));
            of.map(|it| it.waits).sum()
        };
        let whole = ending(|end| end == 0) as f64 / ending(|end| end >= 0) as f64;
        assert_eq!(Some(whole), said.whole);
        let mut by_path: BTreeMap<&[String], i64> = BTreeMap::new();
        let (mut needed_ns, mut idle_ns) = (0, 0);
        for waits in waits_inside(&found, window) {
            let path = &found.stacks[waits.stack];
            *by_path.entry(path).or_default() += waits.ns;
            match class_of(path).state() {
                ClassState::Idle => idle_ns += waits.ns,
                _ => needed_ns += waits.ns,
            }
        }
        assert_eq!(needed_ns, said.needed_ns);
        for path in &said.paths {
            let mut frames = vec![path.process.clone()];
            frames.extend(path.frames.iter().rev().cloned());
            frames.push(path.class.word().to_owned());
            let of = match path.class.state() {
                ClassState::Idle => idle_ns,
                _ => needed_ns,
            };
            let share = by_path[&frames[..]] as f64 / of as f64;
            assert!((share - path.share).abs() < 1e-12, "{frames:?}");
            assert!(!path.frames.iter().any(|it| it == "schedule"));
        }
    }
}

#[test]
fn waits_alone_are_drawn_too() {
    let mut recording = of_stacks();
    recording.timeline.remove(&CPU_SAMPLE.name);
    let (_, text) = data_of(&recording);
    let found = found(&text);
    assert!(found.samples.is_empty() && found.waits.len() > 100);
    let has = |name: &str| found.page.tables.iter().any(|it| it.name == name);
    assert!(has(&STACK.name) && has(&WAIT_SAMPLE.name) && !has(&CPU_SAMPLE.name));
}

#[test]
fn siblings_stand_by_name_and_each_stack_once() {
    let (_, text) = data_of(&of_stacks());
    let stacks = found(&text).stacks;
    assert!(stacks.len() > 100);
    assert!(stacks.is_sorted(), "from the outermost frame on");
    assert!(stacks.iter().any(|path| path.len() > 10));
}

#[test]
fn a_page_that_must_be_small_has_a_fair_part_of_the_samples_and_says_so() {
    let recording = of_stacks();
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let intervals = analysis::intervals(&recording.timeline, &recording.meta);
    let edges = edges::edges(recording.timeline.window, report.origin, &intervals);
    // Rows, time by process, and which part of the samples and waits the page has.
    let drawn_in = |part| {
        let drawn = draw_in(&recording, &report, "x", None, &edges, part).expect("it is drawn");
        let found = found(&text_of(&drawn));
        let form = |name: &str| {
            let mut tables = found.page.tables.iter();
            tables.find(|it| it.name == name).map(|it| it.form)
        };
        let forms = (form(&CPU_SAMPLE.name), form(&WAIT_SAMPLE.name));
        let (Some(PageForm::Samples { one_of }), Some(PageForm::Waits { least_ns })) = forms else {
            panic!("there are both: {forms:?}");
        };
        let mut by_process: BTreeMap<(&str, String), f64> = BTreeMap::new();
        let process = |stack: usize| found.stacks[stack][0].clone();
        for it in &found.samples {
            let of = by_process.entry(("ran", process(it.stack))).or_default();
            *of += (it.samples * it.cpu_ns) as f64;
        }
        for it in &found.waits {
            let of = by_process.entry(("waited", process(it.stack))).or_default();
            *of += it.ns as f64;
        }
        let rows = [found.samples.len(), found.waits.len()];
        (rows, one_of, least_ns, by_process)
    };
    let ([samples, waits], one_of, least_ns, whole) = drawn_in(1.0);
    assert_eq!((one_of, least_ns), (1, 0));
    let ([some_samples, some_waits], one_of, least_ns, part) = drawn_in(1e-3);
    assert!(one_of.is_power_of_two() && one_of > 1, "{one_of}");
    assert!(least_ns > 1_000_000, "{least_ns}");
    assert!(some_samples + some_waits <= 400);
    assert!(
        some_samples > 80 && some_samples < samples,
        "{some_samples} of {samples}"
    );
    assert!(
        some_waits > 80 && some_waits < waits,
        "{some_waits} of {waits}"
    );
    // Of some hundred the part of a process is known to within a few percent.
    for (of, whole) in &whole {
        if matches!(&*of.1, "postgres" | "pgbench") {
            let off = part[of] / whole - 1.0;
            assert!(off.abs() < 0.3, "{of:?}: {off}");
        }
    }
}

#[test]
fn another_recording_stands_in_the_same_tree_with_the_bins_of_its_own_window() {
    let [recording, other] = [of_stacks(), of_stacks()];
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let window = report.window;
    let against = Against {
        timeline: &other.timeline,
        window,
        name: "other.stall".to_owned(),
    };
    let drawn = draw_against(&recording, &report, "x", Some(&against)).expect("it is drawn");
    let found = found(&text_of(&drawn));
    let page = found.page.against.as_ref().expect("it is there");
    assert_eq!(page.recording, "other.stall");
    let bins = page.edges_ns.len() - 1;
    assert_eq!(bins as i64, window.len_ns() / 1_000_000_000);
    // What its workload says of its own throughput, bin by bin.
    let requests: f64 = page.requests.iter().sum();
    let all = analysis::completed(&other.timeline, &[window])[0];
    assert_eq!(page.requests.len(), bins);
    assert!((requests / all - 1.0).abs() < 1e-6, "{requests} of {all}");
    let mut own: BTreeMap<usize, i64> = BTreeMap::new();
    for it in inside(&found, window) {
        *own.entry(it.stack).or_default() += it.samples * it.cpu_ns;
    }
    let mut others: BTreeMap<usize, i64> = BTreeMap::new();
    for it in &found.against.0 {
        assert!(it.bin < bins);
        *others.entry(it.stack).or_default() += it.samples * it.cpu_ns;
    }
    assert_eq!(own, others, "it is the same recording");
    assert!(!found.against.1.is_empty(), "waits too");
    let (_, alone) = data_of(&recording);
    let alone = super::decode::found(&alone);
    assert!(alone.page.against.is_none() && alone.against.0.is_empty());
    assert_eq!(alone.stacks, found.stacks);
}

#[test]
fn an_hour_of_two_full_cpus_is_whole_in_a_page() {
    const SAMPLES: i64 = 2 * 49 * 3_600;
    let mut recording = of_stacks();
    let timeline = &mut recording.timeline;
    let taken: Vec<_> = analysis::stacks::cpu_samples(timeline, timeline.window).collect();
    timeline.window.end = timeline.window.start + 3_600_000_000_000;
    let start = timeline.window.start;
    let mut random = Xorshift::new(1);
    let data = timeline.table_mut(&CPU_SAMPLE);
    for sample in 0..SAMPLES {
        let like = taken[random.below(taken.len())];
        let row = [like.stack, Some(like.cpu_ns), like.end];
        let at = start + sample * 10_204_081;
        data.push(at, like.entity, &row.map(|it| it.unwrap_or(MISSING)));
    }
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let drawn = draw(&recording, &report, "hour.stall").expect("it is drawn");
    let mut tables = drawn.page.tables.iter();
    let samples = tables.find(|it| it.name == CPU_SAMPLE.name);
    let samples = samples.expect("there are samples");
    assert_eq!(samples.form, PageForm::Samples { one_of: 1 });
    let bytes = drawn.blocks[samples.block as usize].len();
    assert!(bytes < 1_000_000, "{bytes}");
    assert!(drawn.size().expect("it is JSON") < MOST_BYTES);
}

#[test]
fn samples_without_a_stack_stand_at_their_process() {
    let mut recording = kept("single-thread");
    let timeline = &mut recording.timeline;
    let start = timeline.window.start;
    let of_role = |role: Role| {
        let mut all = timeline.entities.of_kind(EntityKind::Process);
        all.find(|it| it.role == role).map(|it| it.id)
    };
    let [target, recorder] = [of_role(Role::Target), of_role(Role::Recorder)];
    let target = target.expect("it was found");
    let name = timeline
        .entities
        .get(target)
        .map(|it| it.entity.name.clone());
    let data = timeline.table_mut(&CPU_SAMPLE);
    for step in 0..3 {
        data.push(
            start + step * 1_000_000,
            target,
            &[MISSING, 5, MISSING, MISSING],
        );
        if let Some(recorder) = recorder {
            data.push(start + step * 1_000_000, recorder, &[MISSING, 5, 0, 0]);
        }
    }
    let (_, text) = data_of(&recording);
    let found = found(&text);
    assert_eq!(found.stacks, [[name.expect("it has one")]]);
    let [all] = &found.samples[..] else {
        panic!("they are alike: {:?}", found.samples);
    };
    assert_eq!((all.samples, all.cpu_ns, all.end, all.bin), (3, 5, -1, 0));
}
