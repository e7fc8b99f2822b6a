//! The CPUs one by one, and which thread of the target was on one most.

use model::{Entity, EntityKind, Role, Timeline, Window};

use crate::measure::{Of, ratio};
use crate::subject::threads_of;

/// One CPU, as parts of its time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Core {
    pub(crate) entity: Entity,
    /// Doing anything.
    pub(crate) busy: f64,
    /// Serving interrupts, hard and soft.
    pub(crate) interrupts: f64,
}

pub(crate) fn cores(timeline: &Timeline, window: Window) -> Vec<Core> {
    let cpus = timeline.entities.of_kind(EntityKind::Cpu);
    let all = cpus.filter_map(|cpu| {
        let of = Of::new(timeline, "cpu", cpu.id, window);
        let part = |column| of.rate(column).map(|ns| ns / 1e9);
        let idle = part("idle_ns")? + part("iowait_ns").unwrap_or(0.0);
        let stolen = part("steal_ns").unwrap_or(0.0);
        Some(Core {
            entity: cpu.entity.clone(),
            busy: (1.0 - idle - stolen).clamp(0.0, 1.0),
            interrupts: part("irq_ns").unwrap_or(0.0) + part("softirq_ns").unwrap_or(0.0),
        })
    });
    all.collect()
}

/// Part of the target's CPU time that it spent in the kernel.
pub(crate) fn kernel_part(timeline: &Timeline, window: Window) -> Option<f64> {
    let (mut user, mut system) = (0.0, 0.0);
    for (thread, _) in threads_of(timeline, Role::Target) {
        let of = Of::new(timeline, "thread", thread, window);
        user += of.growth("user_ns").unwrap_or(0.0);
        system += of.growth("system_ns").unwrap_or(0.0);
    }
    ratio(system, user + system)
}
