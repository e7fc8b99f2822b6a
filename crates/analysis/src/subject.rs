//! Target and generator: who they are, and where their threads spent their time.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, LedgerClass, Role, Timeline, Timestamp, Window};

use sensors::mysql;

use crate::coverage;
use crate::ledger::Ledger;
use crate::monitored::Monitored;
use crate::scene::{Members, Scene};
use crate::thread_times::ShortLived;
use crate::wake_ups::CpuWaits;

/// Target or generator.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Which of the two.
    pub role: Role,
    /// Its first process.
    pub entity: Entity,
    /// What a person calls it.
    pub name: String,
    /// How it was found, in words.
    pub found_by: String,
    /// The service, container or command that it is.
    pub unit: String,
    /// Processes that hold a connection of the generator.
    pub serving: u32,
    /// All of its threads.
    pub(crate) ledger: Ledger,
    /// Those that serve requests; all when none is known to.
    pub(crate) serving_ledger: Ledger,
    /// Of those, the ones that serve what stands in line at its sockets: who runs so little beside the busiest helps
    /// it, or looks after something else.
    pub(crate) line_ledger: Ledger,
    /// Those threads.
    pub(crate) line_threads: Vec<EntityId>,
    /// Waits of those that serve for a CPU.
    pub(crate) cpu_waits: CpuWaits,
    /// CPU time, with that of threads which came or went between two looks, ns.
    pub cpu_ns: f64,
    /// Part of its life that the busiest thread was on a CPU.
    pub busiest: f64,
    /// Part of its life that it was on a CPU or waited for one.
    pub busiest_works: f64,
    /// How long it was on a CPU, ns.
    pub busiest_ns: f64,
    /// That thread, and whether it serves requests, as far as any is known to.
    pub busiest_thread: Option<EntityId>,
    /// Whether it serves requests, as far as any is known to.
    pub busiest_serves: bool,
    /// Whether any serving thread's own word for what it waits for was read, and the kernel function
    /// that it waits in.
    pub(crate) waits_named: Named,
    /// Threads that were on a CPU for nearly as long as the busiest, itself included.
    pub hot_threads: u32,
    /// Threads that did at least a hundredth of what the busiest did.
    pub active_threads: u32,
    /// Part of their lives that those were on a CPU, and waiting for one.
    pub active: (f64, f64),
    /// Part of their lives that those waited for input, where that was counted.
    pub active_input: Option<f64>,
}

impl Subject {
    /// Its ledgers: of those who serve, of all, and of those who serve the line.
    pub(crate) fn ledgers(&mut self) -> [&mut Ledger; 3] {
        [
            &mut self.serving_ledger,
            &mut self.ledger,
            &mut self.line_ledger,
        ]
    }

    /// Part of their lives that its serving threads had work; `None` when that was not seen.
    pub(crate) fn worked(&self) -> Option<f64> {
        let ledger = &self.serving_ledger;
        let seen = ledger.wall_ns > 0.0 && ledger.part(LedgerClass::Unknown) < 0.5;
        seen.then(|| ledger.busy_ns() / ledger.wall_ns)
    }

    /// Part of the time for which no quota held back those of its threads that serve the line.
    pub(crate) fn not_throttled(&self) -> f64 {
        let throttled = self.line_ledger.part(LedgerClass::Throttled);
        (1.0 - throttled).clamp(0.0, 1.0)
    }
}

/// Who that is, with what its threads did; `None` where nobody has that role.
pub(crate) fn subject(scene: &Scene<'_>, role: Role) -> Option<Subject> {
    let (timeline, window) = (scene.timeline, scene.window);
    let mut subject = named_subject(scene, role)?;
    let ledgers: Vec<Life> = lives(scene, role);
    gather(
        &mut subject,
        &ledgers,
        coverage::off_part(timeline, window).is_some(),
    );
    subject.cpu_ns = cpu_ns(timeline, &ledgers, window);
    subject.cpu_waits = CpuWaits::of(timeline, &scene.roles.of(role).serving, window);
    subject.waits_named = named(timeline, &ledgers, window);
    subject.serving = serving_processes(scene.roles.of(role), window);
    Some(subject)
}

