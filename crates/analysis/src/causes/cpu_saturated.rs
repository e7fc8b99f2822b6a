//! The CPUs that the target may use are busy, with its own and the generator's work, and it waits for
//! them.

use model::{Confidence, Evidence, Finding, LedgerClass};
use sensors::thread_time::Holder;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, absent, cannot_tell};
use super::cpu_formulas;
use super::cpu_imbalance;
use super::cpu_neighbour;
use super::cpu_wait::{counted_wait, cpu_wait, cpu_wait_formula, long_enough, stolen, who_waited};
use super::evidence::{confidence, machine, share};
use super::family::Family;
use super::formulas;
use crate::account::{MAY_BE_REST, surely_inside};
use crate::bounds;
use crate::facts::Facts;
use crate::holders::{Holders, SOMEBODY};
use crate::number_format::{cpus_were, percent};
use crate::pools::Pool;
use crate::serving::Answering;
use crate::subject::Subject;
use crate::thresholds::{CPUS_BUSY, POOL_FULL, POOL_ROOM, Threshold, WAKE_UP};

const OWN: Threshold = Threshold::share(
    "own",
    0.50,
    "Part of the busy time that target and generator use themselves: below it the CPUs are others', and cpu.neighbour is judged with the same border",
);
const WAIT: Threshold = Threshold::share(
    "wait",
    0.15,
    "CPU wait of the target as part of the response time",
);

const WORK: Threshold = Threshold::share(
    "work",
    0.80,
    "Time on a CPU as part of the response time, with which nothing else is in a request",
);
const ALL: Threshold = Threshold::share(
    "all",
    0.90,
    "Part of the busy time that target and generator use themselves where nobody waits for a CPU",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.saturated",
    help: "The CPUs that the target may use are busy with its own work, and it waits for them.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "Busy are the CPUs that the target may use: of the machine, or those that its cpuset or affinity allow. Where each wait is told with who had the CPU, the waits count and not how busy the CPUs were on average: work in bursts leaves them idle in between. Part of being the target's own doing is that target and generator together used most of that time; else it is cpu.neighbour. Where programs in the kernel report who had the CPU at each wait, the own part is that of the waits. Run-queue delay is kept by the scheduler at every switch, so the wait is exact either way. A server with as many threads as CPUs waits for none: there requests in line behind its threads, all of them at work on full CPUs, count instead, and the answer is *consistent* at most. So does what a runtime of its own has ready to run (goroutines, event loops with threads): where others answer than read and the target's threads keep the CPUs busy, what is neither work nor a wait for others. And so does the work itself, where a request is hardly anything else and target and generator have filled the CPUs with it: with as many clients as CPUs nobody waits, and yet no more can be done.",
    thresholds: &[
        CPUS_BUSY, OWN, WAIT, WAKE_UP, POOL_FULL, POOL_ROOM, WORK, ALL,
    ],
    upstream: &[
        Upstream::Worded("cpu.quota", |quota| {
            format!(
                "the CPU is withheld by the quota of {}, not used up",
                quota.entity.name
            )
        }),
        Upstream::Worded("lock.spin", |spin| {
            format!("{} spins: more CPUs would spin too", spin.entity.name)
        }),
    ],
    wait: None,
    would_help: &[],
    would_not_help: Some(&[]),
    to_confirm: "halve the load: if throughput falls as much, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.target()?;
    let Some(busy) = facts.effective_busy else {
        return cannot_tell("CPU times were not recorded");
    };
    case.seen()?;
    let is_told = holders(facts).is_some();
    if busy < CPUS_BUSY.value() && (!is_told || cpu_imbalance::uneven(facts).is_some()) {
        return absent(format!(
            "the CPUs were {} busy, under {}",
            percent(busy),
            percent(CPUS_BUSY.value())
        ));
    }
    let Err(short) = long_enough(case, &target.name, WAIT.value()) else {
        if let Some(empty) = cpu_imbalance::off_by_affinity(facts) {
            return absent(format!(
                "only its affinity keeps {} off {}, which was {} busy",
                target.name,
                empty.entity.name,
                percent(empty.busy)
            ));
        }
        by_own_work(facts, &own(facts))?;
        return Ok(present(case, target, busy));
    };
    let kinds = [Behind::Threads, Behind::Runtime, Behind::Work];
    let mut lines = kinds
        .map(|behind| (behind, behind.line(case, busy)))
        .into_iter();
    match lines.find(|(behind, line)| *line >= behind.least()) {
        Some((behind, line)) => {
            by_own_work(facts, &own_of_busy(facts))?;
            Ok(behind_full_cpus(case, target, busy, behind, line))
        }
        None => Err(short),
    }
}

