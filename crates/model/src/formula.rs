//! The formula of a number: how it is worked out from what was recorded, as data.
//!
//! A formula is declared where the number is made. `analysis` and the page each evaluate it, the page bin by
//! bin too, and both are tested on the same cases (`fixtures/formulas.json`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntityId, LedgerClass, Role};

/// How a number is worked out from what was recorded: one amount in proportion to another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Formula {
    /// How much of it there was.
    pub of: Amount,
    /// What that is a part of.
    pub per: Amount,
}

/// How much of something a window holds; not a number where nothing of it is known.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Amount {
    /// A reading of some columns, added up over them and over all who are meant; who has none is left out.
    Recorded {
        /// What of each column.
        reading: Reading,
        /// Their table.
        table: String,
        /// The columns.
        columns: Vec<String>,
        /// Who is meant.
        whose: Whose,
    },
    /// The mean over some of a gauge's last value, by how much a counter of each grew; of equal weight where
    /// none grew.
    Weighed {
        /// The table of both.
        table: String,
        /// The gauge.
        column: String,
        /// The counter.
        by: String,
        /// Who is meant.
        whose: Whose,
    },
    /// Time of threads in classes of the ledger, ns.
    Ledger {
        /// The classes.
        classes: Vec<LedgerClass>,
        /// Whose threads.
        whose: Whose,
    },
    /// Time for which threads are known, ns: that of all classes together.
    Lifetime {
        /// Whose threads.
        whose: Whose,
    },
    /// Time for which threads waited for a CPU that some had, ns: columns of `thread_time`, estimated where
    /// not all of the time was traced.
    Queued {
        /// The columns.
        columns: Vec<String>,
        /// Whose threads.
        whose: Whose,
    },
    /// Time of requests outside of the target in which the generator's threads waited for a CPU, ns.
    GeneratorWait,
    /// Time of requests in which no thread of the target worked on them, and their lag was over, ns.
    Outside,
    /// Time for which requests waited for their turn behind the generator's schedule, ns.
    Lag,
    /// What shares of the account are of, ns: the time that requests took, else the threads' busy time.
    Account,
    /// The time that requests took while the workload said so, ns: throughput times mean latency.
    Requests,
    /// How many requests were completed while the workload said so.
    Completed,
    /// The time in which the workload said what it did, ns.
    Reported,
    /// The window's length, ns.
    Time,
    /// A number that is no measure.
    Number {
        /// The number.
        value: f64,
    },
    /// Several amounts together.
    Sum {
        /// The amounts.
        amounts: Vec<Amount>,
    },
    /// Several amounts, one times the other.
    Product {
        /// The amounts.
        amounts: Vec<Amount>,
    },
    /// The least of several amounts.
    Least {
        /// The amounts.
        amounts: Vec<Amount>,
    },
    /// The most of several amounts.
    Most {
        /// The amounts.
        amounts: Vec<Amount>,
    },
    /// One amount in proportion to another.
    Ratio {
        /// How much of it there was.
        of: Box<Amount>,
        /// What that is a part of.
        per: Box<Amount>,
    },
    /// What an amount leaves of another, at least nothing.
    Rest {
        /// The whole.
        whole: Box<Amount>,
        /// What is taken out of it.
        part: Box<Amount>,
    },
    /// An amount under a name, for a reader who need not see all that it is put together from.
    Named {
        /// The name, in words.
        name: String,
        /// The amount.
        amount: Box<Amount>,
    },
    /// An amount, or nothing where it is not known: of what comes and goes, and of little.
    OrNothing {
        /// The amount.
        amount: Box<Amount>,
    },
}

/// What is taken of a column over a window, from the part of it in which the column is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// How much a counter grew, in its unit.
    Growth,
    /// The same per second of the time in which it is known.
    Rate,
    /// A gauge's mean over time.
    Mean,
    /// A gauge's last value.
    Last,
    /// A gauge's lowest value.
    Lowest,
}

/// Of whom a table's rows are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Whose {
    /// Everybody's.
    All,
    /// One's.
    One {
        /// Its number in the recording.
        id: EntityId,
    },
    /// Those of processes of a role, or what belongs to them: their threads and connections.
    Role {
        /// The role.
        role: Role,
    },
    /// Of these what belongs to processes that serve; all of them where none is known to.
    Serving {
        /// The role.
        role: Role,
    },
    /// Background processes of a control group; or of a process and those below it.
    Under {
        /// The number of the group or process in the recording.
        id: EntityId,
    },
}
