//! The target's language runtime stops all of its threads.

use model::{EntityRecord, Evidence, Finding, Gap, Interval, Reading, Remedy};
use sensors::jvm::JVM;

use super::cause::{Case, Cause, Judgement, Kind, Upstream, absent, cannot_tell};
use super::evidence::{confidence, share};
use super::family::Family;
use crate::bounds;
use crate::facts::{Facts, Runtime, Subject};
use crate::formula;
use crate::number_format::percent;
use crate::runtimes::{self, COLLECTIONS};
use crate::stats::ratio_interval;
use crate::thresholds::Threshold;

const COST: Threshold = Threshold {
    origin: "proposed, above the pauses that HotSpot's collectors aim for: 8 % with G1 (GCTimeRatio 12), 1 % with Parallel GC (99)",
    ..Threshold::share(
        "cost",
        0.10,
        "Part of the time in which the runtime stood still, as far as it serves the requests",
    )
};
const AGREE: Threshold = Threshold::share(
    "agree",
    0.10,
    "How far the runtime's account of its own time may be from the window's length",
);

pub(super) const CAUSE: Cause = Cause {
    name: "lock.runtime",
    help: "The target's language runtime stops all of its threads: a Java virtual machine in safepoints, mostly for garbage collection.",
    about: "the process of the runtime",
    kind: Kind::Limit,
    family: Family::Lock,
    told_by: "The field calls such a pause stop-the-world (`jstat -gcutil`, `-Xlog:safepoint`; Jones, Hosking, Moss 2011, The Garbage Collection Handbook, chapter 11). At a safepoint HotSpot waits until each thread that runs Java code has stopped, lets none go on, and does what needs a world that stands still: most collections of garbage, but also deoptimisation, class redefinition and dumps. Threads that were stopped sleep in futex and look like a crowd that waits for a lock; threads that come back from the kernel with a request stop as well, so requests wait in the sockets meanwhile. Of requests that come at any time at least this part of their time passes in pauses.\n\nThe virtual machine counts all of that itself, in the file that it maps at its start (`hsperfdata`, table `jvm`): no agent, and nothing is sampled. The time to reach a safepoint is left out: some threads still run in it.\n\nSpeaking for it: the counters, garbage collections that take as long, and a heap that is full when they end. Speaking against it: several processes that serve, of which only this one stands still (then its part of the requests is taken to be as large as any other's), an account of the virtual machine's own time that does not add up to the window, and no response times (requests may be so few that none waits).\n\nOther runtimes have no such account and are not judged: a lock of Go's scheduler, Python's global interpreter lock and work on the one thread of Node.js show as `lock.futex`, `limit.pool` or `cpu.single_thread`, or not at all, because what tells them from any other futex or busy thread is in their stacks; `lock.futex` names the functions that wait. Pauses of collectors that work beside the application (ZGC, Shenandoah) are counted too and are short; what those take of the CPUs is the CPU's (`cpu.saturated`), and threads that such a collector makes wait for memory are not told.",
    thresholds: &[COST, AGREE],
    upstream: &[Upstream::Most("memory.swap")],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.target()?;
    let Some(runtime) = &facts.runtime else {
        return none_seen(facts, target);
    };
    let stopped = runtime.stopped * runtime.part_of_requests();
    if stopped < COST.value() {
        return absent(format!(
            "the Java virtual machine {} stood still for only {} of the time",
            runtime.entity.name,
            percent(stopped)
        ));
    }
    case.not_mostly_explained(stopped)?;
    let interval = interval(facts, runtime);
    let against = against(facts, runtime);
    Ok(Finding {
        share: Some(stopped),
        share_interval: interval,
        evidence: evidence(facts, runtime),
        would_help: would_help(facts, runtime, stopped),
        would_not_help: vec!["more clients".to_owned()],
        to_confirm: to_confirm(runtime).to_owned(),
        evidence_against: against.clone(),
        ..case.finding(
            &runtime.entity,
            confidence(interval, COST.value(), &against),
            sentence(runtime),
        )
    })
}

/// The answer where no runtime of the target that serves was read over the window.
fn none_seen(facts: &Facts<'_>, target: &Subject) -> Judgement {
    let timeline = facts.timeline;
    let serve: Vec<&EntityRecord> = runtimes::serving(facts.scene).0.collect();
    let has_rows = |it: &EntityRecord| timeline.series(&JVM.name, it.id, "threads").is_some();
    if serve.iter().any(|it| has_rows(it)) {
        return cannot_tell(format!(
            "for how long the Java virtual machine of {} stood still was not recorded in this window",
            target.name
        ));
    }
    // A gap is about `pid 7`, whose process is at `pid:7@...`.
    let is_targets = |gap: &&Gap| {
        let path = format!("{}@", gap.what.to_string().replacen(' ', ":", 1));
        let mut serve = serve.iter();
        gap.table == JVM.name && serve.any(|it| it.entity.path.starts_with(&path))
    };
    match timeline.gaps.iter().find(is_targets) {
        Some(gap) => cannot_tell(format!("of {}: {}", gap.what, gap.reason)),
        None => absent(format!(
            "no process of {} that serves is a Java virtual machine, the only runtime that counts for how long it stops its threads",
            target.name
        )),
    }
}

