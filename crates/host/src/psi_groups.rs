//! Pressure and stall density of sets for which the kernel counts none: each service, that is a process of
//! target or generator with its descendants, whatever control groups they are in; control groups without
//! pressure of their own; pools of threads.
//!
//! The thread-time programs count pressure of these PSI groups as the kernel does for its own; here it is
//! folded over 2 s, as in the kernel, and density is recorded per 100 ms.

mod groups;
mod places;

use std::collections::HashMap;

use model::{EntityId, MISSING, Timestamp, Window};
use sensors::stall::FOLD;

use crate::bpf::fold::{STALLS, STATES, Stalled};
use crate::bpf::thread_time::ThreadTime;
use crate::bpf::thread_time::psi_groups::{Membership, Stall};
use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::table_buffer::TableBuffer;
use crate::wakeups::Wakeups;

use groups::Groups;
use places::{Kind, Places};

const FOLD_NS: i64 = FOLD.as_nanos() as i64;
/// States that are counted here: all stalls but `irq_full` (between the other stalls and `nonidle`), because
/// the scheduler raises no event for interrupts.
const COUNTED_STATES: usize = STALLS - 1;
/// The states of memory.
const MEMORY: std::ops::Range<usize> = 2..4;

/// A PSI group and its stalled times so far.
pub(crate) struct PsiGroup {
    stalled: Stalled,
    cpus: Vec<Cpu>,
    before: Option<Timestamp>,
    folded: Timestamp,
}

impl PsiGroup {
    /// Begins to read a group; sums in its place that an earlier group left are not counted.
    pub(crate) fn new(programs: &ThreadTime, place: usize) -> Self {
        let cpus = programs.cpus();
        let stall = |cpu| programs.stall(place, cpu).unwrap_or_default();
        Self {
            stalled: Stalled::new(cpus, [0; STALLS]),
            cpus: (0..cpus).map(|cpu| Cpu::new(&stall(cpu))).collect(),
            before: None,
            folded: Timestamp::default(),
        }
    }

    /// Takes in the programs' last reading. Returns the time at which pressure was folded, if it was.
    pub(crate) fn take(
        &mut self,
        programs: &ThreadTime,
        place: usize,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let since = Window::new(self.before.unwrap_or(now), now);
        for (cpu, last) in self.cpus.iter_mut().enumerate() {
            if let Some(stall) = programs.stall(place, cpu)
                && let Some(grown) = last.grown(&stall)
            {
                self.stalled.take(cpu, grown, programs.online());
            }
        }
        if self.before.replace(now).is_none() {
            self.folded = now;
            return None;
        }
        let ended = (self.folded + FOLD_NS).max(since.start);
        let ended = Some(ended).filter(|at| since.contains(*at));
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.reconcile(part);
        self.folded = ended.unwrap_or(self.folded);
        ended
    }

    /// Notes that nothing was counted up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        if let Some(before) = &mut self.before {
            *before = at;
        }
    }

    /// Ends the present interval of pressure with the last reading; returns when that was, if it is later
    /// than the last fold.
    pub(crate) fn end(&mut self) -> Option<Timestamp> {
        let at = self.before.filter(|at| *at > self.folded)?;
        self.stalled.reconcile(Some(1.0));
        self.folded = at;
        Some(at)
    }

    /// Pressure so far, ns, by stall; up to the last fold.
    pub(crate) fn pressure(&self, programs: &ThreadTime) -> [i64; COUNTED_STATES] {
        let all = self.stalled.pressure();
        counted(programs, std::array::from_fn(|stall| all[stall]))
    }

    /// Stalled time so far, mean over the CPUs, ns, by stall, and `nonidle`.
    pub(crate) fn density(&self, programs: &ThreadTime) -> [i64; COUNTED_STATES + 1] {
        let all = self.stalled.density();
        let place = |state| {
            if state < COUNTED_STATES {
                state
            } else {
                STATES - 1
            }
        };
        counted(programs, std::array::from_fn(|state| all[place(state)]))
    }
}

/// Stalled times of one CPU in a group as of the last reading.
struct Cpu {
    /// Number of successful readings; unchanged if the CPU could not be read.
    readings: u64,
    /// `None` before the first reading.
    last: Option<[i64; STATES]>,
}

impl Cpu {
    /// A CPU whose sums so far belong to an earlier group.
    fn new(stall: &Stall) -> Self {
        Self {
            readings: stall.readings,
            last: None,
        }
    }

    /// Growth since the last reading; `None` without a new reading.
    fn grown(&mut self, stall: &Stall) -> Option<[i64; STATES]> {
        if std::mem::replace(&mut self.readings, stall.readings) == stall.readings {
            return None;
        }
        let ns = stall.ns.map(u64::cast_signed);
        let last = self.last.replace(ns)?;
        Some(std::array::from_fn(|it| ns[it] - last[it]))
    }
}

/// The row with `MISSING` for what the kernel does not mark.
fn counted<const N: usize>(programs: &ThreadTime, mut row: [i64; N]) -> [i64; N] {
    if !programs.knows_memory() {
        row[MEMORY].fill(MISSING);
    }
    row
}

/// The PSI groups of a tracked process.
struct Member {
    entity: EntityId,
    /// Place of its service's group.
    service: usize,
    /// The control group of these that is counted here.
    group: Option<EntityId>,
    /// All its control groups when that was decided.
    placed: [Option<EntityId>; 3],
}

