//! Everything that causes are judged by, measured once over the window.
//!
//! Causes hold no arithmetic on rows: they compare what stands here with thresholds. A value that
//! could not be had is `None`, and the cause that needs it cannot tell.

mod of_scene;
mod shares;

pub(crate) use of_scene::measure;

use model::{
    Account, Complaint, ComplaintKind, EntityKind, LedgerClass, Meta, Pressure, ReportSubject,
    Resource, Role, StallKind, ThreadsAccount, Timeline, Window,
};
use sensors::thread_time::Holder;
use sensors::wait_channel::WaitChannel;

use crate::cpus::{Core, CpuUse, Machine};
use crate::holders::{self, Holders, Naming};
use crate::in_line::Line;
use crate::io::Io;
use crate::ledger::Ledger;
use crate::memory::Memory;
use crate::neighbours::{Culprit, Holding};
use crate::network::Network;
use crate::quota::Quota;
use crate::request_times::BothEnds;
use crate::scene::{Scene, Scope};
use crate::sessions::Sessions;
use crate::slices::Slice;
use crate::subject::Subject;
use crate::thresholds::Thresholds;
use crate::waits_for::Ends;
use crate::workload_metrics::Mean;

/// What was measured over one window.
pub(crate) struct Facts<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) timeline: &'a Timeline,
    pub(crate) meta: &'a Meta,
    pub(crate) thresholds: &'a Thresholds,
    pub(crate) window: Window,
    /// Least share that is worth saying.
    pub(crate) floor: f64,
    pub(crate) target: Option<Subject>,
    pub(crate) generator: Option<Subject>,
    /// The workload's signal; `None` without one.
    pub(crate) signal: Option<Mean>,
    /// Whether that was taken at the target's own sockets.
    pub(crate) at_sockets: bool,
    /// What requests took at the sockets of both ends.
    both_ends: Option<BothEnds>,
    /// The line at the target's sockets; what its threads did meanwhile is part of the account.
    line: Line,
    /// Where the response time went; `None` without a target.
    pub(crate) account: Option<Account>,
    /// The same second by second, for intervals.
    pub(crate) slices: Vec<Slice>,
    /// The on-windows that reasons for waits are estimated from; empty where all the time was traced.
    pub(crate) on_windows: Vec<Window>,
    /// Where the target's waits for locks end; `None` where that was not told, and where there were none.
    pub(crate) ends: Option<Ends>,
    /// The target's other threads that waited for its busiest one, on average; `None` where that was not told.
    pub(crate) behind_busiest: Option<f64>,
    /// `None` when /proc/stat was not recorded.
    pub(crate) machine: Option<Machine>,
    pub(crate) cpu: CpuUse,
    /// CPUs that the target may use.
    pub(crate) effective_cpus: u32,
    /// Part of those that was busy.
    pub(crate) effective_busy: Option<f64>,
    pub(crate) quota: Option<Quota>,
    /// Whether the CPU account of every group of the target was seen.
    pub(crate) quota_seen: bool,
    pub(crate) culprit: Option<Culprit>,
    /// Who of the rest had the CPUs that the target waited for, as parts of what the rest had.
    others: Vec<Holding>,
    /// The part of the CPUs' busy time that the hypervisor took, where that is worth saying.
    stolen: f64,
    pub(crate) pressure: Vec<Pressure>,
    /// The CPUs one by one.
    pub(crate) cores: Vec<Core>,
    /// Part of the target's CPU time that it spent in the kernel.
    pub(crate) kernel_part: Option<f64>,
    pub(crate) memory: Memory,
    pub(crate) io: Io,
    /// What kept the target's threads in the kernel, in parts.
    pub(crate) kept: Vec<(WaitChannel, f64)>,
    pub(crate) network: Network,
    pub(crate) sessions: Sessions,
    /// Part of the window in which nothing was completed.
    pub(crate) empty_bins: usize,
}

/// Clients of a closed loop: each asks again when it has its answer.
fn closed_loop(meta: &Meta) -> Option<u32> {
    let load = &meta.workload.as_ref()?.load;
    load.clients.filter(|_| load.rate.is_none())
}

