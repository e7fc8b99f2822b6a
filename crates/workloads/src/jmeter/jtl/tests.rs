//! Captured files, and the forms that JMeter's properties make of them. The numbers expected were counted by another
//! program.

use proptest::prelude::*;

use super::*;

/// Name, completed, failed, and mean in ns.
type Kind = (String, u64, u64, i64);

fn read_text(text: &[u8], begun_unix_ms: i64, summary: &mut Option<Summary>) -> Option<String> {
    let mut reader = read(begun_unix_ms * 1_000_000);
    let mut lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
    // Behind the last line end comes a line that is cut off, or nothing.
    lines.pop();
    lines.into_iter().for_each(|line| reader.line(line));
    reader.finish(summary).1.map(|remark| remark.to_string())
}

fn kinds(text: &str) -> Vec<Kind> {
    let mut summary = None;
    let remark = read_text(text.as_bytes(), 0, &mut summary);
    assert_eq!(remark, None);
    let kinds = summary.expect("there are samples").scripts.into_iter();
    kinds
        .map(|it| {
            (
                it.name,
                it.completed.unwrap(),
                it.failed.unwrap(),
                it.latency_mean_ns.unwrap(),
            )
        })
        .collect()
}

fn kind(name: &str, completed: u64, failed: u64, mean_ns: i64) -> Kind {
    (name.to_owned(), completed, failed, mean_ns)
}

const KILLED: &str = include_str!("../../../fixtures/jmeter/sigterm-mid-run/results.jtl");
const REFUSED: &str = include_str!("../../../fixtures/jmeter/http-refused/results.jtl");

fn of_killed() -> Vec<Kind> {
    vec![
        kind("GET slow", 185, 0, 69_421_621),
        kind("GET flaky", 178, 6, 5_326_086),
    ]
}

#[test]
fn samplers_are_told_apart_and_transactions_do_not_count() {
    assert_eq!(kinds(KILLED), of_killed());
    let refused = vec![
        kind("GET slow", 0, 52, 40_326_923),
        kind("GET flaky", 0, 49, 12_000_000),
    ];
    assert_eq!(kinds(REFUSED), refused);
}

#[test]
fn a_file_of_transactions_alone_tells_them() {
    let header = KILLED.lines().next().unwrap();
    let rows = KILLED
        .lines()
        .filter(|line| line.contains("Number of samples in"));
    let text: String = std::iter::once(header)
        .chain(rows)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        kinds(&text),
        [kind("Checkout, two steps", 178, 6, 5_326_086)]
    );
}

#[test]
fn the_header_decides_and_may_be_missing() {
    let headless = KILLED.split_once('\n').unwrap().1;
    assert_eq!(kinds(headless), of_killed());
    let chosen = "timeStamp;success;label;elapsed;responseMessage\n5;true;\"a;\"\"b\"\"\";3;OK\n6;false;a;4;\"x\ny\"\n7;true;a;5\n";
    assert_eq!(
        kinds(chosen),
        [kind("a;\"b\"", 1, 0, 3_000_000), kind("a", 0, 1, 4_000_000)]
    );
    for (text, why) in [
        (
            "timeStamp,elapsed,label,success\n1,2,a,true\n",
            "without a column responseMessage",
        ),
        ("timeStamp,elapsed\n1,2\n", "no column label"),
        ("1,2,a,true\n", "no header, and other columns"),
        (
            "2026/11/21 18:42:20,341,GET slow\n",
            "no header, and other columns",
        ),
    ] {
        let mut summary = None;
        let remark = read_text(text.as_bytes(), 0, &mut summary).unwrap();
        assert!(remark.contains(why), "{remark}");
        assert_eq!(summary, None);
    }
}

