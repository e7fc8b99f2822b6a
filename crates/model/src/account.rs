//! Where time went: of threads and of responses, by wait class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Entity, LedgerClass, Quality};

/// Where the time of a set of threads went; the parts add up to `wall_ns`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ThreadsAccount {
    /// Number of threads.
    pub threads: u32,
    /// Their lifetimes inside the window, added up, ns.
    pub wall_ns: i64,
    /// The parts.
    pub items: Vec<AccountItem>,
    /// Hidden time: time on a CPU that the scheduler did not count as theirs; `None` where that was not
    /// recorded, or for less than a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Hidden>,
}

/// Time on a CPU less the run time that the scheduler counted: signed, since over short times it is
/// noise around zero.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hidden {
    /// Its sum over the threads, ns.
    pub ns: i64,
    /// What it is on the recorded kernel.
    pub label: String,
}

/// Where the time of one thread went. Awake is everything but sleep; steal, as event loops use the
/// word, is being awake without a CPU: run-queue delay and blocked time. The parts add up to `wall_ns`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTimes {
    /// The thread.
    pub entity: Entity,
    /// Its lifetime inside the window, as far as it was observed, ns.
    pub wall_ns: i64,
    /// On a CPU, ns: exact.
    pub on_cpu_ns: i64,
    /// Run-queue delay, ns: exact, throttling by a CPU quota included; `None` where the kernel does not
    /// count it, and the other parts contain it.
    pub run_queue_ns: Option<i64>,
    /// Blocked in the middle of its work (disk, lock, a call that does not return), ns; sampled where
    /// the thread's events were not counted.
    pub blocked_ns: i64,
    /// Waiting for work or for a time that it chose, ns; known as `blocked_ns` is.
    pub sleep_ns: i64,
    /// Off a CPU, in what is not known, ns.
    pub unseen_ns: i64,
}

/// What a share is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShareBasis {
    /// Throughput x mean response time x window: the time that requests took, added up.
    ResponseTime,
    /// Time of the serving threads that was not idle, for want of a signal.
    BusyTime,
}

/// Where the response time went; the shares add up to 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// What 100 % is.
    pub basis: ShareBasis,
    /// 100 %, ns over the window.
    pub total_ns: i64,
    /// Mean response time, ns; `None` without a signal.
    pub response_ns: Option<i64>,
    /// The parts, largest first, `outside` last.
    pub items: Vec<AccountItem>,
}

/// One part of an account.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AccountItem {
    /// The ledger's class.
    pub class: LedgerClass,
    /// In words.
    pub label: String,
    /// ns over the window.
    pub ns: i64,
    /// Part of the whole, 0 to 1.
    pub share: f64,
    /// How well it is known.
    pub quality: Quality,
    /// More about it, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Of a wait for a CPU, who held it; of the client and network remainder, what the generator did
    /// meanwhile. The parts add up to the item; empty where that was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<AccountPart>,
}

/// What a part of an account is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AccountPart {
    /// Which.
    pub kind: PartKind,
    /// In words.
    pub label: String,
    /// The other process, where it is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<Entity>,
    /// ns over the window.
    pub ns: i64,
    /// Part of the same whole as the item's share.
    pub share: f64,
    /// How well it is known.
    pub quality: Quality,
}

/// The kinds of parts of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A thread of the same service had the CPU.
    Own,
    /// The load generator had it, or, of the generator's own wait, the target.
    Partner,
    /// Another process held it.
    Other,
    /// The hypervisor had it.
    Stolen,
    /// Nobody: the CPU was idle, and the thread was being woken.
    Nobody,
    /// Who held it was not recorded.
    Untold,
    /// Outside of the target, while the generator's threads were on a CPU.
    GeneratorOnCpu,
    /// While they waited for one.
    GeneratorCpuWait,
    /// While they waited for input.
    GeneratorInput,
    /// While they did something else.
    GeneratorElse,
    /// Between the sockets of both ends: on the network, and in lines at the generator's.
    Network,
}

/// What the clients of a load let pass between a reply and their next request, as their script says.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ThinkTime {
    /// Its mean, ns.
    pub between_requests_ns: f64,
    /// How well it is known: by the kernel's tick, less an estimate of the generator's own work.
    pub quality: Quality,
    /// Whether the latency holds it: the tool counts its own sleeps.
    pub in_latency: bool,
}
