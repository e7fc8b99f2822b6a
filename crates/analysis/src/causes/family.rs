//! Families of causes: where in the account their time is seen, and so how much of what is not
//! accounted for one of them could hold.

use model::LedgerClass;

use crate::facts::Facts;

/// Where in the account the time of a cause is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Running, and waiting for a CPU.
    Cpu,
    /// Reads, writes, and memory that is read again.
    Storage,
    /// Waiting for each other's locks.
    Lock,
    /// Outside of the target: the network and the load.
    Outside,
    /// Waiting for peers that the target asked, and in line behind such waits.
    Peer,
    /// No part of its own: what the others amount to.
    Summary,
}

impl Family {
    /// Whether the time went there, as far as any is known to.
    pub(crate) fn concerns(self, facts: &Facts<'_>) -> bool {
        use LedgerClass::{
            CpuWait, DatabaseLock, Futex, InternalLock, Lag, OnCpu, Outside, Reclaim, Remote,
            Throttled,
        };
        /// Less than this is not where the time went.
        const WORTH_SAYING: f64 = 0.15;
        let share = match self {
            Family::Cpu => facts.share_of(&[OnCpu, CpuWait, Throttled]),
            Family::Storage => facts.share_of(&LedgerClass::DISK) + facts.share(Reclaim),
            Family::Lock => facts.share_of(&[Futex, InternalLock, DatabaseLock]),
            Family::Outside => facts.share_of(&[Outside, Lag]),
            Family::Peer => facts.share(Remote),
            Family::Summary => 1.0,
        };
        facts.account.is_none() || share >= WORTH_SAYING
    }

    /// How much of the time that is not accounted for a cause could hold: part of the response time;
    /// without one, of the serving threads' time.
    pub(super) fn room(self, facts: &Facts<'_>) -> f64 {
        let Some(target) = &facts.target else {
            return 0.0;
        };
        let ledger = &target.serving_ledger;
        if facts.signal.is_none() {
            return match self {
                Family::Lock => ledger.part(LedgerClass::Futex) + ledger.part(LedgerClass::Unknown),
                Family::Storage => ledger.part(LedgerClass::Unknown),
                Family::Cpu | Family::Outside | Family::Peer | Family::Summary => 0.0,
            };
        }
        let whole_ns = facts.account.as_ref().map_or(0, |it| it.total_ns) as f64;
        let unexplained = facts.unexplained();
        let unseen = match whole_ns > 0.0 {
            true => (ledger.get(LedgerClass::Unknown) / whole_ns).min(unexplained),
            false => 0.0,
        };
        match self {
            Family::Outside => unexplained,
            Family::Peer => {
                let shown = facts.share(LedgerClass::Remote);
                facts.line.left() + (facts.uncut_calls().min(1.0) - shown).max(0.0)
            }
            Family::Lock if facts.is_partly_idle_of_futex() => {
                unexplained.max(facts.share(LedgerClass::Futex))
            }
            Family::Lock | Family::Storage => unseen,
            Family::Cpu | Family::Summary => 0.0,
        }
    }

    /// What would settle whether a cause holds that room.
    pub(super) fn settle(self, facts: &Facts<'_>) -> String {
        let name = facts.target.as_ref().map_or("the target", |it| &it.name);
        match self {
            _ if facts.signal.is_none() && !has_request_times(facts) => {
                "record as root on Linux 6.10 or later (request times are then seen in the kernel), or give the load's \
                 own latency: --metric 'latency=([0-9.]+) ms'"
                    .to_owned()
            }
            Family::Lock => format!(
                "see who holds what {name} waits for: perf record -e sched:sched_switch -g -p $(pgrep -d, -x {name}) -- sleep 10"
            ),
            Family::Outside => {
                "measure the latency where the load is generated, and run it once on the server's own machine".to_owned()
            }
            Family::Peer => {
                "record again with this version, as root on Linux 6.10 or later: what the target asks others is then counted at its sockets".to_owned()
            }
            Family::Cpu | Family::Storage | Family::Summary => {
                "record as root, or as the user who owns the target".to_owned()
            }
        }
    }
}

fn has_request_times(facts: &Facts<'_>) -> bool {
    facts.timeline.table("requests").is_some()
}
