//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::first::{PYTHON, built, interpreted, java_class, start};
use super::{downstream, far, unknown};
use crate::scenario::{Cause, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, wait_for};
use crate::stage::Stage;

/// Syncs by which a disk is known.
const TRIED: u32 = 100;

/// PgBouncer before the started PostgreSQL, which takes so many clients; its process and its socket.
pub fn pgbouncer_for(stage: &mut Stage, clients: &str) -> Result<(u32, PathBuf)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("pgbouncer")?;
    let (upstream, user) = (stage.started()?.port(), stage.started()?.user().to_owned());
    let configuration = format!(
        "[databases]\nbench = host=127.0.0.1 port={upstream} user={user}\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir = {}\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = 20\nmax_client_conn = {clients}\n\
         log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n",
        folder.display()
    );
    let file = stage.script("pgbouncer.ini", &configuration)?;
    let mut pgbouncer = stage.unprivileged("pgbouncer");
    pgbouncer.arg("-q").arg(file);
    let pid = stage.beside(pgbouncer)?;
    wait_for(&here(&port))?;
    Ok((pid, folder.join(format!(".s.PGSQL.{port}"))))
}

/// The store in Go with its files in this folder, and whether it syncs them.
pub fn store(stage: &mut Stage, folder: &Path, syncs: bool) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["ledger.go", include_str!("../../../programs/ledger.go")];
    let mut store = built(stage, &["go", "build"], program)?;
    store.args(["-listen", &here(&port), "-folder"]).arg(folder);
    if syncs {
        store.arg("-sync");
    }
    start(stage, store, port)
}

/// The server in Python with a pool that has lost nothing: address of the service behind, and connections of the pool.
pub fn pooled(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["depleted.py", include_str!("../../../programs/depleted.py")];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&port).args(words).arg("0");
    start(stage, python, port)
}

/// The service in Java that asks another one: its address, and threads.
pub fn asking(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let program = ["Queued", include_str!("../../../programs/Queued.java")];
    java_class(stage, program, &[], &words)
}

/// The shop in Node.js: address of the service that takes the money, where it writes, and `sync` or `later`.
pub fn checking_out(
    stage: &mut Stage,
    service: &str,
    folder: &Path,
    word: &str,
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["checkout.js", include_str!("../../../programs/checkout.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, service]).arg(folder).arg(word);
    start(stage, node, port)
}

/// lighttpd on port 7000 of all addresses before a service on a unix socket; not started.
pub fn lighttpd_before(stage: &Stage, socket: &Path) -> Result<Command> {
    let folder = stage.unprivileged_folder("site")?;
    let text = format!(
        "server.modules = (\"mod_proxy\")\nserver.errorlog = \"/dev/null\"\nserver.document-root = \
         \"{}\"\nserver.bind = \"0.0.0.0\"\nserver.port = 7000\nserver.max-keep-alive-requests = \
         100000000\nproxy.server = (\"\" => ((\"host\" => \"{}\")))\n",
        folder.display(),
        socket.display()
    );
    let mut lighttpd = Command::new("lighttpd");
    lighttpd.arg("-D").arg("-f");
    lighttpd.arg(stage.script("lighttpd.conf", &text)?);
    Ok(lighttpd)
}

/// The service in Perl with a journal in this folder, on port 7000 of all addresses, and `sync` or `later`; not started.
pub fn journal_for_all(stage: &Stage, folder: &Path, word: &str) -> Result<Command> {
    let script = stage.script("journal.pl", include_str!("../../../programs/journal.pl"))?;
    // As root, as all servers in a network of their own.
    let mut perl = Command::new("perl");
    perl.arg(script).arg("7000").arg(folder).arg(word);
    Ok(perl)
}

/// The service in Perl that sends an answer in two pieces, the second one `at-once` or `later`.
pub fn in_two_pieces(stage: &mut Stage, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["pieces.pl", include_str!("../../../programs/pieces.pl")];
    let mut perl = interpreted(stage, "perl", program)?;
    perl.arg(&port).arg(word);
    start(stage, perl, port)
}

/// Writes more to a disk of the stage's than its journal has room for: what a journal writes to for the first time takes
/// several times as long, and what a sync costs would change in the middle of a run. How long a sync takes then.
pub fn wear_in(stage: &Stage, disk: &Path) -> Result<Duration> {
    let path = disk.join("worn");
    let mut write = Command::new("dd");
    write.arg(format!("of={}", path.display()));
    write.args(["if=/dev/zero", "bs=1M", "count=192", "oflag=sync"]);
    write.arg("status=none");
    stage.step(write)?;
    std::fs::remove_file(&path).context("cannot remove a file")?;
    let mut file = std::fs::File::create(&path).context("cannot write a file")?;
    let since = Instant::now();
    for _ in 0..TRIED {
        file.write_all(&[7; 512])?;
        file.sync_all()?;
    }
    Ok(since.elapsed() / TRIED)
}

/// A service that takes as long as so many syncs of the stage's disk, and a server that asks it and syncs what it has to keep,
/// where its last word says so; neither without the cause. `server` is given the service's address and the disk.
pub fn slow_and_synced(
    stage: &mut Stage,
    cause: Cause,
    syncs: u32,
    server: impl FnOnce(&mut Stage, &str, &Path, &str) -> Result<(u32, String)>,
) -> Result<SetUp> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let sync = wear_in(stage, &disk)?;
    let (sleep_us, word) = match cause {
        Cause::Made => (u32::try_from((syncs * sync).as_micros())?, "sync"),
        Cause::Removed => (0, "later"),
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    stage.give_away(&disk)?;
    let (pid, port) = server(stage, &address, &disk, word)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // The service was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// A server on the stage's disk that syncs what it has to keep, where its last word says so, and from which its clients are as
/// far, there and back, as so many syncs take; neither without the cause.
pub fn far_and_synced(
    stage: &mut Stage,
    cause: Cause,
    syncs: u32,
    server: impl FnOnce(&Stage, &Path, &str) -> Result<Command>,
) -> Result<SetUp> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let sync = wear_in(stage, &disk)?;
    let one_way_ms = u32::try_from((syncs * sync / 2).as_millis())?.max(1);
    let word = match cause {
        Cause::Made => "sync",
        Cause::Removed => "later",
    };
    let server = server(stage, &disk, word)?;
    let (pid, address) = match far(stage, &server, cause, one_way_ms)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}
