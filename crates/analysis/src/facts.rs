//! Everything that causes are judged by, measured once over the window.
//!
//! Causes hold no arithmetic on rows: they compare what stands here with thresholds. A value that
//! could not be had is `None`, and the cause that needs it cannot tell.

mod shares;

use model::{
    Account, Complaint, ComplaintKind, EntityKind, LedgerClass, Meta, Pressure, ReportSubject,
    Resource, Role, StallKind, ThreadsAccount, Timeline, Window,
};
use sensors::thread_time::Holder;
use sensors::wait_channel::WaitChannel;

use crate::account::{self, Beside};
use crate::coverage;
use crate::cpus::{self, Core, CpuUse, Machine, cpu_use, effective_busy, effective_cpus, machine};
use crate::holders::{self, Holders, Naming};
use crate::io::{self, Io};
use crate::kernel_waits;
use crate::ledger::Ledger;
use crate::memory::{self, Memory};
use crate::neighbours::{self, Culprit, Holding};
use crate::network::{self, Network};
use crate::pressure::pressure;
use crate::quota::{Quota, quota, quota_seen};
use crate::request_times::BothEnds;
use crate::scene::{Scene, Scope};
use crate::sessions::{self, Sessions};
use crate::slices::{Slice, Slicing, throttled_over};
use crate::subject::{Subject, subject};
use crate::thresholds::{SYNCED, Thresholds};
use crate::wait_events::name_waits;
use crate::waits_for::{Ends, WaitsFor};
use crate::workload_metrics::{self, Mean, Source};

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
    /// Part of the response time that is in line at the target's sockets.
    queued: f64,
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

/// What was measured of a scene.
pub(crate) fn measure<'a>(scene: &'a Scene<'a>, thresholds: &'a Thresholds) -> Facts<'a> {
    let (timeline, meta, window) = (scene.timeline, scene.meta, scene.window);
    let signal = signal(scene);
    let effective_cpus = effective_cpus(scene);
    let Threads {
        target,
        generator,
        ends,
        behind_busiest,
        slices,
    } = threads(scene, signal, effective_cpus);
    let machine = machine(timeline, window);
    let cpu = cpu_use(scene, machine, target.as_ref(), generator.as_ref());
    let queued_ns = target.as_ref().map_or(0.0, |target| {
        target.ledger.queued_behind(Holder::Background)
    });
    let others = neighbours::holders(scene, queued_ns);
    let stolen = stolen(machine, thresholds);
    let both_ends = generator
        .as_ref()
        .map(|it| it.ledger.get(LedgerClass::CpuWait))
        .and_then(|wait_ns| BothEnds::over(timeline, wait_ns, window));
    let beside = Beside {
        generator: generator.as_ref(),
        at_sockets: scene.roles.source.is_at_target(),
        both_ends,
        at_generator: scene.roles.source.is_at_generator(),
    };
    let account = target.as_ref().and_then(|target| {
        let had = (&*others, stolen);
        let mut account = account::account(target, beside, signal.as_ref(), window, had)?;
        name_waits(&mut account, timeline, meta, window);
        Some(account)
    });
    let cores = cpus::cores(timeline, window);
    Facts {
        queued: beside.queued(outside(account.as_ref())),
        quota: quota(scene, effective_cpus),
        quota_seen: quota_seen(scene),
        culprit: neighbours::culprit(scene, cpu.rest_ns, queued_ns),
        others,
        stolen,
        pressure: pressure(scene),
        effective_busy: effective_busy(machine, &cores, (meta.cpus, effective_cpus)),
        cores,
        kernel_part: cpus::kernel_part(scene),
        memory: memory::memory(scene),
        io: io::io(scene),
        kept: kernel_waits::kept(scene),
        network: network::network(timeline, window),
        sessions: sessions::sessions(timeline, window),
        empty_bins: workload_metrics::inside(&scene.roles.bins, window)
            .filter(|bin| bin.stalled)
            .count(),
        scene,
        timeline,
        meta,
        thresholds,
        window,
        floor: thresholds.floors.share,
        at_sockets: beside.at_sockets,
        target,
        generator,
        signal,
        both_ends,
        account,
        ends,
        behind_busiest,
        slices,
        on_windows: match coverage::off_part(timeline, window) {
            Some(_) => coverage::on_windows(timeline, window),
            None => Vec::new(),
        },
        machine,
        cpu,
        effective_cpus,
    }
}

