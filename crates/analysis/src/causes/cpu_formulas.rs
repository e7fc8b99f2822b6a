//! How it is worked out who used the CPUs, and who had them while the target waited for one.

use model::{Amount, Formula, LedgerClass, Role, Whose};
use sensors::thread_time::Holder;

use super::formulas::with_line;
use crate::cpus::{BUSY, STATES};
use crate::facts::Facts;
use crate::formula::{
    SERVING, growth, most, named, number, one, or_nothing, part, product, ratio, rest, role, sum,
};
use crate::ledger::Ledger;

/// CPU time of a role's threads, and of their children that ended before anybody looked at them.
pub(super) fn used(whose: Role) -> Amount {
    let name = format!("CPU time of the {}", whose.word());
    named(&name, sum(used_by(whose)))
}

fn used_by(whose: Role) -> [Amount; 2] {
    let threads = Amount::Ledger {
        classes: vec![LedgerClass::OnCpu],
        whose: role(whose),
    };
    let children = growth("process", &["children_ns"], role(whose));
    [threads, or_nothing(children)]
}

/// What target and generator used, as far as their threads were seen.
fn used_by_both(facts: &Facts<'_>) -> Vec<Amount> {
    let subjects = facts.target.iter().chain(&facts.generator);
    let seen = subjects.filter(|subject| subject.ledger.wall_ns > 0.0);
    seen.flat_map(|subject| used_by(subject.role)).collect()
}

/// What those used that are known by name: target, generator, what the target calls, the recorder.
fn known(facts: &Facts<'_>) -> Amount {
    let called = growth("thread", &["run_ns"], role(Role::Dependency));
    let recorder = growth("recorder", &["cpu_ns"], Whose::All);
    let mut all = used_by_both(facts);
    all.extend([called, recorder].map(or_nothing));
    let name = "CPU time of target, generator, dependencies and recorder";
    named(name, sum(all))
}

/// All CPU time that was used: by those, and by others, named or not.
pub(super) fn all_used(facts: &Facts<'_>) -> Amount {
    let others = growth("process", &["user_ns", "system_ns"], role(Role::Background));
    let seen = sum([known(facts), or_nothing(others)]);
    let all = match facts.machine {
        // What no process shows is of the rest: interrupts, and who lived between two looks.
        Some(machine) => {
            let busy = ratio(busy_time(Whose::All), any_state(Whose::All));
            let clock = product([number(f64::from(machine.cpus)), Amount::Time]);
            most([seen, product([busy, clock])])
        }
        None => seen,
    };
    named("all CPU time that was used", all)
}

/// What of it others used.
pub(super) fn used_by_others(facts: &Facts<'_>) -> Amount {
    rest(all_used(facts), known(facts))
}

/// The part of it that others used.
pub(super) fn others_used(facts: &Facts<'_>) -> Formula {
    part(used_by_others(facts), all_used(facts))
}

/// Time in which CPUs did anything.
pub(super) fn busy_time(whose: Whose) -> Amount {
    let name = "busy time (user, nice, system, interrupts)";
    named(name, growth("cpu", &BUSY, whose))
}

/// All time of CPUs that was accounted.
pub(super) fn any_state(whose: Whose) -> Amount {
    named("time in any state", growth("cpu", &STATES, whose))
}

/// How busy the CPUs were that the target may use, of what the hypervisor left them.
pub(super) fn busy(facts: &Facts<'_>) -> Formula {
    let usable: Vec<&str> = STATES.into_iter().filter(|it| *it != "steal_ns").collect();
    let of = |whose| {
        let usable = growth("cpu", &usable, whose);
        (
            busy_time(whose),
            named("time that the hypervisor left them", usable),
        )
    };
    if !facts.is_pinned() {
        let (busy, usable) = of(Whose::All);
        return part(busy, usable);
    }
    let cores = facts.usable.iter();
    let each = cores.map(|core| {
        let (busy, usable) = of(one(core.id));
        ratio(busy, usable)
    });
    let each: Vec<Amount> = each.collect();
    let count = number(each.len() as f64);
    part(sum(each), count)
}

/// The part of that time which the target and, where it may use all CPUs, the generator used.
pub(super) fn own_of_usable(facts: &Facts<'_>) -> Formula {
    if facts.is_pinned() {
        let Formula { of, per } = busy(facts);
        let usable = product([number(f64::from(facts.effective_cpus)), Amount::Time]);
        return part(used(Role::Target), product([ratio(of, per), usable]));
    }
    let own = sum(used_by_both(facts));
    part(
        named("CPU time of target and generator", own),
        all_used(facts),
    )
}

/// Of the target's waits for a CPU the part in which some of all had it; where those are less than the `least`
/// that counts, of the generator's beside it too (`Facts::holders`).
pub(super) fn queued(facts: &Facts<'_>, least: f64, some: &[Holder], all: &[Holder]) -> Formula {
    let is_told = |ledger: &Ledger| ledger.held(Holder::Target).is_some();
    let own = facts.share(LedgerClass::CpuWait);
    let generator = facts.generator.as_ref().filter(|_| own < least);
    let Some(generator) = generator.filter(|it| is_told(&it.ledger)) else {
        return part(behind(SERVING, some), behind(SERVING, all));
    };
    let wait = with_line(facts, &[LedgerClass::CpuWait]);
    let target = facts.target.as_ref();
    let own = target.filter(|it| is_told(&it.serving_ledger));
    let own = own.map(|_| (wait, SERVING));
    let beside = (Amount::GeneratorWait, role(generator.role));
    let waits: Vec<(Amount, Whose)> = own.into_iter().chain([beside]).collect();
    let held = |holders: &[Holder]| {
        let each = waits.iter().map(|(wait, whose)| {
            let of_all = ratio(behind(*whose, holders), behind(*whose, &Holder::ALL));
            product([wait.clone(), of_all])
        });
        sum(each.collect::<Vec<_>>())
    };
    part(held(some), held(all))
}

/// Time for which threads waited for CPUs that these had.
pub(super) fn behind(whose: Whose, holders: &[Holder]) -> Amount {
    let columns = holders.iter().map(|holder| holder.column_name().to_owned());
    Amount::Queued {
        columns: columns.collect(),
        whose,
    }
}
