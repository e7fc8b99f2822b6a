//! Everything that causes are judged by, measured once over the window.
//!
//! Causes hold no arithmetic on rows: they compare what stands here with thresholds. A value that
//! could not be had is `None`, and the cause that needs it cannot tell. Others take the same numbers from
//! here: of two recordings to compare them, of a run's every step.

mod of_scene;
mod shares;

pub use of_scene::measure;

use model::{
    Account, Complaint, ComplaintKind, EntityKind, Finding, GoalReport, LedgerClass, Meta,
    Pressure, ReportSubject, Resource, Role, SpikeReport, StallKind, ThreadsAccount, Timeline,
    Window,
};
use sensors::thread_time::Holder;
use sensors::wait_channel::WaitChannel;

pub use crate::cpus::{Core, CpuUse, Machine};
pub use crate::flows::{ToldBy, TurnedAway};
pub use crate::io::{Disk, Filesystem, Io, Limit, Others};
pub use crate::memory::{GroupMemory, Memory};
pub use crate::neighbours::Culprit;
pub use crate::network::{Drops, Network, Path};
pub use crate::open_files::OpenFiles;
pub use crate::peers::{Calls, Peer};
pub use crate::poolers::Pooler;
pub use crate::quota::Quota;
pub use crate::runtimes::Runtime;
pub use crate::scene::{Roles, Scene, Scope};
pub use crate::sessions::{Blocker, Sessions, Used};
pub use crate::subject::Subject;
pub use crate::workload_metrics::Mean;

use crate::borders::Grown;
use crate::file_waits::FileWaits;
use crate::holders::{self, Holders, Naming};
use crate::in_line::Line;
use crate::ledger::Ledger;
use crate::neighbours::Holding;
use crate::request_times::BothEnds;
use crate::serving::Workers;
use crate::slices::Slice;
use crate::think_time::Think;
use crate::thresholds::Thresholds;
use crate::waits_for::Ends;

/// What one window does not tell.
#[derive(Default)]
pub(crate) struct OfRun<'a> {
    /// Spikes over all phases, where they were looked for and some stand out.
    pub(crate) spikes: Option<&'a SpikeReport>,
    /// The function that takes more CPU time for a request than in the phase before, where one plainly does.
    pub(crate) grown: Option<Grown<'a>>,
}

/// What was measured over one window. Shares are of 1, times in ns; `None` is always "not known", or
/// that there is none, and never zero.
pub struct Facts<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) timeline: &'a Timeline,
    /// The run's description.
    pub meta: &'a Meta,
    pub(crate) thresholds: &'a Thresholds,
    /// The window over which all of it was measured.
    pub window: Window,
    /// Least share that is worth saying.
    pub(crate) floor: f64,
    /// Who serves the load; `None` where nobody has that role.
    pub target: Option<Subject>,
    /// Who makes the load; `None` where nobody has that role, or it runs elsewhere.
    pub generator: Option<Subject>,
    /// The workload's signal; `None` without one.
    pub signal: Option<Mean>,
    /// What half of the requests take at most, ns, as far as quantiles say.
    pub(crate) usual_ns: Option<f64>,
    /// The user's goals for latency, and whether they were met.
    pub goals: Vec<GoalReport>,
    /// What was found of the whole run; nothing where one phase of it is measured.
    pub(crate) of_run: OfRun<'a>,
    /// Whether that was taken at the target's own sockets.
    pub(crate) at_sockets: bool,
    /// What requests took at the sockets of both ends.
    both_ends: Option<BothEnds>,
    /// Think time of the generator's clients; `None` where there is next to none, or it is not known.
    pub(crate) think: Option<Think>,
    /// The line at the target's sockets; what its threads did meanwhile is part of the account.
    pub(crate) line: Line,
    /// Where the response time (without one: the busy time) went; `None` without a target, and where its
    /// threads did nothing.
    pub account: Option<Account>,
    /// The same second by second, for intervals.
    pub(crate) slices: Vec<Slice>,
    /// The on-windows that reasons for waits are estimated from; empty where all the time was traced.
    pub(crate) on_windows: Vec<Window>,
    /// Where the target's waits for locks end; `None` where that was not told, and where there were none.
    pub(crate) ends: Option<Ends>,
    /// The target's threads that answer requests; `None` where it is not known which are inside one.
    pub(crate) workers: Option<Workers>,
    /// The target's other threads that waited for its busiest one, on average; `None` where that was not told.
    pub(crate) behind_busiest: Option<f64>,
    /// `None` when /proc/stat was not recorded.
    pub machine: Option<Machine>,
    /// Who used the CPUs.
    pub cpu: CpuUse,
    /// CPUs that the target may use.
    pub effective_cpus: u32,
    /// Part of those that was busy.
    pub effective_busy: Option<f64>,
    /// The CPU limit that held the target back most; `None` where none did.
    pub quota: Option<Quota>,
    /// Whether the CPU account of every group of the target was seen.
    pub quota_seen: bool,
    /// Who of the rest stands out; `None` where nobody of it was seen to do anything.
    pub culprit: Option<Culprit>,
    /// Who of the rest had the CPUs that the target waited for, as parts of what the rest had.
    others: Vec<Holding>,
    /// The part of the CPUs' busy time that the hypervisor took, where that is worth saying.
    stolen: f64,
    /// Pressure of the machine and of the target's group or service; a resource that was not recorded is left out.
    pub pressure: Vec<Pressure>,
    /// The CPUs one by one.
    pub cores: Vec<Core>,
    /// Those of them that the target may use, busiest first.
    pub usable: Vec<Core>,
    /// Those that nothing but its affinity keeps it off.
    pub(crate) left_out: Vec<Core>,
    /// Part of the target's CPU time that it spent in the kernel.
    pub kernel_part: Option<f64>,
    /// What memory cost.
    pub memory: Memory,
    /// What the disks did.
    pub io: Io,
    /// What kept the target's threads in the kernel, in parts.
    pub(crate) kept: Vec<(WaitChannel, f64)>,
    /// The files that it waited for.
    pub(crate) files: FileWaits,
    /// What the network did.
    pub network: Network,
    /// What the peer that the target asks longest waits for itself; `None` where that was not recorded, and where it
    /// waits for nothing.
    pub(crate) at_peer: Option<Finding>,
    /// What the target asked its peers itself; `None` where nobody counted it.
    pub calls: Option<Calls>,
    /// The target's language runtime that stood still longest; `None` where none counts that.
    pub runtime: Option<Runtime>,
    /// What the database says of its sessions, and a pooler before it; and how many connections the target can take yet.
    pub sessions: Sessions,
    /// The workload's intervals in which nothing was completed.
    pub empty_bins: usize,
}

