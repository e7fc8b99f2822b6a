//! The generators of this set that are programs of other people, and the packages of everything.

use std::ffi::OsString;

use anyhow::Result;

use crate::scenario::Load;
use crate::stage::Stage;

/// A program and the package that it is from.
pub type Needed = (&'static str, &'static str);

pub const NGINX: Needed = ("nginx", "nginx-light");
pub const HAPROXY: Needed = ("haproxy", "haproxy");
pub const REDIS: Needed = ("redis-server", "redis-server");
pub const MEMCACHED: Needed = ("memcached", "memcached");
pub const PGBOUNCER: Needed = ("pgbouncer", "pgbouncer");
pub const PYTHON: Needed = ("python3", "python3");
pub const NODE: Needed = ("node", "nodejs");
pub const JAVA: Needed = ("javac", "openjdk-17-jdk-headless");
pub const GO: Needed = ("go", "golang-go");
pub const WRK: Needed = ("wrk", "wrk");
pub const HEY: Needed = ("hey", "hey");

/// Why a situation cannot be made, where one of the programs is missing.
pub fn missing(needed: &[Needed]) -> Option<String> {
    let mut needed = needed.iter();
    needed.find_map(|(program, package)| super::super::missing(&[program], package))
}

/// wrk with one thread, which says its latency at its end.
pub fn wrk(stage: &Stage, port: &str, connections: u32) -> Load {
    let (seconds, connections) = (format!("-d{}s", stage.seconds), format!("-c{connections}"));
    let url = format!("http://127.0.0.1:{port}/");
    Load::new(["wrk", "-t1", "--latency", &connections, &seconds, &url])
}

/// hey, which prints nothing before its end.
pub fn hey(stage: &Stage, port: &str, connections: u32) -> Load {
    let (seconds, connections) = (format!("{}s", stage.seconds), connections.to_string());
    let url = format!("http://127.0.0.1:{port}/");
    Load::new(["hey", "-z", &seconds, "-c", &connections, &url])
}

/// The generator of one thread that computes between requests.
pub fn client(stage: &Stage, port: &str, compute_us: &str) -> Result<Load> {
    let file = stage.script("client.py", include_str!("../../../programs/client.py"))?;
    let seconds = stage.seconds.to_string();
    let words = [
        "--port",
        port,
        "--seconds",
        &seconds,
        "--compute-us",
        compute_us,
    ];
    let command = [OsString::from("/usr/bin/python3"), file];
    Ok(Load::new(
        command.into_iter().chain(words.map(OsString::from)),
    ))
}
