//! Tools that no distribution has as they are needed here: scripts bring them into the target folder.

use std::path::PathBuf;

use crate::needs;

/// Where a script of `scripts` put a tool, or a reason to skip.
pub fn tool(script: &str, path: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().expect("the test is a file");
    let target = test
        .ancestors()
        .nth(3)
        .expect("it lies in the target folder");
    let found = target.join(path);
    if !found.exists() {
        needs::skip(&format!("there is no {path} (scripts/{script} brings it)"));
        return None;
    }
    Some(found)
}
