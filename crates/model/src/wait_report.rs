//! What a report says of who waits for whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LedgerClass, Role};

/// An edge of the wait-for graph: waits of the threads of one pool, in one class, that one other ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitEdge {
    /// Who waited: a pool, that is threads of a service with the same name but for digits.
    pub waiter: PoolName,
    /// What they were in.
    pub class: LedgerClass,
    /// Who ended the waits.
    pub waker: Waker,
    /// How many threads waited so at a time, on average over the window.
    pub threads: f64,
    /// Waits per second.
    pub rate: f64,
    /// How long one took, on average, ns.
    pub mean_ns: f64,
    /// What the waker did meanwhile, parts of these waits from 0 to 1, the largest first. What is missing to 1 was before
    /// the last wait of its own, or is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanwhile: Vec<Meanwhile>,
}

/// A pool of threads by the name that they have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PoolName {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub role: Role,
}

/// Who ended waits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Waker {
    /// A kind.
    pub kind: WakerKind,
    /// The name of the pool or process, or what it was: the disk, a timer.
    pub name: String,
    /// Whose the threads are; `None` of the other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// What can end a wait.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WakerKind {
    /// A pool of target or generator, or another process.
    Threads,
    /// Threads that ended before they were met.
    Ended,
    /// An interrupt, or what one left to be done.
    Interrupt,
    /// A kernel thread.
    Kernel,
}

/// Part of the waits in which the waker was in a class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Meanwhile {
    /// The class.
    pub class: LedgerClass,
    /// The part, 0 to 1.
    pub share: f64,
}
