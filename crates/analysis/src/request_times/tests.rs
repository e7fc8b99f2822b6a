//! Times of made-up requests.

use model::{Entity, EntityEvent, EntityKind, EntityRecord, Timestamp};
use proptest::prelude::*;

use super::*;

#[test]
fn centuries_of_requests_are_cut_into_no_more_bins_than_a_day() {
    let (begin, end) = (Timestamp::from_ns(0), Timestamp::from_ns(1 << 60));
    let mut timeline = Timeline::new(Window::new(begin, end));
    let id = EntityId(0);
    let record = EntityRecord {
        role: Role::Target,
        ..EntityRecord::new(id, Entity::new(EntityKind::Connection, "a", "a"), begin)
    };
    timeline.entities.apply(EntityEvent {
        time: begin,
        record,
    });
    let table = &sensors::request::REQUESTS;
    for (time, count) in [(begin, 0), (end, 1_000)] {
        let values = vec![count; table.columns.len()];
        timeline.table_mut(table).push(time, id, &values);
    }
    let bins = bins(&timeline, End::Target);
    assert!(bins.len() <= MOST_BINS as usize + 1, "{}", bins.len());
    let counted: f64 = bins.iter().map(Bin::completed).sum();
    assert!((counted - 1_000.0).abs() < 1.0, "{counted}");
}

/// A recording of 10 s with rows of a target's requests: (seconds, requests, timed, each timed one's ns).
fn recorded(rows: &[(f64, i64, i64, i64)]) -> Timeline {
    let (begin, end) = (Timestamp::from_seconds(0.0), Timestamp::from_seconds(10.0));
    let mut timeline = Timeline::new(Window::new(begin, end));
    for (id, kind) in [(0, EntityKind::Machine), (1, EntityKind::Connection)] {
        let record = EntityRecord {
            role: Role::Target,
            ..EntityRecord::new(EntityId(id), Entity::new(kind, "a", "a"), begin)
        };
        timeline.entities.apply(EntityEvent {
            time: begin,
            record,
        });
    }
    let table = &sensors::request::REQUESTS;
    let columns = &table.columns;
    let at = |name: &str| table.position(name).expect("it is there");
    let mut sums = vec![0; columns.len()];
    for &(time, requests, timed, ns) in rows {
        sums[at("requests")] += requests;
        sums[at("timed")] += timed;
        sums[at("timed_ns")] += timed * ns;
        let bucket = columns
            .iter()
            .position(|it| bound_ns(&it.name).is_some_and(|bound| bound > ns as f64));
        sums[bucket.expect("there is one")] += timed;
        let time = Timestamp::from_seconds(time);
        timeline.table_mut(table).push(time, EntityId(1), &sums);
    }
    timeline
}

fn told(timeline: &Timeline) -> RequestTimes {
    let window = timeline.window;
    RequestTimes::over(timeline, SERVED, Role::Target, window).expect("there are requests")
}

#[test]
fn a_second_of_which_few_were_timed_weighs_as_much_as_its_requests() {
    // Light for five seconds, all timed; then a hundred times as many, of which one in fifty was.
    let timeline = recorded(&[
        (0.0, 0, 0, 0),
        (5.0, 1_000, 1_000, 1_000_000),
        (10.0, 99_000, 1_980, 3_000_000),
    ]);
    let times = told(&timeline);
    assert_eq!((times.requests, times.timed), (100_000.0, 2_980.0));
    let mean = times.mean_ns().expect("some were timed");
    assert!((mean / 2_980_000.0 - 1.0).abs() < 1e-6, "{mean}");
    let slow = times.quantile_ns(0.02).expect("some were timed");
    assert!(slow > 2.5e6, "{slow}");
}

#[test]
fn what_was_timed_before_the_share_was_set_weighs_no_more_than_what_came_after() {
    // A load begins: the first tenth of a second is slow, and all of it is timed; of the rest one in ten is.
    let timeline = recorded(&[
        (0.0, 0, 0, 0),
        (9.0, 0, 0, 0),
        (9.1, 1_000, 1_000, 5_000_000),
        (9.2, 3_000, 300, 1_000_000),
        (10.0, 16_000, 1_600, 1_000_000),
    ]);
    let mean = told(&timeline).mean_ns().expect("some were timed");
    assert!((mean / 1_200_000.0 - 1.0).abs() < 1e-6, "{mean}");
    let mut bins = bins(&timeline, End::Target);
    let last = bins.pop().and_then(|it| it.latency_ns);
    let mean = last.expect("the last second has some");
    assert!((mean / 1_200_000.0 - 1.0).abs() < 1e-6, "{mean}");
}

