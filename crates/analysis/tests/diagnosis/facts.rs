//! Facts as other crates take them, beside the report.

use analysis::Thresholds;
use analysis::facts::{Roles, Scene, Scope, measure};
use model::LedgerClass;

use crate::drawing::drawn;
use crate::{disk, network, quota, saturated};

#[test]
fn the_facts_of_a_reports_window_are_those_of_its_verdict() {
    let texts = [
        saturated::SATURATED.to_owned(),
        quota::LIMITED.to_owned(),
        disk::LATENCY.to_owned(),
        network::RTT.to_owned(),
    ];
    let thresholds = Thresholds::default();
    for text in texts {
        let run = drawn(&text);
        let report = run.diagnose();
        let roles = Roles::new(&run.timeline, &run.meta);
        let scene = Scene::new(&roles, report.window, Scope::Run);
        let facts = measure(&scene, &thresholds);
        assert_eq!(facts.account, report.verdict.account);
        assert_eq!(facts.pressure, report.pressure);
        assert_eq!(facts.subjects(), report.subjects);
        let said = |name| report.signals.iter().find(|signal| signal.name == name);
        let throughput = said("throughput").and_then(|signal| signal.mean);
        assert_eq!(facts.signal.map(|mean| mean.throughput), throughput);
    }
}

#[test]
fn a_saturated_run_has_busy_cpus_and_a_wait_for_them() {
    let run = drawn(saturated::SATURATED);
    let thresholds = Thresholds::default();
    let roles = Roles::new(&run.timeline, &run.meta);
    let scene = Scene::new(&roles, run.diagnose().window, Scope::Run);
    let facts = measure(&scene, &thresholds);
    // As drawn: two CPUs full, of which ten threads at a tenth use one; half of their time is a wait.
    let is_near = |value: f64, drawn: f64| (value - drawn).abs() < 1e-6;
    assert!(facts.effective_busy.is_some_and(|it| is_near(it, 1.0)));
    assert!(is_near(facts.share(LedgerClass::CpuWait), 0.5));
    assert!(is_near(facts.cpu.part(facts.cpu.target_ns), 0.5));
    assert_eq!(facts.memory.swapped_in, None, "nobody looked");
}
