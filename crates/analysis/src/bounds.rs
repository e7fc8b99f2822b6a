//! What a change would bring, as an estimate with its model, what would not help, and lower bounds of what is free: from
//! facts to a load (`gains`) before and after the change.

mod removed;

use model::{GainOf, Headroom, Interval, LedgerClass, Remedy};

use crate::cpus::Core;
use crate::facts::Facts;
use crate::gains::{Gain, Goes, Load};
use crate::neighbours::Culprit;
use crate::number_format::{bound, duration, next_cpu, percent};
use crate::stats::ratio;
use crate::subject::Subject;

pub(crate) use removed::Removed;

/// One CPU more.
pub(crate) fn one_more_cpu(facts: &Facts<'_>) -> Option<Remedy> {
    facts.effective_busy?;
    let gain = without_line(facts, |load| Load {
        cpus: load.cpus + 1.0,
        ..load
    });
    let change = next_cpu(facts.effective_cpus);
    Some(remedy(facts, change, gain, String::new()))
}

/// Below this part of the CPU time nobody is worth moving.
const WORTH_SAYING: f64 = 0.03;

/// The generator elsewhere, where it takes enough of the CPU to matter.
pub(crate) fn generator_elsewhere(facts: &Facts<'_>) -> Option<Remedy> {
    let generator = facts.generator.as_ref()?;
    let part = facts.cpu.part(facts.cpu.generator_ns);
    let gain = without_line(facts, |load| Load {
        own_ns: load.target_ns,
        ..load
    });
    let change = format!("{} on another machine", generator.name);
    let because = takes("it takes", part);
    (part >= WORTH_SAYING).then(|| remedy(facts, change, gain, because))
}

/// Everything else that the machine does elsewhere, where it takes enough of the CPU to matter.
pub(crate) fn others_elsewhere(facts: &Facts<'_>) -> Option<Remedy> {
    let part = facts.cpu.part(facts.cpu.rest_ns);
    let gain = without_line(facts, |load| load.without_others(facts.cpu.rest_ns, facts));
    let change = "the machine to itself".to_owned();
    let because = takes("others take", part);
    (part >= WORTH_SAYING).then(|| remedy(facts, change, gain, because))
}

/// A neighbour's work elsewhere: the generator then gets its CPU sooner between two requests too.
pub(crate) fn without_neighbour(facts: &Facts<'_>, culprit: &Culprit, change: String) -> Remedy {
    let gain = load(facts).and_then(|load| {
        let (whole, part) = load.with_time_between(waits_for_cpus(facts), facts);
        let after = whole.without_others(culprit.cpu_ns, facts);
        whole.gain(&after, Goes::Wait(part))
    });
    let because = takes("it takes", facts.cpu.part(culprit.cpu_ns));
    remedy(facts, change, gain, because)
}

fn takes(who: &str, part: f64) -> String {
    format!("{who} {} of the CPU", percent(part))
}

/// Without a quota: neither held back nor crowded into what it left, within the CPUs of the machine.
pub(crate) fn without_quota(facts: &Facts<'_>, change: String) -> Remedy {
    remedy(facts, change, gain_without_quota(facts), String::new())
}

/// CPUs that the target would use at most without its quota, of which it uses `used` now: as many more as it would be
/// faster, and where that is not known, as if nothing held it back, within those that are free.
pub(crate) fn cpus_without_quota(facts: &Facts<'_>, used: f64) -> f64 {
    let gain = gain_without_quota(facts).filter(|it| it.of == GainOf::Throughput);
    if let Some(gain) = gain {
        return used * (1.0 + gain.interval.high);
    }
    let held_back = facts.share(LedgerClass::Throttled) + waits_for_cpus(facts).low;
    let free = facts.machine.map_or(f64::INFINITY, |machine| {
        f64::from(machine.cpus) * (1.0 - machine.busy).max(0.0)
    });
    (used / (1.0 - held_back).max(0.01)).min(used + free)
}

fn gain_without_quota(facts: &Facts<'_>) -> Option<Gain> {
    let held_back = facts.share(LedgerClass::Throttled);
    // Requests that stand in line behind the work of others do so because all are held back: how long the line for the
    // CPUs is then is for the closed loop to say.
    let work = load(facts).map_or(0.0, |load| load.target_ns / load.response_ns);
    let behind_work = (facts.share(LedgerClass::OnCpu) - work).max(0.0);
    let removed = Interval {
        low: held_back,
        high: held_back + behind_work + facts.in_line() + waits_for_cpus(facts).high,
    };
    without(facts, removed, |load| Load {
        quota: None,
        ..load
    })
}

