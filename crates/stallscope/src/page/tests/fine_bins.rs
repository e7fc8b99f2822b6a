//! The fine bins of pages against the samples of the recording.

use analysis::stacks::{cpu_samples, process_of, wait_samples};
use model::{EntityId, Role};
use sensors::bins::{CPU_BIN, REQUEST_BIN};

use super::data_of;
use super::decode::found;
use super::made::{kept, of_stacks};

#[test]
fn bins_have_the_cpu_time_of_the_samples_in_them() {
    let recording = of_stacks();
    let timeline = &recording.timeline;
    let (report, text) = data_of(&recording);
    let found = found(&text);
    let rows = &found.rows["on_cpu"];
    assert!(rows.len() > 300, "twelve seconds: {}", rows.len());
    let bin_ns = 20_000_000;
    let samples: Vec<_> = cpu_samples(timeline, timeline.window).collect();
    let role = |sample: &&analysis::stacks::CpuSample| {
        process_of(timeline, sample.entity).map_or(Role::Background, |it| it.role)
    };
    for row in rows {
        assert_eq!(row.values[0], Some(bin_ns));
        assert_eq!(row.at.rem_euclid(bin_ns), 0, "bins begin with the origin");
        let own = samples.iter().filter(|it| {
            let at = it.at.ns_since(report.origin);
            (row.at..row.at + bin_ns).contains(&at)
        });
        let sum = |wanted: &[Role]| -> i64 {
            let own = own.clone().filter(|it| wanted.contains(&role(it)));
            own.map(|it| it.cpu_ns).sum()
        };
        let expected = [
            sum(&[Role::Target, Role::Dependency]),
            sum(&[Role::Generator]),
            sum(&[Role::Background]),
        ];
        assert_eq!(row.values[1..], expected.map(Some), "at {}", row.at);
    }
    let all: i64 = rows.iter().filter_map(|row| row.values[1]).sum();
    assert!(all > 0, "the target ran");
    let (_, text) = data_of(&kept("cpu-quota"));
    assert!(!super::decode::found(&text).rows.contains_key("on_cpu"));
}

#[test]
fn bins_have_the_part_of_each_wait_that_lies_in_them() {
    let recording = of_stacks();
    let timeline = &recording.timeline;
    let (report, text) = data_of(&recording);
    let found = found(&text);
    let table = found.page.tables.iter().find(|it| it.name == "blocked");
    let columns = &table.expect("there are waits").columns;
    let is_targets = |entity| {
        let process = process_of(timeline, entity);
        process.is_some_and(|it| matches!(it.role, Role::Target | Role::Dependency))
    };
    let waits = wait_samples(timeline, timeline.window).filter(|it| is_targets(it.entity));
    let waits: Vec<_> = waits.collect();
    let bin_ns = 20_000_000;
    let rows = &found.rows["blocked"];
    for row in rows {
        for (column, value) in columns.iter().zip(&row.values).skip(1) {
            let own = waits
                .iter()
                .filter(|it| format!("{}_ns", it.class.word()) == column.name);
            let expected: f64 = own
                .map(|it| {
                    let until = it.until.ns_since(report.origin);
                    let part = until.min(row.at + bin_ns) - (until - it.wait_ns).max(row.at);
                    part.max(0) as f64 * it.weight_ns as f64 / it.wait_ns as f64
                })
                .sum();
            let value = value.expect("a number") as f64;
            assert!((value - expected).abs() < 2.0, "{value} and {expected}");
        }
    }
    let all: i64 = rows.iter().flat_map(|row| &row.values[1..]).flatten().sum();
    assert!(all > 100_000_000, "futex and fsync were drawn: {all}");
}

#[test]
fn bins_that_the_kernel_counted_are_on_the_page_as_they_were_recorded() {
    let mut recording = of_stacks();
    let timeline = &mut recording.timeline;
    let from = timeline.window.start + 7_000_000;
    let machine = EntityId(0);
    // One bin was not counted whole.
    for bin in [0, 1, 3] {
        let at = from + bin * 20_000_000;
        let row = [20_000_000, 1_000_000 + bin, 2, 3, 4];
        timeline.table_mut(&CPU_BIN).push(at, machine, &row);
        let requests = timeline.table_mut(&REQUEST_BIN);
        requests.push(at, machine, &[20_000_000, bin]);
    }
    let (report, text) = data_of(&recording);
    let found = found(&text);
    let begins = from.ns_since(report.origin);
    let rows = &found.rows["cpu_bin"];
    let times: Vec<i64> = rows.iter().map(|row| row.at - begins).collect();
    assert_eq!(times, [0, 20_000_000, 60_000_000]);
    assert_eq!(
        rows[2].values,
        [20_000_000, 1_000_003, 2, 3, 4].map(Some).to_vec()
    );
    let requests = found.rows["request_bin"].iter();
    let requests: Vec<Option<i64>> = requests.map(|row| row.values[1]).collect();
    assert_eq!(requests, [0, 1, 3].map(Some));
}
