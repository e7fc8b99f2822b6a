use super::*;

const S: i64 = 1_000_000_000;
const START: i64 = 1_700_000_000 * S;
const STEP: i64 = 15 * S;
/// A node is scraped so long before the instants that are asked about.
const BEFORE: i64 = 4 * S;

fn series(labels: &[(&str, &str)], values: impl IntoIterator<Item = (i64, f64)>) -> StoredSeries {
    let labels = labels
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    StoredSeries {
        labels: labels.collect(),
        points: values
            .into_iter()
            .map(|(step, value)| (START + step * STEP, value))
            .collect(),
    }
}

fn times(steps: impl IntoIterator<Item = i64>) -> StoredSeries {
    let at = |step: i64| (step, ((START + step * STEP - BEFORE) / S) as f64);
    series(
        &[("instance", "n1"), ("job", "node")],
        steps.into_iter().map(at),
    )
}

fn labels(metric: &str) -> Vec<(&str, &str)> {
    vec![("__name__", metric), ("instance", "n1"), ("job", "node")]
}

const WAITING: &str = "node_pressure_cpu_waiting_seconds_total";

fn of_pressure(steps: &[i64], values: &[f64]) -> Node {
    let pairs = steps.iter().copied().zip(values.iter().copied());
    let answers = vec![
        (Subject::Times, vec![times(steps.iter().copied())]),
        (
            Subject::Table("pressure"),
            vec![series(&labels(WAITING), pairs)],
        ),
    ];
    let (mut nodes, _) = nodes(&Names::default(), &answers);
    nodes.pop().expect("a node")
}

/// The rows of pressure: ns after the first, and CPU pressure.
fn rows(node: &Node) -> Vec<(i64, i64)> {
    let (_, rows) = node
        .imported
        .tables
        .iter()
        .find(|(it, _)| it.name == "pressure")
        .expect("a table");
    let first = node.imported.window.start;
    rows.iter()
        .map(|(time, _, row)| (time.ns_since(first) / S, row[0] / 1_000_000))
        .collect()
}

#[test]
fn values_stand_where_they_were_scraped() {
    let node = of_pressure(&[0, 1, 2], &[100.0, 101.5, 101.5]);
    assert_eq!(node.imported.start_realtime_ns, START - BEFORE);
    assert_eq!(rows(&node), [(0, 0), (15, 1_500), (30, 1_500)]);
    assert!(node.imported.holes.is_empty());
}

#[test]
fn a_value_that_is_repeated_is_one_reading() {
    // The grid is finer than the scrapes: two instants have one.
    let mut slow = times([0, 1, 2, 3]);
    slow.points[1].1 = slow.points[0].1;
    slow.points[3].1 = slow.points[2].1;
    let values = series(&labels(WAITING), [(0, 1.0), (1, 1.0), (2, 4.0), (3, 4.0)]);
    let answers = vec![
        (Subject::Times, vec![slow]),
        (Subject::Table("pressure"), vec![values]),
    ];
    let (nodes, _) = nodes(&Names::default(), &answers);
    assert_eq!(rows(&nodes[0]), [(0, 0), (30, 3_000)]);
}

#[test]
fn a_gap_is_a_hole_and_its_growth_is_nobodys() {
    let node = of_pressure(&[0, 1, 2, 3, 43, 44], &[0.0, 1.0, 2.0, 3.0, 300.0, 301.0]);
    let [hole] = &*node.imported.holes else {
        panic!("{:?}", node.imported.holes)
    };
    assert_eq!(hole.len_ns(), 40 * STEP);
    assert_eq!(
        rows(&node),
        [
            (0, 0),
            (15, 1_000),
            (30, 2_000),
            (45, 3_000),
            (645, 3_000),
            (660, 4_000)
        ]
    );
}

#[test]
fn a_small_fall_is_named_and_draws_no_spike() {
    let node = of_pressure(&[0, 1, 2, 3], &[5_000.0, 5_001.0, 4_900.0, 4_902.0]);
    assert_eq!(rows(&node), [(0, 0), (15, 1_000), (30, 1_000), (45, 3_000)]);
    let [backward] = &*node.backward else {
        panic!("{:?}", node.backward)
    };
    assert_eq!(
        (&*backward.metric, backward.times, backward.most),
        (WAITING, 1, 101.0)
    );
}

