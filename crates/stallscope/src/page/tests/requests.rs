//! Request times of a page against the recording that it was made of.

use model::{Role, Window};
use sensors::request;

use super::data_of;
use super::decode::found;
use super::made::{kept, with_gaps, with_requests};
use super::sums::span;

#[test]
fn request_times_of_any_window_add_up_to_what_was_recorded() {
    for recording in [
        with_requests(kept("one-client")),
        with_gaps(with_requests(kept("io-sync"))),
    ] {
        let (report, text) = data_of(&recording);
        let found = found(&text);
        let intervals = analysis::intervals(&recording.timeline, &recording.meta);
        let windows = [
            report.window,
            intervals[2],
            Window::new(intervals[1].start, intervals[intervals.len() - 2].end),
        ];
        let sides = [
            ("requests", "request_times", Role::Target),
            ("calls", "call_times", Role::Generator),
        ];
        for window in windows {
            for (table, sum, role) in sides {
                let timeline = &recording.timeline;
                let right = analysis::RequestTimes::counted(timeline, table, role, window);
                let right = right.expect("they were counted");
                let told = |column: &str| {
                    let series = found.series(sum, column, |_| true);
                    found.growth(&series, span(&found, window)) as f64
                };
                let close = |column: &str, right: f64| {
                    // Whole requests and microseconds of what lies between two readings.
                    let told = told(column);
                    let step = if column == "timed_ns" { 1_000.0 } else { 1.0 };
                    assert!(
                        (told - right).abs() <= step,
                        "{sum}.{column}: {told}, {right}"
                    );
                };
                close("requests", right.requests);
                close("pipelined", right.pipelined);
                close("timed", right.timed);
                close("timed_ns", right.timed_ns);
                let first = request::first_bucket(&request::REQUESTS);
                let columns = request::REQUESTS.columns[first..].iter();
                for (column, (_, count)) in columns.zip(&right.buckets) {
                    close(&column.name, *count);
                }
            }
        }
    }
}

#[test]
fn a_page_has_no_histogram_of_each_connection_and_no_bucket_that_was_never_met() {
    let (_, text) = data_of(&with_requests(kept("one-client")));
    let found = found(&text);
    let columns = |name: &str| {
        let table = found.page.tables.iter().find(|it| it.name == name);
        let columns = table.expect("it is there").columns.iter();
        columns.map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    let counts = ["timed", "timed_ns", "long", "long_ns"];
    let open = ["open", "open_long", "open_long_ns"];
    let served = ["requests", "pipelined", "unsolicited"];
    assert_eq!(columns("requests"), [&served[..], &open, &counts].concat());
    assert_eq!(
        columns("calls"),
        [&["requests", "between_ns", "unread_ns"][..], &open, &counts].concat()
    );
    // A sum of gauges over time is none.
    let recorded = [&served[..], &counts].concat();
    let together = columns("request_times");
    assert_eq!(together[..recorded.len()], recorded);
    // From the bucket before that of the shortest, 75 us, to that of the longest, a second.
    assert_eq!(together[recorded.len()], "under_65536_ns");
    let longest = together.last().and_then(|it| request::bound_ns(it));
    assert!(
        longest.is_some_and(|it| it > 1e9 && it < 2.5e9),
        "{longest:?}"
    );
    assert_eq!(found.bins["request_times"].len(), together.len());
}
