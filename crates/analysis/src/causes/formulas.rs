//! How parts of the account are worked out.

use model::{Amount, Formula, LedgerClass};

use crate::facts::Facts;
use crate::formula;

/// How the part of the target's time in classes is worked out, of which `counted` counts.
pub(super) fn share_of(facts: &Facts<'_>, classes: &[LedgerClass], counted: f64) -> Formula {
    let spent = with_line(facts, classes);
    let of = match counted {
        1.0 => spent,
        factor => formula::product([formula::number(factor), spent]),
    };
    formula::part(of, Amount::Account)
}

/// How the target's wait for a CPU is worked out, with the generator's where that is counted too.
pub(super) fn cpu_wait(facts: &Facts<'_>, with_generator: bool) -> Formula {
    let own = with_line(facts, &[LedgerClass::CpuWait]);
    let of = match with_generator {
        true => formula::sum([own, Amount::GeneratorWait]),
        false => own,
    };
    formula::part(of, Amount::Account)
}

/// How the part of the response time is worked out in which the target was in these waits, for a CPU as far as they need a
/// cause, or waited for its peers.
pub(super) fn waits(facts: &Facts<'_>, classes: &[LedgerClass]) -> Formula {
    let own = with_line(facts, classes);
    let own = match 1.0 - facts.needs_cause() {
        0.0 => own,
        woken => {
            let wait = with_line(facts, &[LedgerClass::CpuWait]);
            formula::rest(own, formula::product([formula::number(woken), wait]))
        }
    };
    let of = match remote(facts, facts.share(LedgerClass::Remote)) {
        Some(calls) => formula::sum([own, calls]),
        None => own,
    };
    formula::part(of, Amount::Account)
}

/// Time of requests in which the target waited for its peers: that of its calls, with the line behind them, and as far
/// as there was room. `None` where there was none.
pub(super) fn remote(facts: &Facts<'_>, share: f64) -> Option<Amount> {
    let calls = facts.calls.as_ref()?;
    let waited_ns = share * facts.account.as_ref()?.total_ns as f64;
    let factor = waited_ns / calls.ns();
    let is_any = waited_ns > 0.0 && factor.is_finite();
    is_any.then(|| formula::product([formula::number(factor), calls.formula()]))
}

/// How many of the target's serving threads were in classes at a time.
pub(super) fn at_a_time(facts: &Facts<'_>, classes: &[LedgerClass]) -> Formula {
    formula::part(in_classes(facts, classes), Amount::Time)
}

/// Time in classes, with that of requests in line behind it.
pub(super) fn with_line(facts: &Facts<'_>, classes: &[LedgerClass]) -> Amount {
    let spent = in_classes(facts, classes);
    match facts.lengthened(classes) {
        1.0 => spent,
        factor => formula::product([formula::number(factor), spent]),
    }
}

/// How the part of the response time is worked out that stood in line behind time in classes.
pub(super) fn line_behind(facts: &Facts<'_>, classes: &[LedgerClass]) -> Formula {
    let line = formula::rest(with_line(facts, classes), in_classes(facts, classes));
    formula::part(line, Amount::Account)
}

/// Time in classes that are accounted for: without requests, sleep and futex may be rest.
fn in_classes(facts: &Facts<'_>, classes: &[LedgerClass]) -> Amount {
    let is_rest = |class: &&LedgerClass| matches!(class, LedgerClass::Sleep | LedgerClass::Futex);
    let counted = classes.iter();
    let counted = counted.filter(|class| facts.signal.is_some() || !is_rest(class));
    Amount::Ledger {
        classes: counted.copied().collect(),
        whose: formula::SERVING,
    }
}

/// The part of the response time that was outside of the target; `None` where a part of it was in line at the
/// target's sockets, which is told by requests and not by columns.
pub(super) fn outside(facts: &Facts<'_>) -> Option<Formula> {
    let is_all = !facts.at_sockets && facts.line.share <= 0.0;
    is_all.then(|| formula::part(Amount::Outside, Amount::Account))
}