/// All PSI groups.
pub(crate) struct PsiGroups {
    places: Places,
    members: HashMap<u32, Member>,
    newcomers: Vec<(u32, EntityId)>,
    /// Services by the pid of their first process: its entity, and the place of the group.
    services: HashMap<u32, (EntityId, usize)>,
    groups: Groups,
    /// Background processes that are or were in one of these control groups, and in which.
    background: HashMap<u32, (EntityId, Option<EntityId>)>,
    /// Pools by the programs' numbers: entity, and the place of the group.
    pools: HashMap<u64, (EntityId, usize)>,
}

impl PsiGroups {
    pub(crate) fn new() -> Self {
        Self {
            places: Places::new(),
            members: HashMap::new(),
            newcomers: Vec::new(),
            services: HashMap::new(),
            groups: Groups::default(),
            background: HashMap::new(),
            pools: HashMap::new(),
        }
    }

    /// Finds the PSI groups of tracked processes.
    pub(crate) fn follow(
        &mut self,
        now: Timestamp,
        programs: &ThreadTime,
        processes: &Processes,
        (cgroups, registry): (&Cgroups, &mut Registry),
        gaps: &mut Gaps,
    ) {
        self.forget(programs, processes);
        let is_new = |it: &(u32, EntityId)| !self.members.contains_key(&it.0);
        self.newcomers.extend(processes.tracked().filter(is_new));
        while let Some((pid, entity)) = self.newcomers.pop() {
            let root = processes.root_of(pid);
            let Some(service) = root.and_then(|it| self.service(it, programs, processes, gaps))
            else {
                continue;
            };
            let member = Member {
                entity,
                service,
                group: None,
                placed: [None; 3],
            };
            self.members.insert(pid, member);
        }
        let members = self.members.values_mut();
        let places = (programs, &mut self.places);
        self.groups
            .follow(now, members, places, (cgroups, registry), gaps);
        let Self {
            groups,
            background,
            members,
            ..
        } = self;
        let group = |entity| groups.of_background(entity, registry);
        background.retain(|pid, (entity, of)| {
            *of = group(*entity);
            processes.entity(*pid) == Some(*entity) && !members.contains_key(pid)
        });
        if !groups.is_empty() {
            let all = processes.all();
            let all = all.filter(|(pid, _)| !members.contains_key(pid));
            let found = all.filter_map(|(pid, entity)| Some((pid, (entity, Some(group(entity)?)))));
            background.extend(found);
        }
    }

    /// Background processes in these control groups, with the PSI groups that they share.
    pub(crate) fn background(&self) -> impl Iterator<Item = (u32, EntityId, Membership)> {
        self.background.iter().map(|(pid, (entity, group))| {
            let (group, around) = self.groups.places(*group);
            let membership = Membership {
                service: None,
                group,
                around,
            };
            (*pid, *entity, membership)
        })
    }

    /// The PSI groups of a process.
    pub(crate) fn membership(&self, pid: u32) -> Membership {
        let Some(member) = self.members.get(&pid) else {
            return Membership::default();
        };
        let (group, around) = self.groups.places(member.group);
        Membership {
            service: Some(member.service),
            group,
            around,
        }
    }

    fn service(
        &mut self,
        root: u32,
        programs: &ThreadTime,
        processes: &Processes,
        gaps: &mut Gaps,
    ) -> Option<usize> {
        if let Some((_, place)) = self.services.get(&root) {
            return Some(*place);
        }
        let entity = processes.entity(root)?;
        let place = self.places.take(Kind::Service, entity, programs, gaps)?;
        self.services.insert(root, (entity, place));
        Some(place)
    }

    /// Removes exited processes. If a service's first process exits, its remaining processes belong to
    /// another service from then on.
    fn forget(&mut self, programs: &ThreadTime, processes: &Processes) {
        let Self {
            places,
            members,
            services,
            ..
        } = self;
        services.retain(|pid, (entity, place)| {
            let stays = processes.entity(*pid) == Some(*entity);
            if !stays {
                places.leave(*place, programs);
                members.retain(|_, member| member.service != *place);
            }
            stays
        });
        members.retain(|pid, member| processes.entity(*pid) == Some(member.entity));
    }

    /// Gives PSI groups to the pools of threads; call after the pools are known.
    pub(crate) fn follow_pools(
        &mut self,
        programs: &mut ThreadTime,
        wakeups: &Wakeups,
        gaps: &mut Gaps,
    ) {
        let Self { places, pools, .. } = self;
        pools.retain(|number, (entity, place)| {
            let stays = wakeups.known_pool(*number) == Some(*entity);
            if !stays {
                places.leave(*place, programs);
                // Fails if the pool is unknown to the programs, which does not matter then.
                let _ = programs.put_pool(*number, None);
            }
            stays
        });
        for (number, entity) in wakeups.pools() {
            if pools.contains_key(&number) {
                continue;
            }
            let same = pools.values().find(|(pool, _)| *pool == entity);
            let known = same.map(|(_, place)| *place);
            let Some(place) = known.or_else(|| places.take(Kind::Pool, entity, programs, gaps))
            else {
                continue;
            };
            if programs.put_pool(number, Some(place)).is_ok() {
                pools.insert(number, (entity, place));
            } else if known.is_none() {
                places.leave(place, programs);
            }
        }
    }

    /// Takes in the programs' last reading.
    pub(crate) fn sample(&mut self, programs: &ThreadTime, now: Timestamp) {
        self.places.sample(programs, now);
    }

    /// Notes that nothing was counted up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        self.places.unchanged(at);
    }

    /// Rows of stall density and of pressure.
    pub(crate) fn buffers(&mut self) -> impl Iterator<Item = &mut TableBuffer> {
        self.places.buffers.as_flattened_mut().iter_mut()
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, programs: &ThreadTime) {
        self.places.finish(programs);
    }
}

#[cfg(test)]
mod tests;
