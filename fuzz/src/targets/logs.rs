//! Logs: what `--log` reads, in pieces of any length.

use std::path::Path;

use anyhow::Result;
use sensors::log::{CallName, LONGEST_LINE, Lines, LogMiner, Subject, template_of};

use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "logs",
    feed,
    seeds: from_fixtures,
    affordable: 10_000,
};

/// Bytes of a piece.
const PIECE: usize = 37;

fn feed(bytes: &[u8]) {
    let mut lines = Lines::default();
    let mut miner = LogMiner::default();
    let (mut count, mut sum) = (0, 0);
    for piece in bytes.chunks(PIECE) {
        lines.take(piece, |line, length| {
            assert!(line.len() <= LONGEST_LINE && line.len() < length);
            let text = template_of(line);
            assert!(
                !text.contains(|it: char| it.is_ascii_digit()),
                "a number is a value: {text}"
            );
            miner.line(line, length);
            count += 1;
            sum += length;
        });
    }
    assert!(sum <= bytes.len(), "no byte is counted twice");
    let changes = miner.changes();
    let of_parts = changes.iter().filter(|it| it.subject != Subject::Log);
    assert_eq!(of_parts.map(|it| it.counts[0]).sum::<i64>(), count);
    for name in changes.iter().filter_map(|it| it.name.as_deref()) {
        if let Some(call) = CallName::parse(name) {
            assert_eq!(call.to_string(), name);
        }
    }
}

/// What servers wrote, and a call.
fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    seeds::files(&repository.join("crates/sensors/fixtures/log"))
}