/// A generator that is no limit, within the CPUs.
pub(crate) fn faster_generator(facts: &Facts<'_>, change: String) -> Remedy {
    let outside = facts.outside().unwrap_or(0.0);
    let gain = without(facts, outside, |load| Load {
        generator_thread_ns: 0.0,
        ..load
    });
    remedy(facts, change, gain, String::new())
}

/// The target without a part of its waits, within the CPUs.
pub(crate) fn without_wait(
    facts: &Facts<'_>,
    removed: impl Into<Removed>,
    change: String,
) -> Remedy {
    let gain = without(facts, removed, |load| load);
    remedy(facts, change, gain, String::new())
}

/// The target without a wait for a CPU, on so many CPUs more.
pub(crate) fn on_more_cpus(
    facts: &Facts<'_>,
    removed: impl Into<Removed>,
    more: usize,
    change: String,
) -> Remedy {
    let gain = without(facts, removed, |load| Load {
        cpus: load.cpus + more as f64,
        ..load
    });
    remedy(facts, change, gain, String::new())
}

/// The target without a wait for a disk: what others do for that disk goes with it.
pub(crate) fn without_disk_wait(
    facts: &Facts<'_>,
    removed: impl Into<Removed>,
    change: String,
) -> Remedy {
    let gain = without(facts, removed, |load| Load {
        others_ns: 0.0,
        ..load
    });
    remedy(facts, change, gain, String::new())
}

/// How much of the kernel's work for a target that syncs is for its syncs: nobody counts it, and so much went with them
/// in the lab (`docs/decisions/gains.md`).
const OF_SYNCS: f64 = 2.0 / 3.0;

/// The target with fewer syncs: with each goes what the kernel does for it, and the crowd on the CPUs that this makes.
pub(crate) fn without_syncs(
    facts: &Facts<'_>,
    removed: impl Into<Removed>,
    change: String,
) -> Remedy {
    let Removed(Interval { low, high }) = removed.into();
    let kernel_part = facts.kernel_part.unwrap_or(0.0);
    let in_kernel = facts.share(LedgerClass::OnCpu) * kernel_part;
    // Who waits in futex may wait behind someone who syncs.
    let behind = facts.share_of(&[LedgerClass::CpuWait, LedgerClass::Futex]);
    let with_work = Interval {
        low,
        high: high + in_kernel + behind,
    };
    let gain = without(facts, with_work, |load| {
        let spared_ns = load.target_ns * kernel_part * OF_SYNCS;
        Load {
            others_ns: 0.0,
            own_ns: load.own_ns - spared_ns,
            target_ns: load.target_ns - spared_ns,
            target_thread_ns: load.target_thread_ns * (1.0 - kernel_part * OF_SYNCS),
            ..load
        }
    });
    remedy(facts, change, gain, String::new())
}

/// A runtime without the collections that stop its threads for a part of the time: with the pauses goes the CPU time of
/// the thread that collects, which works for as long at most, and the crowd on the CPUs that this makes.
pub(crate) fn without_collections(facts: &Facts<'_>, stopped: f64, change: String) -> Remedy {
    let window_ns = facts.window.len_ns() as f64;
    let busiest_ns = facts.target.as_ref().map_or(0.0, |it| it.busiest_ns);
    let collecting_ns = (stopped * window_ns).min(busiest_ns);
    let with_crowd = Interval {
        low: stopped,
        high: stopped + facts.share(LedgerClass::CpuWait),
    };
    let gain = without(facts, with_crowd, |load| {
        load.without_thread(load.each(collecting_ns, facts))
    });
    remedy(facts, change, gain, String::new())
}

/// The target without waits for a lock of the database. A session that works for most of the target's time is the one
/// that holds it, and its work is not the requests'.
pub(crate) fn without_held_lock(facts: &Facts<'_>, removed: Removed, change: String) -> Remedy {
    let load = load_with_locks(facts).map(Load::without_lone_worker);
    without_lock_of(facts, load, removed, change)
}

/// The target without waits of its threads for each other's locks.
pub(crate) fn without_lock(facts: &Facts<'_>, removed: Removed, change: String) -> Remedy {
    without_lock_of(facts, load_with_locks(facts), removed, change)
}

fn without_lock_of(
    facts: &Facts<'_>,
    load: Option<Load>,
    removed: Removed,
    change: String,
) -> Remedy {
    let Removed(part) = removed;
    let gain = load.and_then(|load| load.gain(&load, Goes::Wait(part)));
    remedy(facts, change, gain, String::new())
}

