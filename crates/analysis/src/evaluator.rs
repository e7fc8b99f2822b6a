//! What a formula gives over a window. The page has the other evaluator (ui/src/charts/formula.ts), which works
//! formulas out bin by bin too; both are tested on the cases of `fixtures/formulas.json`.

use std::cell::Cell;

use model::{
    Amount, EntityId, EntityKind, EntityRecord, Evidence, Formula, LedgerClass, Reading, Role,
    Timeline, Whose, Window,
};
use sensors::thread_time::Holder;

use crate::facts::Facts;
use crate::ledger::Ledger;
use crate::measure::Of;
use crate::monitored::Monitored;
use crate::neighbours::is_under;
use crate::workload_metrics::Mean;

/// What a formula gives over the window of its number.
pub(crate) fn value(evidence: &Evidence, facts: &Facts<'_>) -> Option<f64> {
    let formula = evidence.formula.as_ref()?;
    Some(Over::new(facts, evidence.window).value(formula))
}

/// Whether a number is what its formula gives, as far as doubles and a cut at all of the time allow.
pub(crate) fn holds(evidence: &Evidence, facts: &Facts<'_>) -> bool {
    let Some(formula) = &evidence.formula else {
        return true;
    };
    let over = Over::new(facts, evidence.window);
    let (said, value) = (evidence.value, over.value(formula));
    let is_nothing = !value.is_finite() && (said == 0.0 || !said.is_finite());
    // Of amounts that no machine has there may be nothing to divide by.
    let is_cut = said >= 1.0 && (value >= 1.0 || value.is_nan());
    let is_near = are_near(value, said, over.account_ns());
    // In a damaged recording a counter may run backwards: that is no measure, and causes leave it out.
    is_near || is_cut || is_nothing || over.ran_backwards.get()
}

/// Whether two ways to a number gave the same. Where it is part of an account, that has a whole number of ns, which tells
/// where a target did next to nothing.
fn are_near(value: f64, said: f64, account_ns: f64) -> bool {
    const NEAR: f64 = 1e-6;
    let rounding = if account_ns > 0.0 {
        1.0 / account_ns
    } else {
        0.0
    };
    (value - said).abs() <= NEAR.max(rounding) * said.abs().max(1.0)
}

/// The window over which amounts are worked out.
struct Over<'a> {
    facts: &'a Facts<'a>,
    window: Window,
    /// Whether a counter was met that ran backwards.
    ran_backwards: Cell<bool>,
}

impl<'a> Over<'a> {
    fn new(facts: &'a Facts<'a>, window: Window) -> Self {
        Self {
            facts,
            window,
            ran_backwards: Cell::new(false),
        }
    }

    /// What a formula gives; no number where it is not known, or a part of nothing.
    fn value(&self, formula: &Formula) -> f64 {
        let per = self.amount(&formula.per);
        match per > 0.0 {
            true => self.amount(&formula.of) / per,
            false => f64::NAN,
        }
    }

    /// What the window holds of an amount; not a number where nothing of it is known.
    fn amount(&self, of: &Amount) -> f64 {
        let facts = self.facts;
        let window_ns = self.window.len_ns() as f64;
        let mean =
            |of: fn(&Mean) -> Option<f64>| facts.signal.as_ref().and_then(of).unwrap_or(f64::NAN);
        match of {
            Amount::Recorded {
                reading,
                table,
                columns,
                whose,
            } => self.recorded(*reading, table, columns, *whose),
            Amount::Weighed {
                table,
                column,
                by,
                whose,
            } => self.weighed(table, (column, by), *whose),
            Amount::Ledger { classes, whose } => self.ledger(*whose, |it| it.sum(classes)),
            Amount::Lifetime { whose } => self.ledger(*whose, |it| it.wall_ns),
            Amount::Queued { columns, whose } => {
                let holders = Holder::ALL.into_iter();
                let holders =
                    holders.filter(|it| columns.iter().any(|name| name == it.column_name()));
                let holders: Vec<Holder> = holders.collect();
                let behind =
                    |it: &Ledger| holders.iter().map(|holder| it.queued_behind(*holder)).sum();
                self.ledger(*whose, behind)
            }
            Amount::GeneratorWait => facts.generator_wait() * self.account_ns(),
            Amount::Outside => facts.share(LedgerClass::Outside) * self.account_ns(),
            Amount::Lag => facts.share(LedgerClass::Lag) * self.account_ns(),
            Amount::Account => self.account_ns(),
            Amount::Requests => mean(|it| Some(it.throughput * it.latency_ns? / 1e9)) * window_ns,
            Amount::Completed => mean(|it| Some(it.throughput / 1e9)) * window_ns,
            Amount::Reported | Amount::Time => window_ns,
            Amount::Number { value } => *value,
            Amount::Sum { amounts } => self.each(amounts).sum(),
            Amount::Product { amounts } => self.each(amounts).product(),
            Amount::Least { amounts } => chosen(self.each(amounts), f64::min),
            Amount::Most { amounts } => chosen(self.each(amounts), f64::max),
            Amount::Ratio { of, per } => self.amount(of) / self.amount(per),
            Amount::Rest { whole, part } => chosen(
                [self.amount(whole) - self.amount(part), 0.0].into_iter(),
                f64::max,
            ),
            Amount::Named { amount, .. } => self.amount(amount),
            Amount::OrNothing { amount } => {
                let value = self.amount(amount);
                if value.is_nan() { 0.0 } else { value }
            }
        }
    }

