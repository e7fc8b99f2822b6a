//! The servers that only this set has. Each function that starts one returns its process and its port.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::first::{PYTHON, interpreted, start};
use super::{far, second, sixth, unknown};
use crate::interrupt;
use crate::scenario::{Cause, SetUp, Who};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// A file that has not been read by then will not be.
const READ_LIMIT: Duration = Duration::from_secs(20);

/// HAProxy before this application.
pub fn haproxy_before(stage: &mut Stage, service: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n  default_backend application\n\
         backend application\n  server application {service}\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// Apache for a text, which it does not compress.
pub fn apache_with_list(stage: &mut Stage) -> Result<(u32, String)> {
    let site = second::site(stage)?;
    let directives = format!(
        "DocumentRoot {site}\n<Directory {site}>\nRequire all granted\n</Directory>\n",
        site = site.display()
    );
    second::apache(stage, &["mpm_event"], &directives)
}

/// The server in Node.js, on port 7000 of all addresses, that asks the service on this socket; not started.
pub fn page_for_all(stage: &Stage, socket: &Path) -> Result<Command> {
    let script = stage.script("page.js", include_str!("../../../programs/page.js"))?;
    // As root, as all servers in a network of their own.
    let mut node = Command::new("node");
    node.arg(script).arg("7000").arg(socket);
    Ok(node)
}

/// The service in Python that writes orders below this folder: the address of the mail server, and `sync` or `later`.
pub fn ordering(stage: &mut Stage, folder: &Path, words: [&str; 2]) -> Result<(u32, String)> {
    stage.give_away(folder)?;
    let port = free_port()?.to_string();
    let program = [
        "order_mail.py",
        include_str!("../../../programs/order_mail.py"),
    ];
    let mut python = interpreted(stage, PYTHON, program)?;
    python.arg(&port).arg(folder).args(words);
    start(stage, python, port)
}

/// The server in Node.js that lets so many requests of an address through per second.
pub fn slowing_down(stage: &mut Stage, rate: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = [
        "slow_down.js",
        include_str!("../../../programs/slow_down.js"),
    ];
    let mut node = interpreted(stage, "node", program)?;
    node.args([&port, rate]);
    start(stage, node, port)
}

/// Has a process in the groups of a confined one read a file to its end, once, and stay.
pub fn read_once_beside(stage: &mut Stage, confined: u32, file: &Path) -> Result<()> {
    let (go, done) = (stage.folder().join("go"), stage.folder().join("done"));
    let text = include_str!("../../../programs/read_once.py");
    let script = stage.script("read_once.py", text)?;
    let mut python = Command::new(PYTHON);
    python.arg(script).arg(file).arg(&go).arg(&done);
    let reader = stage.beside(python)?;
    stage.join(confined, reader)?;
    std::fs::write(&go, "")?;
    let since = Instant::now();
    while !done.exists() {
        if since.elapsed() > READ_LIMIT {
            bail!("a file was not read");
        }
        interrupt::pause()?;
    }
    Ok(())
}

/// A service that takes `sleep_us` behind what stands before it, which is 3 ms away from its clients; neither without the cause.
pub fn far_and_slow(
    stage: &mut Stage,
    cause: Cause,
    sleep_us: &str,
    front: impl FnOnce(&Stage, &Path) -> Result<Command>,
) -> Result<SetUp> {
    let sleep_us = match cause {
        Cause::Made => sleep_us,
        Cause::Removed => "0",
    };
    // A socket of the file system is the same in each network.
    let (service, socket) = sixth::unix_service(stage, sleep_us)?;
    let front = front(stage, &socket)?;
    let (server, address) = match far(stage, &front, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    // The one is named by its address, the other by its process.
    let peers = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peers);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