/// Whether most of the time was garbage collection's.
fn is_collecting(runtime: &Runtime) -> bool {
    const MOST: f64 = 0.5;
    runtime.collecting >= MOST
}

fn sentence(runtime: &Runtime) -> String {
    let (name, stopped) = (&runtime.entity.name, percent(runtime.stopped));
    let stood_still =
        format!("for {stopped} of the time the Java virtual machine {name} stood still");
    match (is_collecting(runtime), runtime.heap_used) {
        (true, Some(used)) => format!(
            "Garbage collection is the bottleneck: {stood_still}; when collections ended its heap was {} full.",
            percent(used)
        ),
        (true, None) => format!("Garbage collection is the bottleneck: {stood_still}."),
        (false, _) => format!(
            "Safepoints are the bottleneck: {stood_still}, and garbage collection took only {} of that.",
            percent(runtime.collecting)
        ),
    }
}

/// Fewer collections take no CPU time either; a collector beside the application takes at least as much.
fn would_help(facts: &Facts<'_>, runtime: &Runtime, stopped: f64) -> Vec<Remedy> {
    let without_wait = |change: &str| bounds::without_wait(facts, stopped, change.to_owned());
    match is_collecting(runtime) {
        true => vec![
            bounds::without_collections(
                facts,
                stopped * runtime.collecting.min(1.0),
                "a larger heap (-Xmx), or less garbage".to_owned(),
            ),
            without_wait("a concurrent collector (-XX:+UseZGC, -XX:+UseShenandoahGC)"),
        ],
        false => vec![without_wait(
            "fewer safepoints: -Xlog:safepoint names what asks for each",
        )],
    }
}

fn to_confirm(runtime: &Runtime) -> &'static str {
    match is_collecting(runtime) {
        true => "run with twice the heap (-Xmx): if throughput stays the same, this is wrong",
        false => "run with -Xlog:safepoint: if its pauses add up to much less, this is wrong",
    }
}

/// The 95 % interval over the seconds of the window.
fn interval(facts: &Facts<'_>, runtime: &Runtime) -> Option<Interval> {
    let part = runtime.part_of_requests();
    let bins = facts.slices.iter().map(|slice| {
        let stopped_ns = runtime.stopped_ns(facts.scene, slice.window);
        (stopped_ns * part, slice.window.len_ns() as f64)
    });
    ratio_interval(&bins.collect::<Vec<_>>())
}

fn evidence(facts: &Facts<'_>, runtime: &Runtime) -> Vec<Evidence> {
    let (table, whose) = (&*JVM.name, formula::one(runtime.id));
    let (entity, cost) = (&runtime.entity, COST.value());
    let stopped = formula::of_time(table, &["safepoint_ns"], whose);
    let growth = |columns: &[&str]| formula::growth(table, columns, whose);
    let collecting = formula::part(growth(&COLLECTIONS), growth(&["safepoint_ns"]));
    let (what, column) = ("the runtime stood still", "jvm.safepoint_ns");
    let mut evidence = vec![
        share(facts, what, column, entity, runtime.stopped, cost).by(stopped),
        share(
            facts,
            "of that, garbage collections",
            "jvm.collector0_ns + collector1_ns + collector2_ns",
            entity,
            runtime.collecting,
            0.0,
        )
        .by(collecting),
    ];
    evidence.extend(runtime.heap_used.map(|used| {
        let mean = |column| formula::recorded(Reading::Mean, table, &[column], whose);
        let formula = formula::part(mean("heap_used_bytes"), mean("heap_capacity_bytes"));
        let (what, column) = ("heap in use as collections end", "jvm.heap_used_bytes");
        share(facts, what, column, entity, used, 0.0).by(formula)
    }));
    evidence
}

/// What makes it doubtful that requests waited for so long.
fn against(facts: &Facts<'_>, runtime: &Runtime) -> Vec<String> {
    let mut against = Vec::new();
    if runtime.serving > 1 {
        against.push(format!(
            "{} processes serve, and of requests at the others none waits for {}",
            runtime.serving, runtime.entity.name
        ));
    }
    if (runtime.accounted - 1.0).abs() > AGREE.value() {
        against.push(format!(
            "what {} counts of its own time is {} of the window",
            runtime.entity.name,
            percent(runtime.accounted)
        ));
    }
    if facts.signal.is_none() {
        against.push(
            "no response time is known: whether requests waited meanwhile is not either".to_owned(),
        );
    }
    against
}
