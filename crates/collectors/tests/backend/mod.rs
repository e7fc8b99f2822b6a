//! Processes that show a word as PostgreSQL's backends do, for tests that must run without one.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that ends with the test.
pub struct Backend(Child);

impl Backend {
    /// Starts one whose word is `value`; `before_14` shows it as PostgreSQL 13 does. `None` without a
    /// C compiler.
    pub fn start(folder: &Path, before_14: bool, value: u32) -> Option<Self> {
        let program = folder.join(if before_14 { "before_14" } else { "since_14" });
        if !program.exists() {
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/backend/backend.c");
            let define = if before_14 {
                "-DBEFORE_14"
            } else {
                "-DSINCE_14"
            };
            let mut compiler = Command::new("cc");
            compiler
                .args(["-rdynamic", define, source, "-o"])
                .arg(&program);
            if !compiler.status().is_ok_and(|status| status.success()) {
                return None;
            }
        }
        let mut command = Command::new(program);
        command.arg(value.to_string()).stdin(Stdio::null());
        kernel::signal_at_parents_end(&mut command, rustix::process::Signal::KILL);
        command.spawn().ok().map(Self)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
