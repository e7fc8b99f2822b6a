//! The servers of the strangers that are programs of other people. Each function starts one and returns its
//! process and its port; what it takes to run them is asked for before, by `missing`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::super::held_out::{free_port, here, wait_for};
use crate::stage::Stage;

/// The one of the system, whatever else is found first.
pub const PYTHON: &str = "/usr/bin/python3";

/// Starts a server and waits until it listens on its port; its process and its port.
pub fn start(stage: &mut Stage, server: Command, port: String) -> Result<(u32, String)> {
    let pid = stage.beside(server)?;
    wait_for(&here(&port))?;
    Ok((pid, port))
}

/// A program of the lab's, by name and text, below its interpreter. What those in Python share stands beside it.
pub fn interpreted(stage: &Stage, interpreter: &str, [name, text]: [&str; 2]) -> Result<Command> {
    if interpreter == PYTHON {
        stage.script("receive.py", include_str!("../../../programs/receive.py"))?;
    }
    let mut command = stage.unprivileged(interpreter);
    command.arg(stage.script(name, text)?);
    Ok(command)
}

/// Redis with settings of the scenario's own, below another command (`taskset -c 0`) where one is given.
pub fn redis(
    stage: &mut Stage,
    below: &[&str],
    folder: &Path,
    settings: &[&str],
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let words: Vec<&str> = below.iter().copied().chain(["redis-server"]).collect();
    let mut redis = stage.unprivileged(words[0]);
    redis.args(&words[1..]);
    redis.args(["--port", &port, "--bind", "127.0.0.1", "--save", ""]);
    redis.args(["--logfile", "log", "--dir"]).arg(folder);
    redis.args(settings);
    start(stage, redis, port)
}

/// memcached with two threads.
pub fn memcached(stage: &mut Stage) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let mut memcached = stage.unprivileged("memcached");
    memcached.args(["-l", "127.0.0.1", "-t", "2", "-p", &port]);
    start(stage, memcached, port)
}

/// HAProxy that answers every request itself.
pub fn haproxy(stage: &mut Stage) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n  http-request return status \
         200 content-type text/plain string \"ok\\n\"\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// PgBouncer before the started PostgreSQL, with so many connections to it, each of which a client has for a
/// transaction.
pub fn pgbouncer(stage: &mut Stage, pool: u32) -> Result<(u32, String)> {
    pgbouncer_in_mode(stage, "transaction", pool)
}

/// The same, where a client has a connection for as long as this mode says.
pub fn pgbouncer_in_mode(stage: &mut Stage, mode: &str, pool: u32) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let (upstream, user) = (stage.started()?.port(), stage.started()?.user().to_owned());
    let configuration = format!(
        "[databases]\nbench = host=127.0.0.1 port={upstream} user={user}\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = {mode}\ndefault_pool_size = {pool}\nmax_client_conn = 200\n\
         log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n"
    );
    let file = stage.script("pgbouncer.ini", &configuration)?;
    let mut pgbouncer = stage.unprivileged("pgbouncer");
    pgbouncer.arg("-q").arg(file);
    start(stage, pgbouncer, port)
}

/// The Python server with these words.
pub fn python(stage: &mut Stage, words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["server.py", include_str!("../../../programs/server.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.args(["--port", &port]).args(words);
    start(stage, python, port)
}

/// The Node.js server: us of CPU of a request, and every how many-th takes how many us instead.
pub fn node(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["server.js", include_str!("../../../programs/server.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// The Java server with these options of the machine: threads, us asleep under the lock and beside it,
/// KiB of garbage of a request, and KiB that stay.
pub fn java(stage: &mut Stage, options: &[&str], words: [&str; 5]) -> Result<(u32, String)> {
    let program = ["Server", include_str!("../../../programs/Server.java")];
    java_class(stage, program, options, &words)
}

/// A Java server of the lab's, by its class and text, with these options of the machine and with these
/// words behind its port.
pub fn java_class(
    stage: &mut Stage,
    [class, text]: [&str; 2],
    options: &[&str],
    words: &[&str],
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let file = stage.script(&format!("{class}.java"), text)?;
    let mut compile = Command::new("javac");
    compile.arg("-d").arg(stage.folder()).arg(file);
    stage.step(compile)?;
    let mut java = stage.unprivileged("java");
    // Small answers must not wait for more to send.
    java.args(["-Dsun.net.httpserver.nodelay=true"])
        .args(options);
    java.arg("-cp").arg(stage.folder()).arg(class).arg(&port);
    java.args(words);
    let (pid, port) = start(stage, java, port)?;
    // What is interpreted at first and compiled later would be a step in the middle of the run.
    let address = here(&port);
    let warm_up = ["load", &address, "--http", "/", "--seconds", "3"];
    stage.step(stage.own(&warm_up)?)?;
    Ok((pid, port))
}

/// The Go server: us asleep under the mutex, and beside it.
pub fn go(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["server.go", include_str!("../../../programs/server.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.arg(&port).args(words);
    start(stage, go, port)
}

/// A program of the lab's, by name and text, after its compiler has made it.
pub fn built(stage: &Stage, compiler: &[&str], [name, text]: [&str; 2]) -> Result<Command> {
    let file = stage.script(name, text)?;
    let language = name.rsplit('.').next().unwrap_or(name);
    let built = stage.folder().join(format!("{language}-server"));
    let mut build = Command::new(compiler[0]);
    build.args(&compiler[1..]).arg("-o").arg(&built).arg(file);
    stage.step(build)?;
    Ok(stage.unprivileged(&built.to_string_lossy()))
}

/// The thread of a process with this name; `None` when there is none.
pub fn thread_named(pid: u32, name: &str) -> Result<Option<String>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .with_context(|| format!("process {pid} has no threads to be read"))?;
    for task in tasks.flatten() {
        let comm = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        if comm.trim() == name {
            return Ok(Some(task.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}
