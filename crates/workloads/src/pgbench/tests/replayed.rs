//! What holds for replays besides their golden text.

use super::*;

/// The same runs as if the user had not asked for -P: the lines are ours, and he does not get them.
#[test]
fn added_progress_stays_away_from_the_user() {
    for name in [
        "select-only-c10-T20-P1",
        "rate-latency-limit",
        "tpcb-vacuum-T10-P5",
        "server-killed-mid-run",
    ] {
        let mut case = Case::recorded(name);
        let typed = case.heard();
        let at = case.argv.iter().position(|word| word == "-P").unwrap();
        case.argv.drain(at..at + 2);
        let added = case.heard();
        let rest: String = case
            .stderr
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("progress: "))
            .collect();
        assert_eq!(
            (&added.stdout, added.stderr),
            (&case.stdout, rest),
            "{name}"
        );
        assert_eq!(
            (added.bins, added.ending),
            (typed.bins, typed.ending),
            "{name}"
        );
    }
}

#[test]
fn a_prompt_is_not_held_back_and_a_progress_line_is() {
    let prepared = super::super::PGBENCH
        .prepare(&argv("pgbench -c 4"), Adjust::Allowed)
        .unwrap();
    let mut listener = Listener::new(prepared.reader);
    let mut forward = Vec::new();
    for (text, passed) in [
        ("starting vacuum...", "starting vacuum..."),
        ("end.\npro", "end.\n"),
        (
            "gress: 1.0 s, 5.0 tps, lat 1.000 ms stddev 0.100, 0 failed",
            "",
        ),
        (", lag 1.000 ms", ""),
        ("\nprogramme", "programme"),
    ] {
        forward.clear();
        listener.hear(
            Stream::Stderr,
            text.as_bytes(),
            Timestamp::from_seconds(1.0),
            &mut forward,
        );
        assert_eq!(String::from_utf8_lossy(&forward), passed);
    }
    assert_eq!(listener.take_bins().len(), 1);
}

/// Rates are of what was completed, so rate times length adds up to pgbench's own count. Runs whose
/// last interval has no line (-t, or the end came first) are left out, as are aborted ones.
#[test]
fn bins_add_up_to_the_summary() {
    for name in [
        "select-only-c10-T20-P1",
        "rate-latency-limit",
        "progress-timestamp",
        "prepared-connect",
        "tpcb-vacuum-T10-P5",
        "stalled-server",
        "serialization-failures-plain",
        "two-scripts-weighted",
        "report-per-command",
    ] {
        let heard = Case::recorded(name).heard();
        let counted = heard.ending.summary.unwrap().completed.unwrap() as f64;
        let summed: f64 = heard.bins.iter().map(Bin::completed).sum();
        assert!(
            (summed / counted - 1.0).abs() < 0.01,
            "{name}: {summed} of {counted}"
        );
    }
    let heard = Case::recorded("aggregate-log").heard();
    assert_eq!(heard.bins.len(), 11, "12 s, and no line for the last one");
}