#[test]
fn what_took_longer_because_it_was_traced_is_left_out_where_there_are_others() {
    let rows = [
        (0.0, 0, 0, 0),
        (1.0, 10_000, 9_000, 2_000_000),
        (10.0, 90_000, 9_000, 1_000_000),
    ];
    // Traced until 1 s, and in no window after it.
    let mut timeline = recorded(&rows);
    for (time, on) in [(0.0, 0.0), (1.0, 1e9), (10.0, 1e9)] {
        let coverage = timeline.table_mut(&sensors::COVERAGE);
        let time = Timestamp::from_seconds(time);
        coverage.push(time, EntityId(0), &[on as i64, on as i64, on as i64]);
    }
    let times = told(&timeline);
    assert_eq!((times.requests, times.timed), (100_000.0, 18_000.0));
    let mean = times.mean_ns().expect("some were timed");
    assert!((mean / 1e6 - 1.0).abs() < 1e-6, "{mean}");
    // All there is of the first second.
    let first = Window::new(timeline.window.start, Timestamp::from_seconds(1.0));
    let times = RequestTimes::over(&timeline, SERVED, Role::Target, first);
    assert_eq!(times.and_then(|it| it.mean_ns()), Some(2e6));
}

/// Times in buckets as they are recorded.
fn times(all: &[f64]) -> RequestTimes {
    let columns = sensors::request::REQUESTS.columns.iter();
    let mut lower = 0.0;
    let buckets = columns.filter_map(|it| bound_ns(&it.name)).map(|upper| {
        let inside = all.iter().filter(|ns| (lower..upper).contains(*ns)).count();
        lower = upper;
        (upper, inside as f64)
    });
    RequestTimes {
        requests: all.len() as f64,
        timed: all.len() as f64,
        timed_ns: all.iter().sum(),
        buckets: buckets.collect(),
        ..RequestTimes::default()
    }
}

#[test]
fn nothing_is_said_of_nothing_and_not_of_what_is_beyond_all_bounds() {
    assert_eq!(times(&[]).quantile_ns(0.5), None);
    assert_eq!(times(&[]).mean_ns(), None);
    assert_eq!(times(&[1e12]).quantile_ns(0.5), None);
}

#[test]
fn a_queue_is_no_stall_and_who_is_held_up_for_long_is() {
    // An exponential queue: evenly spread parts of its distribution.
    let queue: Vec<f64> = (0..20_000)
        .map(|it| -1e6 * (1.0 - (f64::from(it) + 0.5) / 20_000.0).ln())
        .collect();
    let part = stalled(&times(&queue)).expect("times");
    assert!(part < 0.01, "{part}");
    // Eight of a thousand requests wait 200 ms for somebody, the others take 1 ms.
    let held = [vec![1e6; 992], vec![200e6; 8]].concat();
    let part = stalled(&times(&held)).expect("times");
    let all = 992.0 + 8.0 * 200.0;
    assert!((part - 8.0 * 199.0 / all).abs() < 0.03, "{part}");
    assert_eq!(stalled(&times(&[])), None);
    assert_eq!(stalled(&times(&[2e6; 100])), Some(0.0));
}

#[test]
fn tails_that_fall_evenly_are_told_within_a_hundredth() {
    // Of an exponential distribution with a mean of 1 ms.
    let count = 100_000;
    let at = |rank: i32| -1e6 * (1.0 - (f64::from(rank) + 0.5) / f64::from(count)).ln();
    let told = times(&(0..count).map(at).collect::<Vec<_>>());
    for q in WANTED {
        let (value, right) = (
            told.quantile_ns(q).expect("it is within"),
            -1e6 * (1.0 - q).ln(),
        );
        assert!(
            (value / right - 1.0).abs() < 0.01,
            "{q}: {value} and not {right}"
        );
    }
}

proptest! {
    #[test]
    fn a_quantile_is_in_the_bucket_of_the_right_one(
        all in prop::collection::vec(1f64..1e10, 1..200),
        q in 0f64..0.999,
    ) {
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (all.len() as f64 * q).floor() as usize;
        let right = sorted[rank.min(all.len() - 1)];
        let value = times(&all).quantile_ns(q).expect("none is beyond all bounds");
        // Buckets are a quarter of their lower bound wide at most, the first one begins at 0.
        prop_assert!(value <= right.max(8_192.0) * 1.26, "{} {}", value, right);
        let before = sorted[rank.saturating_sub(1)];
        prop_assert!(value >= before / 1.26 || value <= 8_192.0, "{} {}", value, before);
    }
}

/// One connection's counts at the end of ten seconds, by column; all were 0 at their beginning.
fn counted(columns: &[(&str, i64)]) -> Timeline {
    let mut timeline = recorded(&[(0.0, 0, 0, 0)]);
    let table = &sensors::request::REQUESTS;
    let mut row = vec![0; table.columns.len()];
    for (name, value) in columns {
        row[table.position(name).expect("it is there")] = *value;
    }
    let end = Timestamp::from_seconds(10.0);
    timeline.table_mut(table).push(end, EntityId(1), &row);
    timeline
}

