//! The servers that only this set has. Each function starts one and returns its process and its port.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::first::{interpreted, java_class, start};
use crate::interrupt;
use crate::processes::{self, Process};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// A child that is not there by then will not come.
const CHILD_LIMIT: Duration = Duration::from_secs(10);

/// HAProxy before this service, which it asks at most so many things at a time.
pub fn haproxy(stage: &mut Stage, service: &str, places: u32) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let configuration = format!(
        "global\n  nbthread 2\ndefaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  \
         timeout connect 5s\nfrontend lab\n  bind 127.0.0.1:{port}\n  default_backend service\n\
         backend service\n  server service {service} maxconn {places}\n"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    haproxy.args(["-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// lighttpd for the text of a site, with these further lines in its settings.
pub fn lighttpd(stage: &mut Stage, settings: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let site = super::second::site(stage)?;
    let text = format!(
        "server.errorlog = \"/dev/null\"\nserver.document-root = \"{}\"\nserver.bind = \
         \"127.0.0.1\"\nserver.port = {port}\nserver.max-keep-alive-requests = 100000000\n\
         mimetype.assign = (\".txt\" => \"text/plain\")\n{settings}\n",
        site.display()
    );
    let file = stage.script("lighttpd.conf", &text)?;
    let mut lighttpd = stage.unprivileged("lighttpd");
    lighttpd.arg("-D").arg("-f").arg(file);
    start(stage, lighttpd, port)
}

/// The server in Node.js that hashes with each request, by so many threads of libuv's pool.
pub fn hashing(stage: &mut Stage, rounds: &str, threads: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["hashing.js", include_str!("../../../programs/hashing.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).arg(rounds);
    node.env("UV_THREADPOOL_SIZE", threads);
    start(stage, node, port)
}

/// The service in Java with a pool of connections: options of its machine; and threads, connections, address of
/// the service behind, KiB of garbage of a request, and KiB that stay.
pub fn pooled(stage: &mut Stage, options: &[&str], words: [&str; 5]) -> Result<(u32, String)> {
    let program = ["Pooled", include_str!("../../../programs/Pooled.java")];
    java_class(stage, program, options, &words)
}

/// A server in Python, by its name and text, with these words behind its port.
pub fn python(stage: &mut Stage, program: [&str; 2], words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let mut python = interpreted(stage, super::first::PYTHON, program)?;
    python.arg(&port).args(words);
    start(stage, python, port)
}

/// The child of a server that runs a program of this name, once it is there.
pub fn child_named(server: u32, name: &str) -> Result<u32> {
    let since = Instant::now();
    while since.elapsed() < CHILD_LIMIT {
        let all = Process::all();
        let below = processes::tree(&all, server);
        let mut children = below.iter().skip(1).map(|process| process.pid);
        if let Some(child) = children.find(|pid| is_named(*pid, name)) {
            return Ok(child);
        }
        interrupt::pause()?;
    }
    bail!("process {server} has started no {name}")
}

fn is_named(pid: u32, name: &str) -> bool {
    let comm = fs::read_to_string(format!("/proc/{pid}/comm"));
    comm.is_ok_and(|comm| comm.trim().starts_with(name))
}

/// The thread of a process that has used the most CPU time beside its first one.
pub fn busiest_but_first(pid: u32) -> Result<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.with_context(|| format!("process {pid} has no threads to be read"))?;
    let threads = tasks.flatten().filter_map(|task| {
        let text = fs::read_to_string(task.path().join("stat")).ok()?;
        Process::parse(&text).filter(|thread| thread.pid != pid)
    });
    let busiest = threads.max_by_key(|thread| thread.ticks);
    Ok(busiest.context("a server has more than one thread")?.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_thread_is_another_than_the_first() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || stopped.recv().is_err());
        let own = std::process::id();
        let other = busiest_but_first(own).expect("tests have threads");
        assert_ne!(other, own);
        drop(stop);
        assert!(waiting.join().expect("it ended"));
    }
}
