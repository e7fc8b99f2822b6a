//! What rows are about: machine, cgroup, process, thread, CPU, disk, interface, connection, workload, series.
//!
//! An entity is known by a small integer in rows; its names stand once, in the entity list. Causes
//! and shares must not depend on any name here: only sentences may show one.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The kinds of things that are measured.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// The whole machine.
    Machine,
    /// A control group; v1 and v2 groups of one path are one entity.
    Cgroup,
    /// A process: (boot id, pid namespace, pid, start time).
    Process,
    /// A thread of a process.
    Thread,
    /// One logical CPU.
    Cpu,
    /// A block device.
    Disk,
    /// A block device as one control group uses it; its parent is the group.
    GroupDisk,
    /// A mounted filesystem.
    Filesystem,
    /// A file that somebody waits for; its parent is the first process of the service whose it is.
    File,
    /// A network interface.
    Interface,
    /// A connection; its parent is the process that holds this end.
    Connection,
    /// The load generator as seen by itself, or one of its scripts.
    Workload,
    /// A pool of threads of the same name, of a process and of its descendants of the same name; its
    /// parent is that process.
    Pool,
    /// A waker that ends waits of a pool, of one class; its parent is the pool.
    Waker,
    /// A wait event of the threads of a pool; its parent is the pool.
    WaitEvent,
    /// A series that an endpoint in Prometheus's format serves: a metric with its labels; its parent is the
    /// process that listens there, where that is known.
    Series,
    /// Requests of one operation at a block device: all of them, or those of a control group, a process, a file or a
    /// journal; its parent is that group or process, or the disk.
    BlockStream,
    /// What a process exchanges with one peer at one port, or at one unix socket's path, by all its connections; its
    /// parent is the process.
    Flow,
    /// A log that was named: a file, or the journal.
    Log,
    /// What lines of a log have in common; its parent is the log.
    LogTemplate,
    /// Calls of a method by a caller to a callee, as a log reports them; its parent is the log.
    LoggedCall,
    /// A statement of a database server, or its time without one; its parent is the pool of the processes that ran it.
    Statement,
}

impl EntityKind {
    /// Every kind, in declaration order.
    pub const ALL: [EntityKind; 22] = [
        EntityKind::Machine,
        EntityKind::Cgroup,
        EntityKind::Process,
        EntityKind::Thread,
        EntityKind::Cpu,
        EntityKind::Disk,
        EntityKind::GroupDisk,
        EntityKind::Filesystem,
        EntityKind::File,
        EntityKind::Interface,
        EntityKind::Connection,
        EntityKind::Workload,
        EntityKind::Pool,
        EntityKind::Waker,
        EntityKind::WaitEvent,
        EntityKind::Series,
        EntityKind::BlockStream,
        EntityKind::Flow,
        EntityKind::Log,
        EntityKind::LogTemplate,
        EntityKind::LoggedCall,
        EntityKind::Statement,
    ];

    /// The word used in recordings and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            EntityKind::Machine => "machine",
            EntityKind::Cgroup => "cgroup",
            EntityKind::Process => "process",
            EntityKind::Thread => "thread",
            EntityKind::Cpu => "cpu",
            EntityKind::Disk => "disk",
            EntityKind::GroupDisk => "group_disk",
            EntityKind::Filesystem => "filesystem",
            EntityKind::File => "file",
            EntityKind::Interface => "interface",
            EntityKind::Connection => "connection",
            EntityKind::Workload => "workload",
            EntityKind::Pool => "pool",
            EntityKind::Waker => "waker",
            EntityKind::WaitEvent => "wait_event",
            EntityKind::Series => "series",
            EntityKind::BlockStream => "block_stream",
            EntityKind::Flow => "flow",
            EntityKind::Log => "log",
            EntityKind::LogTemplate => "log_template",
            EntityKind::LoggedCall => "logged_call",
            EntityKind::Statement => "statement",
        }
    }
}

impl fmt::Display for EntityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// An entity: its kind, the name that a person uses, and the path that identifies it.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Entity {
    /// The kind of thing.
    pub kind: EntityKind,
    /// What a person calls it: `postgres`, `vda`, `cpu0`.
    pub name: String,
    /// Unique within the recording and the kind: `pid:1234@256402`, `/system.slice/x.service`.
    pub path: String,
}

