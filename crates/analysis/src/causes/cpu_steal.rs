//! The hypervisor gives the CPUs to others.

use model::{Confidence, Finding, LedgerClass, Whose};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::cpu_formulas;
use super::evidence::{machine, share};
use super::family::Family;
use crate::cpus::{self, Machine};
use crate::formula;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const STEAL: Threshold = Threshold::new(
    "steal",
    0.05,
    "share of the CPUs",
    "CPU time that the hypervisor took away",
);
const BUSY: Threshold = Threshold::new(
    "busy",
    0.80,
    "share of the CPUs",
    "Busy and stolen together: below this there was CPU left",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.steal",
    help: "The hypervisor gives CPU time of this machine to others.",
    about: "the machine",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "Steal of /proc/stat, on CPUs that had work to do, while the target waited for a CPU. Steal cannot be forced on the machines on which this is tested, so the cause is not scored. Some hypervisors do not report it.",
    thresholds: &[STEAL, BUSY],
    upstream: &[],
    wait: None,
    would_help: &["a machine with CPUs of its own"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "run again at another hour, or on a dedicated machine: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let cpus = stolen_from_work(case)?;
    case.cpu_wait_known()?;
    // A CPU that is taken away while a thread is on it looks busy to that thread: its part of all
    // time that was used or taken.
    let taken = cpus.steal / (cpus.busy + cpus.steal);
    let cost = taken * facts.share_of(&[LedgerClass::CpuWait, LedgerClass::OnCpu]);
    let (steal, whole) = (percent(cpus.steal), facts.whole());
    if cost < facts.floor {
        return absent(format!(
            "the hypervisor took {steal}, which cost {} only {} of {whole}",
            target.name,
            percent(cost)
        ));
    }
    let sentence = format!(
        "The hypervisor takes the CPU away: {steal} of the CPUs was stolen while they were {} busy, and that is about {} of {whole}.",
        percent(cpus.busy),
        percent(cost)
    );
    let machine = machine(facts);
    let used = cpus.busy + cpus.steal;
    let states: Vec<&str> = cpus::BUSY.into_iter().chain(["steal_ns"]).collect();
    let of_cpus = |states: &[&str]| {
        let some = formula::growth("cpu", states, Whose::All);
        formula::part(some, cpu_formulas::any_state(Whose::All))
    };
    Ok(Finding {
        share: Some(cost),
        evidence: vec![
            share(
                facts,
                "steal",
                "cpu.steal_ns",
                &machine,
                cpus.steal,
                STEAL.value(),
            )
            .by(of_cpus(&["steal_ns"])),
            share(
                facts,
                "CPUs busy or stolen",
                "cpu",
                &machine,
                used,
                BUSY.value(),
            )
            .by(of_cpus(&states)),
        ],
        would_help: case.would_help(cost),
        ..case.finding(&machine, Confidence::Consistent, sentence)
    })
}

/// The CPUs, where enough of them was stolen and the rest had work.
fn stolen_from_work(case: &Case<'_>) -> Result<Machine, NoFinding> {
    let Some(cpus) = case.facts.machine else {
        return cannot_tell("CPU times were not recorded");
    };
    if cpus.steal < STEAL.value() {
        return absent(format!("steal was {}", percent(cpus.steal)));
    }
    if cpus.busy + cpus.steal < BUSY.value() {
        return absent(format!(
            "the CPUs were busy or stolen for {} of the time: there was room beside it",
            percent(cpus.busy + cpus.steal)
        ));
    }
    Ok(cpus)
}
