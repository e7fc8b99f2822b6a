//! The servers that only this set has. Each function starts one and returns its process and its port.

use std::path::Path;

use anyhow::Result;

use super::first::{PYTHON, built, interpreted, java_class, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// The service in Java with buffers outside of its heap: KiB of one, objects that stay in the heap, and whether each request
/// has a `new` one or that which was `kept`.
pub fn with_direct_buffers(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let program = ["Direct", include_str!("../../../programs/Direct.java")];
    let heap = ["-XX:+UseSerialGC", "-Xms384m", "-Xmx384m"];
    let options = [&heap[..], &["-XX:MaxDirectMemorySize=64m"]].concat();
    java_class(stage, program, &options, &words)
}

/// The server in Python with a pool: address of the service behind, connections of the pool, and calls that have failed.
pub fn with_pool(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["depleted.py", include_str!("../../../programs/depleted.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&port).args(words);
    start(stage, python, port)
}

/// The server in C with teams: processes, threads and loops, and what a thread does that has nothing to do.
pub fn in_teams(stage: &mut Stage, words: [&str; 3], policy: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/teams.c")
    );
    let program = ["teams.c", text];
    let mut server = built(stage, &["cc", "-O2", "-fopenmp"], program)?;
    server.arg(&port).args(words);
    server.env("OMP_WAIT_POLICY", policy);
    start(stage, server, port)
}

/// The service in Go that reads records from this file, with a buffer or without one.
pub fn of_records(stage: &mut Stage, file: &Path, buffered: bool) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["sections.go", include_str!("../../../programs/sections.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port, "-file"]).arg(file);
    if buffered {
        go.arg("-buffered");
    }
    start(stage, go, port)
}

/// The server in Node.js that works under a lock in Redis: port of Redis, whether all want `one` key or each its `own`, ms
/// until it asks again, and ms of work.
pub fn asking_again(stage: &mut Stage, words: [&str; 4]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "asked_again.js",
        include_str!("../../../programs/asked_again.js"),
    ];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}
