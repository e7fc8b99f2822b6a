//! The thresholds, read from the one file that holds them.

use serde::Deserialize;

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs)] // each is explained where its value stands, in thresholds.toml
        pub struct $name { $(pub $field: $kind),* }
    };
}

section!(/// What must hold for anything to be said.
    Floors { share: f64 });
section!(/// For `cpu.saturated`.
    CpuSaturated { busy: f64, own: f64, wait: f64 });
section!(/// For `cpu.quota`.
    CpuQuota { throttled_periods: f64, throttled_time: f64 });
section!(/// For `cpu.neighbour`.
    CpuNeighbour { held_by_others: f64, wait: f64, culprit: f64 });
section!(/// For `cpu.steal`.
    CpuSteal { steal: f64, busy: f64 });
section!(/// For `cpu.single_thread`.
    CpuSingleThread { thread: f64, on_cpu: f64, in_flight: f64, behind: f64 });
section!(/// For `cpu.imbalance`.
    CpuImbalance { full: f64, empty: f64, wait: f64 });
section!(/// For `cpu.softirq`.
    CpuSoftirq { interrupts: f64 });
section!(/// For `cpu.kernel`.
    CpuKernel { system: f64 });
section!(/// For `memory.limit`.
    MemoryLimit { full: f64, met: f64, cost: f64 });
section!(/// For `memory.refault`.
    MemoryRefault { refaulted: f64, cost: f64 });
section!(/// For `memory.reclaim`.
    MemoryReclaim { cost: f64 });
section!(/// For `memory.swap`.
    MemorySwap { cost: f64 });
section!(/// For `cache.cold`.
    CacheCold { falls: f64, trend: f64, cost: f64 });
section!(/// For `io.throttled`.
    IoThrottled { full: f64, cost: f64 });
section!(/// For `io.sync`.
    IoSync { cost: f64, synced: f64 });
section!(/// For `io.neighbour`.
    IoNeighbour { moved: f64, busy: f64, cost: f64 });
section!(/// For `io.cap`.
    IoCap { queue: f64, flat: f64, cost: f64 });
section!(/// For `io.latency`.
    IoLatency { cost: f64 });
section!(/// For `io.full_disk`.
    IoFullDisk { free: f64 });
section!(/// For `lock.database`.
    LockDatabase { cost: f64 });
section!(/// For `lock.futex`.
    LockFutex { cost: f64 });
section!(/// For `net.loss`.
    NetLoss { retransmitted: f64, outside: f64 });
section!(/// For `net.backlog`.
    NetBacklog { refused: f64 });
section!(/// For `net.rtt`.
    NetRtt { part: f64 });
section!(/// For `load.shares_cpu`.
    LoadSharesCpu { part: f64 });
section!(/// For `load.late`.
    LoadLate { lag: f64 });
section!(/// For `load.concurrency`.
    LoadConcurrency { waiting: f64 });
section!(/// For `limit.connections`.
    LimitConnections { used: f64 });
section!(/// For `load.client`.
    LoadClient { thread: f64, on_cpu: f64, outside: f64 });
section!(/// For `load.rate`.
    LoadRate { achieved: f64, lag: f64 });
section!(/// For `healthy` and `undetermined`.
    Healthy { waits: f64, explained: f64, open: f64 });
section!(/// For what is ruled out.
    RuledOut { steal: f64, pressure: f64 });
section!(/// For requests that the kernel saw.
    Requests { pipelined: f64 });
section!(/// For doubts about the measurement.
    Gates { own_cost: f64, steady_seconds: f64, missed_periods: u32, excess: f64, apart: f64 });
section!(/// For the end of the warm-up.
    WarmUp { effect: f64, most: f64 });
section!(/// For telling phases apart.
    Phases { effect: f64, noise: f64, settled: usize, congested: f64 });
section!(/// Every threshold of the diagnosis.
Thresholds {
    floors: Floors,
    cpu_saturated: CpuSaturated,
    cpu_quota: CpuQuota,
    cpu_neighbour: CpuNeighbour,
    cpu_steal: CpuSteal,
    cpu_single_thread: CpuSingleThread,
    cpu_imbalance: CpuImbalance,
    cpu_softirq: CpuSoftirq,
    cpu_kernel: CpuKernel,
    memory_limit: MemoryLimit,
    memory_refault: MemoryRefault,
    memory_reclaim: MemoryReclaim,
    memory_swap: MemorySwap,
    cache_cold: CacheCold,
    io_throttled: IoThrottled,
    io_sync: IoSync,
    io_neighbour: IoNeighbour,
    io_cap: IoCap,
    io_latency: IoLatency,
    io_full_disk: IoFullDisk,
    lock_database: LockDatabase,
    lock_futex: LockFutex,
    net_loss: NetLoss,
    net_backlog: NetBacklog,
    net_rtt: NetRtt,
    load_shares_cpu: LoadSharesCpu,
    load_late: LoadLate,
    load_concurrency: LoadConcurrency,
    limit_connections: LimitConnections,
    load_client: LoadClient,
    load_rate: LoadRate,
    healthy: Healthy,
    ruled_out: RuledOut,
    requests: Requests,
    gates: Gates,
    warm_up: WarmUp,
    phases: Phases,
});

impl Default for Thresholds {
    /// The thresholds that the program was built with.
    fn default() -> Self {
        toml::from_str(include_str!("../thresholds.toml"))
            .expect("thresholds.toml is checked by a test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_is_there_and_none_is_unknown() {
        let thresholds = Thresholds::default();
        assert!(thresholds.cpu_saturated.busy > thresholds.cpu_saturated.wait);
    }
}
