//! The servers that only this set has. Each function that starts one returns its process and its port, where it has
//! one.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::first::{PYTHON, built, interpreted, java_class, start};
use crate::scenarios::held_out::{free_port, here};
use crate::stage::Stage;

/// HAProxy with two threads, which answers every request by a script in Lua that it loads by this word.
pub fn haproxy_with_script(stage: &mut Stage, loaded: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = include_str!("../../../programs/answering.lua");
    let script = stage.script("answering.lua", text)?;
    let configuration = format!(
        "global\n  nbthread 2\n  {loaded} {}\ndefaults\n  mode http\n  timeout client 30s\n  timeout \
         server 30s\n  timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n  http-request \
         use-service lua.answering\n",
        Path::new(&script).display()
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// The server in Python each request of which reads so many blocks of this file past the page cache.
pub fn reading_directly(stage: &mut Stage, file: &Path, reads: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "direct_reads.py",
        include_str!("../../../programs/direct_reads.py"),
    ];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(here(&port)).arg(file).args([reads, "direct"]);
    start(stage, python, port)
}

/// The service in Java that counts under a lock: threads, how often for a request, and `fair` or `unfair`.
pub fn fairly(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let program = ["Fair", include_str!("../../../programs/Fair.java")];
    java_class(stage, program, &[], &words)
}

/// The server in C with journals in this folder: whether its table is renewed `locked` or `beside` its mutex, and whether
/// journals are `synced` or `left`.
pub fn journalling(stage: &mut Stage, folder: &Path, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/journal.c")
    );
    let program = ["journal.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.arg(&port).arg(folder).args(words);
    start(stage, server, port)
}

/// Attaches a tracer to a process.
pub fn tracing(stage: &mut Stage, pid: u32) -> Result<()> {
    let program = ["tracing.c", include_str!("../../../programs/tracing.c")];
    let built = built(stage, &["cc", "-O2"], program)?;
    // As root: who traces may do so.
    let mut tracer = Command::new(built.get_program());
    tracer.arg(pid.to_string());
    stage.beside_that_speaks(tracer)?;
    Ok(())
}
