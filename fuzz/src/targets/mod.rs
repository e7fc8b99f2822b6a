//! The targets: a file for each kind of bytes that come from outside.

mod answers;
mod arguments;
mod bundle;
mod diagnosis;
mod folder;
mod imports;
mod journal;
mod kernel;
mod logs;
mod messages;
mod options;
mod outputs;
mod program;
mod text;
mod workload;

use crate::Target;

/// Every target.
pub static ALL: [Target; 15] = [
    kernel::TARGET,
    messages::TARGET,
    logs::TARGET,
    answers::TARGET,
    program::TARGET,
    workload::TARGET,
    imports::TARGET,
    arguments::TARGET,
    options::TARGET,
    text::TARGET,
    folder::TARGET,
    journal::TARGET,
    diagnosis::TARGET,
    bundle::TARGET,
    outputs::TARGET,
];

/// Parts several texts in one input: no text that is read here has it (ASCII: record separator).
const PART: u8 = 0x1e;

/// The parts of an input.
fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == PART)
}