/// In line for what, where CPUs are full and no thread waits for one.
#[derive(Clone, Copy)]
enum Behind {
    /// For threads of the target that were all on full CPUs: with as many threads as CPUs none of them waits for one.
    Threads,
    /// For the target's own scheduler: where others answer than read, a runtime runs requests one after the other on as
    /// many threads as there are CPUs, and what is ready to run is no thread that the kernel sees wait.
    Runtime,
    /// For nothing: hardly anything but work is in a request, and with it the CPUs are full. Who has as many clients as CPUs
    /// lets none of them wait for one, and yet no more can be done.
    Work,
}

impl Behind {
    /// The part of the response time that matters.
    fn least(self) -> f64 {
        match self {
            Self::Threads | Self::Runtime => WAIT.value(),
            Self::Work => WORK.value(),
        }
    }

    /// The part of the response time.
    fn line(self, case: &Case<'_>, busy: f64) -> f64 {
        let facts = case.facts;
        match self {
            _ if busy < CPUS_BUSY.value() || facts.idle_cpus() >= POOL_ROOM.value() => 0.0,
            Self::Threads => {
                Pool::of_full_threads(facts).map_or(0.0, |_| facts.line.behind(LedgerClass::OnCpu))
            }
            Self::Runtime => in_runtime(facts),
            // What else others had of the CPUs, the target could have had instead.
            Self::Work if facts.own_part() < ALL.value() || case.limit().is_some() => 0.0,
            Self::Work => facts.share(LedgerClass::OnCpu),
        }
    }
}

/// The part of the response time that is known to be no work and no wait for others, where others answer than read and
/// the target's threads have hardly left a CPU idle.
fn in_runtime(facts: &Facts<'_>) -> f64 {
    let on_cpu = facts.at_a_time(facts.share(LedgerClass::OnCpu));
    let has_all = on_cpu >= POOL_FULL.value() * f64::from(facts.effective_cpus);
    if !has_all || facts.scene.answering != Answering::Others {
        return 0.0;
    }
    let rest = facts.share_of(&MAY_BE_REST) + facts.line.left();
    let left = (1.0 - facts.share_of(&surely_inside())).max(0.0);
    rest.min(left) + facts.share(LedgerClass::CpuWait)
}

/// Of a target whose requests wait for its threads, and these for no CPU, because they have them all.
fn behind_full_cpus(
    case: &Case<'_>,
    target: &Subject,
    busy: f64,
    behind: Behind,
    line: f64,
) -> Finding {
    let facts = case.facts;
    let name = &target.name;
    let where_to = match behind {
        Behind::Threads => format!("in line for threads of {name} that were on them"),
        Behind::Runtime => format!("waiting inside {name}, for a CPU or for its turn"),
        Behind::Work => format!("work of {name} on them"),
    };
    let sentence = format!(
        "CPU is the bottleneck: {} {} busy, and {} of {} was {where_to}.",
        cpus_were(facts.effective_cpus),
        percent(busy),
        percent(line),
        facts.whole(),
    );
    let wait = cpu_wait(facts, WAIT.value()).0;
    let mut evidence = evidence_of(facts, target, busy, wait, &own_of_busy(facts));
    let told = |what, column| share(facts, what, column, &target.entity, line, behind.least());
    evidence.push(match behind {
        Behind::Threads => told("in line behind threads on a CPU", "requests.timed_ns")
            .by(formulas::line_behind(facts, &[LedgerClass::OnCpu])),
        Behind::Runtime => told(
            "waiting inside, for a CPU or for its turn",
            "signal.latency_mean_ns",
        ),
        Behind::Work => told("on a CPU", "thread.run_ns").by(formulas::share_of(
            facts,
            &[LedgerClass::OnCpu],
            1.0,
        )),
    });
    let change = "more or faster CPUs, or less work in each request".to_owned();
    Finding {
        share: Some(line),
        evidence,
        would_help: vec![bounds::not_known(change, "")],
        would_not_help: vec!["more clients".to_owned()],
        ..case.finding(&target.entity, Confidence::Consistent, sentence)
    }
}

/// Why it was not target and generator who had the CPUs, where it was not.
fn by_own_work(facts: &Facts<'_>, own: &Own) -> Result<(), NoFinding> {
    if own.part >= OWN.value() {
        return match own.is_counted && others_doing(facts) > 1.0 - OWN.value() {
            true => absent(format!(
                "others used {} of the CPU time",
                percent(facts.cpu.part(facts.cpu.rest_ns))
            )),
            false => Ok(()),
        };
    }
    let part = percent(own.part);
    let generator = facts.generator.as_ref();
    let unseen = generator.filter(|it| it.ledger.wall_ns <= 0.0 && !facts.is_pinned());
    match (unseen, own.is_counted) {
        (Some(generator), false) => cannot_tell(format!(
            "the threads of {} were not seen in this window, and may have used the CPUs",
            generator.name
        )),
        (_, true) => absent(format!(
            "for only {part} of the time that CPUs were waited for, target and generator had them"
        )),
        (None, false) => absent(format!(
            "target and generator used only {part} of the busy time"
        )),
    }
}

