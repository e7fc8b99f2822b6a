//! The handle of a running sampler: commands to it, events from it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::logs::LogSource;
use model::{Cost, Entity, EntityEvent, EntityId, Gap, Role, Rows, Table, Text, Timestamp};

/// Longest wait for the end of a sampler.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Options of a sampler.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `/`, or another folder with the kernel's files.
    pub root: PathBuf,
    /// Lock memory and raise the priority where allowed.
    pub harden: bool,
    /// Keep the BPF programs attached all the time, even if that slows the load down.
    pub traces_all: bool,
    /// How often a second each CPU is looked at for what it runs; `None` for never.
    pub stack_rate: Option<u32>,
    /// From which length on each wait is recorded with its call stack; `None` as the budget allows.
    pub min_wait: Option<Duration>,
    /// Logs that are read.
    pub logs: Vec<LogSource>,
    /// The workload, so that its metrics have an entity: `Sampler::WORKLOAD`.
    pub workload: Option<Entity>,
    /// Entity numbers that somebody else gives: so many from `Sampler::RESERVED` on.
    pub reserved: u32,
}

/// This machine, beside whatever runs: the sampler leaves its own process as it is, and knows no workload.
impl Default for Settings {
    fn default() -> Self {
        Self {
            root: PathBuf::from("/"),
            harden: false,
            traces_all: false,
            stack_rate: None,
            min_wait: None,
            logs: Vec::new(),
            workload: None,
            reserved: 0,
        }
    }
}

/// Commands to a running sampler.
#[derive(Clone, Debug)]
pub enum Command {
    /// Gives a role to processes and their descendants; answered with the entity of the first.
    Assign {
        /// Roots of the process trees.
        pids: Vec<u32>,
        /// The role that all of them get.
        role: Role,
    },
    /// Marks processes that hold a connection of the generator.
    Serving(Vec<u32>),
    /// Writes every row at the next reading, changed or not: rows were lost, and without this the changes in
    /// them would be taken for unchanged values.
    ForceFullRows,
    /// Asks what sampling has cost so far; answered at once.
    ReportCost,
    /// Ends the sampling after a last reading of everything.
    Stop,
}

/// Output of a sampler.
#[derive(Debug)]
pub enum SamplerEvent {
    /// Rows of one table; return the buffer through `SamplerHandle::give_back`.
    Rows(&'static Table, Rows),
    /// Changes of the entity list.
    Entities(Vec<EntityEvent>),
    /// Texts that rows refer to.
    Strings(Vec<Text>),
    /// Something that is not recorded, and why.
    Gap(Gap),
    /// A process with this role connected to an address for the first time (TCP).
    Contact(Role, SocketAddr),
    /// An assignment was carried out; with the entity of the first process, if it exists.
    Assigned(Role, Option<EntityId>),
    /// What sampling has cost so far.
    Cost(Box<Cost>),
    /// The sampler has ended.
    Ended(Ending),
}

/// Summary at the end of sampling.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Cost of the sampling itself.
    pub cost: Cost,
    /// Time of the last row.
    pub at: Timestamp,
}

/// An emptied buffer that returns to the table that filled it.
pub type Spare = (&'static Table, Rows);

/// A sampler on a thread of its own.
pub struct SamplerHandle {
    pub(crate) commands: Sender<Command>,
    pub(crate) spare: Sender<Spare>,
    pub(crate) thread: Option<JoinHandle<()>>,
}

impl SamplerHandle {
    /// Sends a command; the sampler handles it at its next tick.
    pub fn tell(&self, command: Command) {
        // Fails only if the sampler has ended, which it has reported itself.
        let _ = self.commands.send(command);
    }

    /// Returns a buffer to be filled again.
    pub fn give_back(&self, table: &'static Table, mut rows: Rows) {
        rows.clear();
        let _ = self.spare.send((table, rows));
    }
}

impl Drop for SamplerHandle {
    fn drop(&mut self) {
        self.tell(Command::Stop);
        // The sampler answers within a tick. If it hangs in the kernel, the program must not hang with it.
        let deadline = Instant::now() + TIMEOUT;
        let running = |thread: &JoinHandle<()>| !thread.is_finished();
        while self.thread.as_ref().is_some_and(running) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