/// The load as it was seen; while somebody holds a lock that all want, they wait together, so the usual request tells how
/// busy CPUs are in between, also where only the kernel timed single ones.
fn load_with_locks(facts: &Facts<'_>) -> Option<Load> {
    let load = load(facts)?;
    let seen_ns = facts.usual_part().map(|it| it * load.response_ns);
    Some(Load {
        usual_ns: load.usual_ns.min(seen_ns.unwrap_or(f64::INFINITY)),
        ..load
    })
}

/// The work of one thread spread over the CPUs that are free.
pub(crate) fn more_threads(facts: &Facts<'_>, change: String) -> Remedy {
    let behind = [LedgerClass::OnCpu, LedgerClass::CpuWait, LedgerClass::Futex];
    let in_line = facts.share_of(&behind) + facts.in_line();
    let gain = without(facts, in_line, |load| Load {
        target_thread_ns: 0.0,
        ..load
    });
    remedy(facts, change, gain, String::new())
}

/// More clients of a closed loop, up to what the CPUs allow.
pub(crate) fn more_clients(facts: &Facts<'_>, change: String) -> Remedy {
    let gain = load(facts).and_then(|load| load.filled());
    remedy(facts, change, gain, String::new())
}

/// The load as it was seen; `None` where its throughput or response time is not known.
fn load(facts: &Facts<'_>) -> Option<Load> {
    let signal = facts.signal?;
    let window_ns = facts.window.len_ns() as f64;
    let requests = signal.throughput * window_ns / 1e9;
    let each = |ns: f64| ns / requests;
    let cpu = &facts.cpu;
    let thread_ns = |subject: Option<&Subject>| subject.map_or(0.0, |it| it.busiest_ns);
    let target = facts.target.as_ref().filter(|it| it.busiest_serves);
    let load = Load {
        throughput: signal.throughput,
        response_ns: signal.latency_ns?,
        late: facts.share(LedgerClass::Lag),
        clients: facts.closed_loop(),
        is_fixed_rate: facts.asked_rate().is_some(),
        own_ns: each(cpu.target_ns + cpu.generator_ns),
        target_ns: each(cpu.target_ns),
        // With what the target calls, and the kernel's work for nobody in particular.
        others_ns: each((cpu.all_ns - cpu.target_ns - cpu.generator_ns - cpu.recorder_ns).max(0.0)),
        target_thread_ns: each(thread_ns(target)),
        generator_thread_ns: each(thread_ns(facts.generator.as_ref())),
        cpus: f64::from(facts.effective_cpus.max(1)),
        usual_ns: facts
            .usual_ns
            .unwrap_or(f64::INFINITY)
            .min(signal.latency_ns?),
        uneven: unevenness(&facts.usable),
        quota: facts
            .quota
            .as_ref()
            .and_then(|quota| quota.cpus)
            .filter(|cpus| *cpus > 0.0),
    };
    (requests > 0.0 && load.response_ns > 0.0).then_some(load)
}

/// How many times as busy as the average CPU those are on which something is done.
fn unevenness(cores: &[Core]) -> f64 {
    let (sum, squares) = cores.iter().fold((0.0, 0.0), |(sum, squares), core| {
        (sum + core.busy, squares + core.busy * core.busy)
    });
    ratio(squares * cores.len() as f64, sum * sum).unwrap_or(1.0)
}

/// The gain by a wait that goes, and by what is different beside.
fn without(
    facts: &Facts<'_>,
    removed: impl Into<Removed>,
    change: impl FnOnce(Load) -> Load,
) -> Option<Gain> {
    let before = load(facts)?;
    let Removed(part) = removed.into();
    before.gain(&change(before), Goes::Wait(part))
}

/// The gain by a shorter line for the CPUs.
fn without_line(facts: &Facts<'_>, change: impl FnOnce(Load) -> Load) -> Option<Gain> {
    let before = load(facts)?;
    before.gain(&change(before), Goes::Line(waits_for_cpus(facts).high))
}

/// The part of the response time in which target or generator waited for a CPU, at most with the line behind the
/// generator.
fn waits_for_cpus(facts: &Facts<'_>) -> Interval {
    let own = facts.share(LedgerClass::CpuWait);
    Interval {
        low: own + facts.generator_wait(),
        high: own + facts.generator_line(),
    }
}

impl Load {
    /// With the time between two requests of a client as a part of the response time, and what goes of both where the
    /// generator waits for a CPU then too.
    fn with_time_between(self, part: Interval, facts: &Facts<'_>) -> (Self, Interval) {
        let clients = f64::from(self.clients.unwrap_or(0));
        let between_ns = (clients / self.throughput * 1e9 - self.response_ns).max(0.0);
        let (on_cpu, waiting) = facts.generator.as_ref().map_or((0.0, 0.0), |it| it.active);
        let between = between_ns * ratio(waiting, on_cpu + waiting).unwrap_or(0.0);
        let whole_ns = self.response_ns + between_ns;
        let of_whole = |part: f64| (part * self.response_ns + between) / whole_ns;
        let whole = Self {
            response_ns: whole_ns,
            ..self
        };
        let part = Interval {
            low: of_whole(part.low),
            high: of_whole(part.high),
        };
        (whole, part)
    }

