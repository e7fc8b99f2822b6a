//! The generators of the strangers that are programs of other people, and the packages of everything.

use std::ffi::OsString;

use anyhow::Result;

use crate::scenario::Load;
use crate::stage::Stage;

/// A program and the package that it is from.
pub type Needed = (&'static str, &'static str);

pub const APACHE: Needed = ("apache2", "apache2");
pub const LIGHTTPD: Needed = ("lighttpd", "lighttpd lighttpd-mod-deflate");
pub const NGINX: Needed = ("nginx", "nginx-light");
pub const HAPROXY: Needed = ("haproxy", "haproxy");
pub const REDIS: Needed = ("redis-server", "redis-server");
pub const MEMCACHED: Needed = ("memcached", "memcached");
pub const PGBOUNCER: Needed = ("pgbouncer", "pgbouncer");
pub const PERL: Needed = ("perl", "perl");
pub const PYTHON: Needed = ("python3", "python3");
pub const NODE: Needed = ("node", "nodejs");
pub const JAVA: Needed = ("javac", "openjdk-17-jdk-headless");
pub const GO: Needed = ("go", "golang-go");
pub const CC: Needed = ("cc", "build-essential");
pub const OPENSSL: Needed = ("openssl", "openssl");
pub const AB: Needed = ("ab", "apache2-utils");
pub const WRK: Needed = ("wrk", "wrk");
pub const HEY: Needed = ("hey", "hey");

/// More requests than any run makes.
const MOST_OF_AB: &str = "1000000";

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

/// ab, which prints nothing before its end and opens a connection for each request unless told
/// otherwise.
pub fn ab(stage: &Stage, words: &[&str], url: &str) -> Load {
    let seconds = stage.seconds.to_string();
    // It ends after so many requests or so long; the number must come last, and is room in its memory.
    let first = ["ab", "-q", "-t", &seconds, "-n", MOST_OF_AB];
    Load::new(first.iter().chain(words).copied().chain([url]))
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
