//! Measuring a scene: its threads, its accounts, and everything beside them.

use model::{Account, Finding, GoalReport, LedgerClass, Meta, Role, Window};
use sensors::thread_time::Holder;

use super::{Facts, OfRun, closed_loop};
use crate::account::{Accounted, Accounting, Beside};
use crate::behind;
use crate::coverage;
use crate::cpus::{self, Machine, cpu_use, effective_busy, effective_cpus, machine, usable};
use crate::file_waits::FileWaits;
use crate::goals;
use crate::in_line::Line;
use crate::io;
use crate::kernel_waits;
use crate::memory;
use crate::neighbours::{self, Holding};
use crate::network;
use crate::peers::Calls;
use crate::pressure::pressure;
use crate::quota::{quota, quota_seen};
use crate::request_times::BothEnds;
use crate::runtimes::Runtime;
use crate::scene::Scene;
use crate::serving::{Answering, Workers};
use crate::sessions;
use crate::slices::{Slice, Slicing, throttled_over};
use crate::subject::{Subject, subject};
use crate::think_time::Think;
use crate::thresholds::{SYNCED, Thresholds};
use crate::wait_events::name_waits;
use crate::waits_for::{Ends, WaitsFor};
use crate::workload_metrics::{self, Mean, Source};

/// What was measured of a scene: the numbers that `diagnose` judges by.
///
/// With the window of its report they are those of its verdict.
pub fn measure<'a>(scene: &'a Scene<'a>, thresholds: &'a Thresholds) -> Facts<'a> {
    let (timeline, meta, window) = (scene.timeline, scene.meta, scene.window);
    let signal = signal(scene);
    let effective_cpus = effective_cpus(scene);
    let threads = threads(scene, signal, effective_cpus);
    let machine = machine(timeline, window);
    let stolen = stolen(machine, thresholds);
    let of = accounts(scene, threads, signal.as_ref(), stolen);
    let at_peer = at_peer(scene, &of, thresholds);
    let (target, generator) = (of.threads.target, of.threads.generator);
    let cpu = cpu_use(scene, machine, target.as_ref(), generator.as_ref());
    let cores = cpus::cores(timeline, window);
    let usable = usable(scene, &cores, effective_cpus);
    Facts {
        of_run: OfRun::default(),
        culprit: neighbours::culprit(scene, cpu.rest_ns, told_ns(target.as_ref())),
        quota: quota(scene, effective_cpus),
        quota_seen: quota_seen(scene),
        pressure: pressure(scene),
        effective_busy: effective_busy(machine, &usable, effective_cpus < meta.cpus),
        kernel_part: cpus::kernel_part(scene),
        memory: memory::memory(scene),
        io: io::io(scene),
        kept: kernel_waits::kept(scene),
        files: FileWaits::of(scene),
        network: network::network(timeline, window),
        at_peer,
        calls: of.calls,
        runtime: Runtime::of(scene),
        sessions: sessions::sessions(scene),
        empty_bins: empty_bins(scene),
        on_windows: on_windows(scene),
        ends: of.threads.ends,
        workers: workers(scene),
        behind_busiest: of.threads.behind_busiest,
        slices: of.threads.slices,
        floor: thresholds.floors.share,
        goals: goals(scene),
        at_sockets: scene.roles.source.is_at_target(),
        scene,
        timeline,
        meta,
        thresholds,
        window,
        target,
        generator,
        signal,
        usual_ns: workload_metrics::usual_ns(timeline, meta, scene.roles.source, window),
        both_ends: of.both_ends,
        think: of.think,
        account: of.account,
        line: of.line,
        others: of.others,
        stolen,
        left_out: cpus::left_out(scene, &cores, &usable),
        cores,
        usable,
        machine,
        cpu,
        effective_cpus,
    }
}

/// What the peer waits for, where requests wait for it: to find that is a diagnosis of its own.
fn at_peer(scene: &Scene<'_>, of: &Accounts, thresholds: &Thresholds) -> Option<Finding> {
    let items = of.account.iter().flat_map(|it| &it.items);
    let waits = items.filter(|it| it.class == LedgerClass::Remote);
    let share: f64 = waits.map(|it| it.share).sum();
    let calls = of
        .calls
        .as_ref()
        .filter(|_| share >= thresholds.floors.share)?;
    behind::of_peer(scene, calls)
}

/// How long the target waited for CPUs that the background had, as far as that was told, ns.
fn queued_ns(target: Option<&Subject>) -> f64 {
    target.map_or(0.0, |it| it.ledger.queued_behind(Holder::Background))
}

/// The same where it was reported for most of its waits; 0 elsewhere.
fn told_ns(target: Option<&Subject>) -> f64 {
    let told = target.filter(|it| it.serving_ledger.held(Holder::Background).is_some());
    queued_ns(told)
}

/// Intervals of the workload's in which nothing was completed.
fn empty_bins(scene: &Scene<'_>) -> usize {
    workload_metrics::inside(&scene.roles.bins, scene.window)
        .filter(|bin| bin.stalled)
        .count()
}

/// What is estimated from on-windows only is estimated from these.
fn on_windows(scene: &Scene<'_>) -> Vec<Window> {
    let (timeline, window) = (scene.timeline, scene.window);
    match coverage::off_part(timeline, window) {
        Some(_) => coverage::on_windows(timeline, window),
        None => Vec::new(),
    }
}

