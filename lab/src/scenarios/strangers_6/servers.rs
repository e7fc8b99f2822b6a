//! The servers that only this set has. Each function that starts one returns its process and its port, where it has
//! one.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{PYTHON, built, interpreted, java_class, start};
use super::fourth::certificate;
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// Letters of an answer that goes a long way: many times what may be under way at once.
const FAR_ANSWER: usize = 100_000;

/// HAProxy with two threads, which answers every request itself behind TLS, with a key that openssl makes by these
/// words; its own settings keep both threads on a CPU, where one is given.
pub fn haproxy_on(stage: &mut Stage, key: &[&str], cpu: Option<&str>) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let certificate = certificate(stage, key)?;
    let map = cpu.map_or(String::new(), |cpu| format!("  cpu-map 1/all {cpu}\n"));
    let configuration = format!(
        "global\n  nbthread 2\n{map}defaults\n  mode http\n  timeout client 30s\n  timeout server \
         30s\n  timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port} ssl crt {}\n  \
         http-request return status 200 content-type text/plain string \"ok\\n\"\n",
        certificate.display()
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// nginx for a file of 100 KB, on port 7000 of all addresses and with a small buffer to send from; not started.
pub fn nginx_for_all(stage: &Stage) -> Result<Command> {
    let folder = stage.unprivileged_folder("nginx")?;
    std::fs::write(folder.join("file"), "x".repeat(FAR_ANSWER)).context("cannot write a file")?;
    nginx_with_server(
        stage,
        "",
        &format!("listen 7000 sndbuf=8k; root {};", folder.display()),
    )
}

/// nginx with one worker, with this directive for all of it and these for its one server; not started.
pub fn nginx_with_server(stage: &Stage, all: &str, server: &str) -> Result<Command> {
    let folder = stage.unprivileged_folder("nginx")?;
    let site = folder.display();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let places: String = places
        .iter()
        .map(|place| format!("{place}_temp_path {site}/{place};\n"))
        .collect();
    let text = format!(
        "daemon off;\nworker_processes 1;\npid {site}/pid;\n{all}\nevents {{}}\nhttp {{\naccess_log \
         off;\nkeepalive_requests 100000000;\n{places}server {{ {server} }}\n}}\n"
    );
    let configuration = stage.script("nginx.conf", &text)?;
    let mut nginx = Command::new("nginx");
    nginx.args(["-e", "stderr", "-p"]).arg(&folder);
    nginx.arg("-c").arg(configuration);
    Ok(nginx)
}

/// The service in Python on a unix socket, which takes so many us to answer; its process and its socket.
pub fn unix_service(stage: &mut Stage, sleep_us: &str) -> Result<(u32, PathBuf)> {
    let socket = stage.unprivileged_folder("service")?.join("socket");
    let program = [
        "unix_service.py",
        include_str!("../../../programs/unix_service.py"),
    ];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&socket).arg(sleep_us);
    let (pid, _) = stage.beside_that_speaks(python)?;
    Ok((pid, socket))
}

/// The server in Go whose requests are computed in parts, with these words.
pub fn bursting(stage: &mut Stage, words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["burst.go", include_str!("../../../programs/burst.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port]).args(words);
    start(stage, go, port)
}

/// The web server of the JDK: who answers (`dispatcher` or `pool`), and us of CPU of a request.
pub fn dispatched(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let program = [
        "Dispatched",
        include_str!("../../../programs/Dispatched.java"),
    ];
    java_class(stage, program, &[], &words)
}

/// The service in Java with a table that is made anew: threads, address of the service behind, ms of that, and ms
/// between two.
pub fn refreshed(stage: &mut Stage, words: [&str; 4]) -> Result<(u32, String)> {
    let program = [
        "Refreshed",
        include_str!("../../../programs/Refreshed.java"),
    ];
    java_class(stage, program, &[], &words)
}

/// The server in Node.js that asks this service, over at most so many connections.
pub fn asking(stage: &mut Stage, service: &str, connections: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["agent.js", include_str!("../../../programs/agent.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, service, connections]);
    start(stage, node, port)
}

/// The server in Node.js with a child: us of CPU of a request, and whether there is a `batch` or `none`.
pub fn parent(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["child.js", include_str!("../../../programs/child.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// Starts so many processes that wait without being interruptible, and use no CPU.
pub fn uninterruptible(stage: &mut Stage, count: &str) -> Result<()> {
    let program = ["waiting.c", include_str!("../../../programs/waiting.c")];
    let mut waiting = built(stage, &["cc", "-O2"], program)?;
    waiting.arg(count);
    stage.beside_that_speaks(waiting)?;
    Ok(())
}
