//! Functions that take more CPU time for a request.

use expect_test::expect;

use super::{group, run};
use crate::compare::code::Code;
use crate::compare::{Group, compare};

/// A run of 1,000 requests a second whose functions take so many us of CPU for each.
fn executing(name: &str, functions: &[(&str, f64)]) -> Group {
    let all: f64 = functions.iter().map(|it| it.1).sum();
    let mut run = run(name, &[("throughput", 1_000.0), ("latency", 2e6)]);
    run.totals.insert("cpu.target", all * 1e3 * 20.0 * 1e3);
    // Samples are few: seconds differ by some of them.
    let times = |us: f64| -> Vec<f64> {
        let noise = |at: u32| 1.0 + 0.1 * f64::from(at * 7 % 5) - 0.2;
        (0..20).map(|at| us * 1e3 * 1e3 * noise(at)).collect()
    };
    let ns: Vec<(&str, Vec<f64>)> = functions
        .iter()
        .map(|(name, us)| (*name, times(*us)))
        .collect();
    run.code = Some(Code::drawn(vec![1_000.0; 20], &ns));
    group(name, vec![run])
}

#[test]
fn functions_that_grew_are_named_with_their_cpu_time_for_a_request() {
    let before = executing(
        "before",
        &[("hash_row", 100.0), ("join", 200.0), ("send", 50.0)],
    );
    let after = executing(
        "after",
        &[("hash_row", 900.0), ("join", 205.0), ("sort", 300.0)],
    );
    let comparison = compare(vec![before, after]);
    expect![[r#"
        after does as much as before: 1,000 instead of 1,000 tps (95 % interval of the difference: -0.5 % to +0.5 %).
        CPU time per request by function: hash_row 0.900 ms instead of 0.100 ms, sort 0.300 ms instead of 0."#]].assert_eq(&comparison.answers[0].join("\n"));
    let rows = comparison
        .figures
        .iter()
        .filter(|it| it.key.starts_with("code."));
    let keys: Vec<&str> = rows.map(|it| it.key.as_str()).collect();
    expect!["code.hash_row, code.sort"].assert_eq(&keys.join(", "));
}