    fn each(&self, amounts: &[Amount]) -> impl Iterator<Item = f64> {
        amounts.iter().map(|own| self.amount(own))
    }

    fn account_ns(&self) -> f64 {
        let account = self.facts.account.as_ref();
        account.map_or(f64::NAN, |it| it.total_ns as f64)
    }

    fn recorded(&self, reading: Reading, table: &str, columns: &[String], whose: Whose) -> f64 {
        let timeline = self.facts.timeline;
        let meant = meant(timeline, table, whose).into_iter();
        let read = meant.flat_map(|entity| {
            let of = Of::new(timeline, table, entity, self.window);
            columns.iter().filter_map(move |column| match reading {
                Reading::Growth => of.growth(column),
                Reading::Rate => of.rate(column),
                Reading::Mean => of.mean(column),
                Reading::Last => of.last(column),
                Reading::Lowest => of.lowest(column),
            })
        });
        let is_counter = matches!(reading, Reading::Growth | Reading::Rate);
        let seen = read.inspect(|value| {
            if is_counter && *value < 0.0 {
                self.ran_backwards.set(true);
            }
        });
        seen.reduce(|a, b| a + b).unwrap_or(f64::NAN)
    }

    fn weighed(&self, table: &str, (column, by): (&str, &str), whose: Whose) -> f64 {
        let timeline = self.facts.timeline;
        let read = |entity| {
            let of = Of::new(timeline, table, entity, self.window);
            Some((of.last(column)?, of.growth(by).unwrap_or(0.0).max(0.0)))
        };
        let meant = meant(timeline, table, whose).into_iter();
        let read: Vec<(f64, f64)> = meant.filter_map(read).collect();
        let is_even = read.iter().all(|(_, weight)| *weight == 0.0);
        let weighed = read
            .iter()
            .map(|(value, weight)| (value, if is_even { 1.0 } else { *weight }));
        let (sum, all) = weighed.fold((0.0, 0.0), |(sum, all), (value, weight)| {
            (sum + value * weight, all + weight)
        });
        sum / all
    }

    /// Something of the time of threads.
    fn ledger(&self, whose: Whose, of: impl Fn(&Ledger) -> f64) -> f64 {
        let subject = |role| match role {
            Role::Target => self.facts.target.as_ref(),
            Role::Generator => self.facts.generator.as_ref(),
            _ => None,
        };
        let value = match whose {
            Whose::Role { role } => subject(role).map(|it| of(&it.ledger)),
            Whose::Serving { role } => subject(role).map(|it| of(&it.serving_ledger)),
            Whose::One { id } => {
                let thread = Monitored::new(self.facts.timeline, self.facts.meta, id);
                thread
                    .and_then(|mut it| it.ledger(self.window))
                    .map(|it| of(&it))
            }
            Whose::All | Whose::Under { .. } => None,
        };
        value.unwrap_or(f64::NAN)
    }
}

/// One of several numbers; none where one of them is not known.
fn chosen(values: impl Iterator<Item = f64>, choose: fn(f64, f64) -> f64) -> f64 {
    let choose = |a: f64, b: f64| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else {
            choose(a, b)
        }
    };
    values.reduce(choose).unwrap_or(f64::NAN)
}

/// Who of a table is meant.
fn meant(timeline: &Timeline, table: &str, whose: Whose) -> Vec<EntityId> {
    let Some(rows) = timeline.table(table) else {
        return Vec::new();
    };
    let records = rows.entities().filter_map(|id| timeline.entities.get(id));
    // In a damaged recording somebody else may have rows there.
    let records = records.filter(|record| record.entity.kind == rows.table.entity);
    let holder = |record: &EntityRecord| match record.entity.kind {
        EntityKind::Process => Some(record.id),
        _ => record.parent,
    };
    let of_role = |record: &EntityRecord, role| {
        let holder = holder(record).and_then(|id| timeline.entities.get(id));
        holder.filter(|it| it.role == role).map(|it| it.serving)
    };
    let found: Vec<(EntityId, bool)> = match whose {
        Whose::One { id } => vec![(id, true)],
        Whose::All => records.map(|record| (record.id, true)).collect(),
        Whose::Role { role } => {
            let of_it = records.filter_map(|it| of_role(it, role).map(|_| (it.id, true)));
            of_it.collect()
        }
        Whose::Serving { role } => {
            let of_it = records.filter_map(|it| of_role(it, role).map(|serves| (it.id, serves)));
            of_it.collect()
        }
        Whose::Under { id } => {
            let under = records.filter(|it| is_under(timeline, it, id));
            under.map(|record| (record.id, true)).collect()
        }
    };
    let any = found.iter().any(|(_, serves)| *serves);
    let found = found.into_iter().filter(|(_, serves)| *serves || !any);
    found.map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests;
