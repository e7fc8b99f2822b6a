//! Call stacks: what runs on CPUs, in which functions, on whose behalf.
//!
//! `CpuSamples` looks, `Unwinder` finds the frames, `symbols` names them.

pub(crate) mod cpu_samples;
mod maps;
mod module;
mod records;
mod ring;
mod short_names;
mod spin_hint;
pub mod symbols;
mod unwinder;

pub use cpu_samples::CpuSamples;
pub use records::{Record, Registers, Sample, UserStack, record};
pub use spin_hint::SpinHints;
pub use unwinder::{End, Frame, MOST_FRAMES, ModuleId, ModuleName, Unwinder};
