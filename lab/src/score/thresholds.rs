//! Which thresholds a score belongs to: the commit that last touched them.

use std::process::Command;

const FILE: &str = "crates/analysis/thresholds.toml";

/// The commit, whether the file has been changed since, or that there is none.
pub fn commit() -> String {
    let Some(commit) = git(&["log", "-1", "--format=%h", "--", FILE]).filter(|c| !c.is_empty())
    else {
        return "not known: not in a checkout of the sources".to_owned();
    };
    let changed = git(&["status", "--porcelain", "--", FILE]).is_some_and(|text| !text.is_empty());
    if changed {
        format!("{commit}, and changed since")
    } else {
        commit
    }
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
