//! The fine bins of pages against the samples of the recording.

use analysis::stacks::{cpu_samples, process_of};
use model::Role;

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
