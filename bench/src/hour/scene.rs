//! Who is on the machine of a made recording: its CPUs, disks and groups, a server with its backends, the
//! load generator, strangers, and processes that live for a moment.

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};

/// When made recordings begin: some time after boot.
pub(crate) const START: Timestamp = Timestamp::from_ns(1_000_000_000_000);

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) seconds: i64,
    pub(crate) cpus: u32,
    pub(crate) groups: u32,
    /// Connections of the generator, each with a backend of its own.
    pub(crate) backends: u32,
    /// Processes that are neither the server's nor the generator's.
    pub(crate) strangers: u32,
    pub(crate) threads_of_stranger: u32,
    /// Processes that lived for less than a second, spread over the time; every other one is a backend.
    pub(crate) moments: u32,
    /// Whether requests stand still for a second every half minute.
    pub(crate) spikes: bool,
}

/// The entities by what is measured of them, in the order of their numbers.
#[derive(Default)]
pub(crate) struct EntitySelection {
    pub(crate) machine: Vec<EntityId>,
    pub(crate) workload: Vec<EntityId>,
    pub(crate) cpus: Vec<EntityId>,
    pub(crate) disks: Vec<EntityId>,
    pub(crate) interfaces: Vec<EntityId>,
    pub(crate) filesystems: Vec<EntityId>,
    pub(crate) groups: Vec<EntityId>,
    pub(crate) group_disks: Vec<EntityId>,
    pub(crate) server: Option<EntityId>,
    pub(crate) generator: Option<EntityId>,
    /// Processes of server and generator, and theirs.
    pub(crate) near: Vec<EntityId>,
    pub(crate) strangers: Vec<EntityId>,
    pub(crate) backend_threads: Vec<EntityId>,
    /// Of the server's processes that serve nobody.
    pub(crate) helper_threads: Vec<EntityId>,
    pub(crate) generator_threads: Vec<EntityId>,
    pub(crate) stranger_threads: Vec<EntityId>,
    /// What was said of them, to be written with the first rows.
    pub(crate) events: Vec<EntityEvent>,
    next: u32,
    now: Timestamp,
}

/// Processes of the server that serve nobody: checkpointer, writers, launchers.
const HELPERS: u32 = 6;
const GENERATOR_THREADS: u32 = 2;

impl EntitySelection {
    pub(crate) fn new(size: &Size) -> Self {
        let mut cast = Self {
            now: START,
            ..Self::default()
        };
        cast.machine = cast.several(EntityKind::Machine, "made", 1);
        cast.workload = cast.several(EntityKind::Workload, "pgbench", 1);
        cast.cpus = cast.several(EntityKind::Cpu, "cpu", size.cpus);
        cast.disks = cast.several(EntityKind::Disk, "vd", 2);
        cast.interfaces = cast.several(EntityKind::Interface, "eth", 2);
        cast.filesystems = cast.several(EntityKind::Filesystem, "/srv", 1);
        cast.groups = cast.several(EntityKind::Cgroup, "/system.slice/unit", size.groups);
        // One group in ten does I/O.
        for group in cast.groups.clone().into_iter().step_by(10) {
            let part = cast.add(EntityKind::GroupDisk, "vd0", Role::Background, |record| {
                record.parent = Some(group);
            });
            cast.group_disks.push(part);
        }
        cast.server(size.backends);
        cast.generator();
        cast.strangers(size);
        cast
    }

    fn server(&mut self, backends: u32) {
        let server = self.process("postgres", Role::Target, None);
        self.server = Some(server);
        self.near.push(server);
        for number in 0..backends + HELPERS {
            let process = self.process("postgres", Role::Target, Some(server));
            self.near.push(process);
            let thread = self.thread(process);
            if number < backends {
                self.serves(process);
                self.backend_threads.push(thread);
            } else {
                self.helper_threads.push(thread);
            }
        }
    }

    fn generator(&mut self) {
        let generator = self.process("pgbench", Role::Generator, None);
        self.generator = Some(generator);
        self.near.push(generator);
        for _ in 0..GENERATOR_THREADS {
            let thread = self.thread(generator);
            self.generator_threads.push(thread);
        }
    }

    fn strangers(&mut self, size: &Size) {
        for _ in 0..size.strangers {
            let process = self.process("stranger", Role::Background, None);
            self.strangers.push(process);
            for _ in 0..size.threads_of_stranger {
                let thread = self.thread(process);
                self.stranger_threads.push(thread);
            }
        }
    }

    /// A process that lives for a moment, with its thread where it is a backend.
    pub(crate) fn moment(
        &mut self,
        number: u32,
        (born, gone): (Timestamp, Timestamp),
    ) -> (EntityId, Option<EntityId>) {
        self.now = born;
        let first = self.events.len();
        let backend = number.is_multiple_of(2);
        let (process, thread) = if backend {
            let process = self.process("postgres", Role::Target, self.server);
            self.serves(process);
            (process, Some(self.thread(process)))
        } else {
            (self.process("sh", Role::Background, None), None)
        };
        let came = self.events[first..].to_vec();
        for mut event in came {
            event.time = gone;
            event.record.vanished = Some(gone);
            self.events.push(event);
        }
        (process, thread)
    }

    fn several(&mut self, kind: EntityKind, name: &str, count: u32) -> Vec<EntityId> {
        (0..count)
            .map(|number| self.add(kind, &format!("{name}{number}"), Role::Background, |_| {}))
            .collect()
    }

    fn process(&mut self, name: &str, role: Role, parent: Option<EntityId>) -> EntityId {
        // Server and generator have a group each, strangers share the others.
        let place = match role {
            Role::Target => 0,
            Role::Generator => 1,
            _ => 2 + self.next as usize % (self.groups.len() - 2),
        };
        let group = Some(self.groups[place]);
        self.add(EntityKind::Process, name, role, |record| {
            record.parent = parent;
            record.group = group;
            record.pressure_group = group;
            record.memory_group = group;
            record.io_group = group;
        })
    }

    fn thread(&mut self, process: EntityId) -> EntityId {
        self.add(EntityKind::Thread, "thread", Role::Background, |record| {
            record.parent = Some(process);
        })
    }

    fn serves(&mut self, process: EntityId) {
        let mut events = self.events.iter_mut();
        if let Some(event) = events.rfind(|event| event.record.id == process) {
            event.record.serving = true;
        }
    }

    fn add(
        &mut self,
        kind: EntityKind,
        name: &str,
        role: Role,
        more: impl FnOnce(&mut EntityRecord),
    ) -> EntityId {
        let id = EntityId(self.next);
        self.next += 1;
        let path = match kind {
            EntityKind::Cgroup => name.to_owned(),
            _ => format!("{}:{}", kind.word(), id.0),
        };
        let mut record = EntityRecord {
            role,
            ..EntityRecord::new(id, Entity::new(kind, name, path), self.now)
        };
        more(&mut record);
        self.events.push(EntityEvent {
            time: self.now,
            record,
        });
        id
    }
}
