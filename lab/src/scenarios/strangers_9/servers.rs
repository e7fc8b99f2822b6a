//! The servers that only this set has. Each function that starts one returns its process and its port, where it has
//! one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{PYTHON, built, interpreted, java_class, start};
use super::programs::{APACHE, Needed};
use super::second;
use crate::blog::php_module;
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// Why there is no Apache with PHP, where there is none.
pub fn missing_php(needed: &[Needed]) -> Option<String> {
    let missing = super::programs::missing(&[&[APACHE], needed].concat());
    missing.or_else(|| php_module().err().map(|error| format!("{error:#}")))
}

/// Apache with eight processes for a page in PHP, its program by name and text, which finds this in a variable of its
/// environment.
pub fn apache_with_php(
    stage: &mut Stage,
    [name, text]: [&str; 2],
    [variable, value]: [&str; 2],
) -> Result<(u32, String)> {
    let site = stage.unprivileged_folder("site")?;
    std::fs::write(site.join(name), text).context("cannot write a page")?;
    let directives = format!(
        "LoadModule php_module {}\nStartServers 8\nMinSpareServers 1\nMaxSpareServers \
         8\nServerLimit 8\nMaxRequestWorkers 8\nSetEnv {variable} {value}\nDocumentRoot \
         {site}\n<Directory {site}>\nRequire all granted\n</Directory>\n<FilesMatch \
         \\.php$>\nSetHandler application/x-httpd-php\n</FilesMatch>\n",
        php_module()?.display(),
        site = site.display()
    );
    second::apache(stage, &["mpm_prefork", "env"], &directives)
}

/// Redis on port 7000 of all addresses; not started.
pub fn redis_for_all(stage: &Stage) -> Result<Command> {
    let folder = stage.unprivileged_folder("redis")?;
    let mut redis = Command::new("redis-server");
    redis.args(["--port", "7000", "--bind", "0.0.0.0", "--save", ""]);
    // Who is far away has no password.
    redis.args(["--protected-mode", "no", "--logfile", "log", "--dir"]);
    redis.arg(folder);
    Ok(redis)
}

/// The server in Go that takes its time for each answer.
pub fn of_descriptors(stage: &mut Stage) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "descriptors.go",
        include_str!("../../../programs/descriptors.go"),
    ];
    let mut go = built(stage, &["go", "build"], program)?;
    go.arg(&port);
    start(stage, go, port)
}

/// A SQLite database with so many rows, each of which has some pages to itself.
pub fn items(stage: &Stage, rows: &str) -> Result<PathBuf> {
    let folder = stage.unprivileged_folder("items")?;
    let file = folder.join("items.db");
    let program = ["items.py", include_str!("../../../programs/items.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&file).arg(rows);
    stage.step(python)?;
    crate::stage::forget_cached(&folder)?;
    Ok(file)
}

/// The server in Python that looks up rows of this database.
pub fn looking_up(stage: &mut Stage, file: &Path, rows: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["lookups.py", include_str!("../../../programs/lookups.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&port).arg(file).arg(rows);
    start(stage, python, port)
}

/// The service in Java that keeps much: options of its machine; and us of CPU of a request, and MiB that stay.
pub fn keeping(stage: &mut Stage, options: &[&str], words: [&str; 2]) -> Result<(u32, String)> {
    let program = ["Kept", include_str!("../../../programs/Kept.java")];
    java_class(stage, program, options, &words)
}

/// memcached with two threads and room for so many MB.
pub fn memcached_with_room(stage: &mut Stage, megabytes: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let mut memcached = stage.unprivileged("memcached");
    memcached.args(["-l", "127.0.0.1", "-t", "2", "-p", &port]);
    memcached.args(["-m", megabytes]);
    start(stage, memcached, port)
}

/// The server in Node.js that answers together what comes within so many ms.
pub fn batching(stage: &mut Stage, window_ms: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["batching.js", include_str!("../../../programs/batching.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, window_ms]);
    start(stage, node, port)
}