/// Where the response time went, and what that is worked out from.
struct Accounts {
    account: Option<Account>,
    line: Line,
    threads: Threads,
    both_ends: Option<BothEnds>,
    think: Option<Think>,
    calls: Option<Calls>,
    others: Vec<Holding>,
}

fn accounts(
    scene: &Scene<'_>,
    mut threads: Threads,
    signal: Option<&Mean>,
    stolen: f64,
) -> Accounts {
    let (timeline, meta, window) = (scene.timeline, scene.meta, scene.window);
    let generator = threads.generator.as_ref();
    let both_ends = generator
        .map(|it| it.ledger.get(LedgerClass::CpuWait))
        .and_then(|wait_ns| BothEnds::over(timeline, wait_ns, window));
    let think = generator.zip(both_ends).zip(signal);
    let think = think.and_then(|((generator, ends), signal)| {
        Think::of(timeline, generator, ends, signal, window)
    });
    let beside = Beside {
        think,
        generator,
        at_sockets: scene.roles.source.is_at_target(),
        both_ends,
    };
    let calls = Calls::of(timeline, meta, window);
    let others = neighbours::holders(scene, queued_ns(threads.target.as_ref()));
    let accounted = threads.target.as_ref().and_then(|target| {
        let accounting = Accounting {
            target,
            beside,
            signal,
            clients: closed_loop(meta),
            window,
            calls: calls.as_ref(),
            others: &others,
            stolen,
        };
        accounting.account()
    });
    let (account, line) = match accounted {
        Some(Accounted { mut account, line }) => {
            name_waits(&mut account, timeline, meta, window);
            (Some(account), line)
        }
        None => (None, Line::default()),
    };
    let slices = threads.slices.iter_mut();
    slices.for_each(|slice| slice.add_line(&line));
    Accounts {
        account,
        line,
        threads,
        both_ends,
        think,
        calls,
        others,
    }
}

/// The user's goals beside the latency of the window.
fn goals(scene: &Scene<'_>) -> Vec<GoalReport> {
    let goals = &scene.meta.plan.goals;
    if goals.is_empty() {
        return Vec::new();
    }
    let bins = &scene.roles.bins;
    // A tool's closing report is of the whole run, and no part of it is known.
    if bins.is_empty() {
        return goals::judged(goals, &[]);
    }
    let signals = workload_metrics::report(scene.timeline, bins, scene.meta, scene.window);
    goals::judged(goals, &signals)
}

/// The target's threads that answer requests, where each is known to answer what it reads.
fn workers(scene: &Scene<'_>) -> Option<Workers> {
    let is_known = scene.answering == Answering::Itself;
    let serving = &scene.roles.target.serving;
    is_known.then(|| Workers::of(scene.timeline, serving, scene.window))?
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
    let requests = signal.map_or(0.0, |it| it.completed);
    let response_ns = signal.and_then(|it| it.latency_ns);
    let ends = waits.as_ref().and_then(WaitsFor::locks);
    let ends = ends.map(|it| it.of_requests(requests, response_ns));
    let busiest = target.as_ref().and_then(|it| it.busiest_thread);
    let behind_busiest = waits.zip(busiest);
    let behind_busiest = behind_busiest.and_then(|(it, thread)| it.behind(scene, thread));
    let slicing = Slicing {
        scene,
        has_signal: signal.is_some(),
        cpus,
        synced: SYNCED.value(),
        ends: ends.as_ref(),
    };
    let mut slices = slicing.slices();
    let mut generator = subject(scene, Role::Generator);
    if let Some(target) = &mut target {
        leave_out_recorder(scene, target, generator.as_mut(), &mut slices);
        let span = signal.map_or(scene.window, |mean| mean.span);
        let throttled = throttled_over(&slices, span);
        let waited = target.serving_ledger.get(LedgerClass::CpuWait).max(1.0);
        for ledger in target.ledgers() {
            // Of the serving threads; those of them that serve the line have their part of it.
            let part = (ledger.get(LedgerClass::CpuWait) / waited).min(1.0);
            ledger.shift(
                LedgerClass::CpuWait,
                LedgerClass::Throttled,
                throttled * part,
            );
            let synced = ledger.synced(scene.window.len_ns() as f64, SYNCED.value());
            match &ends {
                Some(ends) => ledger.pass_on(ends, synced),
                None => ledger.wait_behind(synced, signal.is_some()),
            }
            ledger.write_through(synced);
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

/// Takes the recorder out of whom target and generator waited behind, in all and in each slice.
fn leave_out_recorder(
    scene: &Scene<'_>,
    target: &mut Subject,
    generator: Option<&mut Subject>,
    slices: &mut [Slice],
) {
    let part = neighbours::recorder_part(scene, queued_ns(Some(target)));
    // Whom the generator waited behind is reported of all the background together: the same part of it.
    let of_generator = generator.into_iter().map(|it| &mut it.ledger);
    let of_slices = slices.iter_mut().map(|it| &mut it.ledger);
    let all = of_generator.chain(target.ledgers()).chain(of_slices);
    all.for_each(|ledger| ledger.leave_out_recorder(part));
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