impl Entity {
    /// An entity of the given kind, name and path.
    pub fn new(kind: EntityKind, name: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            path: path.into(),
        }
    }

    /// The number of a process, and of whom a thread belongs to: 12 in `pid:12@3456`; `None` of others.
    pub fn pid(&self) -> Option<u32> {
        let (number, _) = self.path.strip_prefix("pid:")?.split_once('@')?;
        number.parse().ok()
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// An entity's number within one recording.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct EntityId(pub u32);

/// The role of an entity in what is measured.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Serves the load; the verdict is about it. The target is a set.
    Target,
    /// Makes the load.
    Generator,
    /// Something the target calls.
    Dependency,
    /// Stallscope itself: accounted for as cost, never as a neighbour.
    Recorder,
    /// Everything else on the machine.
    #[default]
    #[serde(rename = "rest")]
    Background,
}

impl Role {
    /// Every role, in declaration order.
    pub const ALL: [Role; 5] = [
        Role::Target,
        Role::Generator,
        Role::Dependency,
        Role::Recorder,
        Role::Background,
    ];

    /// The word used in recordings and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Target => "target",
            Role::Generator => "generator",
            Role::Dependency => "dependency",
            Role::Recorder => "recorder",
            Role::Background => "rest",
        }
    }
}

/// One entity of a recording with its life and its part.
#[derive(Clone, PartialEq, Debug)]
pub struct EntityRecord {
    /// Its number in rows.
    pub id: EntityId,
    /// Who it is; the newest name wins (a process is renamed by exec).
    pub entity: Entity,
    /// A thread's process, a process's parent process.
    pub parent: Option<EntityId>,
    /// A process's control group: of the v1 cpu hierarchy where there is one, else of v2.
    pub group: Option<EntityId>,
    /// The same process's group whose pressure is its own: of v2, or, where that is a group around, the one
    /// of v1 that pressure was counted for.
    pub pressure_group: Option<EntityId>,
    /// The same process's group where memory is limited: of the v1 memory hierarchy, else of v2.
    pub memory_group: Option<EntityId>,
    /// The same process's group where I/O is limited: of the v1 blkio hierarchy, else of v2.
    pub io_group: Option<EntityId>,
    /// Its role.
    pub role: Role,
    /// Whether it holds a connection of the load generator: time of serving threads is compared with
    /// response time.
    pub serving: bool,
    /// When it was first sampled.
    pub first_seen: Timestamp,
    /// When it was found gone; `None` while it lives.
    pub vanished: Option<Timestamp>,
}

impl EntityRecord {
    /// A background entity that lives, has no parent and is in no group.
    pub fn new(id: EntityId, entity: Entity, first_seen: Timestamp) -> Self {
        Self {
            id,
            entity,
            parent: None,
            group: None,
            pressure_group: None,
            memory_group: None,
            io_group: None,
            role: Role::Background,
            serving: false,
            first_seen,
            vanished: None,
        }
    }
}

/// A change of the entity list, as it is recorded. The list is the fold of its events.
#[derive(Clone, PartialEq, Debug)]
pub struct EntityEvent {
    /// When it was noticed.
    pub time: Timestamp,
    /// The entity's whole state after the change.
    pub record: EntityRecord,
}

/// The entities of a recording, by number.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Entities {
    /// Not a list with a place for each number: a file from elsewhere may leave out most of them.
    records: BTreeMap<EntityId, EntityRecord>,
}

impl Entities {
    /// Takes an event into the list: the newest state of an entity wins.
    ///
    /// Returns false, and changes nothing, for a number above `Entities::MAX`.
    pub fn apply(&mut self, event: EntityEvent) -> bool {
        let id = event.record.id;
        if id.0 as usize >= Self::MAX {
            return false;
        }
        self.records.insert(id, event.record);
        true
    }

    /// The most entities that a recording may hold; keeps a damaged number from asking for all memory.
    pub const MAX: usize = 16_000_000;

    /// The entity of that number.
    pub fn get(&self, id: EntityId) -> Option<&EntityRecord> {
        self.records.get(&id)
    }

    /// All entities in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &EntityRecord> {
        self.records.values()
    }

    /// All entities, to be changed in place (a test renames them).
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut EntityRecord> {
        self.records.values_mut()
    }

    /// The entities of one kind.
    pub fn of_kind(&self, kind: EntityKind) -> impl Iterator<Item = &EntityRecord> {
        self.iter().filter(move |record| record.entity.kind == kind)
    }

    /// The only entity of the kind `Machine`, if it was recorded.
    pub fn machine(&self) -> Option<&EntityRecord> {
        self.of_kind(EntityKind::Machine).next()
    }
}