impl Facts<'_> {
    /// Part of the disk reads that brought back evicted pages of memory.
    pub(crate) fn refaulted_part(&self) -> Option<f64> {
        let read = self.memory.read.filter(|read| *read > 0.0)?;
        Some((self.memory.refaulted? / read).min(1.0))
    }

    /// Requests in progress on average, by Little's law.
    pub(crate) fn in_flight(&self) -> Option<f64> {
        let signal = self.signal?;
        Some(signal.throughput * signal.latency_ns? / 1e9)
    }

    /// Clients of a closed loop: each asks again when it has its answer.
    pub(crate) fn closed_loop(&self) -> Option<u32> {
        closed_loop(self.meta)
    }

    /// Whether the target may use only some of the machine's CPUs.
    pub(crate) fn is_pinned(&self) -> bool {
        self.effective_cpus < self.meta.cpus
    }

    /// Part of the busy time of the CPUs that the target may use which it and the generator used.
    pub(crate) fn own_part(&self) -> f64 {
        if !self.is_pinned() {
            return self.cpu.part(self.cpu.target_ns + self.cpu.generator_ns);
        }
        // Where the generator ran is not known; the target ran where it may.
        let usable = f64::from(self.effective_cpus) * self.window.len_ns() as f64;
        let busy = usable * self.effective_busy.unwrap_or(1.0);
        if busy > 0.0 {
            (self.cpu.target_ns / busy).min(1.0)
        } else {
            0.0
        }
    }

    /// What a share is of, in words.
    pub(crate) fn whole(&self) -> String {
        match &self.target {
            Some(target) if self.signal.is_none() => format!("{}'s non-idle time", target.name),
            _ => "each request".to_owned(),
        }
    }

    /// Whether run-queue delay of a part of the target's serving threads that matters is not known.
    pub(crate) fn wait_unseen(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            let ledger = &target.serving_ledger;
            ledger.wait_unseen_ns > self.floor * ledger.wall_ns
        })
    }

    /// Whether what the workload said was listened to.
    pub(crate) fn listened(&self) -> bool {
        let workload = self.meta.workload.as_ref();
        workload.is_some_and(|it| it.adapter.is_some() || !it.signals.is_empty())
    }

    /// What the workload complained of, of one kind. Complaints have no times: they are the run's.
    pub(crate) fn complaints(&self, kind: ComplaintKind) -> Option<&Complaint> {
        if self.scene.scope == Scope::Phase {
            return None;
        }
        let outcome = self.meta.workload.as_ref()?.outcome.as_ref()?;
        outcome
            .complaints
            .iter()
            .find(|complaint| complaint.kind == kind)
    }

    /// Asked-for rate of the generator.
    pub(crate) fn asked_rate(&self) -> Option<f64> {
        self.meta.workload.as_ref()?.load.rate
    }

    /// The time over which is counted what ends a run whenever it happens.
    pub(crate) fn whole_scope(&self) -> Window {
        self.scene.whole_scope()
    }

    /// The word for the generator's rate: `tps`.
    pub(crate) fn rate_unit(&self) -> &str {
        let unit = self
            .meta
            .workload
            .as_ref()
            .map(|workload| workload.load.rate_unit.as_str());
        unit.filter(|unit| !unit.is_empty()).unwrap_or("per second")
    }

    /// Mean pressure of the machine.
    pub(crate) fn machine_pressure(&self, resource: Resource, kind: StallKind) -> Option<f64> {
        let found = self.pressure.iter().find(|p| {
            p.entity.kind == EntityKind::Machine && p.resource == resource && p.kind == kind
        });
        found.map(|pressure| pressure.share)
    }

    /// Waits for a CPU by who had it; `None` where that was not told: the target's own, or where those are
    /// less than the `least` that counts, the generator's beside it too.
    pub(crate) fn holders(&self, least: f64) -> Option<Holders> {
        let own = self.own_wait()?;
        if own.1 >= least {
            return self.own_holders();
        }
        let generator = self.generator.as_ref();
        let beside = generator.map(|generator| (&generator.ledger, self.generator_wait()));
        let waits: Vec<_> = beside.into_iter().chain([own]).collect();
        Holders::of(&waits)
    }

    /// The target's waits alone by who had the CPU.
    pub(crate) fn own_holders(&self) -> Option<Holders> {
        Holders::of(&[self.own_wait()?])
    }

    fn own_wait(&self) -> Option<(&Ledger, f64)> {
        let target = self.target.as_ref()?;
        Some((&target.serving_ledger, self.share(LedgerClass::CpuWait)))
    }

    /// Where the time of target or generator went, with who had the CPUs that it waited for.
    pub(crate) fn threads_of(&self, subject: &Subject) -> ThreadsAccount {
        let mut account = subject.ledger.account();
        let partner = match subject.role {
            Role::Generator => self
                .target
                .as_ref()
                .map(|it| (it.name.as_str(), Holder::Target)),
            _ => {
                let generator = self.generator.as_ref();
                generator.map(|it| (it.name.as_str(), Holder::Generator))
            }
        };
        let is_target = subject.role == Role::Target;
        let naming = Naming {
            own: match is_target {
                true => (&subject.name, Holder::Target),
                false => (&subject.name, Holder::Generator),
            },
            partner,
            // Whose CPUs the generator waited for is known of all others together only.
            others: if is_target { &self.others } else { &[] },
            stolen: self.stolen,
        };
        let waits = account
            .items
            .iter_mut()
            .filter(|item| item.class == LedgerClass::CpuWait);
        for item in waits {
            item.parts = holders::of_wait(&subject.ledger, subject.ledger.wall_ns, &naming);
        }
        account
    }

    /// Target and generator as they are reported.
    pub(crate) fn subjects(&self) -> Vec<ReportSubject> {
        let report = |subject: &Subject| ReportSubject {
            role: subject.role,
            entity: subject.entity.clone(),
            found_by: subject.found_by.clone(),
            unit: subject.unit.clone(),
            serving: subject.serving,
            cpu_ns: subject.cpu_ns.round() as i64,
            threads: Some(self.threads_of(subject)),
        };
        self.target
            .iter()
            .chain(&self.generator)
            .map(report)
            .collect()
    }
}
