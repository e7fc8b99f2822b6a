//! The account second by second, for intervals and for what must be worked out piecewise.

use model::{EntityId, LedgerClass, Meta, Role, Timeline, Window};

use crate::ledger::{self, Ledger};
use crate::signals::{self, Bin};
use crate::subject::threads_of;

/// One second of the account.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Slice {
    /// Time that requests took, or busy time, ns.
    pub(crate) total_ns: f64,
    pub(crate) cpu_wait_ns: f64,
    pub(crate) throttled_ns: f64,
    /// Time for which the group's queues were held back, ns, added up over CPUs.
    pub(crate) held_back_ns: f64,
    pub(crate) wall_ns: f64,
    /// Time of the CPUs that the target may use, ns.
    pub(crate) cpu_time_ns: f64,
}

/// Delay that a quota caused over a span of which the slices may cover a part.
pub(crate) fn throttled_over(slices: &[Slice], span: Window) -> f64 {
    let sum = |of: fn(&Slice) -> f64| slices.iter().map(of).sum::<f64>();
    let covered = sum(|slice| slice.wall_ns);
    if covered > 0.0 {
        sum(|slice| slice.throttled_ns) / covered * span.len_ns() as f64
    } else {
        0.0
    }
}

pub(crate) fn slices(
    timeline: &Timeline,
    meta: &Meta,
    bins: &[Bin],
    window: Window,
    has_signal: bool,
    groups: &[EntityId],
    cpus: u32,
) -> Vec<Slice> {
    let architecture = meta
        .environment
        .get("machine.architecture")
        .map_or("", String::as_str);
    let threads = threads_of(timeline, Role::Target);
    let any_serving = threads.iter().any(|(_, serving)| *serving);
    let serving: Vec<EntityId> = threads
        .into_iter()
        .filter(|(_, serving)| *serving || !any_serving)
        .map(|(id, _)| id)
        .collect();
    let of_bins: Vec<(Window, f64)> = signals::inside(bins, window)
        .map(|bin| (bin.window, bin.latency_ns.unwrap_or(0.0) * bin.completed()))
        .collect();
    let pieces = if has_signal {
        of_bins
    } else {
        ledger::seconds(window)
            .into_iter()
            .map(|slice| (slice, 0.0))
            .collect()
    };
    pieces
        .into_iter()
        .filter_map(|(slice, response_ns)| {
            let mut ledger = Ledger::default();
            for thread in &serving {
                ledger.merge(
                    &ledger::of_thread(timeline, *thread, slice, architecture).unwrap_or_default(),
                );
            }
            // A second in which the delay was not recorded is no second without delay.
            if ledger.wait_unseen_ns * 2.0 > ledger.wall_ns {
                return None;
            }
            let held = |group: &EntityId| {
                timeline
                    .series("cgroup_cpu", *group, "throttled_ns")?
                    .growth(slice)
            };
            let held_back_ns = groups.iter().filter_map(held).fold(0.0, f64::max);
            let wait_ns = ledger.get(LedgerClass::CpuWait);
            let throttled_ns =
                ledger::throttled_part(wait_ns, held_back_ns, slice, f64::from(cpus));
            Some(Slice {
                total_ns: if has_signal {
                    response_ns
                } else {
                    ledger.busy_ns()
                },
                cpu_wait_ns: wait_ns - throttled_ns,
                throttled_ns,
                held_back_ns,
                wall_ns: slice.len_ns() as f64,
                cpu_time_ns: slice.len_ns() as f64 * f64::from(cpus.max(1)),
            })
        })
        .collect()
}