    /// Without the work of one thread of the target that does more than all of its others together.
    fn without_lone_worker(self) -> Self {
        let lone_ns = self.target_thread_ns;
        match lone_ns > self.target_ns / 2.0 {
            true => self.without_thread(lone_ns),
            false => self,
        }
    }

    /// Without so much work of one thread of the target, ns of CPU time each request.
    fn without_thread(self, ns: f64) -> Self {
        Self {
            own_ns: self.own_ns - ns,
            target_ns: self.target_ns - ns,
            target_thread_ns: (self.target_thread_ns - ns).max(0.0),
            ..self
        }
    }

    /// Without so much CPU time of others, ns over the window.
    fn without_others(self, ns: f64, facts: &Facts<'_>) -> Self {
        Self {
            others_ns: (self.others_ns - self.each(ns, facts)).max(0.0),
            ..self
        }
    }

    /// What that is a request, ns, of so much over the window.
    fn each(self, ns: f64, facts: &Facts<'_>) -> f64 {
        ns / (self.throughput * facts.window.len_ns() as f64 / 1e9)
    }
}

/// A change of which nothing sound can be said, and why.
pub(crate) fn not_known(change: String, because: &str) -> Remedy {
    Remedy {
        change,
        throughput: None,
        gain: None,
        gain_interval: None,
        gain_of: None,
        gain_model: String::new(),
        because: because.to_owned(),
    }
}

fn remedy(facts: &Facts<'_>, change: String, gain: Option<Gain>, because: String) -> Remedy {
    let throughput = gain
        .as_ref()
        .filter(|it| it.of == GainOf::Throughput)
        .zip(facts.signal)
        .map(|(gain, signal)| signal.throughput * (1.0 + gain.estimate));
    Remedy {
        change,
        throughput,
        gain: gain.as_ref().map(|it| it.estimate),
        gain_interval: gain.as_ref().map(|it| it.interval),
        gain_of: gain.as_ref().map(|it| it.of),
        gain_model: gain.map_or("", |it| it.model).to_owned(),
        because,
    }
}

/// What would not help, each checked against what the target was seen to wait for.
pub(crate) fn useless(facts: &Facts<'_>, also: &[&str]) -> Vec<String> {
    const NEGLIGIBLE: f64 = 0.05;
    let mut all: Vec<String> = also.iter().map(|&word| word.to_owned()).collect();
    let disk = facts.share_of(&LedgerClass::DISK);
    let waits_for_cpu = facts.share_of(&[LedgerClass::CpuWait, LedgerClass::Throttled]);
    // A generator that waits for a CPU asks for less than it would.
    let generator = facts.generator.as_ref();
    let generator_waits = generator.is_some_and(|generator| generator.active.1 >= NEGLIGIBLE);
    if waits_for_cpu + facts.share(LedgerClass::OnCpu) < NEGLIGIBLE {
        all.push("more or faster CPUs".to_owned());
    } else if waits_for_cpu < NEGLIGIBLE
        && !generator_waits
        && !also.iter().any(|word| word.contains("more CPUs"))
    {
        all.push("more CPUs".to_owned());
    }
    if disk < NEGLIGIBLE {
        all.push("faster disk".to_owned());
    }
    let memory = facts.machine_pressure(model::Resource::Memory, model::StallKind::Some);
    if memory.is_some_and(|pressure| pressure < NEGLIGIBLE) && disk < NEGLIGIBLE {
        all.push("more memory".to_owned());
    }
    all
}

/// What a load that met no limit proves to be free.
pub(crate) fn headroom(facts: &Facts<'_>) -> Option<Headroom> {
    let signal = facts.signal?;
    let own = facts.cpu.target_ns + facts.cpu.generator_ns;
    let machine_ns = f64::from(facts.effective_cpus) * facts.window.len_ns() as f64;
    let free = machine_ns - facts.cpu.rest_ns - facts.cpu.recorder_ns;
    if own <= 0.0 || free <= own {
        return None;
    }
    let throughput = signal.throughput * free / own;
    let each = duration(own / signal.completed.max(1.0));
    let sentence = format!(
        "these CPUs have room for at least {} {} at {each} of CPU per request; CPU per request usually falls under load, so the \
         limit of the CPUs lies higher",
        bound(throughput),
        facts.rate_unit()
    );
    Some(Headroom {
        throughput,
        sentence,
    })
}
