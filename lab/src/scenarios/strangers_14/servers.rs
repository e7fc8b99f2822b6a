//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{PYTHON, built, interpreted, java_class, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// nginx with one worker of so many connections, which asks one service for pages and another one for news.
pub fn nginx_with_news(
    stage: &mut Stage,
    connections: &str,
    [pages, news]: [&str; 2],
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("nginx")?;
    let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|place| format!("{place}_temp_path {}/{place};\n", folder.display()))
        .collect();
    let text = format!(
        "daemon off;\nworker_processes 1;\npid {}/pid;\nevents {{ worker_connections \
         {connections}; }}\nhttp {{\naccess_log off;\n{places}server {{ listen 127.0.0.1:{port}; \
         location / {{ proxy_pass http://{pages}; }} location /news {{ proxy_pass http://{news}; \
         proxy_read_timeout 1h; }} }}\n}}\n",
        folder.display()
    );
    let configuration = stage.script("nginx.conf", &text)?;
    let mut nginx = stage.unprivileged("nginx");
    nginx.args(["-e", "log", "-p"]).arg(&folder);
    nginx.arg("-c").arg(configuration);
    start(stage, nginx, port)
}

/// The service in Java that signs something: threads and rounds.
pub fn signing(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let program = ["Ruled", include_str!("../../../programs/Ruled.java")];
    java_class(stage, program, &[], &words)
}

/// The service in Java with an executor whose queue has no end: the address of a service, and the threads that it always
/// may have.
pub fn queueing(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let program = ["Queued", include_str!("../../../programs/Queued.java")];
    java_class(stage, program, &[], &words)
}

/// The service in Java that has mapped this file so often.
pub fn reserving(stage: &mut Stage, file: &Path, times: &str) -> Result<(u32, String)> {
    let program = ["Reserved", include_str!("../../../programs/Reserved.java")];
    let file = file.display().to_string();
    java_class(stage, program, &[], &[&file, times])
}

/// The server in Node.js that takes white space away: so many spaces, and how.
pub fn trimming(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["trimming.js", include_str!("../../../programs/trimming.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// The server in Go that has leaked so many goroutines.
pub fn having_leaked(stage: &mut Stage, goroutines: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "goroutines.go",
        include_str!("../../../programs/goroutines.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port, "-leaked", goroutines]);
    start(stage, go, port)
}

/// The server in Python with a SQLite file for each tenant in this folder, on port 7000 of all addresses; not started.
pub fn tenants_for_all(stage: &Stage, folder: &Path, safety: &str) -> Result<Command> {
    stage.script("receive.py", include_str!("../../../programs/receive.py"))?;
    let program = stage.script("tenants.py", include_str!("../../../programs/tenants.py"))?;
    // As root, as all servers in a network of their own.
    let mut python = Command::new(PYTHON);
    python.arg(program).arg("7000").arg(folder).arg(safety);
    Ok(python)
}

/// HAProxy on port 7000 of all addresses before a service on a unix socket; not started.
pub fn haproxy_for_all(stage: &Stage, socket: &Path) -> Result<Command> {
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind :7000\n  default_backend service\nbackend \
         service\n  server service unix@{}\n",
        socket.display()
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = Command::new("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    Ok(haproxy)
}

/// A file of 2 GB that takes no place.
pub fn empty_index(stage: &Stage) -> Result<PathBuf> {
    let path = stage.folder().join("index");
    let file = std::fs::File::create(&path).context("cannot write a file")?;
    file.set_len(2 << 30).context("cannot make a large file")?;
    Ok(path)
}
