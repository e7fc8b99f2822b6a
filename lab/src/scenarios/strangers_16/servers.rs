//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::first::{PYTHON, built, interpreted, java_class, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// Where Debian and its kin put Apache's modules.
const APACHE_MODULES: &str = "/usr/lib/apache2/modules";

/// The server in Node.js at which users log in: rounds of a hash, or 0.
pub fn logging_in(stage: &mut Stage, rounds: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["login.js", include_str!("../../../programs/login.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, rounds]);
    start(stage, node, port)
}

/// The server in Go that asks this database, over a pool of so many connections.
pub fn asking(stage: &mut Stage, database: &str, connections: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "database_pool.go",
        include_str!("../../../programs/database_pool.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port, "-database", database]);
    go.args(["-connections", connections]);
    start(stage, go, port)
}

/// The service in Java with a log of transactions in this folder: `sync` or `later`, changes of a request, and the address
/// of a service that it asks first, or `none`.
pub fn logging(stage: &mut Stage, folder: &Path, words: [&str; 3]) -> Result<(u32, String)> {
    let program = ["Synced", include_str!("../../../programs/Synced.java")];
    let folder = folder.display().to_string();
    java_class(stage, program, &[], &[&[&*folder][..], &words].concat())
}

/// The server in Python that has made a report of so many pieces once.
pub fn reported(stage: &mut Stage, pieces: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "kept_memory.py",
        include_str!("../../../programs/kept_memory.py"),
    ];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.args([&port, pieces]);
    start(stage, python, port)
}

/// The server in C that sends an answer by two calls, the second one `at-once` or `later`.
pub fn in_two_sends(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/two_sends.c")
    );
    let program = ["two_sends.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.args([&port, word]);
    start(stage, server, port)
}

/// Apache on port 7000 of all addresses before a service on a unix socket; not started.
pub fn apache_before(stage: &Stage, socket: &Path) -> Result<Command> {
    let folder = stage.unprivileged_folder("apache")?;
    let folder = folder.display();
    let mut text = format!(
        "ServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile {folder}/pid\nErrorLog \
         {folder}/error\nServerName lab\nListen 0.0.0.0:7000\nMaxKeepAliveRequests 0\n"
    );
    for module in ["authz_core", "mpm_event", "proxy", "proxy_http"] {
        let line = format!("LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so\n");
        text.push_str(&line);
    }
    // As root, as all servers in a network of their own; what it starts is not.
    let directives = format!(
        "User nobody\nGroup nogroup\nStartServers 1\nServerLimit 1\nThreadsPerChild \
         32\nMaxRequestWorkers 32\nProxyPass / \"unix:{}|http://localhost/\"\n",
        socket.display()
    );
    text.push_str(&directives);
    let mut apache = Command::new("apache2");
    apache.args(["-D", "FOREGROUND", "-f"]);
    apache.arg(stage.script("apache.conf", &text)?);
    Ok(apache)
}

/// The server in Node.js that notes each request in this folder, on port 7000 of all addresses, and `sync` or `later`; not
/// started.
pub fn audit_for_all(stage: &Stage, folder: &Path, word: &str) -> Result<Command> {
    let script = stage.script("audit.js", include_str!("../../../programs/audit.js"))?;
    // As root, as all servers in a network of their own.
    let mut node = Command::new("node");
    node.arg(script).arg("7000").arg(folder).arg(word);
    Ok(node)
}
