//! How the sampler is spoken to, and what it hands on.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use model::{Cost, Entity, EntityEvent, EntityId, Gap, Role, Rows, Table, Timestamp};

/// How long the end of a sampler is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a sampler is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `/`, or another root that shows the kernel's files.
    pub root: PathBuf,
    /// Lock memory and raise the priority where allowed.
    pub harden: bool,
    /// Trace switches and wake-ups all the time, also where the load runs slower for it.
    pub traces_all: bool,
    /// The workload, so that its signal has an entity: it is `Sampler::WORKLOAD`.
    pub workload: Option<Entity>,
}

/// What the sampler is told while it runs.
#[derive(Clone, Debug)]
pub enum Command {
    /// Gives a part to processes and their descendants; the entity of the first is answered.
    Assign {
        /// The roots.
        pids: Vec<u32>,
        /// Their part.
        role: Role,
    },
    /// Marks processes that hold a connection of the generator.
    Serving(Vec<u32>),
    /// Has everything written at its next reading, changed or not: rows were lost, and what changed in
    /// them would else be taken for unchanged.
    ForceFullRows,
    /// Ends the sampling after a last look at everything.
    Stop,
}

/// What the sampler hands on.
#[derive(Debug)]
pub enum SamplerEvent {
    /// Rows of one table; give the buffer back through `SamplerHandle::give_back`.
    Rows(&'static Table, Rows),
    /// Changes of the entity list.
    Entities(Vec<EntityEvent>),
    /// Something that is not seen.
    Gap(Gap),
    /// A process with this part connected to an address for the first time (TCP).
    Contact(Role, SocketAddr),
    /// An assignment was carried out: the entity of the first process.
    Assigned(Role, Option<EntityId>),
    /// The end.
    Ended(Ending),
}

/// What is known when sampling is over.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What it cost.
    pub cost: Cost,
    /// When the last row was taken.
    pub at: Timestamp,
}

/// An emptied buffer on its way back to the table that filled it.
pub type Spare = (&'static Table, Rows);

/// A sampler on its own thread.
pub struct SamplerHandle {
    pub(crate) commands: Sender<Command>,
    pub(crate) spare: Sender<Spare>,
    pub(crate) thread: Option<JoinHandle<()>>,
}

impl SamplerHandle {
    /// Tells the sampler something; it hears it at its next tick.
    pub fn tell(&self, command: Command) {
        // Refused only when the sampler has ended, and then it has said so itself.
        let _ = self.commands.send(command);
    }

    /// Gives a buffer back to be filled again.
    pub fn give_back(&self, table: &'static Table, mut rows: Rows) {
        rows.clear();
        let _ = self.spare.send((table, rows));
    }
}

impl Drop for SamplerHandle {
    fn drop(&mut self) {
        self.tell(Command::Stop);
        // The sampler answers within a tick. One that hangs in the kernel must not hang the program.
        let deadline = Instant::now() + PATIENCE;
        let running = |thread: &JoinHandle<()>| !thread.is_finished();
        while self.thread.as_ref().is_some_and(running) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