#[test]
fn samples_of_a_run_before_are_not_read() {
    let all = REFUSED.to_owned() + KILLED.split_once('\n').unwrap().1;
    let mut summary = None;
    // The run that was killed began 16 s later.
    assert_eq!(
        read_text(all.as_bytes(), 1_795_287_091_673, &mut summary),
        None
    );
    assert_eq!(summary.unwrap().scripts[0].completed, Some(185));
    let mut summary = None;
    let none = read_text(REFUSED.as_bytes(), i64::MAX / 1_000_000, &mut summary);
    assert_eq!(
        none.as_deref(),
        Some("the file of results holds no operation of this run")
    );
    let mut summary = Some(Summary {
        completed: Some(9),
        failed: Some(1),
        ..Summary::default()
    });
    let differs = read_text(REFUSED.as_bytes(), 0, &mut summary).unwrap();
    assert_eq!(
        differs,
        "the file of results holds 101 operations, and the closing report counts 10"
    );
}

#[test]
fn xml_counts_what_stands_alone_or_in_a_transaction() {
    let text = concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n",
        "<httpSample t=\"10\" it=\"0\" lt=\"8\" ct=\"2\" ts=\"1000\" s=\"true\" lb=\"a &amp; &lt;b&gt;\" rc=\"200\" rm=\"OK\">\n",
        "  <httpSample t=\"4\" ts=\"1001\" s=\"false\" lb=\"image\" rm=\"x > y\"/>\n</httpSample>\n",
        "<sample t=\"50\" it=\"9\" ts=\"1002\" s=\"false\" lb=\"Pay\" rm=\"Number of samples in transaction : 1, number of failing samples : 1\">\n",
        "  <httpSample t=\"30\" ts=\"1003\" s=\"false\" lb=\"pay\" rm=\"refused\">\n    <java.net.URL>http://x</java.net.URL>\n  </httpSample>\n",
        "</sample>\n<httpSample t=\"20\" ts=\"1004\" s=\"true\" lb=\"a &amp; &lt;b&gt;\" rm=\"OK\"/>\n",
    );
    let expected = [
        kind("a & <b>", 2, 0, 15_000_000),
        kind("pay", 0, 1, 30_000_000),
    ];
    assert_eq!(kinds(&format!("{text}</testResults>\n")), expected);
    // The end is missing where JMeter was killed.
    assert_eq!(
        kinds(&format!("{text}<httpSample t=\"1\" ts=\"10")),
        expected
    );
}

#[test]
fn samples_are_placed_by_their_end() {
    let mut reader = read(1_795_287_093_000 * 1_000_000);
    KILLED.lines().for_each(|line| reader.line(line.as_bytes()));
    let (operations, _) = reader.finish(&mut None);
    assert_eq!(operations.labels, ["GET slow", "GET flaky"]);
    // The first sample began at .206 and took 117 ms; failed ones are no part of what is sampled.
    let first = operations.sampled[0];
    assert_eq!(
        (first.ended_unix_ns, first.latency_ns),
        (1_795_287_093_323_000_000, 117_000_000)
    );
    assert_eq!(operations.sampled.len(), 185 + 178);
    let failed: i64 = operations.of_all.iter().map(|it| it.failed).sum();
    let completed: f64 = operations.of_all.iter().map(|it| it.completed()).sum();
    assert_eq!((failed, completed.round()), (6, 363.0));
}

proptest! {
    #[test]
    fn a_file_that_is_cut_off_has_no_sample_more(end in 0..KILLED.len()) {
        let mut summary = None;
        read_text(&KILLED.as_bytes()[..end], 0, &mut summary);
        let whole = of_killed();
        for it in summary.iter().flat_map(|it| &it.scripts) {
            let is_less = |of: &Kind| of.0 == it.name && it.completed <= Some(of.1) && it.failed <= Some(of.2);
            let is_transaction = it.name == "Checkout, two steps";
            prop_assert!(is_transaction || whole.iter().any(is_less), "{:?}", it);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0..3_usize) {
        let starts = ["", "timeStamp,elapsed,label,success,responseMessage\n", "<?xml?>\n<sample "];
        let text = [starts[start].as_bytes(), &bytes, b"\n"].concat();
        read_text(&text, 0, &mut None);
    }
}