/// Clients of a closed loop: each asks again when it has its answer.
fn closed_loop(meta: &Meta) -> Option<u32> {
    let load = &meta.workload.as_ref()?.load;
    load.clients.filter(|_| load.rate.is_none())
}

impl Facts<'_> {
    /// Part of the disk reads that brought back evicted pages of memory; `None` where either was not recorded, or
    /// nothing was read.
    pub fn refaulted_part(&self) -> Option<f64> {
        let read = self.memory.read.filter(|read| *read > 0.0)?;
        Some((self.memory.refaulted? / read).min(1.0))
    }

    /// Requests in progress on average, by Little's law; `None` without response times.
    pub fn in_flight(&self) -> Option<f64> {
        let signal = self.signal?;
        Some(signal.throughput * signal.latency_ns? / 1e9)
    }

    /// Clients of a closed loop: each asks again when it has its answer.
    pub(crate) fn closed_loop(&self) -> Option<u32> {
        closed_loop(self.meta)
    }

    /// Whether the target may use only some of the machine's CPUs.
    pub fn is_pinned(&self) -> bool {
        self.effective_cpus < self.meta.cpus
    }

    /// Whether it is known which CPUs those are.
    pub(crate) fn are_usable_known(&self) -> bool {
        let mut targets = self.meta.targets.iter();
        let mut known = targets.by_ref().filter(|it| it.role == Role::Target);
        !self.is_pinned() || known.any(|it| !it.allowed.is_empty())
    }

    /// Part of the busy time of the CPUs that the target may use which it and the generator used.
    pub fn own_part(&self) -> f64 {
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
        workload.is_some_and(|it| it.is_heard || it.adapter.is_some() || !it.signals.is_empty())
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

    /// How many times the throughput that was seen the generator asks for; infinite where it asks as fast as it can.
    pub(crate) fn asked_times(&self) -> f64 {
        let asked = self.asked_rate().zip(self.signal);
        asked.map_or(f64::INFINITY, |(rate, seen)| {
            (rate / seen.throughput).max(1.0)
        })
    }

    /// The time over which is counted what ends a run whenever it happens.
    pub(crate) fn whole_scope(&self) -> Window {
        self.scene.whole_scope()
    }

    /// The word for the generator's rate: `tps`. The kernel counts requests, of which a transaction may have several.
    pub(crate) fn rate_unit(&self) -> &str {
        let unit = self
            .meta
            .workload
            .as_ref()
            .map(|workload| workload.load.rate_unit.as_str());
        let said = unit.filter(|unit| !unit.is_empty() && !self.scene.roles.source.is_kernel());
        said.unwrap_or("per second")
    }

    /// Mean pressure of the machine, a share of the time; `None` where it was not recorded.
    pub fn machine_pressure(&self, resource: Resource, kind: StallKind) -> Option<f64> {
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
    pub fn subjects(&self) -> Vec<ReportSubject> {
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
