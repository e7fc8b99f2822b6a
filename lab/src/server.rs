//! Purpose-written programs of the lab, as hidden commands of its own binary: a server whose
//! bottleneck can be chosen, a generator that is light on CPU, and troublemakers.
//!
//! Plain threads: what they do must be plain to see in /proc.

mod burn;
mod churn;
mod cpus;
mod downstream;
mod event_loop;
mod growing;
mod http;
mod idle;
mod latencies;
mod load;
mod mutex;
mod pausing;
mod player;
mod relay;
mod request;
mod ring;
mod schedule;
mod sessions;
mod spin;
mod spool;
mod storage;
mod workers;

use anyhow::{Context, Result};
use clap::Subcommand;
pub use cpus::two as two_cpus;
pub use load::{LATENCY, THROUGHPUT};
pub use request::said;
use rustix::process::{Signal, set_parent_process_death_signal};

/// The hidden commands.
#[derive(Subcommand)]
pub enum Part {
    /// A server: prints `listening on ADDRESS, thread TID` and serves until it is killed.
    #[command(subcommand, hide = true)]
    Serve(Server),
    /// A closed-loop client of `serve`, with a line per second.
    #[command(hide = true)]
    Load(load::LoadArguments),
    /// Many short PostgreSQL sessions, as of an application without a connection pool.
    #[command(hide = true)]
    Sessions(sessions::SessionsArguments),
    /// Threads that compute and never wait.
    #[command(hide = true)]
    Burn(burn::BurnArguments),
    /// Threads that sleep and wake a little.
    #[command(hide = true)]
    Idle(idle::IdleArguments),
    /// Threads and connections that come and go.
    #[command(hide = true)]
    Churn(churn::ChurnArguments),
    /// Threads that read and write past the page cache.
    #[command(hide = true)]
    Storage(storage::StorageArguments),
    /// A loop on an io_uring that waits for a connection, and for nothing else.
    #[command(hide = true)]
    Ring(ring::RingArguments),
    /// Things that are done at the times of a schedule.
    #[command(hide = true)]
    Play(player::PlayArguments),
    /// Two network devices, and packets that take their time between them.
    #[command(hide = true)]
    Relay(relay::RelayArguments),
    /// What `serve workers` starts for each connection.
    #[command(hide = true)]
    Worker(workers::WorkerArguments),
}

/// What serves.
#[derive(Subcommand)]
pub enum Server {
    /// A thread per connection; each request sleeps, holding the one mutex of the server.
    HotMutex(mutex::MutexArguments),
    /// A thread per connection; each request computes, holding a lock that waits in a loop.
    SpinLock(spin::SpinArguments),
    /// A thread per connection; each request looks through a table that grows.
    GrowingTable(growing::TableArguments),
    /// A web server with a thread per connection; each request sleeps.
    Downstream(downstream::DownstreamArguments),
    /// A thread per connection, and a thread that stops them all now and then.
    Pausing(pausing::PausingArguments),
    /// One thread computes the answers of all connections.
    SingleThread(event_loop::LoopArguments),
    /// A thread per connection; each request reads from the disk.
    DiskReads(storage::ReadsArguments),
    /// A thread per connection; each request writes a file and removes it.
    Spool(spool::SpoolArguments),
    /// A process per connection, some of which take more and more memory.
    Workers(workers::WorkersArguments),
}

/// Plays a part until it is killed or done.
pub fn play(part: &Part) -> Result<u8> {
    // Serving and disturbing have no end of their own; the load is ended by whoever runs it.
    if !matches!(part, Part::Load(_) | Part::Sessions(_)) {
        set_parent_process_death_signal(Some(Signal::KILL))
            .context("cannot tie this process to the one that started it")?;
    }
    match part {
        Part::Serve(Server::HotMutex(arguments)) => mutex::serve(arguments),
        Part::Serve(Server::SpinLock(arguments)) => spin::serve(arguments),
        Part::Serve(Server::GrowingTable(arguments)) => growing::serve(arguments),
        Part::Serve(Server::Downstream(arguments)) => downstream::serve(arguments),
        Part::Serve(Server::Pausing(arguments)) => pausing::serve(arguments),
        Part::Serve(Server::SingleThread(arguments)) => event_loop::serve(arguments),
        Part::Serve(Server::DiskReads(arguments)) => storage::serve(arguments),
        Part::Serve(Server::Spool(arguments)) => spool::serve(arguments),
        Part::Serve(Server::Workers(arguments)) => workers::serve(arguments),
        Part::Worker(arguments) => workers::work(arguments),
        Part::Load(arguments) => load::load(arguments),
        Part::Sessions(arguments) => sessions::sessions(arguments),
        Part::Burn(arguments) => burn::burn(arguments),
        Part::Idle(arguments) => idle::idle(arguments),
        Part::Churn(arguments) => churn::churn(arguments),
        Part::Storage(arguments) => storage::hammer(arguments),
        Part::Ring(arguments) => ring::wait(arguments),
        Part::Play(arguments) => player::play(arguments),
        Part::Relay(arguments) => relay::relay(arguments),
    }
}