/// Who that is, before what it did is known.
fn named_subject(scene: &Scene<'_>, role: Role) -> Option<Subject> {
    let (timeline, meta) = (scene.timeline, scene.meta);
    let targets: Vec<_> = meta
        .targets
        .iter()
        .filter(|target| target.role == role)
        .collect();
    let first = targets.first()?;
    let record = first.root.and_then(|root| timeline.entities.get(root));
    // What people call it: a container, or a command behind `timeout`.
    let name = first.name.clone();
    Some(Subject {
        role,
        entity: record.map_or_else(
            || Entity::new(EntityKind::Process, &first.name, ""),
            |record| record.entity.clone(),
        ),
        name,
        found_by: targets
            .iter()
            .map(|target| target.found_by.to_string())
            .collect::<Vec<_>>()
            .join(", "),
        unit: first.unit.clone(),
        serving: 0,
        ledger: Ledger::default(),
        serving_ledger: Ledger::default(),
        line_ledger: Ledger::default(),
        line_threads: Vec::new(),
        cpu_waits: CpuWaits::default(),
        cpu_ns: 0.0,
        busiest: 0.0,
        busiest_works: 0.0,
        busiest_ns: 0.0,
        busiest_thread: None,
        busiest_serves: false,
        waits_named: Named::default(),
        hot_threads: 0,
        active_threads: 0,
        active: (0.0, 0.0),
        active_input: None,
    })
}

/// What each thread of a role did.
fn lives(scene: &Scene<'_>, role: Role) -> Vec<Life> {
    let (timeline, window) = (scene.timeline, scene.window);
    let idle = scene.idle(role);
    let threads = scene.roles.of(role).threads.iter();
    threads
        .filter_map(|(thread, serving)| {
            let (thread, serving) = (*thread, *serving);
            let Some(mut monitored) = Monitored::new(timeline, scene.meta, thread) else {
                let counted = ShortLived::of(timeline, thread)?.over(window)?;
                return Some(Life {
                    thread,
                    ledger: Ledger::of_short_lived(&counted),
                    serving,
                    is_one: false,
                });
            };
            let mut ledger = monitored.ledger(window)?;
            if let Some(mut sleeps) = scene.sleeps(thread).filter(|_| role == Role::Target) {
                ledger.set_aside_each(&sleeps.outside(window));
            }
            if idle.contains(&thread) {
                ledger.reclassify_idle();
            }
            Some(Life {
                thread,
                ledger,
                serving,
                is_one: true,
            })
        })
        .collect()
}

/// Which names of waits were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Named {
    /// `wait_event`: PostgreSQL's own word.
    pub(crate) events: bool,
    /// `wait_channel`: the kernel's function.
    pub(crate) channels: bool,
}

fn named(timeline: &Timeline, lives: &[Life], window: Window) -> Named {
    let any_serving = lives.iter().any(|life| life.serving);
    let read = |table, column| {
        let mut serving = lives.iter().filter(|life| life.serving || !any_serving);
        serving.any(|life| {
            let series = timeline.series(table, life.thread, column);
            series.is_some_and(|series| series.covered(window).is_some())
        })
    };
    let reports_sessions = read(&mysql::SESSION.name, "wait_class");
    Named {
        events: read("thread", "wait_event") || reports_sessions,
        channels: read("thread", "wait_channel"),
    }
}

/// What one thread did.
struct Life {
    thread: EntityId,
    ledger: Ledger,
    serving: bool,
    /// Whether it is one thread, and not several that lived for a moment.
    is_one: bool,
}

/// What the threads used is exact, but of one that came or went inside the window only what lies
/// between two looks is known. Its process's own count, to 10 ms, holds all of it.
fn cpu_ns(timeline: &Timeline, lives: &[Life], window: Window) -> f64 {
    let mut processes: BTreeMap<EntityId, (f64, bool)> = BTreeMap::new();
    for life in lives {
        let Some(record) = timeline.entities.get(life.thread) else {
            continue;
        };
        let changed =
            record.first_seen > window.start || record.vanished.is_some_and(|end| end < window.end);
        let process = processes
            .entry(record.parent.unwrap_or(life.thread))
            .or_default();
        process.0 += life.ledger.get(LedgerClass::OnCpu);
        process.1 |= changed;
    }
    let own_count = |process| {
        let growth = |column| timeline.series("process", process, column)?.growth(window);
        Some(growth("user_ns")? + growth("system_ns")?)
    };
    let used = processes.into_iter().map(|(process, (threads, changed))| {
        let own = own_count(process).filter(|_| changed);
        own.map_or(threads, |own| own.max(threads))
    });
    used.sum()
}

