//! The servers that only this set has. Each function that starts one returns its process and its port, where it has
//! one.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::first::{built, interpreted, java_class, start};
use crate::scenarios::held_out::{free_port, mariadb_data};
use crate::stage::Stage;

/// HAProxy before this service, which lets so many connections in at a time; others wait in the kernel, which has room
/// for them.
pub fn haproxy_admitting(
    stage: &mut Stage,
    service: &str,
    connections: &str,
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n  maxconn {connections}\n  \
         backlog 1024\n  default_backend service\nbackend service\n  server service {service}\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// MariaDB without accounts, on port 7000 of all addresses; not started.
pub fn mariadb_for_all(stage: &Stage) -> Result<Command> {
    let data = mariadb_data(stage)?;
    let mut mariadb = Command::new("mariadbd");
    // Who is far away has no account, and no name.
    mariadb.args([
        "--no-defaults",
        "--skip-grant-tables",
        "--skip-name-resolve",
    ]);
    mariadb.args(["--user=nobody", "--bind-address=0.0.0.0", "--port=7000"]);
    mariadb.arg(format!("--datadir={}", data.display()));
    mariadb.arg(format!("--socket={}/socket", data.display()));
    mariadb.arg(format!("--log-error={}/log", data.display()));
    Ok(mariadb)
}

/// The server in Node.js that turns so many orders into text.
pub fn ordering(stage: &mut Stage, orders: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["orders.js", include_str!("../../../programs/orders.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, orders]);
    start(stage, node, port)
}

/// The server in Node.js with a dashboard: the service behind, ms of its sums (0: there is none), and ms between two.
pub fn summing(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "dashboard.js",
        include_str!("../../../programs/dashboard.js"),
    ];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// The server in Go that keeps sessions in files of this folder, and whether it syncs them.
pub fn keeping_sessions(stage: &mut Stage, folder: &Path, syncs: bool) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["sessions.go", include_str!("../../../programs/sessions.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port, "-folder"]).arg(folder);
    if syncs {
        go.arg("-sync");
    }
    start(stage, go, port)
}

/// The service in Java that asks about tokens: threads, address of the service behind, and whether it asks `locked` or
/// `beside` the lock.
pub fn calling(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let program = ["Called", include_str!("../../../programs/Called.java")];
    java_class(stage, program, &[], &words)
}

/// The server in C that reads from this file, with a cache of so many MB.
pub fn caching(stage: &mut Stage, file: &Path, cache_mb: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/caching.c")
    );
    let program = ["caching.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.arg(&port).arg(file).arg(cache_mb);
    start(stage, server, port)
}
