use model::{
    Confidence, Entity, EntityKind, FigureFamily, FigureUnit, Interval, PhaseVerdict, PointFigure,
};

use super::*;

fn parameter(name: &str, values: &[&str]) -> SweptParameter {
    SweptParameter {
        name: name.to_owned(),
        values: values.iter().map(|it| (*it).to_owned()).collect(),
    }
}

fn limit(cause: &str) -> PhaseVerdict {
    PhaseVerdict {
        cause: cause.to_owned(),
        entity: Entity::new(EntityKind::Process, "postgres", ""),
        share: None,
        confidence: Confidence::Measured,
        sentence: String::new(),
        at_peer: None,
    }
}

/// A point with this throughput, known to so much of it.
fn point(values: &[&str], throughput: f64, half: f64, cause: &str) -> SweepPoint {
    let figure = |key: &str, unit, value: f64| PointFigure {
        key: key.to_owned(),
        label: key.to_owned(),
        family: FigureFamily::Load,
        unit,
        value,
        interval: Some(Interval {
            low: value * (1.0 - half),
            high: value * (1.0 + half),
        }),
        of_runs: vec![value * (1.0 - half / 4.0), value * (1.0 + half / 4.0)],
    };
    SweepPoint {
        values: values.iter().map(|it| (*it).to_owned()).collect(),
        runs: Vec::new(),
        limit: Some(limit(cause)),
        agreeing: 1,
        figures: vec![
            figure("throughput", FigureUnit::Rate, throughput),
            figure("latency", FigureUnit::Nanoseconds, 8e9 / throughput),
        ],
        setting: None,
    }
}

fn swept(parameters: Vec<SweptParameter>, points: Vec<SweepPoint>) -> Sweep {
    let asked = Asked {
        command: "load".to_owned(),
        parameters,
        goal: None,
    };
    put_together(asked, None, points)
}

fn clients(throughputs: [f64; 4], half: f64) -> Sweep {
    let values = ["1", "2", "4", "8"];
    let causes = [
        "target.busy",
        "target.busy",
        "cpu.saturated",
        "cpu.saturated",
    ];
    let points = values.iter().zip(throughputs).zip(causes);
    let points =
        points.map(|((value, throughput), cause)| point(&[value], throughput, half, cause));
    swept(vec![parameter("clients", &values)], points.collect())
}

#[test]
fn where_more_stops_to_bring_more_and_what_limits_where_are_said() {
    let flat = clients([1_000.0, 1_900.0, 2_000.0, 1_800.0], 0.01);
    let said = flat.answers.join(" ");
    assert!(
        said.starts_with("Throughput rises up to clients=4: 2,000 "),
        "{said}"
    );
    assert!(
        said.contains("at 8 throughput is 10 % lower and a request takes"),
        "{said}"
    );
    assert!(
        said.contains(
            "The limit is target.busy (postgres) from 1 to 2, cpu.saturated (postgres) from 4 to 8."
        ),
        "{said}"
    );
    let rising = clients([1_000.0, 1_900.0, 3_000.0, 5_800.0], 0.01);
    let said = rising.answers.join(" ");
    assert!(said.contains("up to the last value, clients=8"), "{said}");
    let level = clients([2_000.0, 1_990.0, 2_010.0, 2_000.0], 0.01);
    let said = level.answers.join(" ");
    assert!(
        said.starts_with("More than clients=1 brings nothing"),
        "{said}"
    );
}

#[test]
fn curves_are_fitted_and_cross_where_one_overtakes_the_other() {
    let parameters = vec![
        parameter("instances", &["1", "2", "3", "4", "6"]),
        parameter("platform", &["capped", "one"]),
    ];
    let loads = [1.0, 2.0, 3.0, 4.0, 6.0_f64];
    let points = loads.iter().flat_map(|load| {
        let value = format!("{load}");
        let capped = (500.0 * load).min(2_000.0);
        [("capped", capped), ("one", 1_000.0)]
            .map(|(platform, throughput)| point(&[&value, platform], throughput, 0.02, "cpu.quota"))
    });
    let sweep = swept(parameters, points.collect());
    let capped = sweep.curves[0].scaling.as_ref().expect("it is fitted");
    let knee = capped.knee.expect("it has one");
    assert!(
        knee.interval.low <= 4.0 && 4.0 <= knee.interval.high,
        "{knee:?}"
    );
    let each = sweep.points[2].figure(THROUGHPUT_OF_EACH);
    let each = each.expect("there are instances");
    assert!((each.value - 500.0).abs() < 1e-6 && each.interval.is_some());
    let [crossing] = &sweep.crossings[..] else {
        panic!("{:?}", sweep.crossings);
    };
    let at = crossing.report.crossings[0].load.interval;
    assert!(at.low <= 2.0 && 2.0 <= at.high, "{at:?}");
    let said = sweep.answers.join(" ");
    assert!(
        said.contains("platform=capped overtakes platform=one at instances=2"),
        "{said}"
    );
    assert!(said.contains("up to a hard cap of"), "{said}");
}

#[test]
fn what_runs_hide_by_their_scatter_is_said() {
    let noisy = clients([1_000.0, 1_900.0, 2_000.0, 2_100.0], 0.2);
    let said = noisy.answers.join(" ");
    assert!(said.contains("Throughput rises up to clients=2"), "{said}");
    assert!(
        said.contains("that 28 % more or less would not be seen"),
        "{said}"
    );
}

#[test]
fn the_axis_is_the_first_parameter_of_numbers_and_others_make_curves() {
    let parameters = vec![
        parameter("fs", &["ext4", "xfs"]),
        parameter("n", &["10", "2"]),
    ];
    let points = [("ext4", "10"), ("ext4", "2"), ("xfs", "10"), ("xfs", "2")];
    let points = points.map(|(fs, n)| point(&[fs, n], 100.0, 0.01, "io.sync"));
    let sweep = swept(parameters, points.to_vec());
    let curves: Vec<String> = sweep.curves.iter().map(|it| it.fixed.join(",")).collect();
    assert_eq!(curves, ["fs=ext4", "fs=xfs"]);
    let own = on_curve(&sweep.parameters, &sweep.points, 1, &sweep.curves[0].fixed);
    let loads: Vec<f64> = own.iter().map(|it| it.0).collect();
    assert_eq!(loads, [2.0, 10.0]);
    assert!(
        sweep.answers[0].starts_with("With fs=ext4: "),
        "{:?}",
        sweep.answers
    );
}

#[test]
fn values_that_are_no_numbers_have_a_best_one() {
    let points = vec![
        point(&["ext4"], 100.0, 0.01, "io.sync"),
        point(&["xfs"], 200.0, 0.01, "io.sync"),
    ];
    let sweep = swept(vec![parameter("fs", &["ext4", "xfs"])], points);
    assert!(sweep.curves.is_empty());
    assert!(
        sweep.answers[0].starts_with("fs=xfs does most: 200"),
        "{:?}",
        sweep.answers
    );
}
