//! Folded stacks: a line for each path, `process;outermost;..;innermost COUNT`, as flamegraph.pl and inferno read it. Of
//! waits the count is their time in microseconds, as offcputime of bcc has it.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;

use super::{Of, Profile};

pub(super) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let mut path = plain(&sample.process.entity.name);
        for frame in profile.frames(sample).iter().rev() {
            path.push(';');
            path.push_str(&plain(&frame.to_string()));
        }
        *counts.entry(path).or_default() += match profile.of {
            Of::Cpu => 1,
            Of::Waits => sample.ns.unsigned_abs(),
        };
    }
    for (path, count) in counts {
        let count = match profile.of {
            Of::Cpu => count,
            Of::Waits => count.div_ceil(1_000),
        };
        writeln!(out, "{path} {count}")?;
    }
    Ok(())
}

/// A semicolon separates frames, and a line ends a path.
fn plain(name: &str) -> String {
    name.replace(';', ",").replace(['\n', '\r'], " ")
}
