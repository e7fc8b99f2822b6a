//! The servers that only this set has. Each function starts one and returns its process and its port.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::first::{built, interpreted, start};
use crate::interrupt;
use crate::processes::{self, Process};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// Processes that are not there by then will not come.
const FORK_LIMIT: Duration = Duration::from_secs(10);
/// Where Debian and its kin put Apache's modules.
pub const APACHE_MODULES: &str = "/usr/lib/apache2/modules";
/// Lines of the text that web servers compress: a few ms of CPU each time.
const LINES: u32 = 3000;

/// The header with which a web server is asked to compress.
pub const GZIP: &str = "Accept-Encoding: gzip";

/// A folder with a text in it, `list.txt`, for a web server.
pub fn site(stage: &Stage) -> Result<PathBuf> {
    let folder = stage.unprivileged_folder("site")?;
    let mut text = Vec::new();
    for line in 0..LINES {
        let number = line.wrapping_mul(2_654_435_761);
        writeln!(text, "{line} {number:x} of {LINES}").context("memory takes it")?;
    }
    fs::write(folder.join("list.txt"), text).context("cannot write a file")?;
    Ok(folder)
}

/// Apache with these modules beside the usual ones, and these directives.
pub fn apache(stage: &mut Stage, modules: &[&str], directives: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("apache")?;
    let folder = folder.display();
    let mut text = format!(
        "ServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile {folder}/pid\nErrorLog \
         {folder}/error\nServerName lab\nListen 127.0.0.1:{port}\nMaxKeepAliveRequests 0\n"
    );
    for module in ["authz_core"].iter().chain(modules) {
        let line = format!("LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so\n");
        text.push_str(&line);
    }
    text.push_str(directives);
    let file = stage.script("apache.conf", &text)?;
    let mut apache = stage.unprivileged("apache2");
    apache.args(["-D", "FOREGROUND", "-f"]).arg(file);
    start(stage, apache, port)
}

/// lighttpd with so many processes (0 is one that does everything itself), which compresses the text
/// of `site` at each request.
pub fn lighttpd(stage: &mut Stage, processes: u32) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let site = site(stage)?;
    let text = format!(
        "server.modules = (\"mod_deflate\")\nserver.errorlog = \"/dev/null\"\n\
         server.document-root = \"{}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\n\
         server.max-worker = {processes}\nserver.max-keep-alive-requests = 100000000\n\
         mimetype.assign = (\".txt\" => \"text/plain\")\ndeflate.mimetypes = (\"text/plain\")\n\
         deflate.allowed-encodings = (\"gzip\")\n",
        site.display()
    );
    let file = stage.script("lighttpd.conf", &text)?;
    let mut lighttpd = stage.unprivileged("lighttpd");
    lighttpd.arg("-D").arg("-f").arg(file);
    start(stage, lighttpd, port)
}

/// The server in Node.js with a thread beside its event loop: us of CPU of a request, and whether that
/// thread computes (1) or is not there (0).
pub fn node_with_thread(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "background.js",
        include_str!("../../../programs/background.js"),
    ];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    start(stage, node, port)
}

/// The cluster in Node.js of so many processes, each request of which takes so many us of CPU.
pub fn node_cluster(stage: &mut Stage, words: [&str; 2]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["cluster.js", include_str!("../../../programs/cluster.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).args(words);
    let (pid, _) = stage.beside_that_speaks(node)?;
    Ok((pid, port))
}

/// The server in C whose requests read a file, `locked` or `beside` its mutex.
pub fn reading(stage: &mut Stage, file: &str, word: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/server.c")
    );
    let program = ["server.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.args([&port, file, word]);
    start(stage, server, port)
}

/// The service in Go with these words.
pub fn go(stage: &mut Stage, words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["service.go", include_str!("../../../programs/service.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port]).args(words);
    start(stage, go, port)
}

/// The children of a server, once there are so many.
pub fn children(server: u32, count: usize) -> Result<Vec<u32>> {
    let since = Instant::now();
    while since.elapsed() < FORK_LIMIT {
        let all = Process::all();
        let below = processes::tree(&all, server);
        let children: Vec<u32> = below.iter().skip(1).map(|process| process.pid).collect();
        if children.len() == count {
            return Ok(children);
        }
        interrupt::pause()?;
    }
    bail!("process {server} has not started {count} others")
}

/// A file in the stage's folder that is on the disk, and no longer in memory.
pub fn large_file(stage: &Stage, bytes: usize) -> Result<PathBuf> {
    let folder = stage.unprivileged_folder("data")?;
    let path = folder.join("file");
    // Zeros would do, but some storage makes nothing of them.
    fs::write(&path, vec![7; bytes]).with_context(|| format!("cannot write {}", path.display()))?;
    crate::stage::forget_cached(&folder)?;
    Ok(path)
}
