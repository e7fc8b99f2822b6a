//! Who is who in a recording, and over which window: found once, and handed to whatever is measured.
//!
//! Roles, groups and the workload's intervals are the recording's (`Roles`); a `Scene` is these with a
//! window, and who was idle in it. Nothing else walks over entities to ask who the target is.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, EntityRecord, Meta, Role, Timeline, Window};

use crate::groups::Groups;
use crate::idle::idle_threads;
use crate::serving::{self, Answering, Sleeps, Workers};
use crate::workload_metrics::{self, Bin, Source};

/// Who is who in a recording.
pub struct Roles<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) meta: &'a Meta,
    /// The workload's intervals, in the order of their ends.
    pub(crate) bins: Vec<Bin>,
    /// Where throughput and latency come from.
    pub(crate) source: Source,
    pub(crate) target: Members<'a>,
    pub(crate) generator: Members<'a>,
    /// What the target calls.
    pub(crate) dependency: Members<'a>,
    /// Processes that are none of these, nor the recorder.
    pub(crate) background: Vec<&'a EntityRecord>,
    /// The target's groups where CPU is limited.
    pub(crate) cpu_groups: Groups,
    /// The same for I/O.
    pub(crate) io_groups: Groups,
    /// The same for memory.
    pub(crate) memory_groups: Groups,
}

/// The threads of target and generator that are known to serve requests; none where none is.
pub fn serving_threads(timeline: &Timeline, meta: &Meta) -> BTreeSet<EntityId> {
    let roles = Roles::new(timeline, meta);
    let threads = roles.target.threads.iter().chain(&roles.generator.threads);
    let serving = threads.filter(|(_, serving)| *serving);
    serving.map(|(thread, _)| *thread).collect()
}

/// Processes and threads of one role.
#[derive(Default)]
pub(crate) struct Members<'a> {
    pub(crate) processes: Vec<&'a EntityRecord>,
    /// Threads, each with whether it is known to serve requests.
    pub(crate) threads: Vec<(EntityId, bool)>,
    /// The threads that serve requests; all of them where none is known to.
    pub(crate) serving: Vec<EntityId>,
}

impl<'a> Roles<'a> {
    /// Looks through the entities and the workload's intervals once.
    pub fn new(timeline: &'a Timeline, meta: &'a Meta) -> Self {
        let (mut target, mut generator) = (Members::default(), Members::default());
        let (mut dependency, mut background) = (Members::default(), Vec::new());
        for record in timeline.entities.iter() {
            let process = match record.entity.kind {
                EntityKind::Process => Some(record),
                EntityKind::Thread => record.parent.and_then(|id| timeline.entities.get(id)),
                _ => None,
            };
            match process.map(|process| (process, process.role)) {
                Some((process, Role::Target)) => target.add(record, process),
                Some((process, Role::Generator)) => generator.add(record, process),
                Some((process, Role::Dependency)) => dependency.add(record, process),
                Some((_, Role::Background)) if record.entity.kind == EntityKind::Process => {
                    background.push(record);
                }
                _ => {}
            }
        }
        target.find_serving(|threads| serving::at_requests(timeline, threads));
        generator.find_serving(|threads| threads);
        let groups = |of: fn(&EntityRecord) -> Option<EntityId>| {
            Groups::of(timeline, target.processes.iter().filter_map(|it| of(it)))
        };
        Self {
            timeline,
            meta,
            source: workload_metrics::source(timeline, meta),
            bins: workload_metrics::bins(timeline, meta),
            cpu_groups: groups(|process| process.group),
            io_groups: groups(|process| process.io_group),
            memory_groups: groups(|process| process.memory_group),
            target,
            generator,
            dependency,
            background,
        }
    }

    /// Target or generator.
    pub(crate) fn of(&self, role: Role) -> &Members<'a> {
        match role {
            Role::Target => &self.target,
            _ => &self.generator,
        }
    }
}

impl<'a> Members<'a> {
    fn add(&mut self, record: &'a EntityRecord, process: &EntityRecord) {
        match record.entity.kind {
            EntityKind::Thread => self.threads.push((record.id, process.serving)),
            _ => self.processes.push(record),
        }
    }

    /// Threads of processes that serve, as far as `at_requests` leaves them.
    fn find_serving(&mut self, at_requests: impl FnOnce(Vec<EntityId>) -> Vec<EntityId>) {
        let any_serving = self.threads.iter().any(|(_, serving)| *serving);
        let serving = self.threads.iter();
        let serving = serving.filter(|(_, serving)| *serving || !any_serving);
        let serving: Vec<EntityId> = serving.map(|(thread, _)| *thread).collect();
        let all = serving.len();
        self.serving = at_requests(serving);
        if any_serving || self.serving.len() < all {
            let known: BTreeSet<EntityId> = self.serving.iter().copied().collect();
            for (thread, serves) in &mut self.threads {
                *serves = known.contains(thread);
            }
        }
    }
}

/// Whether the whole run is judged, or one of its phases: then what is not known to have happened in
/// the phase does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The whole run.
    Run,
    /// One of its phases.
    Phase,
}

/// A recording over one window.
pub struct Scene<'a> {
    pub(crate) roles: &'a Roles<'a>,
    /// The recording.
    pub timeline: &'a Timeline,
    /// The run's description.
    pub meta: &'a Meta,
    /// What is measured.
    pub window: Window,
    /// Whether that stands for the run.
    pub scope: Scope,
    /// The target's serving threads that had nothing to do.
    pub(crate) target_idle: BTreeSet<EntityId>,
    /// The same of the generator.
    pub(crate) generator_idle: BTreeSet<EntityId>,
    /// Who answers the requests that the target's threads read.
    pub(crate) answering: Answering,
}

impl<'a> Scene<'a> {
    /// A window of a recording that is prepared (`analysis::prepare`).
    pub fn new(roles: &'a Roles<'a>, window: Window, scope: Scope) -> Self {
        let timeline = roles.timeline;
        let serving = &roles.target.serving;
        let answering = Answering::of(timeline, serving, window);
        let mut target_idle = idle_threads(timeline, serving, window);
        match answering {
            Answering::Others => {
                target_idle.extend(serving::beside_requests(timeline, serving, window));
            }
            // Of who answers it is known when it is idle, however little it runs beside one that works all the time.
            Answering::Itself => {
                let working = Workers::of(timeline, serving, timeline.window);
                let working = working.map_or(Vec::new(), |it| it.threads);
                target_idle.retain(|it| !working.contains(it));
            }
            Answering::Unknown => {}
        }
        Self {
            roles,
            timeline,
            meta: roles.meta,
            window,
            scope,
            target_idle,
            generator_idle: idle_threads(timeline, &roles.generator.serving, window),
            answering,
        }
    }

    /// Serving threads of target or generator that had nothing to do.
    pub(crate) fn idle(&self, role: Role) -> &BTreeSet<EntityId> {
        match role {
            Role::Target => &self.target_idle,
            _ => &self.generator_idle,
        }
    }

    /// What is known of a target thread's sleeps inside and outside of requests.
    pub(crate) fn sleeps(&self, thread: EntityId) -> Option<Sleeps<'a>> {
        match self.answering {
            Answering::Itself => Sleeps::of(self.timeline, thread),
            Answering::Unknown | Answering::Others => None,
        }
    }

    /// The time over which is counted what ends a run whenever it happens.
    pub(crate) fn whole_scope(&self) -> Window {
        match self.scope {
            Scope::Run => self.timeline.window,
            Scope::Phase => self.window,
        }
    }
}
