//! Which part of a run is judged.

use model::{PhaseKind, Provenance, Window};

use crate::drawing::{Drawn, drawn, headline, seconds};
use crate::saturated::SATURATED;

fn steady(run: &Drawn) -> Window {
    let report = run.diagnose();
    let mut phases = report.phases.iter();
    let steady = phases.find(|phase| phase.kind == PhaseKind::Steady);
    steady.expect("a steady phase").window
}

/// A run that waits for a CPU in its first half only.
const CHANGES: &str = "
    cpus 2  clients 10
    busy      ##########4444444444
    run x10   11111111111111111111
    wait      55555555550000000000
    gen       88888888881111111111
    throttled 00000000000000000000  /server
    tps       99999999999999999999
";

#[test]
fn an_asked_for_window_is_judged_alone() {
    let run = drawn(CHANGES);
    let first = run.diagnose_over(seconds(2.0, 9.0));
    assert_eq!(first.window, seconds(2.0, 9.0));
    assert_eq!(headline(&first).cause, "cpu.saturated");
    assert!((headline(&first).share.expect("a share") - 0.5).abs() < 0.01);
    let second = run.diagnose_over(seconds(11.0, 19.0));
    assert_ne!(headline(&second).cause, "cpu.saturated");
    assert_eq!(first.phases, second.phases, "phases are of the whole run");
}

#[test]
fn an_asked_for_window_is_judged_over_the_whole_bins_in_it() {
    let report = drawn(CHANGES).diagnose_over(seconds(2.3, 8.4));
    assert_eq!(report.window, seconds(2.0, 8.0));
    let share = headline(&report).share.expect("a share");
    assert!((share - 0.5).abs() < 0.001, "{share}");
}

#[test]
fn a_window_beyond_the_recording_or_without_length_has_an_answer() {
    let run = drawn(CHANGES);
    for window in [
        seconds(50.0, 60.0),
        seconds(-20.0, -10.0),
        seconds(5.0, 5.0),
        seconds(9.0, 2.0),
    ] {
        let report = run.diagnose_over(window);
        assert_eq!(headline(&report).cause, "undetermined", "{window:?}");
    }
    let report = run.diagnose_over(seconds(-20.0, 40.0));
    assert!(!report.verdict.findings.is_empty());
}

#[test]
fn the_first_bin_and_a_slow_start_are_warm_up() {
    assert_eq!(steady(&drawn(SATURATED)), seconds(1.0, 20.0));
    let slow = SATURATED.replace("tps       9999", "tps       2357");
    let report = drawn(&slow).diagnose();
    assert_eq!(report.window, seconds(4.0, 20.0));
    assert_eq!(report.phases[0].kind, PhaseKind::WarmUp);
    let throughput = report
        .signals
        .iter()
        .find(|signal| signal.name == "throughput");
    assert_eq!(throughput.and_then(|signal| signal.mean), Some(900.0));
}

#[test]
fn the_last_short_bin_is_dropped() {
    let run = drawn(&SATURATED.replace("clients 10", "clients 10  tail 200"));
    assert_eq!(steady(&run), seconds(1.0, 20.0));
    let report = run.diagnose();
    assert_eq!(
        report.phases.last().map(|phase| phase.kind),
        Some(PhaseKind::End)
    );
    let longer = drawn(&SATURATED.replace("clients 10", "clients 10  tail 700"));
    assert_eq!(
        steady(&longer),
        seconds(1.0, 20.7),
        "a bin of more than half the usual is kept"
    );
}

#[test]
fn a_stalled_second_is_no_data_with_a_caveat_and_not_zero_latency() {
    let stalled = SATURATED.replace("tps       9999999999", "tps       9999990999");
    let report = drawn(&stalled).diagnose();
    let latency = report
        .signals
        .iter()
        .find(|signal| signal.name == "latency");
    let latency = latency.expect("a latency");
    assert_eq!(latency.empty_intervals, 1);
    let mean = latency.mean.expect("of the other seconds");
    assert!((mean - 10.0 / 900.0 * 1e9).abs() < 1e3, "{mean}");
    let gate = report
        .verdict
        .caveats
        .iter()
        .find(|caveat| caveat.gate == "gate.stalled");
    let sentence = &gate.expect("a caveat").sentence;
    assert!(
        sentence.starts_with("in 1 interval nothing was completed"),
        "{sentence}"
    );
}

#[test]
fn a_run_in_which_nothing_was_ever_completed_has_no_latency_and_an_answer() {
    let dead = SATURATED.replace(
        "tps       99999999999999999999",
        "tps       00000000000000000000",
    );
    let report = drawn(&dead).diagnose();
    let latency = report
        .signals
        .iter()
        .find(|signal| signal.name == "latency");
    assert_eq!(latency.and_then(|signal| signal.mean), None);
    assert!(!report.verdict.findings.is_empty());
}

#[test]
fn runs_of_less_than_three_bins_are_judged_whole() {
    for (cells, length) in [("11", 2), ("1", 1)] {
        let text = format!(
            "cpus 2  clients 10\nbusy {c9}\nrun x10 {cells}\nwait {c5}\ngen {c8}\ntps {c9}\n",
            c9 = "#".repeat(length),
            c5 = "5".repeat(length),
            c8 = "8".repeat(length),
        );
        let report = drawn(&text).diagnose();
        assert_eq!(report.window, seconds(0.0, length as f64));
        assert_eq!(headline(&report).cause, "cpu.saturated");
        assert!(
            headline(&report).share_interval.is_none(),
            "of so few seconds there is none"
        );
        assert!(
            report
                .verdict
                .caveats
                .iter()
                .any(|caveat| caveat.gate == "gate.short")
        );
    }
}

#[test]
fn without_a_signal_a_second_is_left_out_and_a_derived_one_is_no_signal() {
    let silent = drawn(&SATURATED.replace("tps       99999999999999999999", ""));
    assert_eq!(steady(&silent), seconds(1.0, 20.0));
    let mut derived = drawn(SATURATED);
    let workload = derived.meta.workload.as_mut().expect("a workload");
    workload.latency = Provenance::Derived;
    let account = derived.diagnose().verdict.account.expect("an account");
    assert_eq!(account.basis, model::ShareBasis::BusyTime);
}

#[test]
fn what_was_before_the_target_was_found_is_not_judged() {
    let late = SATURATED.replace(
        "run x10   11111111111111111111",
        "run x10   -------1111111111111",
    );
    assert_eq!(steady(&drawn(&late)), seconds(7.0, 20.0));
}

#[test]
fn a_damaged_window_of_centuries_is_answered_as_well() {
    let report = drawn(CHANGES).diagnose_over(seconds(-1e9, 4e9));
    assert!(!report.verdict.findings.is_empty());
}