fn gather(subject: &mut Subject, lives: &[Life], is_sampled: bool) {
    /// On a CPU for more than this part of the busiest thread's time, a thread is as busy.
    const HOT: f64 = 0.75;
    /// On a CPU for less than this part of it, a thread does not serve the line.
    const SERVES: f64 = 0.2;
    let any_serving = lives.iter().any(|life| life.serving);
    let most = lives
        .iter()
        .filter(|life| life.is_one)
        .map(|life| life.ledger.get(LedgerClass::OnCpu))
        .fold(0.0, f64::max);
    let (mut active, mut others) = (Ledger::default(), Ledger::default());
    for Life {
        thread,
        ledger,
        serving,
        is_one,
    } in lives
    {
        if *serving || !any_serving {
            subject.serving_ledger.merge(ledger);
        } else {
            others.merge(ledger);
        }
        // How busy one is cannot be reported several.
        if !is_one {
            continue;
        }
        if (*serving || !any_serving) && ledger.get(LedgerClass::OnCpu) >= most * SERVES {
            subject.line_ledger.merge(ledger);
            subject.line_threads.push(*thread);
        }
        if ledger.get(LedgerClass::OnCpu) >= most / 100.0 && most > 0.0 {
            active.merge(ledger);
        }
        if ledger.get(LedgerClass::OnCpu) == most {
            subject.busiest = ledger.part(LedgerClass::OnCpu);
            subject.busiest_ns = most;
            subject.busiest_works = subject.busiest + ledger.part(LedgerClass::CpuWait);
            subject.busiest_thread = Some(*thread);
            subject.busiest_serves = *serving || !any_serving;
        }
        if most > 0.0 && ledger.get(LedgerClass::OnCpu) >= most * HOT {
            subject.hot_threads += 1;
        }
    }
    // Those that serve are alike; the others are alike in being none of them.
    subject.serving_ledger.spread_unsampled();
    others.spread_unsampled();
    subject.serving_ledger.is_sampled = is_sampled;
    subject.ledger = subject.serving_ledger.clone();
    subject.ledger.merge(&others);
    subject.active_threads = active.threads;
    subject.active = (
        active.part(LedgerClass::OnCpu),
        active.part(LedgerClass::CpuWait),
    );
    subject.active_input = active
        .is_counted(LedgerClass::Input)
        .then(|| active.part(LedgerClass::Input));
}

/// Processes that hold a connection of the generator, that lived at once; all of its processes where none is known to.
fn serving_processes(members: &Members<'_>, window: Window) -> u32 {
    let any_serving = members.processes.iter().any(|it| it.serving);
    let processes = members.processes.iter();
    let processes = processes.filter(|it| it.serving || !any_serving);
    let lives = processes.map(|it| (it.first_seen, it.vanished.unwrap_or(window.end)));
    u32::try_from(at_once(lives, window)).unwrap_or(u32::MAX)
}

/// How many live at once for at least half of a window: a connection that only prepares the load is not one more, nor is
/// each of those that follow one another.
fn at_once(lives: impl Iterator<Item = (Timestamp, Timestamp)>, window: Window) -> usize {
    let inside = lives.map(|(from, to)| (from.max(window.start), to.min(window.end)));
    let mut edges: Vec<(Timestamp, bool)> = inside
        .filter(|(from, to)| from < to)
        .flat_map(|(from, to)| [(from, true), (to, false)])
        .collect();
    edges.sort_unstable();
    // For how long each number lived.
    let mut lasted: BTreeMap<usize, i64> = BTreeMap::new();
    let (mut now, mut alive) = (window.start, 0);
    for (at, begins) in edges {
        *lasted.entry(alive).or_default() += at.ns_since(now);
        now = at;
        alive = if begins { alive + 1 } else { alive - 1 };
    }
    *lasted.entry(alive).or_default() += window.end.ns_since(now);
    let whole: i64 = lasted.values().sum();
    let mut at_least = 0;
    let half = lasted.iter().rev().find(|(_, ns)| {
        at_least += **ns;
        2 * at_least >= whole
    });
    let most = lasted.keys().next_back().copied().unwrap_or(0);
    // Where for most of the time none lived, those count that did.
    half.map_or(0, |it| *it.0).max(most.min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_and_goes_is_counted_as_many_as_there_are_at_once() {
        let at = |s: i64| Timestamp::from_ns(s * 1_000_000_000);
        let window = Window {
            start: at(10),
            end: at(20),
        };
        let of = |lives: &[(i64, i64)]| {
            at_once(lives.iter().map(|(from, to)| (at(*from), at(*to))), window)
        };
        assert_eq!(of(&[(0, 30), (11, 20), (12, 19)]), 3);
        assert_eq!(
            of(&[(0, 11), (11, 20), (11, 20), (11, 20)]),
            3,
            "the first prepares"
        );
        let one_by_one: Vec<(i64, i64)> = (10..20).map(|it| (it, it + 1)).collect();
        assert_eq!(of(&one_by_one), 1);
        assert_eq!(of(&[(12, 13)]), 1, "it did something");
        assert_eq!(of(&[(0, 5), (25, 30)]), 0);
        assert_eq!(of(&[]), 0);
    }
}
