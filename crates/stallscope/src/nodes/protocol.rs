//! What `run --on` and the program on a node say to each other: a line for each request and each answer, and files in
//! frames. Both sides are of one version, which was compared before, so that there is nothing to negotiate.
//!
//! | request | answer | what happens |
//! |---|---|---|
//! | | `ready` | the program there has started |
//! | `clock` | `clock NS` | the node reads its `CLOCK_REALTIME` |
//! | `record` | `recording PATH` | it records the whole machine |
//! | `keep` | `kept` | the recording outlives the connection from now on |
//! | `alive` | `alive` | it goes on |
//! | `stop` | `stopped` | the recording is closed |
//! | `send PATH` | `sending`, then frames | the recording as a bundle, with all names |
//! | `remove PATH` | `removed` | the recording is gone there |
//!
//! In place of any answer comes `failed WHY`. A frame is a length of four bytes, big endian, and as many bytes; an empty
//! one is the end, and one of the length `BROKEN` says that the sender failed.

use std::io::{self, Write};
use std::time::Duration;

/// A request, or the answer to one, by its first word.
pub(super) const READY: &str = "ready";
pub(super) const CLOCK: &str = "clock";
pub(super) const RECORD: &str = "record";
pub(super) const RECORDING: &str = "recording";
pub(super) const KEEP: &str = "keep";
pub(super) const KEPT: &str = "kept";
pub(super) const ALIVE: &str = "alive";
pub(super) const STOP: &str = "stop";
pub(super) const STOPPED: &str = "stopped";
pub(super) const SEND: &str = "send";
pub(super) const SENDING: &str = "sending";
pub(super) const REMOVE: &str = "remove";
pub(super) const REMOVED: &str = "removed";
pub(super) const FAILED: &str = "failed";

/// How often we say that we are still there, while the run goes on.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(5);
/// A node that hears nothing for so long ends its recording: whoever asked for it is gone, and the network did not say so.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// How long a recorder may take until it has its first rows: programs are loaded into the kernel.
pub(super) const BEGINNING: Duration = Duration::from_secs(60);
/// How long it may take until it has written everything down.
pub(super) const CLOSING: Duration = Duration::from_secs(60);

/// The longest frame, bytes.
pub(super) const FRAME_BYTES: usize = 1 << 16;
/// The length of a frame that says that no more comes although there is more.
pub(super) const BROKEN: u32 = u32::MAX;

/// Writes what it is given as frames.
pub(super) struct FrameWriter<W>(W);

impl<W: Write> FrameWriter<W> {
    pub(super) fn new(to: W) -> Self {
        Self(to)
    }

    /// Says that this was all, or that the rest is missing.
    pub(super) fn end(mut self, is_whole: bool) -> io::Result<()> {
        let last = if is_whole { 0 } else { BROKEN };
        self.0.write_all(&last.to_be_bytes())?;
        self.0.flush()
    }
}

impl<W: Write> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = &bytes[..bytes.len().min(FRAME_BYTES)];
        if !taken.is_empty() {
            // At most `FRAME_BYTES`.
            self.0.write_all(&(taken.len() as u32).to_be_bytes())?;
            self.0.write_all(taken)?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_hold_what_was_written(bytes in prop::collection::vec(any::<u8>(), 0..200_000)) {
            let mut framed = Vec::new();
            let mut writer = FrameWriter::new(&mut framed);
            writer.write_all(&bytes).expect("memory takes it");
            writer.end(true).expect("memory takes it");
            let (mut rest, mut read) = (&*framed, Vec::new());
            loop {
                let (length, after) = rest.split_first_chunk::<4>().expect("a length");
                let length = u32::from_be_bytes(*length) as usize;
                prop_assert!(length <= FRAME_BYTES);
                let (frame, after) = after.split_at(length);
                rest = after;
                if frame.is_empty() {
                    break;
                }
                read.extend_from_slice(frame);
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(read, bytes);
        }
    }
}
