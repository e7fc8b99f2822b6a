//! Apache, lighttpd, nginx and HAProxy.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result};

use super::programs::{APACHE, HAPROXY, LIGHTTPD, NGINX, Needed, WRK, missing, wrk};
use super::{beside, cause, downstream, first, limited, second, third, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::{Limit, Stage, forget_cached};

/// It comes with ab.
const HTPASSWD: Needed = ("htpasswd", "apache2-utils");
/// Password and name of a user, as every request says them: `lab:lab`.
const LOGIN: &str = "Authorization: Basic bGFiOmxhYg==";
/// A hash that takes some ms of CPU on purpose, and one that takes next to nothing.
const SLOW_HASH: [&str; 3] = ["-cbB", "-C", "8"];
const QUICK_HASH: [&str; 1] = ["-cbs"];

/// What is asked for, as `files.lua` knows: files, and bytes of each.
const FILES: u32 = 1024;
const BYTES: usize = 128 << 10;
/// What of them may be in memory: a quarter.
const MEMORY: u64 = 32 << 20;

/// How the generator computes what it sends with each request: about a ms of CPU.
const ROUNDS: &str = "100000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-password-hashes",
                "CPUs full of hashes of passwords",
                "Twelve connections ask Apache for a small file with name and password, and Apache \
                 hashes the password of each request with bcrypt; recorded without its load.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            password_hashes,
        ),
        cause(
            [
                "lighttpd-many-files",
                "memory limit under many files",
                "wrk asks lighttpd over four connections for 1,024 files of 128 KB, and its group may \
                 keep 32 MB in memory, page cache included.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup),
            many_files,
        ),
        cause(
            [
                "nginx-slow-authorization",
                "slow service that is asked who may see a page",
                "Eight connections ask nginx for a small file, and before each answer nginx asks \
                 another service whether that is allowed, which takes 20 ms to say so.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_authorization,
        ),
        cause(
            [
                "haproxy-signing-generator",
                "generator whose script signs each request",
                "wrk with one thread computes a signature of each request to HAProxy in its script for \
                 about a ms, and HAProxy answers at once.",
            ],
            Expect::one("load.client", Who::Generator),
            signing_generator,
        ),
    ]
}

fn password_hashes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, HTPASSWD]) {
        return Ok(SetUp::NotHere(why));
    }
    let hash: &[&str] = match cause {
        Cause::Made => &SLOW_HASH,
        Cause::Removed => &QUICK_HASH,
    };
    let users = stage.folder().join("users");
    let mut htpasswd = Command::new("htpasswd");
    htpasswd.args(hash).arg(&users).args(["lab", "lab"]);
    stage.step(htpasswd)?;
    let folder = stage.unprivileged_folder("site")?;
    std::fs::write(folder.join("file"), "ok\n").context("cannot write a file")?;
    let folder = folder.display();
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 16\nMaxRequestWorkers 16\nDocumentRoot \
         {folder}\n<Directory {folder}>\nAuthType Basic\nAuthName lab\nAuthBasicProvider \
         file\nAuthUserFile {}\nRequire valid-user\n</Directory>\n",
        users.display()
    );
    let modules = ["mpm_event", "auth_basic", "authn_core", "authn_file"];
    let modules = [&modules[..], &["authz_user"]].concat();
    let (pid, port) = second::apache(stage, &modules, &directives)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "12"];
    beside(stage, pid, &[&words[..], &["--header", LOGIN]].concat())?.ready()
}

fn many_files(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("site")?;
    let text = "x".repeat(BYTES);
    for number in 0..FILES {
        let file = folder.join(number.to_string());
        std::fs::write(file, &text).context("cannot write a file")?;
    }
    let (pid, port) = third::lighttpd(stage, "")?;
    if cause == Cause::Made {
        // What is in memory already would be charged to nobody here.
        forget_cached(&folder)?;
        if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
            return Ok(SetUp::NotHere(why));
        }
    }
    let script = include_str!("../../../programs/files.lua");
    let script = stage.script("files.lua", script)?;
    let mut load = wrk(stage, &port, 4);
    let url = load.command.pop();
    load.command.extend([OsString::from("-s"), script]);
    load.command.extend(url);
    load.ready()
}

fn slow_authorization(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 20_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let folder = stage.unprivileged_folder("site")?;
    std::fs::write(folder.join("file"), "ok\n").context("cannot write a file")?;
    let all = format!("upstream authorization {{ server {address}; keepalive 16; }}");
    let places = format!(
        "root {}; location / {{ auth_request /authorization; }} location = /authorization {{ \
         internal; proxy_pass http://authorization/; proxy_http_version 1.1; proxy_set_header \
         Connection \"\"; }}",
        folder.display()
    );
    let port = free_port()?.to_string();
    nginx_with(stage, 2, &port, &all, &places)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn signing_generator(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let rounds = match cause {
        Cause::Made => ROUNDS,
        Cause::Removed => "0",
    };
    let (_, port) = first::haproxy(stage)?;
    let script = include_str!("../../../programs/signing.lua");
    let script = stage.script("signing.lua", script)?;
    let mut load = wrk(stage, &port, 8);
    let url = load.command.pop();
    load.command.extend([OsString::from("-s"), script]);
    load.command.extend(url);
    load.command.extend(["--", rounds].map(OsString::from));
    load.ready()
}