#[test]
fn a_restart_begins_near_zero_and_is_known_by_the_boot_time() {
    let facts = vec![
        series(
            &labels(BOOT_TIME),
            [(0, 1e9), (1, 1e9), (2, 1.7e9), (3, 1.7e9)],
        ),
        series(
            &labels(MEMORY_TOTAL),
            [(0, 8e9), (1, 8e9), (2, 16e9), (3, 16e9)],
        ),
    ];
    let values = series(
        &labels(WAITING),
        [(0, 500.0), (1, 501.0), (2, 400.0), (3, 400.5)],
    );
    let answers = vec![
        (Subject::Times, vec![times(0..4)]),
        (Subject::Facts, facts),
        (Subject::Table("pressure"), vec![values]),
    ];
    let (nodes, _) = nodes(&Names::default(), &answers);
    let node = &nodes[0];
    let [restart] = &*node.restarts else {
        panic!("{:?}", node.restarts)
    };
    assert!(restart.is_other);
    assert_eq!(restart.at_ns, START + 2 * STEP - BEFORE);
    assert!(node.backward.is_empty());
    // A machine that started within these 15 s did not wait for longer than that.
    assert_eq!(
        rows(node),
        [(0, 0), (15, 1_000), (30, 16_000), (45, 16_500)]
    );
    assert_eq!(node.memory_bytes, Some(16e9));
}

#[test]
fn cpus_disks_and_what_was_asked_for_beside_are_apart() {
    let with = |metric: &'static str, more: &[(&'static str, &'static str)], values: [f64; 2]| {
        let mut all = labels(metric);
        all.extend_from_slice(more);
        series(&all, [(0, values[0]), (1, values[1])])
    };
    let cpu = "node_cpu_seconds_total";
    let tables = vec![
        with(cpu, &[("cpu", "0"), ("mode", "idle")], [1.0, 8.5]),
        with(cpu, &[("cpu", "1"), ("mode", "idle")], [1.0, 16.0]),
        with(cpu, &[("cpu", "0"), ("mode", "unknown")], [1.0, 16.0]),
    ];
    let disk = vec![with(
        "node_disk_read_bytes_total",
        &[("device", "vda")],
        [0.0, 3e6],
    )];
    let mut also = with("pg_commits_total", &[("db", "bench")], [10.0, 25.0]);
    also.labels
        .insert("instance".to_owned(), "n1:9187".to_owned());
    let answers = vec![
        (Subject::Times, vec![times(0..2)]),
        (Subject::Table("cpu"), tables),
        (Subject::Table("disk"), disk),
        (Subject::Also, vec![also]),
    ];
    let (nodes, _) = nodes(&Names::default(), &answers);
    let node = &nodes[0].imported;
    assert_eq!(node.cpus, Some(2));
    assert_eq!(nodes[0].sizes.len(), 1);
    let names: Vec<&str> = node.entities.iter().map(|it| &*it.entity.name).collect();
    assert_eq!(
        names,
        ["cpu0", "cpu1", "vda", "pg_commits_total{db=\"bench\"}"]
    );
    assert!(
        node.notes
            .iter()
            .any(|it| it.1.to_string().contains("psi=1"))
    );
}

/// What Prometheus 2.42 answered of two node exporters 1.5 on one machine, scraped every 5 s.
#[test]
fn captured_answers_are_two_nodes() {
    let answer = |subject, text: &str| {
        (
            subject,
            super::super::answer::series(text.as_bytes()).expect("an answer"),
        )
    };
    macro_rules! captured {
        ($name:literal) => {
            include_str!(concat!("../../../fixtures/prometheus/", $name, ".json"))
        };
    }
    let answers = vec![
        answer(Subject::Times, captured!("times")),
        answer(Subject::Facts, captured!("facts")),
        answer(Subject::Table("pressure"), captured!("pressure")),
        answer(Subject::Table("cpu"), captured!("cpu")),
        answer(Subject::Table("memory"), captured!("memory")),
        answer(Subject::Table("disk"), captured!("disk")),
    ];
    let (nodes, notes) = nodes(&Names::default(), &answers);
    assert!(notes.is_empty(), "{notes:?}");
    let names: Vec<&str> = nodes.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["127.0.0.2:9177", "127.0.0.3:9178"]);
    for node in &nodes {
        let imported = &node.imported;
        assert_eq!(imported.cpus, Some(2));
        // Scrapes are off by some milliseconds.
        assert_eq!(imported.resolution_ns / 10_000_000, 500);
        let tables: Vec<&str> = imported.tables.iter().map(|it| &*it.0.name).collect();
        assert_eq!(tables, ["cpu", "disk", "memory", "pressure"]);
        assert!(
            imported
                .kernel
                .as_deref()
                .is_some_and(|it| it.starts_with("6.18"))
        );
        assert!(imported.holes.is_empty() && node.restarts.is_empty() && node.backward.is_empty());
    }
}