/// Whose having them is the target's own doing.
const OWN_HOLDERS: [Holder; 2] = [Holder::Target, Holder::Generator];

/// Who had the CPUs, from the same waits as cpu.neighbour judges: no load falls between the two.
fn holders(facts: &Facts<'_>) -> Option<Holders> {
    facts.holders(cpu_neighbour::WAIT.value())
}

/// The part of the waits that is others' doing; 0 where it was not told who had the CPUs.
fn others_doing(facts: &Facts<'_>) -> f64 {
    holders(facts).map_or(0.0, |it| cpu_neighbour::others_doing(facts, it))
}

/// The part of the CPUs that target and generator had.
struct Own {
    part: f64,
    /// Whether it is of the time for which CPUs were waited for, by who had them then; else of all that they were busy.
    is_counted: bool,
}

/// That while CPUs were waited for, where it was told.
fn own(facts: &Facts<'_>) -> Own {
    match holders(facts) {
        Some(holders) => Own {
            part: 1.0 - holders.others_part(),
            is_counted: true,
        },
        None => own_of_busy(facts),
    }
}

/// That of all time that they were busy: where hardly anybody waited for one, who had it then tells nothing.
fn own_of_busy(facts: &Facts<'_>) -> Own {
    Own {
        part: facts.own_part(),
        is_counted: false,
    }
}

fn present(case: &Case<'_>, target: &Subject, busy: f64) -> Finding {
    let facts = case.facts;
    let (wait, interval) = cpu_wait(facts, WAIT.value());
    let is_full = busy >= CPUS_BUSY.value();
    let (when, on_average) = match is_full {
        true => ("", ""),
        false => (" at times", " on average"),
    };
    let sentence = format!(
        "CPU is the bottleneck{when}: {} {} busy{on_average}, and {}.",
        cpus_were(facts.effective_cpus),
        percent(busy),
        who_waited(facts, target)
    );
    let mut evidence_against: Vec<String> = stolen(facts).into_iter().collect();
    if !is_full {
        let idle = percent(1.0 - busy);
        evidence_against.push(format!(
            "the CPUs were idle for {idle} of the time: they are short in bursts"
        ));
    }
    let counted = counted_wait(facts, WAIT.value());
    let confidence = confidence(counted, WAIT.value(), &evidence_against);
    let remedies = [
        bounds::one_more_cpu(facts),
        bounds::generator_elsewhere(facts),
        bounds::others_elsewhere(facts),
    ];
    let more_clients: &[&str] = match facts.asked_rate() {
        None => &["more clients"],
        Some(_) => &[],
    };
    let finding = case.finding(&target.entity, confidence, sentence);
    Finding {
        share: Some(wait),
        share_interval: interval,
        evidence: evidence_of(facts, target, busy, wait, &own(facts)),
        would_help: remedies.into_iter().flatten().collect(),
        would_not_help: bounds::useless(facts, more_clients),
        evidence_against,
        to_confirm: fewer_clients(facts).unwrap_or(finding.to_confirm),
        ..finding
    }
}

fn evidence_of(
    facts: &Facts<'_>,
    target: &Subject,
    busy: f64,
    wait: f64,
    own: &Own,
) -> Vec<Evidence> {
    let (whose, column, own_formula) = match own.is_counted {
        true => (
            "waits for a CPU behind target and generator",
            "thread_time.queued_target_ns + queued_generator_ns",
            cpu_formulas::queued(facts, cpu_neighbour::WAIT.value(), &OWN_HOLDERS, &SOMEBODY),
        ),
        false => (
            "busy with target and generator",
            "thread.run_ns + process.children_ns",
            cpu_formulas::own_of_usable(facts),
        ),
    };
    let (machine, target) = (machine(facts), &target.entity);
    vec![
        share(facts, "CPUs busy", "cpu", &machine, busy, CPUS_BUSY.value())
            .by(cpu_formulas::busy(facts)),
        share(facts, whose, column, target, own.part, OWN.value()).by(own_formula),
        share(
            facts,
            "waiting for a CPU",
            "thread.wait_ns",
            target,
            wait,
            WAIT.value(),
        )
        .by(cpu_wait_formula(facts, WAIT.value())),
    ]
}

/// The same with half of the clients, where they and the option for them are known.
fn fewer_clients(facts: &Facts<'_>) -> Option<String> {
    let load = &facts.meta.workload.as_ref()?.load;
    let clients = load.clients.filter(|clients| *clients > 1)?;
    let option = load.clients_option.as_ref()?;
    Some(format!(
        "run with {option} {}: if throughput falls as much as clients do, this is wrong",
        clients / 2
    ))
}
