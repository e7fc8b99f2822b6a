//! Pages of recordings that are larger than any page.

use model::{Column, EntityKind, Gap, GapReason, Table, Unit};

use super::made::kept;
use crate::page::{LEAST_PART, MOST_BYTES, MOST_PARTS, draw, step};

#[test]
fn rows_that_nobody_knows_do_not_make_a_page_too_large() {
    static COLUMNS: &[Column] = &[
        Column::gauge("a", Unit::Count, "", ""),
        Column::gauge("b", Unit::Count, "", ""),
        Column::gauge("c", Unit::Count, "", ""),
        Column::gauge("d", Unit::Count, "", ""),
    ];
    let mut recording = kept("redis-script");
    let timeline = &mut recording.timeline;
    let start = timeline.window.start;
    let workload = timeline.entities.of_kind(EntityKind::Workload).next();
    let workload = workload.expect("one was run").id;
    let data = timeline.table_mut(&Table::new("new", EntityKind::Workload, "", COLUMNS));
    let mut noise = 1i64;
    for number in 0..150_000 {
        let values = [(); 4].map(|()| {
            // Knuth's MMIX generator: what does not pack.
            noise = noise.wrapping_mul(6_364_136_223_846_793_005);
            noise = noise.wrapping_add(1_442_695_040_888_963_407);
            noise
        });
        data.push(start + number * 10_000, workload, &values);
    }
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let drawn = draw(&recording, &report, "x").expect("it is drawn");
    let size = drawn.size().expect("it is JSON");
    assert!(size <= MOST_BYTES, "{size}");
    assert!(size > MOST_BYTES / 2, "{size}");
}

#[test]
fn what_is_too_long_without_any_rows_is_refused_with_its_size() {
    let mut recording = kept("one-client");
    let long = "x".repeat(2_000);
    for number in 0..2_500 {
        recording.timeline.gaps.push(Gap {
            table: "thread".to_owned(),
            what: format!("{number}").into(),
            window: None,
            reason: GapReason::Denied(long.clone().into()),
        });
    }
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let refused = draw(&recording, &report, "long.stall").err();
    let said = refused.expect("it is refused").to_string();
    let shape = "long.stall makes no page: without most of its rows it would still have ";
    assert!(said.starts_with(shape), "{said}");
    assert!(said.contains("may have 4.70 MB"), "{said}");
    assert!(
        said.ends_with("`stallscope explain long.stall` says the same as text"),
        "{said}"
    );
}

#[test]
fn a_page_that_cannot_be_smaller_is_not_drawn_often() {
    let size = MOST_BYTES + MOST_BYTES / 20;
    let (mut part, mut before, mut drawn) = (MOST_PARTS, usize::MAX, 1);
    while part >= LEAST_PART {
        part *= step(size, before);
        before = size;
        drawn += 1;
    }
    assert!(drawn <= 7, "{drawn}");
}