#[test]
fn long_requests_weigh_as_many_as_they_are_beside_a_sample_of_the_others() {
    // 1 % of 100,000 took 100 ms; a tenth of the others was timed, 1 ms each.
    let timeline = counted(&[
        ("requests", 100_000),
        ("timed", 9_900 + 1_000),
        ("timed_ns", 9_900_000_000 + 100_000_000_000),
        ("long", 1_000),
        ("long_ns", 100_000_000_000),
        ("under_1048576_ns", 9_900),
        ("under_117440512_ns", 1_000),
    ]);
    let times = told(&timeline);
    let mean = times.mean_ns().expect("some were timed");
    assert!((mean / 1.99e6 - 1.0).abs() < 1e-6, "{mean}");
    let p98 = times.quantile_ns(0.98).expect("some were timed");
    assert!(p98 <= 1_048_576.0, "{p98}");
    let p995 = times.quantile_ns(0.995).expect("some were timed");
    assert!((100_663_296.0..117_440_512.0).contains(&p995), "{p995}");
    let bins = bins(&timeline, End::Target);
    let latency = bins[3].latency_ns.expect("it has requests");
    assert!((latency / 1.99e6 - 1.0).abs() < 1e-6, "{latency}");
}

#[test]
fn a_few_short_requests_that_nobody_timed_hide_no_latency_of_long_ones() {
    // 50 s, nearly all long; of the three short ones none was timed.
    let long = [
        ("timed", 100),
        ("timed_ns", 50_000_000_000),
        ("long", 100),
        ("long_ns", 50_000_000_000),
        ("under_536870912_ns", 100),
    ];
    let of = |requests: i64| {
        let columns: Vec<(&str, i64)> = [("requests", requests)].into_iter().chain(long).collect();
        bins(&counted(&columns), End::Target)[0].latency_ns
    };
    let latency = of(103).expect("it is known to a percent");
    assert!((latency / 0.5e9 - 1.0).abs() < 0.04, "{latency}");
    // Of 400 further ones it is not known what they took.
    assert_eq!(of(500), None);
}

#[test]
fn a_second_without_a_sample_takes_the_mean_of_the_one_before_and_its_own_long_requests() {
    let mut timeline = counted(&[
        ("requests", 100_000),
        ("timed", 10_000),
        ("timed_ns", 10_000_000_000),
        ("under_1048576_ns", 10_000),
    ]);
    let table = &sensors::request::REQUESTS;
    let data = timeline.table_mut(table);
    let mut row: Vec<i64> = data.row(data.len() - 1).collect();
    for (name, more) in [
        ("requests", 110),
        ("timed", 10),
        ("timed_ns", 5_000_000_000),
        ("long", 10),
        ("long_ns", 5_000_000_000),
        ("under_536870912_ns", 10),
    ] {
        row[table.position(name).expect("it is there")] += more;
    }
    data.push(Timestamp::from_seconds(11.0), EntityId(1), &row);
    timeline.window = Window::new(timeline.window.start, Timestamp::from_seconds(11.0));
    let bins = bins(&timeline, End::Target);
    let stalled = bins[10].latency_ns.expect("it has requests");
    let expected = (100.0 * 1e6 + 5e9) / 110.0;
    assert!((stalled / expected - 1.0).abs() < 1e-3, "{stalled}");
}

#[test]
fn what_rounding_leaves_of_long_requests_is_no_sample() {
    // Of a recording in which all that was timed around the edge of a second was long: read together they are none, and
    // one by one nothing divided by nothing.
    let before = sampled(
        [0.003_875_686_119_499_732_7, 146_679.813_138_008_12],
        [0.003_875_686_119_513_943_6, 146_679.813_138_484_95],
    );
    let after = sampled(
        [12.996_124_313_880_5, 491_853_320.186_862],
        [12.996_124_313_880_486, 491_853_320.186_861_5],
    );
    assert_eq!([before, after], [(0.0, 0.0); 2]);
    assert_eq!(sampled([9.0, 5e8], [7.0, 4e8]), (2.0, 1e8));
}

#[test]
fn requests_without_a_reply_make_quantiles_bounds() {
    let with_open = |open: i64| {
        counted(&[
            ("requests", 1_000),
            ("timed", 1_000),
            ("timed_ns", 1_000_000_000),
            ("under_1048576_ns", 1_000),
            ("open", open),
            ("open_long", open),
            ("open_long_ns", open * 4_000_000_000),
        ])
    };
    let quantiles = |open: i64| {
        let timeline = with_open(open);
        let all = super::quantiles(&timeline, End::Target, timeline.window);
        let at = |q: f64| {
            let it = all.iter().find(|it| it.q == q).expect("there are enough");
            (it.at_least, it.value > 3e9)
        };
        (at(0.5), at(0.99))
    };
    assert_eq!(quantiles(0), ((false, false), (false, false)));
    // 20 of 1,020 had waited for 4 s.
    assert_eq!(quantiles(20), ((false, false), (true, true)));
    assert_eq!(quantiles(5), ((false, false), (false, false)));
    let timeline = with_open(20);
    assert_eq!(open(&timeline, timeline.window), Some((20.0, 4e9)));
    // A window that ends before the recording knows nothing of them.
    let early = Window::new(timeline.window.start, Timestamp::from_seconds(5.0));
    assert_eq!(open(&timeline, early), None);
}