/// Throughput and latency over the window, where they are known.
fn signal(scene: &Scene<'_>) -> Option<Mean> {
    let roles = scene.roles;
    let is_known = roles.source != Source::Workload || trusted(roles.meta);
    let mean = workload_metrics::mean(&roles.bins, scene.window);
    mean.filter(|mean| mean.response_ns > 0.0 && is_known)
}

/// What the threads of target and generator did.
struct Threads {
    target: Option<Subject>,
    generator: Option<Subject>,
    ends: Option<Ends>,
    behind_busiest: Option<f64>,
    slices: Vec<Slice>,
}

fn threads(scene: &Scene<'_>, signal: Option<Mean>, cpus: u32) -> Threads {
    let mut target = subject(scene, Role::Target);
    let waits = WaitsFor::of(scene);
    let ends = waits.as_ref().and_then(WaitsFor::locks);
    let busiest = target.as_ref().and_then(|it| it.busiest_thread);
    let behind_busiest = waits.zip(busiest);
    let behind_busiest = behind_busiest.and_then(|(it, thread)| it.behind(scene, thread));
    let slicing = Slicing {
        scene,
        has_signal: signal.is_some(),
        cpus,
        synced: SYNCED.value,
        ends: ends.as_ref(),
    };
    let slices = slicing.slices();
    let mut generator = subject(scene, Role::Generator);
    if let Some(target) = &mut target {
        let queued_ns = target.ledger.queued_behind(Holder::Background);
        let recorder = neighbours::recorder_part(scene, queued_ns);
        // Whom the generator waited behind is told of all the background together: the same part of it.
        let of_generator = generator.iter_mut().map(|it| &mut it.ledger);
        let of_target = [&mut target.serving_ledger, &mut target.ledger];
        of_generator
            .chain(of_target)
            .for_each(|ledger| ledger.leave_out_recorder(recorder));
        let span = signal.map_or(scene.window, |mean| mean.span);
        let throttled = throttled_over(&slices, span);
        for ledger in [&mut target.serving_ledger, &mut target.ledger] {
            ledger.shift(LedgerClass::CpuWait, LedgerClass::Throttled, throttled);
            match &ends {
                Some(ends) => ledger.pass_on(ends),
                None => {
                    let span_ns = scene.window.len_ns() as f64;
                    ledger.queue_behind_sync(span_ns, SYNCED.value, signal.is_some());
                }
            }
        }
    }
    Threads {
        target,
        generator,
        ends,
        behind_busiest,
        slices,
    }
}

/// Part of the response time that no thread of the target accounts for.
fn outside(account: Option<&Account>) -> f64 {
    let outside = account.into_iter().flat_map(|account| &account.items);
    let outside = outside.filter(|it| it.class == LedgerClass::Outside);
    outside.map(|it| it.share).sum()
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
        let load = &self.meta.workload.as_ref()?.load;
        load.clients.filter(|_| load.rate.is_none())
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

/// The part of the CPUs' busy time that the hypervisor took; 0 where it is too little to be a cause of
/// anything.
fn stolen(machine: Option<Machine>, thresholds: &Thresholds) -> f64 {
    let steal = machine.filter(|machine| machine.steal >= thresholds.ruled_out.steal);
    steal.map_or(0.0, |machine| {
        machine.steal / (machine.busy + machine.steal)
    })
}

/// A latency that the tool derives from clients and throughput is no evidence.
fn trusted(meta: &Meta) -> bool {
    meta.workload
        .as_ref()
        .is_none_or(|workload| workload.latency != model::Provenance::Derived)
}
