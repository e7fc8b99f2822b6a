//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::first::{PYTHON, built, interpreted, java_class, start};
use super::second::APACHE_MODULES;
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// The server in Node.js with a file of settings, which it reads `each` time or `once`.
pub fn with_settings(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let file = stage.unprivileged_folder("settings")?.join("settings.json");
    let program = ["settings.js", include_str!("../../../programs/settings.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).arg(file).arg(word);
    start(stage, node, port)
}

/// The application in Perl: address of the service behind it, and processes.
pub fn of_workers(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["workers.pl", include_str!("../../../programs/workers.pl")];
    let mut perl = interpreted(stage, "perl", program)?;
    perl.arg(&port).args(words);
    start(stage, perl, port)
}

/// The server in Python for a list: address of its store, and whether it asks for `each` row or `once`.
pub fn of_rows(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["rows.py", include_str!("../../../programs/rows.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&port).args(words);
    start(stage, python, port)
}

/// The service in Java with logs in this folder: the address of a service or `none`; and `sync` or `later`, and steps.
pub fn writing(
    stage: &mut Stage,
    service: &str,
    folder: &Path,
    [word, steps]: [&str; 2],
) -> Result<(u32, String)> {
    stage.give_away(folder)?;
    let program = ["Written", include_str!("../../../programs/Written.java")];
    let folder = folder.display().to_string();
    java_class(stage, program, &[], &[service, &folder, word, steps])
}

/// The service in Node.js that notes something in this folder, on port 7000 of all addresses: `sync` or `later`, and steps; not
/// started.
pub fn notes_for_all(stage: &Stage, folder: &Path, words: [&str; 2]) -> Result<Command> {
    let script = stage.script("notes.js", include_str!("../../../programs/notes.js"))?;
    // As root, as all servers in a network of their own.
    let mut node = Command::new("node");
    node.arg(script).arg("7000").arg(folder).args(words);
    Ok(node)
}

/// Apache on port 7000 of all addresses before a service on a unix socket; not started.
pub fn apache_before(stage: &Stage, socket: &Path) -> Result<Command> {
    let folder = stage.unprivileged_folder("apache")?;
    let folder = folder.display();
    let mut text = format!(
        "ServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile {folder}/pid\nErrorLog \
         {folder}/error\nServerName lab\nListen 7000\nMaxKeepAliveRequests 0\nUser nobody\nGroup \
         nogroup\n"
    );
    for module in ["authz_core", "mpm_event", "proxy", "proxy_http"] {
        let line = format!("LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so\n");
        text.push_str(&line);
    }
    let rest = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 32\nMaxRequestWorkers 32\nProxyPass / \
         \"unix:{}|http://localhost/\"\n",
        socket.display()
    );
    text.push_str(&rest);
    let file = stage.script("apache.conf", &text)?;
    let mut apache = Command::new("apache2");
    apache.args(["-D", "FOREGROUND", "-f"]).arg(file);
    Ok(apache)
}

/// The server in C that writes an answer in two pieces, the second one `at-once` or `later`.
pub fn in_two_pieces(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/pieces.c")
    );
    let program = ["pieces.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.args([&port, word]);
    start(stage, server, port)
}
