//! The call stacks of pages against what the engine says of them.

use std::collections::BTreeMap;

use analysis::stats::Xorshift;
use model::{EntityKind, MISSING, PageForm, Role, Window};
use recording::Recording;
use sensors::stack::CPU_SAMPLE;

use super::decode::{Found, Sample, found};
use super::made::{kept, of_stacks};
use super::{data_of, sums::span, text_of};
use crate::page::{MOST_BYTES, draw, draw_in, edges};

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
    // CPU time by process, and which part of the samples the page has.
    let drawn_in = |part| {
        let drawn = draw_in(&recording, &report, "x", &edges, part).expect("it is drawn");
        let found = found(&text_of(&drawn));
        let mut tables = found.page.tables.iter();
        let form = tables
            .find(|it| it.name == CPU_SAMPLE.name)
            .map(|it| it.form);
        let Some(PageForm::Samples { one_of }) = form else {
            panic!("there are samples: {form:?}");
        };
        let mut by_process: BTreeMap<String, f64> = BTreeMap::new();
        for sample in &found.samples {
            let process = found.stacks[sample.stack][0].clone();
            *by_process.entry(process).or_default() += (sample.samples * sample.cpu_ns) as f64;
        }
        (found.samples.len(), one_of, by_process)
    };
    let (all, every, whole) = drawn_in(1.0);
    assert_eq!(every, 1);
    let (some, one_of, part) = drawn_in(1e-3);
    assert!(one_of.is_power_of_two() && one_of > 1, "{one_of}");
    assert!(some <= 400 && some > 100 && some < all, "{some} of {all}");
    // Of some hundred samples the part of a process is known to within a few percent.
    for process in ["postgres", "pgbench"] {
        let off = part[process] / whole[process] - 1.0;
        assert!(off.abs() < 0.3, "{process}: {off}");
    }
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
