//! Folded stacks: a line for each path, `process;outermost;..;innermost COUNT`, as flamegraph.pl and inferno read it.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;

use super::Profile;

pub(super) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let mut path = plain(&sample.process.entity.name);
        for frame in profile.frames(sample).iter().rev() {
            path.push(';');
            path.push_str(&plain(&frame.to_string()));
        }
        *counts.entry(path).or_default() += 1;
    }
    for (path, count) in counts {
        writeln!(out, "{path} {count}")?;
    }
    Ok(())
}

/// A semicolon separates frames, and a line ends a path.
fn plain(name: &str) -> String {
    name.replace(';', ",").replace(['\n', '\r'], " ")
}
