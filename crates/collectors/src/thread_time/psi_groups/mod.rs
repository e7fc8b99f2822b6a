//! Pressure and stall density of sets for which the kernel counts none: each service, that is a process of
//! target or generator with its descendants, whatever control groups they are in; control groups without
//! pressure of their own.
//!
//! The thread-time programs count pressure of these PSI groups as the kernel does for its own; here it is
//! folded over 2 s, as in the kernel, and density is recorded per 100 ms.

mod groups;
mod places;

use std::collections::HashMap;

use model::{EntityId, Timestamp};

use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::output::Output;
use crate::processes::Processes;
use kernel::bpf::thread_time::ThreadTime;
use kernel::bpf::thread_time::psi_groups::Membership;

use groups::{Groups, Member};
use places::{Kind, Places};

/// A background process that shares PSI groups with tracked ones.
pub(crate) struct BackgroundMember {
    pub(crate) pid: u32,
    pub(crate) entity: EntityId,
    pub(crate) membership: Membership,
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
}

impl PsiGroups {
    pub(crate) fn new(out: &mut Output) -> Self {
        Self {
            places: Places::new(out),
            members: HashMap::new(),
            newcomers: Vec::new(),
            services: HashMap::new(),
            groups: Groups::default(),
            background: HashMap::new(),
        }
    }

    /// Finds the PSI groups of tracked processes.
    pub(crate) fn follow(
        &mut self,
        now: Timestamp,
        programs: &ThreadTime,
        processes: &Processes,
        cgroups: &Cgroups,
        out: &mut Output,
    ) {
        self.forget(programs, processes, out);
        let is_new = |it: &(u32, EntityId)| !self.members.contains_key(&it.0);
        self.newcomers.extend(processes.tracked().filter(is_new));
        while let Some((pid, entity)) = self.newcomers.pop() {
            let root = processes.root_of(pid);
            let Some(service) =
                root.and_then(|it| self.service(it, programs, processes, &mut out.gaps))
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
        self.groups
            .follow(now, members, programs, &mut self.places, cgroups, out);
        let Self {
            groups,
            background,
            members,
            ..
        } = self;
        let group = |entity| groups.of_background(entity, &out.registry);
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
    pub(crate) fn background(&self) -> impl Iterator<Item = BackgroundMember> {
        self.background.iter().map(|(pid, (entity, group))| {
            let (group, around) = self.groups.places(*group);
            let membership = Membership {
                service: None,
                group,
                around,
            };
            BackgroundMember {
                pid: *pid,
                entity: *entity,
                membership,
            }
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
    fn forget(&mut self, programs: &ThreadTime, processes: &Processes, out: &mut Output) {
        let Self {
            places,
            members,
            services,
            ..
        } = self;
        services.retain(|pid, (entity, place)| {
            let stays = processes.entity(*pid) == Some(*entity);
            if !stays {
                places.leave(*place, programs, out);
                members.retain(|_, member| member.service != *place);
            }
            stays
        });
        members.retain(|pid, member| processes.entity(*pid) == Some(member.entity));
    }

    /// Takes in the programs' last reading.
    pub(crate) fn sample(&mut self, programs: &ThreadTime, now: Timestamp, out: &mut Output) {
        self.places.sample(programs, now, out);
    }

    /// Notes that nothing was counted up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        self.places.unchanged(at);
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, programs: &ThreadTime, out: &mut Output) {
        self.places.finish(programs, out);
    }
}
