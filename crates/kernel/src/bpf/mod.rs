//! BPF programs (`bpf/`): whether they can be loaded here, and the user-space side of each.
//!
//! Nothing depends on them: where one cannot be loaded, its data is read from files or is missing, and
//! `doctor` says why.

pub mod block;
mod clock;
mod conditions;
pub mod flow;
pub mod fold;
mod footprint;
mod hooks;
mod mapped;
mod messages;
mod per_cpu;
pub mod pressure;
pub mod probes;
pub mod processes;
pub mod psi_group;
mod refusal;
pub mod requests;
mod skeletons;
pub mod tasks;
pub mod thread_time;
#[cfg(test)]
mod verifier;

pub use refusal::Refusal;

/// For tests in which this process answers requests, one at a time: who counts them counts those of all tests.
#[cfg(test)]
fn answering() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
