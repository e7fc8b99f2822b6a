//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{built, interpreted, java_class, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// The one of the system, whatever else is found first.
const PERL: &str = "/usr/bin/perl";

/// The server in Perl: processes, us of CPU of a request, and what is said of its sessions, if it has any.
pub fn perl(stage: &mut Stage, words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["prefork.pl", include_str!("../../../programs/prefork.pl")];
    let mut perl = interpreted(stage, PERL, program)?;
    perl.arg(&port).args(words);
    start(stage, perl, port)
}

/// The server in C whose requests read under a lock, which the thread in the background has too (`locked`)
/// or leaves alone (`beside`).
pub fn renewing(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/rwlock.c")
    );
    let program = ["rwlock.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.args([&port, word]);
    start(stage, server, port)
}

/// The service in Java with mapped journals: threads, their folder, `forced` or `left`, ms between
/// collections, and objects that stay.
pub fn forced(stage: &mut Stage, words: [&str; 5]) -> Result<(u32, String)> {
    let program = ["Forced", include_str!("../../../programs/Forced.java")];
    let options = ["-XX:+UseSerialGC", "-Xms384m", "-Xmx384m"];
    java_class(stage, program, &options, &words)
}

/// The server in Node.js that sends reports: us of CPU of a request, where they go, and how many at a time.
pub fn reporting(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "unawaited.js",
        include_str!("../../../programs/unawaited.js"),
    ];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// lighttpd for a small file, on port 7000 of all addresses; not started.
pub fn lighttpd_for_all(stage: &Stage) -> Result<Command> {
    let folder = stage.unprivileged_folder("site")?;
    std::fs::write(folder.join("file"), "ok\n").context("cannot write a file")?;
    let text = format!(
        "server.errorlog = \"/dev/null\"\nserver.document-root = \"{}\"\nserver.bind = \
         \"0.0.0.0\"\nserver.port = 7000\n",
        folder.display()
    );
    let mut lighttpd = Command::new("lighttpd");
    lighttpd.arg("-D").arg("-f");
    lighttpd.arg(stage.script("lighttpd.conf", &text)?);
    Ok(lighttpd)
}

/// Reads a file into the page cache: else the first requests would.
pub fn keep_in_memory(file: &Path) -> Result<()> {
    let mut opened = File::open(file).context("cannot open a file")?;
    std::io::copy(&mut opened, &mut std::io::sink()).context("cannot read a file")?;
    Ok(())
}
