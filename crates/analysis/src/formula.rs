//! Formulas of numbers: the words that they are put together from where a number is made.
//!
//! Nothing is worked out here: `evaluator.rs` does that.

use model::{Amount, EntityId, Formula, LedgerClass, Reading, Role, Whose};

/// The target's threads that serve requests.
pub(crate) const SERVING: Whose = Whose::Serving { role: Role::Target };

/// One entity's.
pub(crate) fn one(id: EntityId) -> Whose {
    Whose::One { id }
}

/// Those of a role.
pub(crate) fn role(role: Role) -> Whose {
    Whose::Role { role }
}

/// A reading of columns of a table.
pub(crate) fn recorded(reading: Reading, table: &str, columns: &[&str], whose: Whose) -> Amount {
    Amount::Recorded {
        reading,
        table: table.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        whose,
    }
}

/// How much counters grew.
pub(crate) fn growth(table: &str, columns: &[&str], whose: Whose) -> Amount {
    recorded(Reading::Growth, table, columns, whose)
}

/// How much they grew per second.
pub(crate) fn rate(table: &str, columns: &[&str], whose: Whose) -> Amount {
    recorded(Reading::Rate, table, columns, whose)
}

pub(crate) fn number(value: f64) -> Amount {
    Amount::Number { value }
}

pub(crate) fn product(amounts: impl Into<Vec<Amount>>) -> Amount {
    let amounts = amounts.into();
    Amount::Product { amounts }
}

pub(crate) fn sum(amounts: impl Into<Vec<Amount>>) -> Amount {
    let amounts = amounts.into();
    Amount::Sum { amounts }
}

pub(crate) fn least(amounts: impl Into<Vec<Amount>>) -> Amount {
    let amounts = amounts.into();
    Amount::Least { amounts }
}

pub(crate) fn most(amounts: impl Into<Vec<Amount>>) -> Amount {
    let amounts = amounts.into();
    Amount::Most { amounts }
}

pub(crate) fn rest(whole: Amount, part: Amount) -> Amount {
    let (whole, part) = (Box::new(whole), Box::new(part));
    Amount::Rest { whole, part }
}

pub(crate) fn ratio(of: Amount, per: Amount) -> Amount {
    let (of, per) = (Box::new(of), Box::new(per));
    Amount::Ratio { of, per }
}

/// An amount under a name.
pub(crate) fn named(name: &str, amount: Amount) -> Amount {
    Amount::Named {
        name: name.to_owned(),
        amount: Box::new(amount),
    }
}

pub(crate) fn or_nothing(amount: Amount) -> Amount {
    let amount = Box::new(amount);
    Amount::OrNothing { amount }
}

/// One amount in proportion to another.
pub(crate) fn part(of: Amount, per: Amount) -> Formula {
    Formula { of, per }
}

/// An amount as it is.
pub(crate) fn alone(of: Amount) -> Formula {
    part(of, number(1.0))
}

/// The part of the time for which a counter of nanoseconds ran, or what it counts at a time.
pub(crate) fn of_time(table: &str, columns: &[&str], whose: Whose) -> Formula {
    part(rate(table, columns, whose), number(1e9))
}

/// The part of its life that a thread was in classes.
pub(crate) fn of_life(thread: EntityId, classes: &[LedgerClass]) -> Formula {
    let whose = one(thread);
    let classes = classes.to_vec();
    part(
        Amount::Ledger { classes, whose },
        Amount::Lifetime { whose },
    )
}

/// How many requests were in progress, as a part of `whole`.
pub(crate) fn in_progress(whole: f64) -> Formula {
    let per = match whole {
        1.0 => Amount::Reported,
        factor => product([number(factor), Amount::Reported]),
    };
    part(Amount::Requests, per)
}
