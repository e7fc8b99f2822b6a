//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::first::{built, interpreted, java_class, start};
use super::second;
use crate::interrupt;
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// Workers that have not agreed by then who accepts will not do so.
const AGREE_LIMIT: Duration = Duration::from_secs(10);

/// nginx with two workers, which compresses the text of `site` at each request: directives about its events, and how it
/// listens.
pub fn nginx_accepting(stage: &mut Stage, events: &str, listens: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let site = second::site(stage)?;
    let folder = stage.unprivileged_folder("nginx")?;
    let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|place| format!("{place}_temp_path {}/{place};\n", folder.display()))
        .collect();
    let text = format!(
        "daemon off;\nworker_processes 2;\npid {}/pid;\nevents {{ {events} }}\nhttp {{\naccess_log \
         off;\nkeepalive_requests 100000000;\n{places}gzip on; gzip_types text/plain;\nserver {{ \
         listen 127.0.0.1:{port} {listens}; root {}; }}\n}}\n",
        folder.display(),
        site.display()
    );
    let configuration = stage.script("nginx.conf", &text)?;
    let mut nginx = stage.unprivileged("nginx");
    nginx.args(["-e", "stderr", "-p"]).arg(&folder);
    nginx.arg("-c").arg(configuration);
    start(stage, nginx, port)
}

/// The worker of nginx that accepts the next connections: who has the mutex for that waits for the socket that listens
/// too, and keeps it until one comes.
pub fn who_accepts(server: u32) -> Result<u32> {
    let workers = second::children(server, 2)?;
    let since = Instant::now();
    while since.elapsed() < AGREE_LIMIT {
        // The last connection is gone by then.
        for _ in 0..3 {
            interrupt::pause()?;
        }
        let mut waited: Vec<_> = workers.iter().map(|pid| (waits_for(*pid), *pid)).collect();
        waited.sort_unstable();
        if let [(fewer, _), (more, pid)] = waited[..]
            && fewer < more
        {
            return Ok(pid);
        }
    }
    bail!("no worker of nginx, process {server}, accepts more than another")
}

/// How many descriptors a process waits for with epoll.
fn waits_for(pid: u32) -> usize {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo"));
    let entries = entries.into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.map(|text| text.matches("tfd:").count()).sum()
}

/// memcached with two threads that takes so many connections.
pub fn memcached_for(stage: &mut Stage, connections: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let mut memcached = stage.unprivileged("memcached");
    memcached.args(["-l", "127.0.0.1", "-t", "2", "-p", &port]);
    memcached.args(["-c", connections]);
    start(stage, memcached, port)
}

/// The service in Java with a log: threads, lines of a request, folder, and `shared` or `own`.
pub fn logging(stage: &mut Stage, words: [&str; 4]) -> Result<(u32, String)> {
    let program = ["Logged", include_str!("../../../programs/Logged.java")];
    java_class(stage, program, &[], &words)
}

/// The service in Java with buffers outside of its heap: threads, KiB of one, objects that stay, and `new` or `kept`.
pub fn buffered(stage: &mut Stage, words: [&str; 4]) -> Result<(u32, String)> {
    let program = ["Buffered", include_str!("../../../programs/Buffered.java")];
    let options = [
        "-XX:+UseG1GC",
        "-Xms256m",
        "-Xmx256m",
        "-XX:MaxDirectMemorySize=16m",
    ];
    java_class(stage, program, &options, &words)
}

/// The web server of the JDK, whose connections send at once (`true`) or not (`false`).
pub fn with_delay(stage: &mut Stage, at_once: &str) -> Result<(u32, String)> {
    let program = ["Delayed", include_str!("../../../programs/Delayed.java")];
    // The last of a name counts.
    let option = format!("-Dsun.net.httpserver.nodelay={at_once}");
    java_class(stage, program, &[&option], &[])
}

/// The server in Go whose requests make garbage.
pub fn collected(stage: &mut Stage) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "collected.go",
        include_str!("../../../programs/collected.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port]);
    start(stage, go, port)
}

/// The server in Node.js that asks this name server with each request.
pub fn naming(stage: &mut Stage, name_server: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["names.js", include_str!("../../../programs/names.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, name_server]);
    start(stage, node, port)
}

/// The server in C that starts a process for each connection, which may have so many descriptors.
pub fn starting_processes(stage: &mut Stage, descriptors: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/inetd.c")
    );
    let server: Command = built(stage, &["cc", "-O2"], ["inetd.c", text])?;
    let mut limited = stage.unprivileged("prlimit");
    limited.arg(format!("--nofile={descriptors}:"));
    limited.arg(server.get_program()).arg(&port);
    start(stage, limited, port)
}

/// HAProxy before this service, which sends a line for each request to this port for logs.
pub fn haproxy_with_log(stage: &mut Stage, service: &str, log: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\n  log 127.0.0.1:{log} local0\ndefaults\n  mode http\n  log global\n  \
         option httplog\n  timeout client 30s\n  timeout server 30s\n  timeout connect 5s\nfrontend \
         lab\n  bind 127.0.0.1:{port}\n  default_backend service\nbackend service\n  server service \
         {service}\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// The store in Go with its files in this folder, on port 7000 of all addresses; not started.
pub fn store_for_all(stage: &Stage, folder: &Path, syncs: bool) -> Result<Command> {
    let program = ["ledger.go", include_str!("../../../programs/ledger.go")];
    // As root, as all servers in a network of their own.
    let built = built(stage, &["go", "build"], program)?;
    let mut store = Command::new(built.get_program());
    store.args(["-listen", ":7000", "-folder"]).arg(folder);
    if syncs {
        store.arg("-sync");
    }
    Ok(store)
}
