//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{PYTHON, built, interpreted, start};
use crate::scenarios::held_out::{free_port, here, wait_for};
use crate::stage::Stage;

/// lighttpd before this application.
pub fn lighttpd_before(stage: &mut Stage, application: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("site")?;
    let (host, behind) = application
        .split_once(':')
        .context("an address has a port")?;
    let text = format!(
        "server.modules = (\"mod_proxy\")\nserver.errorlog = \"/dev/null\"\nserver.document-root = \
         \"{}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\nserver.max-keep-alive-requests = \
         100000000\nproxy.server = (\"\" => ((\"host\" => \"{host}\", \"port\" => {behind})))\n",
        folder.display(),
    );
    let file = stage.script("lighttpd.conf", &text)?;
    let mut lighttpd = stage.unprivileged("lighttpd");
    lighttpd.arg("-D").arg("-f").arg(file);
    start(stage, lighttpd, port)
}

/// The server in Node.js that renders its page with `each` request or `once`.
pub fn rendering(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["rendered.js", include_str!("../../../programs/rendered.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).arg(word);
    start(stage, node, port)
}

/// The service in Node.js with a pool: address of its database, and connections.
pub fn pooled(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["pool.js", include_str!("../../../programs/pool.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// The service in Go that asks another one: its address, and how many questions per second it lets out.
pub fn limited(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "limited_client.go",
        include_str!("../../../programs/limited_client.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.arg(&port).args(words);
    start(stage, go, port)
}

/// The service in Perl with journals in this folder: `sync` or `later`.
pub fn noting(stage: &mut Stage, folder: &Path, word: &str) -> Result<(u32, String)> {
    stage.give_away(folder)?;
    let port = free_port()?.to_string();
    let program = ["journal.pl", include_str!("../../../programs/journal.pl")];
    let mut perl = interpreted(stage, "perl", program)?;
    perl.arg(&port).arg(folder).arg(word);
    start(stage, perl, port)
}

/// The shop in Perl: address of its bank, folder of its journals, and `sync` or `later`.
pub fn paying(stage: &mut Stage, bank: &str, folder: &Path, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["paying.pl", include_str!("../../../programs/paying.pl")];
    let mut perl = interpreted(stage, "perl", program)?;
    perl.arg(&port).arg(bank).arg(folder).arg(word);
    start(stage, perl, port)
}

/// The application in Python, on port 7000 of all addresses, that asks the service on this socket; not started.
pub fn front_for_all(stage: &Stage, socket: &Path) -> Result<Command> {
    stage.script("receive.py", include_str!("../../../programs/receive.py"))?;
    let script = stage.script("front.py", include_str!("../../../programs/front.py"))?;
    // As root, as all servers in a network of their own.
    let mut python = Command::new(PYTHON);
    python.arg(script).arg("7000").arg(socket);
    Ok(python)
}

/// The service in Java with logs in this folder, on port 7000 of all addresses: `sync` or `later`, and steps; not started.
pub fn writing_for_all(stage: &Stage, folder: &Path, [word, steps]: [&str; 2]) -> Result<Command> {
    let text = include_str!("../../../programs/Written.java");
    let file = stage.script("Written.java", text)?;
    let mut compile = Command::new("javac");
    compile.arg("-d").arg(stage.folder()).arg(file);
    stage.step(compile)?;
    // As root, as all servers in a network of their own.
    let mut java = Command::new("java");
    // Small answers must not wait for more to send.
    java.arg("-Dsun.net.httpserver.nodelay=true");
    java.arg("-cp")
        .arg(stage.folder())
        .args(["Written", "7000", "none"]);
    java.arg(folder).args([word, steps, "all"]);
    Ok(java)
}

/// PgBouncer before the started PostgreSQL, for 500 clients; its port and its socket.
pub fn pgbouncer_for_many(stage: &mut Stage) -> Result<(String, PathBuf)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("pgbouncer")?;
    let (upstream, user) = (stage.started()?.port(), stage.started()?.user().to_owned());
    let configuration = format!(
        "[databases]\nbench = host=127.0.0.1 port={upstream} user={user}\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir = {}\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = 20\nmax_client_conn = 500\n\
         log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n",
        folder.display()
    );
    let file = stage.script("pgbouncer.ini", &configuration)?;
    let mut pgbouncer = stage.unprivileged("pgbouncer");
    pgbouncer.arg("-q").arg(file);
    stage.beside(pgbouncer)?;
    wait_for(&here(&port))?;
    let socket = folder.join(format!(".s.PGSQL.{port}"));
    Ok((port, socket))
}
