//! Formulas of numbers: declared where a number is made, and worked out again here from the same facts.
//!
//! The page has the other evaluator (ui/src/charts/formula.ts), which works them out bin by bin.

use model::{Amount, EntityId, Evidence, Formula, LedgerClass};

use crate::facts::Facts;

/// How the part of the target's time in classes is worked out, of which `part` counts.
pub(crate) fn share_of(facts: &Facts<'_>, classes: &[LedgerClass], part: f64) -> Formula {
    let spent = in_classes(facts, classes);
    Formula {
        of: times(part * facts.lengthened(classes), spent),
        per: Amount::Account,
    }
}

fn times(factor: f64, amount: Amount) -> Amount {
    match factor {
        1.0 => amount,
        factor => Amount::Times {
            factor,
            amount: Box::new(amount),
        },
    }
}

/// How the target's wait for a CPU is worked out, with the generator's where that is counted too.
pub(crate) fn cpu_wait(facts: &Facts<'_>, with_generator: bool) -> Formula {
    let wait = [LedgerClass::CpuWait];
    let own = times(facts.lengthened(&wait), in_classes(facts, &wait));
    Formula {
        of: match with_generator {
            true => Amount::Sum {
                amounts: vec![own, Amount::GeneratorWait],
            },
            false => own,
        },
        per: Amount::Account,
    }
}

/// How many of the target's serving threads were in classes at a time.
pub(crate) fn at_a_time(facts: &Facts<'_>, classes: &[LedgerClass]) -> Formula {
    Formula {
        of: in_classes(facts, classes),
        per: Amount::Time,
    }
}

/// Time in classes that are accounted for: without requests, sleep and futex may be rest.
fn in_classes(facts: &Facts<'_>, classes: &[LedgerClass]) -> Amount {
    let is_rest = |class: &&LedgerClass| matches!(class, LedgerClass::Sleep | LedgerClass::Futex);
    let counted = classes.iter();
    let counted = counted.filter(|class| facts.signal.is_some() || !is_rest(class));
    Amount::Ledger {
        classes: counted.copied().collect(),
    }
}

/// How many requests were in progress, as a part of `whole`.
pub(crate) fn in_progress(whole: f64) -> Formula {
    Formula {
        of: Amount::Requests,
        per: match whole {
            1.0 => Amount::Time,
            factor => Amount::Times {
                factor,
                amount: Box::new(Amount::Time),
            },
        },
    }
}

/// Growth of some of a table's counters, of that of all of them.
pub(crate) fn growth(table: &str, columns: &[&str], all: &[&str]) -> Formula {
    let growth = |columns: &[&str]| Amount::Growth {
        table: table.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    };
    Formula {
        of: growth(columns),
        per: growth(all),
    }
}

/// Whether a number is what its formula gives, as far as doubles and a cut at all of the time allow.
pub(crate) fn holds(evidence: &Evidence, facts: &Facts<'_>) -> bool {
    const NEAR: f64 = 1e-6;
    let Some(formula) = &evidence.formula else {
        return true;
    };
    let value = amount(&formula.of, facts) / amount(&formula.per, facts);
    let is_cut = evidence.value >= 1.0 && value >= 1.0;
    let differs = (value - evidence.value).abs() > NEAR * evidence.value.abs().max(1.0);
    is_cut || !differs
}

/// What the window holds of an amount.
fn amount(of: &Amount, facts: &Facts<'_>) -> f64 {
    let window_ns = facts.window.len_ns() as f64;
    let account_ns = facts.account.as_ref().map_or(0.0, |it| it.total_ns as f64);
    match of {
        Amount::Ledger { classes } => {
            let target = facts.target.as_ref();
            target.map_or(0.0, |target| target.serving_ledger.sum(classes))
        }
        Amount::GeneratorWait => facts.generator_wait() * account_ns,
        Amount::Account => account_ns,
        Amount::Requests => facts.in_flight().unwrap_or(f64::NAN) * window_ns,
        Amount::Time => window_ns,
        Amount::Growth { table, columns } => grown(facts, table, columns),
        Amount::Sum { amounts } => amounts.iter().map(|own| amount(own, facts)).sum(),
        Amount::Times {
            factor,
            amount: own,
        } => factor * amount(own, facts),
    }
}

fn grown(facts: &Facts<'_>, table: &str, columns: &[String]) -> f64 {
    let entities = facts.timeline.table(table).into_iter();
    let entities = entities.flat_map(|table| table.entities());
    let growth = |entity: EntityId| {
        let grown = columns.iter().filter_map(move |column| {
            let series = facts.timeline.series(table, entity, column)?;
            series.growth(facts.window)
        });
        grown.sum::<f64>()
    };
    entities.map(growth).sum()
}
