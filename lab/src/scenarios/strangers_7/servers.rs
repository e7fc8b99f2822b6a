//! The servers that only this set has. Each function that starts one returns its process and its port, where it has
//! one.

use anyhow::Result;

use super::first::{PYTHON, built, interpreted, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// The server in Go that asks this service, over at most so many connections.
pub fn transporting(stage: &mut Stage, service: &str, connections: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "transport.go",
        include_str!("../../../programs/transport.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port, "-service", service]);
    go.args(["-connections", connections]);
    start(stage, go, port)
}

/// HAProxy that passes connections on to this server as they are, with these further lines for them.
pub fn haproxy_for_connections(
    stage: &mut Stage,
    server: &str,
    lines: &str,
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode tcp\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n{lines}  default_backend \
         site\nbackend site\n  server site {server}\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// Starts a program in Python, by its name and text, that says when it has done what it is there for, and then stays.
pub fn staying(stage: &mut Stage, program: [&str; 2], words: &[&str]) -> Result<()> {
    let mut python = interpreted(stage, PYTHON, program)?;
    python.args(words);
    stage.beside_that_speaks(python)?;
    Ok(())
}
