//! What reaches the thread that makes a recording, from all others, in one queue.

use collectors::SamplerEvent;
use kernel::Interrupt;
use targets::Part;
use workloads::Bin;

use super::applications::Message;
use super::clients::Program;
use super::search::SearchEvent;

/// What reaches the thread that makes a recording.
pub(super) enum Event {
    /// From the sampler.
    Sampler(SamplerEvent),
    /// From the workload's output.
    Bins(Vec<Bin>),
    /// From the search for servers.
    Search(SearchEvent),
    /// From the survey of the machine: who is to be followed.
    Follow(Vec<Part>),
    /// From the search for clients: who asks the targets.
    Clients(Vec<Program>),
    /// From the search for dependencies: whom the targets ask.
    Dependencies(Vec<Program>),
    /// From the application of this number.
    Application(usize, Message),
    /// The user wants it to end.
    Interrupt(Interrupt),
}
