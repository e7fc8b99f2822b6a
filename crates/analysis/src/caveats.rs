//! Doubts about the measurement itself, and what could not be seen.

use model::{
    Caveat, EntityId, ExitKind, Gap, GapReason, LedgerClass, Phase, PhaseKind, Provenance, Sentence,
};

use sensors::thread_time::THREAD_TIME;

use crate::blocked::SESSIONS;
use crate::causes;
use crate::facts::Facts;
use crate::number_format::{duration, integer, percent, rate};
use crate::thread_times::ThreadTimes;
use crate::thresholds::Thresholds;
use crate::{not_told, random_sampling, request_times, workload_metrics};

/// The table of a gap that concerns all of them.
const EVERYTHING: &str = "*";

/// Every doubt that applies.
pub(crate) fn caveats(facts: &Facts<'_>, phases: &[Phase], thresholds: &Thresholds) -> Vec<Caveat> {
    let gates: [(&str, Option<String>); 20] = [
        ("gate.no_target", no_target(facts)),
        ("gate.interrupted", interrupted(facts)),
        ("gate.short", short(facts, thresholds)),
        ("gate.warm_up", warm_up(facts, phases)),
        ("gate.pressure_off", pressure_off(facts)),
        ("gate.gaps", gaps(facts, thresholds)),
        ("gate.unwritten", unwritten(facts)),
        ("gate.dropped", dropped(facts)),
        ("gate.unread", unread(facts)),
        ("gate.stretched", stretched(facts)),
        ("gate.own_cost", own_cost(facts, thresholds)),
        ("gate.latency_derived", latency_derived(facts)),
        ("gate.pipelined", pipelined(facts, thresholds)),
        ("gate.open", open(facts)),
        ("gate.stalled", stalled(facts, phases)),
        ("gate.steal", steal(facts, thresholds)),
        ("gate.oom", killed(facts)),
        ("gate.ledger", ledger_apart(facts, thresholds)),
        ("gate.books", books_unbelieved(facts)),
        ("gate.law", law(facts, thresholds)),
    ];
    gates
        .into_iter()
        .filter_map(|(gate, sentence)| {
            Some(Caveat {
                gate: gate.to_owned(),
                sentence: sentence?,
            })
        })
        .collect()
}

