//! The servers that only this set has. Each function starts one and returns its process and its port.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::first::{built, interpreted, start};
use crate::scenarios::held_out::free_port;
use crate::stage::Stage;

/// HAProxy with one thread, which answers every request itself behind TLS, with a key that openssl makes by
/// these words.
pub fn haproxy_with_tls(stage: &mut Stage, key: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let certificate = certificate(stage, key)?;
    let sections = format!(
        "frontend lab\n  bind 127.0.0.1:{port} ssl crt {}\n  http-request return status 200 \
         content-type text/plain string \"ok\\n\"\n",
        certificate.display()
    );
    haproxy(stage, port, 1, &sections)
}

/// HAProxy before this service, with another server behind it as this line says.
pub fn haproxy_with_spare(stage: &mut Stage, service: &str, spare: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let sections = format!(
        "frontend lab\n  bind 127.0.0.1:{port}\n  default_backend service\nbackend service\n  \
         server service {service}\n  {spare}\n"
    );
    haproxy(stage, port, 2, &sections)
}

fn haproxy(stage: &mut Stage, port: String, threads: u32, sections: &str) -> Result<(u32, String)> {
    let configuration = format!(
        "global\n  nbthread {threads}\ndefaults\n  mode http\n  timeout client 30s\n  timeout server \
         30s\n  timeout connect 5s\n{sections}"
    );
    let file = stage.script("haproxy.cfg", &configuration)?;
    let mut haproxy = stage.unprivileged("haproxy");
    // Quiet: that a server behind it is down is what a situation is about.
    haproxy.args(["-q", "-db", "-f"]).arg(file);
    start(stage, haproxy, port)
}

/// A key and the certificate that it has signed itself, in one file, as HAProxy wants them.
pub fn certificate(stage: &Stage, key: &[&str]) -> Result<OsString> {
    let [secret, public] = ["key.pem", "certificate.pem"].map(|name| stage.folder().join(name));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=lab"]);
    openssl.args(key).arg("-keyout").arg(&secret);
    openssl.arg("-out").arg(&public);
    stage.step(openssl)?;
    stage.script("both.pem", &(text(&public)? + &text(&secret)?))
}

fn text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The server in Node.js that notes each request in a file, which it opens with this flag.
pub fn appending(stage: &mut Stage, file: &Path, flag: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["appends.js", include_str!("../../../programs/appends.js")];
    let mut node = interpreted(stage, "node", program)?;
    node.arg(&port).arg(file).arg(flag);
    // More threads than connections: no write waits for one.
    node.env("UV_THREADPOOL_SIZE", "8");
    start(stage, node, port)
}

/// The server in C of several processes: how many, us of a request, and whether these are `locked` or
/// `beside` the lock.
pub fn sharing(stage: &mut Stage, words: [&str; 3]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/processes.c")
    );
    let program = ["processes.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.arg(&port).args(words);
    start(stage, server, port)
}

/// The server in C that maps a file.
pub fn mapping(stage: &mut Stage, file: &Path) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let text = concat!(
        include_str!("../../../programs/listening.c"),
        include_str!("../../../programs/mapped.c")
    );
    let program = ["mapped.c", text];
    let mut server = built(stage, &["cc", "-O2", "-pthread"], program)?;
    server.arg(&port).arg(file);
    start(stage, server, port)
}

/// The service in Go that reads and asks, with these words.
pub fn reader(stage: &mut Stage, words: &[&str]) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let program = ["reader.go", include_str!("../../../programs/reader.go")];
    let mut go = built(stage, &["go", "build"], program)?;
    go.args(["-port", &port]).args(words);
    start(stage, go, port)
}
