//! HAProxy, Apache and nginx.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result};

use super::programs::{AB, APACHE, HAPROXY, NGINX, OPENSSL, PYTHON, ab, missing};
use super::{beside, cause, first, second, servers, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::{Limit, Stage, device_of};

/// A key with which to sign takes some ms of CPU, and one with which it takes next to nothing.
const LONG_KEY: [&str; 2] = ["-newkey", "rsa:4096"];
const QUICK_KEY: [&str; 4] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

/// An interpreter that starts, says three letters and ends: some 10 ms of CPU.
const SCRIPT: &str = "#!/usr/bin/python3 -IS\n\
    print('Content-Type: text/plain\\r\\nContent-Length: 3\\r\\n\\r\\nok')\n";
/// More processes than the load has connections.
const PROCESSES: u32 = 16;
/// Apache sends an answer without its length otherwise, whatever the script says of it.
const TRUST: &str = "SetEnv ap_trust_cgilike_cl 1";

/// What is fetched and summed up.
const LARGE: usize = 1 << 20;

/// What is asked of nginx, which reads it in one piece.
const FILE: usize = 256 << 10;
/// Bytes per second.
const READ: u32 = 8 << 20;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "haproxy-handshakes",
                "one thread makes all handshakes",
                "ab asks HAProxy, which has one thread, over eight connections, a new one for each \
                 request, and each begins with a handshake of TLS with a key of 4,096 bits.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            handshakes,
        ),
        cause(
            [
                "apache-scripts",
                "CPUs full of processes that live for milliseconds",
                "Twelve connections ask Apache, which starts an interpreter for each request; \
                 recorded without its load.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            scripts,
        ),
        cause(
            [
                "apache-checksums",
                "generator that takes large answers in slowly",
                "A generator of one thread fetches a file of 1 MB from Apache over four connections, \
                 and computes a checksum of each piece that comes in.",
            ],
            Expect::one("load.client", Who::Generator),
            checksums,
        ),
        cause(
            [
                "nginx-limited-bytes",
                "limited bytes of reads",
                "Four connections ask nginx for a file of 256 KB, which its pool of threads reads \
                 past the page cache, and its group may read 8 MB per second.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            limited_bytes,
        ),
    ]
}

fn handshakes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, OPENSSL, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let key: &[&str] = match cause {
        Cause::Made => &LONG_KEY,
        Cause::Removed => &QUICK_KEY,
    };
    let (pid, port) = servers::haproxy_with_tls(stage, key)?;
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let url = format!("https://127.0.0.1:{port}/");
    ab(stage, &["-c", "8"], &url).ready()
}

fn scripts(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (text, handler) = match cause {
        Cause::Made => (SCRIPT, "SetHandler cgi-script"),
        Cause::Removed => ("ok\n", ""),
    };
    let folder = stage.unprivileged_folder("site")?;
    let answer = folder.join("answer");
    std::fs::write(&answer, text).context("cannot write a file")?;
    std::fs::set_permissions(&answer, Permissions::from_mode(0o755))
        .context("cannot make a file a program")?;
    let folder = folder.display();
    let directives = format!(
        "StartServers {PROCESSES}\nMinSpareServers 1\nMaxSpareServers {PROCESSES}\nServerLimit \
         {PROCESSES}\nMaxRequestWorkers {PROCESSES}\n{TRUST}\nDocumentRoot {folder}\n<Directory \
         {folder}>\nOptions ExecCGI\n{handler}\n</Directory>\n"
    );
    let (pid, port) = second::apache(stage, &["mpm_prefork", "cgi", "env"], &directives)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/answer", "--connections", "12"];
    beside(stage, pid, &words)?.ready()
}

fn checksums(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("files")?;
    std::fs::write(folder.join("file"), "x".repeat(LARGE)).context("cannot write a file")?;
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 16\nMaxRequestWorkers 16\nDocumentRoot {}\n",
        folder.display()
    );
    let (_, port) = second::apache(stage, &["mpm_event"], &directives)?;
    let program = include_str!("../../../programs/checksums.py");
    let program = stage.script("checksums.py", program)?;
    let seconds = stage.seconds.to_string();
    let mut words = vec!["--port", &port, "--seconds", &seconds];
    if cause == Cause::Made {
        words.push("--checksum");
    }
    let words = words.into_iter().map(OsString::from);
    let command = [OsString::from(first::PYTHON), program];
    Load::new(command.into_iter().chain(words)).ready()
}

fn limited_bytes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let folder = file.parent().context("a file is in a folder")?;
    let places = format!(
        "root {}; location / {{ directio 512; directio_alignment 4k; aio threads; \
         output_buffers 1 {FILE}; }}",
        folder.display()
    );
    let port = free_port()?.to_string();
    let pid = nginx_with(stage, 2, &port, "", &places)?;
    if cause == Cause::Made {
        let device = device_of(stage.folder());
        let limit = device.map(|device| Limit::BytesReadPerSecond(device, READ));
        match limit.and_then(|limit| stage.confine("limited", pid, &[limit])) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