/// What this recording could not show.
pub(crate) fn not_collected(facts: &Facts<'_>) -> Vec<String> {
    let mut sessions = SESSIONS.into_iter();
    let were_asked = sessions.any(|table| facts.timeline.table(&table.name).is_some());
    let locks = match (&facts.ends, were_asked) {
        (Some(_), _) => "which lock was waited for",
        (None, true) => "who holds which lock but the database's",
        (None, false) => "who holds which lock",
    };
    let mut all = not_told::without_stacks(facts, locks);
    all.extend(not_told::without_programs(facts));
    all.extend(random_sampling::left_out(facts.timeline, facts.window));
    // Pressure that is off is a doubt of its own, and said there.
    let gaps = facts.timeline.gaps.iter();
    let mut gaps: Vec<_> = gaps.filter(|gap| gap.table != "pressure").collect();
    // Which was met first is chance.
    gaps.sort_by_cached_key(|gap| (&gap.table, gap.what.to_string()));
    for gap in gaps {
        let sentence = match (&gap.reason, gap.window) {
            (GapReason::Denied(sentence) | GapReason::Unsupported(sentence), _) => {
                sentence.to_string()
            }
            (GapReason::Vanished, Some(window)) => match window.intersect(facts.window) {
                Some(away) => format!("{} was away for {:.1} s", gap.what, away.seconds()),
                None => continue,
            },
            // Said anew each time it has doubled: the greatest is all of them.
            (GapReason::Dropped(count), _) if gap.table != EVERYTHING => {
                let of_it = |it: &&Gap| (&it.table, &it.what) == (&gap.table, &gap.what);
                let more =
                    |it: &Gap| matches!(it.reason, GapReason::Dropped(other) if other > *count);
                if facts.timeline.gaps.iter().filter(of_it).any(more) {
                    continue;
                }
                format!("{} {} were left out", integer(*count as f64), gap.what)
            }
            _ => continue,
        };
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    if facts.timeline.gaps.iter().any(is_the_machines) {
        all.push(
            "what this machine withheld: `stallscope doctor` has the commands that give it"
                .to_owned(),
        );
    }
    all
}

fn no_target(facts: &Facts<'_>) -> Option<String> {
    facts.meta.no_target.as_ref().map(Sentence::to_string)
}

/// What the machine withholds, and not a server that was asked or a program that was looked into.
fn is_the_machines(gap: &Gap) -> bool {
    const TABLES: [&str; 3] = ["pressure", "thread", "process"];
    let of_kernel = TABLES.contains(&gap.table.as_str()) && gap.what != "wait_event";
    of_kernel && matches!(gap.reason, GapReason::Denied(_) | GapReason::Unsupported(_))
}

fn interrupted(facts: &Facts<'_>) -> Option<String> {
    if !facts.meta.complete {
        return Some(
            "the recording was cut off: it holds what was written up to its last second".to_owned(),
        );
    }
    let workload = facts.meta.workload.as_ref()?;
    let outcome = workload.outcome.as_ref()?;
    // What the tool itself reported weighs more than how it ended; failed operations are told even
    // by a run that ended well.
    if !outcome.remarks.is_empty() {
        return Some(Sentence::join(&outcome.remarks, "; "));
    }
    let incomplete = outcome
        .summary
        .as_ref()
        .is_some_and(|summary| !summary.complete);
    match outcome.exit {
        ExitKind::Code(0) => {
            incomplete.then(|| format!("{} says that its run was aborted", workload.name))
        }
        ExitKind::Code(code) => Some(format!("{} ended with status {code}", workload.name)),
        ExitKind::Signal(signal) => Some(format!("{} was ended by signal {signal}", workload.name)),
    }
}

fn short(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let seconds = facts.window.seconds();
    let least = thresholds.gates.steady_seconds;
    (seconds + 0.05 < least).then(|| {
        format!(
            "only {seconds:.1} s were steady: run at least {} s for a verdict to rely on",
            least + 5.0
        )
    })
}

fn warm_up(facts: &Facts<'_>, phases: &[Phase]) -> Option<String> {
    let seconds = |is: fn(PhaseKind) -> bool| {
        let of = phases.iter().filter(|phase| is(phase.kind));
        of.map(|phase| phase.window.seconds()).sum::<f64>()
    };
    let warm_up = seconds(|kind| kind == PhaseKind::WarmUp);
    let steady = seconds(|kind| !matches!(kind, PhaseKind::WarmUp | PhaseKind::End));
    (facts.signal.is_some() && steady > 0.0 && warm_up >= steady)
        .then(|| format!("the warm-up took {warm_up:.0} s of {:.0} s: throughput may not have settled, run longer", warm_up + steady))
}

fn pressure_off(facts: &Facts<'_>) -> Option<String> {
    let gap = facts
        .timeline
        .gaps
        .iter()
        .find(|gap| gap.table == "pressure")?;
    match &gap.reason {
        GapReason::Unsupported(sentence) | GapReason::Denied(sentence) => {
            Some(format!("no pressure was recorded: {sentence}"))
        }
        _ => None,
    }
}

fn gaps(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let machine = facts.timeline.entities.machine()?;
    let series = |column| facts.timeline.series("recorder", machine.id, column);
    let missed = series("missed")?.growth(facts.window)?;
    let worst = series("lateness_ns")?
        .values_in(facts.window)
        .map(|(_, ns)| ns)
        .max()?;
    (missed >= f64::from(thresholds.gates.missed_periods)).then(|| {
        format!("the sampler missed {missed:.0} of its deadlines, the worst by {}: it was starved, or stopped", duration(worst as f64))
    })
}

/// Stretches whose rows did not get to the disk, whether the judged window has them or not: what was
/// judged may have been chosen for want of them.
fn unwritten(facts: &Facts<'_>) -> Option<String> {
    let lacking = lacking(facts, |gap| match &gap.reason {
        GapReason::Unwritten(detail) => Some(format!(" ({detail})")),
        _ => None,
    })?;
    Some(format!(
        "the disk did not take everything that was recorded: rows are lacking {lacking}"
    ))
}

/// Rows that the recorder read and had no room for: it was kept from writing for too long.
fn dropped(facts: &Facts<'_>) -> Option<String> {
    let lacking = lacking(facts, |gap| match gap.reason {
        GapReason::Dropped(count) if gap.table == EVERYTHING => {
            Some(format!(" ({} rows)", integer(count as f64)))
        }
        _ => None,
    })?;
    Some(format!(
        "the recorder could not write as fast as it read: rows are lacking {lacking}"
    ))
}

/// `from 7 s to 9 s (why), from ...`, by the gaps that `detail` knows.
fn lacking(facts: &Facts<'_>, detail: impl Fn(&Gap) -> Option<String>) -> Option<String> {
    let start = facts.timeline.window.start;
    let segment = |gap: &Gap| {
        let (detail, window) = (detail(gap)?, gap.window?);
        let from = window.start.seconds_since(start).max(0.0);
        let to = window.end.seconds_since(start);
        Some(format!("from {from:.0} s to {to:.0} s{detail}"))
    };
    let segments: Vec<String> = facts.timeline.gaps.iter().filter_map(segment).collect();
    (!segments.is_empty()).then(|| segments.join(", "))
}

/// What was there and could not be understood: damage of the recording, and files of the kernel.
fn unread(facts: &Facts<'_>) -> Option<String> {
    let sentence = |gap: &Gap| {
        let GapReason::Malformed(sentence) = &gap.reason else {
            return None;
        };
        let text = sentence.to_string();
        if gap.table == EVERYTHING || text.starts_with(&gap.table) {
            return Some(text);
        }
        Some(format!("{}: {text}", gap.table))
    };
    let all: Vec<String> = facts.timeline.gaps.iter().filter_map(sentence).collect();
    (!all.is_empty()).then(|| format!("not everything could be read: {}", all.join("; ")))
}

/// Reading that would have cost more than its share was done less often. Periods only ever grow.
fn stretched(facts: &Facts<'_>) -> Option<String> {
    let machine = facts.timeline.entities.machine()?;
    let longer = |column| {
        let series = facts.timeline.series("recorder", machine.id, column)?;
        let (_, planned) = series.values().next()?;
        let reached = series.gauge_at(facts.window.end)?;
        let (since, _) = series.values().find(|(_, value)| *value > planned)?;
        let since = since.seconds_since(facts.timeline.window.start);
        (reached > planned).then_some((planned, reached, since))
    };
    let near = longer("period_ns").map(|(planned, reached, since)| {
        format!(
            "from {since:.0} s on the target's threads were read every {} by then, not every {}",
            duration(reached as f64),
            duration(planned as f64)
        )
    });
    let rest = longer("background_period_factor").map(|(_, reached, since)| {
        format!("from {since:.0} s on other processes and groups were read up to {reached} times less often")
    });
    let said: Vec<String> = rest.into_iter().chain(near).collect();
    (!said.is_empty()).then(|| {
        format!(
            "to keep recording cheap, {}: what lasts shorter is seen less well",
            said.join("; ")
        )
    })
}

fn own_cost(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let share = facts.cpu.recorder_ns / facts.window.len_ns().max(1) as f64;
    (share > thresholds.gates.own_cost)
        .then(|| format!("recording itself took {} of a CPU", percent(share)))
}

fn latency_derived(facts: &Facts<'_>) -> Option<String> {
    let workload = facts.meta.workload.as_ref()?;
    // The kernel's request times take its place where there are any.
    (workload.latency == Provenance::Derived && facts.signal.is_none()).then(|| {
        format!("{} worked its latency out from clients and throughput: it is no evidence, shares are of busy time", workload.name)
    })
}

fn pipelined(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let target = facts.target.as_ref()?;
    let pipelined = request_times::pipelined(facts.timeline)?;
    (facts.signal.is_none() && pipelined > thresholds.requests.pipelined).then(|| {
        format!(
            "{} of what {} was asked holds several requests (pipelining: more came before the reply was done, several were read at once, or the reply was sent in many small pieces): how many there are is not known, and no rate is told",
            percent(pipelined),
            target.name
        )
    })
}

fn open(facts: &Facts<'_>) -> Option<String> {
    let (count, age_ns) = request_times::open(facts.timeline, facts.window)?;
    let requests = match count {
        1.0 => "1 request".to_owned(),
        count => format!("{} requests", integer(count)),
    };
    Some(format!(
        "{requests} had no reply when the recording ended, after {} on average: quantiles count them as if it had come then, the mean leaves them out",
        duration(age_ns)
    ))
}

fn stalled(facts: &Facts<'_>, phases: &[Phase]) -> Option<String> {
    let intervals = |number: usize| match number {
        1 => "1 interval".to_owned(),
        number => format!("{number} intervals"),
    };
    if facts.empty_bins > 0 {
        let times = intervals(facts.empty_bins);
        return Some(format!(
            "in {times} nothing was completed: latency has no data there, and the mean hides the stall"
        ));
    }
    // A long stall is a phase of its own, and the verdict is about another.
    let bins = &facts.scene.roles.bins;
    let settled = phases
        .iter()
        .filter(|phase| !matches!(phase.kind, PhaseKind::WarmUp | PhaseKind::End));
    let elsewhere = settled
        .flat_map(|phase| workload_metrics::inside(bins, phase.window))
        .filter(|bin| bin.stalled)
        .count();
    (elsewhere > 0).then(|| {
        let times = intervals(elsewhere);
        format!("in {times} outside of what is judged nothing was completed: see the phases")
    })
}

fn steal(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let steal = facts.machine?.steal;
    (steal >= thresholds.ruled_out.steal).then(|| {
        format!(
            "the hypervisor took {} of the CPUs away (steal): compare within this run only",
            percent(steal)
        )
    })
}

/// Two accounts of the same threads, one of them the kernel's own, that do not agree.
fn ledger_apart(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let agreement = facts.meta.cost.cross_check.as_ref()?;
    facts.timeline.table(&THREAD_TIME.name)?;
    let apart = agreement.diff as f64 / agreement.compared.max(1) as f64;
    let differ = (apart > thresholds.gates.apart).then(|| {
        format!(
            "the ledger of threads and the scheduler's own counts were apart in {} of {} comparisons, by up to {}",
            percent(apart),
            integer(agreement.compared as f64),
            duration(agreement.worst_ns as f64)
        )
    });
    let counted = slices(facts);
    let dropped = (agreement.drops as f64 > thresholds.gates.apart * counted).then(|| {
        format!(
            "{} of {} events of the scheduler's were not counted, for want of memory",
            integer(agreement.drops as f64),
            integer(counted + agreement.drops as f64)
        )
    });
    let said: Vec<String> = differ.into_iter().chain(dropped).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Books that do not add up, so that they are not used.
fn books_unbelieved(facts: &Facts<'_>) -> Option<String> {
    let threads = facts.scene.roles.target.serving.iter();
    let hold = |thread: &EntityId| ThreadTimes::hold(facts.timeline, *thread, facts.window);
    let hold: Vec<bool> = threads.filter_map(hold).collect();
    let wrong = hold.iter().filter(|hold| !**hold).count();
    (wrong > 0).then(|| {
        format!(
            "the ledger of {wrong} of {} threads does not add up to their time: what those did is told from samples",
            hold.len()
        )
    })
}

/// How often threads were put on a CPU while they were counted.
fn slices(facts: &Facts<'_>) -> f64 {
    let table = facts.timeline.table(&THREAD_TIME.name);
    let threads = table.into_iter().flat_map(|table| table.entities());
    let of = |thread| {
        let slices = facts.timeline.series(&THREAD_TIME.name, thread, "slices")?;
        slices.growth(facts.timeline.window)
    };
    threads.filter_map(of).sum()
}

/// A kill of somebody else's is no cause, but gives memory and CPU back.
fn killed(facts: &Facts<'_>) -> Option<String> {
    let killed = causes::killed_elsewhere(facts)?;
    Some(format!(
        "the kernel killed {killed} beside the target for want of memory: what followed may differ from what was before"
    ))
}

/// Laws that hold whatever the system does; a broken one means that something was measured wrong.
fn law(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let excess = 1.0 + thresholds.gates.excess;
    parts_of_response(facts, excess)
        .or_else(|| requests_in_flight(facts, excess))
        .or_else(|| processor_time(facts, excess))
        .or_else(|| disk_queue(facts, thresholds))
}

/// The parts of the response time cannot exceed it.
fn parts_of_response(facts: &Facts<'_>, excess: f64) -> Option<String> {
    let inside = facts.inside() + facts.share(LedgerClass::Lag);
    let so = match facts.accounts_disagree() {
        true => ", and nothing is called measured",
        false => "",
    };
    (facts.signal.is_some() && inside > excess).then(|| {
        format!(
            "the parts of the response time add up to {}: some of it was not spent on these requests{so}",
            percent(inside)
        )
    })
}

/// N = X R of a closed loop is at most its clients (Little 1961, Operations Research 9(3)).
fn requests_in_flight(facts: &Facts<'_>, excess: f64) -> Option<String> {
    let clients = f64::from(facts.closed_loop()?);
    let in_flight = facts.in_flight()?;
    (in_flight > clients * excess).then(|| {
        format!("throughput x latency gives {} requests in flight, more than the {clients:.0} clients (Little's law)", rate(in_flight))
    })
}

/// D = U c / X: target and generator cannot have used more CPU than the CPUs gave. /proc/stat counts
/// in ticks, so a quiet machine is let off.
fn processor_time(facts: &Facts<'_>, excess: f64) -> Option<String> {
    /// Below this part of a CPU ticks say little.
    const LEAST: f64 = 0.2;
    let machine = facts.machine?;
    let own = facts.cpu.target_ns + facts.cpu.generator_ns;
    let least = LEAST * facts.window.len_ns() as f64;
    // What the hypervisor took looks to the thread as if it had run.
    let stolen = machine.busy_ns * machine.steal / machine.busy.max(0.01);
    let given = machine.busy_ns + stolen;
    (own > least && own > given * excess + least).then(|| {
        format!(
            "target and generator used {} of the CPU time that the CPUs count (utilisation law)",
            percent(own / given.max(1.0))
        )
    })
}

/// A disk's queue is operations x their time: the kernel keeps both.
fn disk_queue(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let disk = facts.io.disks.first().filter(|disk| disk.queue >= 1.0)?;
    // Operations that began before the window and ended in it count wholly in one and partly in the other.
    let allowed = 4.0 * thresholds.gates.excess;
    let apart = (disk.queue - disk.in_progress).abs() / disk.queue;
    (apart > allowed).then(|| {
        format!(
            "{} had {} operations in progress by one account of the kernel and {} by the other (Little's law)",
            disk.entity.name,
            rate(disk.queue),
            rate(disk.in_progress)
        )
    })
}
